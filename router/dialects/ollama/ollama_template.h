/* Chat templates sent by clients of Ollama's API. */
#ifndef QN_DIALECTS_OLLAMA_OLLAMA_TEMPLATE_H
#define QN_DIALECTS_OLLAMA_OLLAMA_TEMPLATE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the equivalent Jinja template: text itself if it is Jinja, a translation if it is in Go's
 * language, as Ollama's templates are. QN_EUNSUPPORTED (param "template"): a part of it cannot be
 * translated. */
qn_err qn_ollama_template(const char *text, struct qn_buf *out, struct qn_error *e);

#endif
