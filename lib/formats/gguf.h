/* Reads GGUF files, versions 2 and 3, little-endian: metadata and a table of tensors.
 *
 * The file is mapped read-only. Every count, offset, alignment and string length is checked before
 * use, so a malicious file gives an error and never an access outside the mapping. Strings and
 * arrays are lent from the mapping. Immutable after opening; any thread. Source: the GGUF
 * specification (ggml). */
#ifndef QN_FORMATS_GGUF_H
#define QN_FORMATS_GGUF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_GGUF_KV_MAX = 65536, /* metadata entries */
    QN_GGUF_TENSORS_MAX = 65536,
    QN_GGUF_KEY_MAX = 65535, /* bytes of a key */
    QN_GGUF_NAME_MAX = 255,  /* bytes of a tensor's name */
    QN_GGUF_STRING_MAX = 16 * 1024 * 1024,
    QN_GGUF_ARRAY_MAX = 16 * 1024 * 1024, /* items */
    /* Limit of the strings in all arrays of a file. The index takes 8 bytes of memory for each
     * string, while a sparse file can claim millions of them without taking disk space. The largest
     * vocabularies with their merges have a quarter of this number. */
    QN_GGUF_STRINGS_MAX = 4 * 1024 * 1024,
    QN_GGUF_HEADER_MAX = 512 * 1024 * 1024, /* bytes of metadata and tensor table */
    QN_GGUF_DIMS_MAX = 4
};

struct qn_gguf;

enum qn_gguf_type { /* metadata value types, numbered as in the file */
                    QN_GGUF_U8,
                    QN_GGUF_I8,
                    QN_GGUF_U16,
                    QN_GGUF_I16,
                    QN_GGUF_U32,
                    QN_GGUF_I32,
                    QN_GGUF_F32,
                    QN_GGUF_BOOL,
                    QN_GGUF_STRING,
                    QN_GGUF_ARRAY,
                    QN_GGUF_U64,
                    QN_GGUF_I64,
                    QN_GGUF_F64
};

struct qn_gguf_str {
    const char *s; /* not NUL-terminated */
    size_t n;
};

struct qn_gguf_tensor {
    struct qn_gguf_str name;
    uint32_t type; /* ggml's type number; block sizes are in the engine's dtype table */
    int ndim;      /* 1 to 4 */
    uint64_t ne[QN_GGUF_DIMS_MAX]; /* as in the file: ne[0] is contiguous; unused ones are 1 */
    uint64_t offset;    /* from the start of the data section, a multiple of the alignment */
    const void *data;   /* into the mapping */
    uint64_t max_bytes; /* bytes from data to the end of the file: the size computed from type and
                           shape must be checked against it */
};

/* Maps and checks the file at path. QN_ENOTFOUND, QN_EIO, QN_EFORMAT, QN_ELIMIT; the message
 * describes the faulty part of the file ("metadata 12: key of 70000 bytes, at most 65535"). */
qn_err qn_gguf_open(const char *path, struct qn_gguf **out, struct qn_error *e);
/* The same for an open file, which may be closed afterwards; messages do not contain a file name.
 */
qn_err qn_gguf_open_fd(int fd, struct qn_gguf **out, struct qn_error *e);
/* The same for memory that the caller keeps valid (fuzzing, tests). */
qn_err qn_gguf_parse(const void *data, size_t n, struct qn_gguf **out, struct qn_error *e);
void qn_gguf_close(struct qn_gguf *g); /* NULL allowed */

/* Identifies the file in the state in which it was opened: another file, or the same file after any
 * change, has another number. 0: parsed from memory. Only comparable on one machine. */
uint64_t qn_gguf_identity(const struct qn_gguf *g);
uint32_t qn_gguf_version(const struct qn_gguf *g);
size_t qn_gguf_file_bytes(const struct qn_gguf *g);
const void *qn_gguf_data(const struct qn_gguf *g); /* the start of the mapping */

size_t qn_gguf_kv_count(const struct qn_gguf *g);
struct qn_gguf_str qn_gguf_kv_key(const struct qn_gguf *g, size_t i);
bool qn_gguf_has(const struct qn_gguf *g, const char *key);
enum qn_gguf_type qn_gguf_kv_type(const struct qn_gguf *g, const char *key); /* key must exist */

/* Typed metadata. Integers of any width are converted if the value fits; f32 and f64 both give a
 * double. QN_ENOTFOUND: the key is absent ("metadata key llama.block_count is missing");
 * QN_EFORMAT: another type, or out of range. */
qn_err qn_gguf_i64(const struct qn_gguf *g, const char *key, int64_t min, int64_t max, int64_t *out,
                   struct qn_error *e);
qn_err qn_gguf_f64(const struct qn_gguf *g, const char *key, double *out, struct qn_error *e);
qn_err qn_gguf_bool(const struct qn_gguf *g, const char *key, bool *out, struct qn_error *e);
qn_err qn_gguf_str(const struct qn_gguf *g, const char *key, struct qn_gguf_str *out,
                   struct qn_error *e);

/* Arrays: item type and count, then items by index; i < count is asserted. */
qn_err qn_gguf_array(const struct qn_gguf *g, const char *key, enum qn_gguf_type *item,
                     size_t *count, struct qn_error *e);
struct qn_gguf_str qn_gguf_array_str(const struct qn_gguf *g, const char *key,
                                     size_t i); /* amortised O(1) if read in order */
/* The items of an array of a fixed-size type; not aligned. */
const void *qn_gguf_array_raw(const struct qn_gguf *g, const char *key);

size_t qn_gguf_tensor_count(const struct qn_gguf *g);
const struct qn_gguf_tensor *qn_gguf_tensor_at(const struct qn_gguf *g, size_t i);
const struct qn_gguf_tensor *qn_gguf_tensor_find(const struct qn_gguf *g,
                                                 const char *name); /* NULL: none */

#endif
