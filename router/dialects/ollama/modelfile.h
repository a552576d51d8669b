/* Modelfiles: the text from which Ollama makes models, converted to the JSON object that its newer
 * requests have in its place. Source: docs/modelfile.mdx of github.com/ollama/ollama. Pure. */
#ifndef QN_DIALECTS_OLLAMA_MODELFILE_H
#define QN_DIALECTS_OLLAMA_MODELFILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

enum { QN_MODELFILE_MAX = 4 * 1024 * 1024, QN_MODELFILE_PARAMETERS_MAX = 1000 };

/* Appends {"from","template","system","license":[...],"adapters":{...},"parameters":{...},
 * "messages":[...]} with the members that occur in the text. QN_EINVAL (param "modelfile"), with
 * the line in the message. */
qn_err qn_modelfile_read(const char *text, size_t n, struct qn_buf *out, struct qn_error *e);

#endif
