/* Reads a model's GGUF header: names, sizes, KV-cache bytes per token. Weights are not read. */
#ifndef QN_INSPECT_HEADER_H
#define QN_INSPECT_HEADER_H

#include "formats/gguf.h"
#include "formats/inspection.h"

/* parts [n]: all files of the model in order, at least one. QN_EFORMAT, QN_ENOTFOUND,
 * QN_EUNSUPPORTED with the reason. */
qn_err qn_inspect_header(struct qn_gguf *const *parts, size_t n, struct qn_inspection *out,
                         struct qn_error *e);

#endif
