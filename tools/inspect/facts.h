/* Writes a model file's metadata as the JSON object that the catalog stores and programs show:
 *
 *   {"info": {"general.architecture": "llama", ...}, "template": "...", "license": "...",
 *    "capabilities": ["chat", "complete", "tools", "insert", "reasoning"]}
 *
 * In info, lists (vocabularies) are null, as Ollama shows them; texts beyond a limit
 * (formats/inspection.h) and texts with a NUL byte are left out. */
#ifndef QN_INSPECT_FACTS_H
#define QN_INSPECT_FACTS_H

#include "formats/gguf.h"
#include "formats/inspection.h"

/* Appends the object for g, the first file of a split model. in: the result of qn_inspect_header.
 * QN_ELIMIT. */
qn_err qn_inspect_facts(const struct qn_gguf *g, const struct qn_inspection *in, struct qn_buf *out,
                        struct qn_error *e);

#endif
