/* What a model file's metadata say, as the JSON object the catalog keeps for those who show models:
 *
 *   {"info": {"general.architecture": "llama", ...}, "template": "...", "license": "...",
 *    "capabilities": ["completion", "tools", "thinking", "insert"]}
 *
 * Lists (vocabularies) stand as null in info, as Ollama shows them; texts beyond a limit are left
 * out. */
#ifndef QN_REGISTRY_FACTS_H
#define QN_REGISTRY_FACTS_H

#include "base/buf.h"
#include "base/error.h"

enum { QN_FACTS_MAX = 1024 * 1024 };

/* Reads the GGUF at path (of a split model: its first file) and appends the object. Blocking, any
 * thread. QN_ENOTFOUND, QN_EFORMAT, QN_EIO. */
qn_err qn_registry_facts(const char *path, struct qn_buf *out, struct qn_error *e);

#endif
