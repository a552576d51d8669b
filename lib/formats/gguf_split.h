/* Opens a model that is split into several GGUF files (gguf_name.h). The metadata are in the first
 * file; each file has its own tensors. Source: the keys split.* of ggml's gguf-split. */
#ifndef QN_FORMATS_GGUF_SPLIT_H
#define QN_FORMATS_GGUF_SPLIT_H

#include "formats/gguf.h"
#include "formats/gguf_name.h"

/* Opens the file at path and, if its metadata say that it is the first of several, the other parts
 * beside it. parts [QN_GGUF_PARTS_MAX]; the caller closes *n of them. After an error nothing is
 * open. Errors: those of qn_gguf_open; QN_ENOTFOUND: a part is missing (its name is in the
 * message); QN_EFORMAT: the parts do not belong together; QN_EINVAL: path is not the first part. */
qn_err qn_gguf_open_parts(const char *path, struct qn_gguf **parts, size_t *n, struct qn_error *e);

/* The same for n_fds open files (at least one) in the order of their parts. Files beyond the number
 * of parts in the first part's metadata are ignored; QN_ENOTFOUND: there are fewer files than that.
 * Messages call a file "part 2". The caller keeps the descriptors and may close them afterwards. */
qn_err qn_gguf_open_fds(const int *fds, size_t n_fds, struct qn_gguf **parts, size_t *n,
                        struct qn_error *e);

#endif
