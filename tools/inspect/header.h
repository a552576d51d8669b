/* Reads a model's GGUF header: names, sizes, KV-cache bytes per token. Weights are not read. */
#ifndef QN_INSPECT_HEADER_H
#define QN_INSPECT_HEADER_H

#include "formats/gguf.h"
#include "formats/inspection.h"

/* parts [n]: all files of the model in order, at least one. Fails with QN_EFORMAT, QN_ENOTFOUND or
 * QN_EUNSUPPORTED; the message is the reason. */
qn_err qn_inspect_header(struct qn_gguf *const *parts, size_t n, struct qn_inspection *out,
                         struct qn_error *e);

#endif
