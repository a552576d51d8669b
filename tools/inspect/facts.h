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

/* Appends this JSON object for a model whose first (or only) file is g. `in`: the result of
 * qn_inspect_header for the same files. QN_ELIMIT: the object would exceed the limit of `out`. */
qn_err qn_inspect_facts(const struct qn_gguf *g, const struct qn_inspection *in, struct qn_buf *out,
                        struct qn_error *e);

#endif
