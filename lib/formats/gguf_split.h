/* A model in several GGUF files (gguf_name.h). Metadata are in the first; each has tensors of its
 * own. Source: the keys split.* of ggml's gguf-split. */
#ifndef QN_FORMATS_GGUF_SPLIT_H
#define QN_FORMATS_GGUF_SPLIT_H

#include "formats/gguf.h"
#include "formats/gguf_name.h"

/* Opens the file at path and, where it says that it is the first of several, the others beside it.
 * parts [QN_GGUF_PARTS_MAX]; the caller closes *n of them. Nothing is open after an error: those of
 * qn_gguf_open, QN_ENOTFOUND naming the missing part, QN_EFORMAT where parts do not belong
 * together, QN_EINVAL for another part than the first. */
qn_err qn_gguf_open_parts(const char *path, struct qn_gguf **parts, size_t *n, struct qn_error *e);

/* The same for open files in the order of their parts, n_fds of them, at least one; more than the
 * first says there are may be given, and QN_ENOTFOUND means that there are fewer. Messages call a
 * file "part 2". The descriptors stay the caller's and may be closed afterwards. */
qn_err qn_gguf_open_fds(const int *fds, size_t n_fds, struct qn_gguf **parts, size_t *n,
                        struct qn_error *e);

#endif
