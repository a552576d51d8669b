/* What a model file's metadata say, as the JSON object the catalog keeps for those who show models:
 *
 *   {"info": {"general.architecture": "llama", ...}, "template": "...", "license": "...",
 *    "capabilities": ["chat", "complete", "tools", "insert", "reasoning"]}
 *
 * Lists (vocabularies) stand as null in info, as Ollama shows them; texts beyond a limit
 * (formats/inspection.h) and texts with a zero byte are left out. */
#ifndef QN_INSPECT_FACTS_H
#define QN_INSPECT_FACTS_H

#include "formats/gguf.h"
#include "formats/inspection.h"

/* Appends the object of g, a split model's first file; in: what its header said. QN_ELIMIT. */
qn_err qn_inspect_facts(const struct qn_gguf *g, const struct qn_inspection *in, struct qn_buf *out,
                        struct qn_error *e);

#endif
