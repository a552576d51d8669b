/* What names of model files tell: their kind, their quantisation, their place in a series of
 * shards; and from them the variants that a repository offers (declared in resolve.h). Pure. */
#ifndef QN_REGISTRY_VARIANT_H
#define QN_REGISTRY_VARIANT_H

#include "registry/resolve.h"

#include <stdbool.h>
#include <stddef.h>

enum qn_file_kind {
    QN_FILE_OTHER,
    QN_FILE_GGUF,   /* may be a model */
    QN_FILE_MMPROJ, /* a projector: "mmproj" in its path */
    QN_FILE_DRAFT   /* guesses for another model: mtp-*, dflash-* */
};

enum qn_file_kind qn_file_kind_of(const char *path);

bool qn_has_ending(const char *path, const char *ending); /* in any case of letters */

/* Ends as files of models do: .gguf .bin .safetensors .onnx .pth. */
bool qn_is_model_file(const char *path);

/* "X-00002-of-00003.gguf": number 2 of count 3, and how many bytes X has. False also for series of
 * more than QN_SHARDS_MAX. */
enum { QN_SHARDS_MAX = 1000 };
struct qn_shard {
    int number, count;
    size_t stem_len;
};
bool qn_shard_of(const char *path, struct qn_shard *out);

#endif
