/* A number for each owner, by which models' processes keep what one owner has asked apart from what
 * others ask, without being told who the owner is: the beginning of HMAC-SHA-256 over its name. The
 * key is a file of the data folder, so that prompts that a model keeps on disk are their owner's
 * after a restart, too. */
#ifndef QN_ACCESS_OWNER_SALT_H
#define QN_ACCESS_OWNER_SALT_H

#include "base/error.h"

#include <stdint.h>

enum { QN_OWNER_KEY_BYTES = 32 };
#define QN_OWNER_KEY_FILE "owner-salt.key"

struct qn_owner_key {
    unsigned char bytes[QN_OWNER_KEY_BYTES];
};

/* Reads the file, or makes it with a random key, also in the place of one that is damaged. QN_EIO.
 * Blocking: before the loop runs. */
qn_err qn_owner_key_open(const char *data_dir, struct qn_owner_key *out, struct qn_error *e);

/* owner: see qn_owner_name. Never 0. Pure. */
uint64_t qn_owner_salt(const struct qn_owner_key *key, const char *owner);

#endif
