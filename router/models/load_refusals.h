/* Which loads of one model have failed lately, so that the same load is refused at once instead of
 * taking room from other models again. A load is known by a key: a checksum over its options and
 * the stamps of its files. Pure; times are qn_now_ms. */
#ifndef QN_MODELS_LOAD_REFUSALS_H
#define QN_MODELS_LOAD_REFUSALS_H

#include "base/error.h"
#include "digest/sha256.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_LOAD_REFUSAL_MS = 5 * 60 * 1000, /* for so long a failed load is refused at once */
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

/* The load of this key has failed now; an earlier failure of the same load is replaced. */
void qn_load_refusals_add(struct qn_load_refusals *r, const char *key, const struct qn_error *why,
                          int64_t now_ms);

/* Why the load of this key failed, if that is no longer ago than QN_LOAD_REFUSAL_MS; else NULL.
 * Lent until the next change. */
const struct qn_error *qn_load_refusals_find(const struct qn_load_refusals *r, const char *key,
                                             int64_t now_ms);

#endif
