/* What a model file says of itself, from its header alone: no weights are read. */
#ifndef QN_REGISTRY_INSPECT_H
#define QN_REGISTRY_INSPECT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_inspection {
    char architecture[64]; /* "qwen3" */
    char title[128];       /* general.name, may be empty */
    char quantization[32]; /* "Q4_K_M", "F16"; the commonest tensor type where the file does not say
                            */
    int64_t parameters;    /* elements of all tensors */
    int64_t context_length; /* tokens the model was trained on; 0: not said */
    int64_t kv_token_bytes; /* cache that one token needs, in f16; 0: not said */
    int64_t size_bytes;     /* of the file */
    bool chat_template;
};

/* Reads the GGUF at path. QN_ENOTFOUND, QN_EFORMAT, QN_EIO with the reason; blocking, any thread.
 */
qn_err qn_registry_inspect(const char *path, struct qn_inspection *out, struct qn_error *e);

/* Appends it as the JSON object that the catalog keeps as a model's details. */
void qn_inspection_json(const struct qn_inspection *in, struct qn_buf *out);

#endif
