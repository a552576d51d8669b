/* The report of quince-inspect about a model file's metadata: one JSON object.
 *
 *   {"details": {"architecture": "llama", ...}, "size_bytes": 4096, "facts": {"info": {...},
 *    "template": "...", "license": "...", "capabilities": ["chat", "complete", "tools"]}}
 *   {"code": "format", "error": "metadata 12: ..."}
 *
 * Either may also have the member "lacking": the parts of the sandbox that this kernel does not
 * support. The program has parsed untrusted bytes and may have been taken over by them, so its
 * report is untrusted too: the reader checks types, sizes, counts and characters, and copies only
 * checked members. Any thread. */
#ifndef QN_FORMATS_INSPECTION_H
#define QN_FORMATS_INSPECTION_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_FACTS_MAX = 1024 * 1024, /* bytes of the facts as JSON */
    QN_FACTS_KEY_MAX = 255,
    QN_FACTS_ENTRIES_MAX = 65536 + 1, /* as many as a GGUF may have, plus the count of parameters */
    QN_FACTS_TEXT_MAX = 4096,
    QN_FACTS_TEMPLATE_MAX = 256 * 1024,
    QN_FACTS_LICENSE_MAX = 128 * 1024,
    QN_FACTS_CAPABILITIES_MAX = 8,
    QN_FACTS_CAPABILITY_LEN = 32,
    QN_INSPECTION_LACKING_MAX = 32,
    QN_INSPECTION_MAX = QN_FACTS_MAX + 64 * 1024 /* bytes of the whole report */
};
#define QN_INSPECTION_NUMBER_MAX (INT64_C(1) << 53) /* largest exact whole number in JSON */

struct qn_inspection {
    char architecture[64];  /* "qwen3" */
    char title[128];        /* general.name, may be empty */
    char quantization[32];  /* "Q4_K_M", "F16"; if not in the file, the most frequent tensor type */
    int64_t parameters;     /* elements of all tensors */
    int64_t context_length; /* tokens the model was trained on; 0: not in the file */
    int64_t kv_token_bytes; /* KV-cache bytes per token, in f16; 0: not in the file */
    int64_t size_bytes;     /* of all files */
    bool chat_template;
};

/* Appends the struct as the JSON object that the catalog stores as a model's details. */
void qn_inspection_json(const struct qn_inspection *in, struct qn_buf *out);

/* Appends the report. facts: an object, or empty; lacking: "" for nothing; e: if its code is not
 * QN_OK, the report contains only this error. */
void qn_inspection_write(const struct qn_inspection *in, struct qn_buf *facts, const char *lacking,
                         const struct qn_error *e, struct qn_buf *out);

/* Parses the report text [n]. `facts` receives the object that the catalog stores, at most
 * QN_FACTS_MAX bytes. Returns the error that the report contains (QN_EFORMAT, QN_EUNSUPPORTED,
 * QN_ENOTFOUND, QN_ELIMIT, QN_EINVAL, QN_ENOMEM, QN_EIO), or QN_ECHILD if the report breaks the
 * rules. */
qn_err qn_inspection_read(const char *text, size_t n, struct qn_inspection *out,
                          struct qn_buf *facts, char lacking[static QN_INSPECTION_LACKING_MAX + 1],
                          struct qn_error *e);

#endif
