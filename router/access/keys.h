/* API keys, and admin keys, which have more rights. Each has a name; of its secret only the SHA-256
 * is kept. Keys come from the environment and from the catalog. Loop thread only. */
#ifndef QN_ACCESS_KEYS_H
#define QN_ACCESS_KEYS_H

#include "base/error.h"
#include "digest/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_KEY_NAME_MAX = 64,     /* bytes: letters, digits and . _ - */
    QN_KEY_SECRET_MAX = 4096, /* bytes: longer secrets are invalid */
    QN_KEY_SHORT = 16,        /* bytes: shorter secrets can be guessed */
    QN_KEYS_MAX = 1000
};

struct qn_key {
    uint64_t id;      /* see struct qn_key_row */
    const char *name; /* also the name of clients that use it: see client_id.h */
    bool admin;
    bool shared; /* from the environment: may be used by many clients, so it identifies none of them
                  */
};

/* A key with its stored properties. */
struct qn_key_row {
    uint64_t
        id; /* Set by qn_keys_add; never 0 and never reused, not even for a key of the same name. */
    char name[QN_KEY_NAME_MAX + 1];
    bool admin, fixed; /* fixed: from the environment, cannot be removed */
    bool weak;         /* its secret is shorter than QN_KEY_SHORT */
    int64_t created_s;
    unsigned char sum[QN_SHA256_BYTES]; /* SHA-256 of the secret */
};

struct qn_keys;
struct qn_keys *qn_keys_new(void);
void qn_keys_free(struct qn_keys *k); /* NULL allowed */

bool qn_key_name_ok(const char *name);
void qn_key_sum(const char *secret, unsigned char out[static QN_SHA256_BYTES]);

/* QN_ECONFLICT: the name is taken. QN_ELIMIT: too many. */
qn_err qn_keys_add(struct qn_keys *k, const struct qn_key_row *row, struct qn_error *e);
/* QN_ENOTFOUND: there is no key of this name; QN_ECONFLICT: the key comes from the environment and
 * cannot be removed. */
qn_err qn_keys_remove(struct qn_keys *k, const char *name, struct qn_error *e);

/* Checks whether a key of this name could be added: the errors of qn_keys_add. */
qn_err qn_keys_room(const struct qn_keys *k, const char *name, struct qn_error *e);

size_t qn_keys_count(const struct qn_keys *k);
const struct qn_key_row *qn_keys_at(const struct qn_keys *k,
                                    size_t i); /* In the order of addition. */
const struct qn_key_row *qn_keys_named(const struct qn_keys *k, const char *name); /* NULL: none */
bool qn_keys_have(const struct qn_keys *k,
                  uint64_t id); /* True when the key has not been removed. */
bool qn_keys_have_admin(const struct qn_keys *k);

/* The key with this secret, NULL: none. Takes as long for an invalid secret as for a valid one: its
 * checksum is compared with every key's to the last byte. The row is lent until keys change. */
const struct qn_key_row *qn_keys_find(const struct qn_keys *k, const char *secret);

/* Adds the keys of the environment: QUINCE_API_KEY, QUINCE_ADMIN_API_KEY and, where these are
 * unset, LEMONADE_API_KEY and LEMONADE_ADMIN_API_KEY. Without an admin key the API key has admin
 * rights, as with Lemonade. Empty values count as unset. */
qn_err qn_keys_from_env(struct qn_keys *k, const char *const *env, struct qn_error *e);

#endif
