/* Reads the names of model files: their kind, their quantisation, their number in a series of
 * shards; and from these the variants that a repository offers (declared in resolve.h). Pure. */
#ifndef QN_REGISTRY_VARIANT_H
#define QN_REGISTRY_VARIANT_H

#include "registry/resolve.h"

#include <stdbool.h>
#include <stddef.h>

enum qn_file_kind {
    QN_FILE_OTHER,
    QN_FILE_GGUF,   /* possibly a model */
    QN_FILE_MMPROJ, /* a projector: "mmproj" in its path */
    QN_FILE_DRAFT   /* a draft model for speculative decoding: mtp-*, dflash-* */
};

enum qn_file_kind qn_file_kind_of(const char *path);

bool qn_has_ending(const char *path, const char *ending); /* compares without regard to case */

/* True for a model file's ending: .gguf .bin .safetensors .onnx .pth. */
bool qn_is_model_file(const char *path);

/* Parses "X-00002-of-00003.gguf" into number 2, count 3 and the length of X in bytes. False also
 * for series of more than QN_SHARDS_MAX. */
enum { QN_SHARDS_MAX = 1000 };
struct qn_shard {
    int number, count;
    size_t stem_len;
};
bool qn_shard_of(const char *path, struct qn_shard *out);

#endif
