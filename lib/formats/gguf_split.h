/* A model in several GGUF files: NAME-00001-of-0000N.gguf and so on, all in one folder. Metadata
 * are in the first; each has tensors of its own. Source: the keys split.* of ggml's gguf-split. */
#ifndef QN_FORMATS_GGUF_SPLIT_H
#define QN_FORMATS_GGUF_SPLIT_H

#include "formats/gguf.h"

enum { QN_GGUF_PARTS_MAX = 512 };

/* Opens the file at path and, where it says that it is the first of several, the others beside it.
 * parts [QN_GGUF_PARTS_MAX]; the caller closes *n of them. Nothing is open after an error: those of
 * qn_gguf_open, QN_ENOTFOUND naming the missing part, QN_EFORMAT where parts do not belong
 * together, QN_EINVAL for another part than the first. */
qn_err qn_gguf_open_parts(const char *path, struct qn_gguf **parts, size_t *n, struct qn_error *e);

/* The path of part i (from 0) of a model of n parts, given that of another part. False when path
 * does not end in -00001-of-0000N.gguf with this N, or out [size] is too small. */
bool qn_gguf_part_path(const char *path, size_t i, size_t n, char *out, size_t size);

#endif
