/* The checksum of a model's files (SHA-256 over all of them in order), and a stamp of their sizes
 * and times of change which shows whether a checksum computed earlier still holds. */
#ifndef QN_REGISTRY_DIGEST_H
#define QN_REGISTRY_DIGEST_H

#include "base/error.h"
#include "digest/sha256.h"

#include <stdatomic.h>
#include <stdint.h>

enum { QN_STAMP_MAX = 80 };

struct qn_stamp {
    char text[QN_STAMP_MAX]; /* changes when a file's size or time of change does */
    int64_t modified_s;      /* modification time of the newest file, Unix time */
};

/* Computes the stamp of a model's files. path: the model's file, or the first one of a split model.
 * QN_ENOTFOUND: a file is missing. QN_EIO. Blocking, any thread. */
qn_err qn_registry_stamp(const char *path, struct qn_stamp *out, struct qn_error *e);

/* Reads every byte that the files have at the time of the call, which takes seconds for large
 * models. QN_EFORMAT: the files have more than 16 GiB of holes. QN_ECANCELLED as soon as *stop is
 * set. Blocking, any thread. */
qn_err qn_registry_digest(const char *path, const atomic_bool *stop,
                          char out[static QN_SHA256_HEX + 1], struct qn_error *e);

#endif
