/* Writes small GGUF files into a buffer, for tests. The counts of the header are put in at the end.
 */
#ifndef QN_TESTS_GGUF_FILE_H
#define QN_TESTS_GGUF_FILE_H

#include "base/buf.h"
#include "formats/gguf.h"

#include <stdlib.h>
#include <string.h>

struct gguf_file {
    struct qn_buf b;
    uint64_t kvs;
};

static inline void gguf_raw(struct gguf_file *f, const void *p, size_t n)
{
    if (qn_buf_add(&f->b, p, n) != QN_OK) {
        abort();
    }
}

static inline void gguf_begin(struct gguf_file *f)
{
    *f = (struct gguf_file){.kvs = 0};
    qn_buf_init(&f->b, 64 << 20);
    gguf_raw(f, "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
}

static inline void gguf_text(struct gguf_file *f, const char *s, size_t n)
{
    uint64_t len = n;
    gguf_raw(f, &len, sizeof len);
    gguf_raw(f, s, n);
}

static inline void gguf_key(struct gguf_file *f, const char *key, uint32_t type)
{
    gguf_text(f, key, strlen(key));
    gguf_raw(f, &type, sizeof type);
    f->kvs++;
}

static inline void gguf_str(struct gguf_file *f, const char *key, const char *value)
{
    gguf_key(f, key, QN_GGUF_STRING);
    gguf_text(f, value, strlen(value));
}

static inline void gguf_u32(struct gguf_file *f, const char *key, uint32_t value)
{
    gguf_key(f, key, QN_GGUF_U32);
    gguf_raw(f, &value, sizeof value);
}

static inline void gguf_bool(struct gguf_file *f, const char *key, bool value)
{
    gguf_key(f, key, QN_GGUF_BOOL);
    gguf_raw(f, value ? "\1" : "\0", 1);
}

/* The items follow: gguf_text for strings, gguf_raw for numbers. */
static inline void gguf_array(struct gguf_file *f, const char *key, uint32_t item, size_t count)
{
    uint64_t n = count;
    gguf_key(f, key, QN_GGUF_ARRAY);
    gguf_raw(f, &item, sizeof item);
    gguf_raw(f, &n, sizeof n);
}

static inline void gguf_end(struct gguf_file *f)
{
    memcpy(f->b.data + 16, &f->kvs, sizeof f->kvs);
}

#endif
