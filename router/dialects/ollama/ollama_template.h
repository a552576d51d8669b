/* Chat templates that clients of Ollama's API bring. */
#ifndef QN_DIALECTS_OLLAMA_OLLAMA_TEMPLATE_H
#define QN_DIALECTS_OLLAMA_OLLAMA_TEMPLATE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the Jinja template that does what text asks for: text itself when it is Jinja, a
 * translation when it is in Go's language, as Ollama's are. QN_EUNSUPPORTED (param "template"): it
 * says something that has no translation. */
qn_err qn_ollama_template(const char *text, struct qn_buf *out, struct qn_error *e);

#endif
