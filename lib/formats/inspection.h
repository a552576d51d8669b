/* What a model file says of itself, as quince-inspect tells it to the server: one JSON object.
 *
 *   {"details": {"architecture": "llama", ...}, "size_bytes": 4096, "facts": {"info": {...},
 *    "template": "...", "license": "...", "capabilities": ["chat", "complete", "tools"]}}
 *   {"code": "format", "error": "metadata 12: ..."}
 *
 * either with "lacking" beside it: the parts of the sandbox that this kernel does not have. The
 * program has read hostile bytes, so whatever it writes may be theirs: the reader checks types,
 * sizes, counts and characters, and passes on nothing else. Any thread. */
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
    QN_FACTS_ENTRIES_MAX = 65536 + 1, /* as many as a GGUF may have, and the count of parameters */
    QN_FACTS_TEXT_MAX = 4096,
    QN_FACTS_TEMPLATE_MAX = 256 * 1024,
    QN_FACTS_LICENSE_MAX = 128 * 1024,
    QN_FACTS_CAPABILITIES_MAX = 8,
    QN_FACTS_CAPABILITY_LEN = 32,
    QN_INSPECTION_LACKING_MAX = 32,
    QN_INSPECTION_MAX = QN_FACTS_MAX + 64 * 1024 /* bytes of the whole answer */
};
#define QN_INSPECTION_NUMBER_MAX (INT64_C(1) << 53) /* JSON's whole numbers */

struct qn_inspection {
    char architecture[64]; /* "qwen3" */
    char title[128];       /* general.name, may be empty */
    char quantization[32]; /* "Q4_K_M", "F16"; the commonest tensor type where the file does not say
                            */
    int64_t parameters;    /* elements of all tensors */
    int64_t context_length; /* tokens the model was trained on; 0: not said */
    int64_t kv_token_bytes; /* cache that one token needs, in f16; 0: not said */
    int64_t size_bytes;     /* of all files */
    bool chat_template;
};

/* Appends it as the JSON object that the catalog keeps as a model's details. */
void qn_inspection_json(const struct qn_inspection *in, struct qn_buf *out);

/* Appends the answer. facts: an object, or empty; lacking: "" for nothing; e: its code is QN_OK, or
 * it is all there is to say. */
void qn_inspection_write(const struct qn_inspection *in, struct qn_buf *facts, const char *lacking,
                         const struct qn_error *e, struct qn_buf *out);

/* Reads the answer text [n]; facts receives the object that the catalog keeps, QN_FACTS_MAX bytes
 * at most. The error that the answer tells (QN_EFORMAT, QN_EUNSUPPORTED, QN_ENOTFOUND, QN_ELIMIT,
 * QN_EINVAL, QN_ENOMEM, QN_EIO), else QN_ECHILD: it breaks these rules. */
qn_err qn_inspection_read(const char *text, size_t n, struct qn_inspection *out,
                          struct qn_buf *facts, char lacking[static QN_INSPECTION_LACKING_MAX + 1],
                          struct qn_error *e);

#endif
