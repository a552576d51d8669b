/* A number for each owner (cache salt) with which models' processes separate the prompts of
 * different owners without knowing the owners' names: the beginning of HMAC-SHA-256 of the name.
 * The HMAC key is a file of the data folder, so that prompts cached on disk still belong to their
 * owner after a restart. */
#ifndef QN_ACCESS_OWNER_SALT_H
#define QN_ACCESS_OWNER_SALT_H

#include "base/error.h"

#include <stdint.h>

enum { QN_OWNER_KEY_BYTES = 32 };
#define QN_OWNER_KEY_FILE "owner-salt.key"

struct qn_owner_key {
    unsigned char bytes[QN_OWNER_KEY_BYTES];
};

/* Reads the file, or creates it with a random key if it is missing or damaged. QN_EIO. Blocks: call
 * before the loop runs. */
qn_err qn_owner_key_open(const char *data_dir, struct qn_owner_key *out, struct qn_error *e);

/* owner: see qn_owner_name. Never 0. Pure. */
uint64_t qn_owner_salt(const struct qn_owner_key *key, const char *owner);

#endif
