/* Loads of one model that failed lately, so that the same load is refused at once instead of
 * evicting other models again. A load is identified by a key: a checksum of its options and of the
 * names, sizes and times of its files. Pure; times are qn_now_ms. */
#ifndef QN_MODELS_LOAD_REFUSALS_H
#define QN_MODELS_LOAD_REFUSALS_H

#include "base/error.h"
#include "digest/sha256.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_LOAD_REFUSAL_MS = 5 * 60 * 1000, /* how long a failed load is refused at once */
    QN_LOAD_REFUSALS_MAX = 4            /* of one model; the oldest is dropped for a newer one */
};

struct qn_load_refusals { /* all zero: none */
    struct qn_load_refusal {
        char key[QN_SHA256_HEX + 1];
        struct qn_error why;
        int64_t until_ms;
    } v[QN_LOAD_REFUSALS_MAX];
    size_t n;
};

/* Records that the load with this key has failed; replaces an earlier failure of the same load. */
void qn_load_refusals_add(struct qn_load_refusals *r, const char *key, const struct qn_error *why,
                          int64_t now_ms);

/* Why the load with this key failed, if that was at most QN_LOAD_REFUSAL_MS ago; else NULL. Lent
 * until the next change. */
const struct qn_error *qn_load_refusals_find(const struct qn_load_refusals *r, const char *key,
                                             int64_t now_ms);

#endif
