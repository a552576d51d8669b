/* A growing byte buffer with a limit that is set when it is created. An append that would exceed
 * the limit fails, changes nothing and sets a sticky flag. When the system has no memory for a
 * small growth, the process aborts: the limit, not malloc, protects against sizes from outside. Not
 * shared between threads. */
#ifndef QN_BASE_BUF_H
#define QN_BASE_BUF_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_buf {
    char *data;   /* never NULL after the first append; followed by a NUL that len does not count */
    size_t len;   /* bytes in use */
    size_t cap;   /* bytes allocated */
    size_t limit; /* most bytes it may hold */
    bool overflow; /* an append was refused */
};

void qn_buf_init(struct qn_buf *b, size_t limit);
void qn_buf_deinit(struct qn_buf *b);
void qn_buf_clear(struct qn_buf *b); /* len = 0, overflow = false; keeps memory */
qn_err qn_buf_add(struct qn_buf *b, const void *p, size_t n); /* QN_ELIMIT past the limit */
qn_err qn_buf_str(struct qn_buf *b, const char *s);
qn_err qn_buf_char(struct qn_buf *b, char c);
qn_err qn_buf_fmt(struct qn_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
qn_err qn_buf_vfmt(struct qn_buf *b, const char *fmt, va_list ap);
qn_err qn_buf_reserve(struct qn_buf *b, size_t n); /* space for n more bytes at data + len */
void qn_buf_drop(struct qn_buf *b, size_t n);      /* removes the first n bytes */
char *qn_buf_cstr(struct qn_buf *b);               /* lent; "" when empty */
/* Gives the malloc'ed bytes, NUL-terminated; b is empty afterwards. */
char *qn_buf_take(struct qn_buf *b);

/* Allocates count * size zeroed bytes, or returns NULL if the product overflows or exceeds limit.
 * The only way to allocate a size that comes from outside. */
void *qn_alloc_sized(size_t count, size_t size, size_t limit);

/* malloc and related functions for small sizes that do not come from outside: they abort with a
 * message on failure. */
void *qn_xmalloc(size_t n);
void *qn_xcalloc(size_t count, size_t size);
void *qn_xrealloc(void *p, size_t n);
char *qn_xstrdup(const char *s);
char *qn_xstrndup(const char *s, size_t n);

#endif
