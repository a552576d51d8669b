/* API keys as stored in the catalog: names and hashes of secrets, never a secret. */
#ifndef QN_CATALOG_KEYS_H
#define QN_CATALOG_KEYS_H

#include "base/error.h"
#include "catalog/catalog.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_STORED_KEY_NAME_MAX = 64, QN_STORED_KEY_SUM = 32, QN_STORED_KEYS_MAX = 1000 };

struct qn_stored_key {
    char name[QN_STORED_KEY_NAME_MAX + 1];
    unsigned char sum[QN_STORED_KEY_SUM]; /* SHA-256 of the secret */
    bool admin;
    int64_t created_s; /* Unix time */
};

/* Passes every key to `each`, oldest first. Blocking: for the start of the program, before the loop
 * runs. After an error the keys are not known, so no client may be admitted. */
qn_err qn_catalog_read_keys(struct qn_catalog *c,
                            void (*each)(void *ctx, const struct qn_stored_key *key), void *ctx,
                            struct qn_error *e);

/* done(ctx, NULL) when the key is stored; QN_ECONFLICT: the name exists. */
void qn_catalog_keep_key(struct qn_catalog *c, const struct qn_stored_key *key,
                         qn_catalog_done done, void *ctx);

/* done(ctx, NULL) when the key is removed; QN_ENOTFOUND when there was none. */
void qn_catalog_drop_key(struct qn_catalog *c, const char *name, qn_catalog_done done, void *ctx);

#endif
