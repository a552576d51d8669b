/* See owner_salt.h. */
#include "access/owner_salt.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "digest/hmac.h"

#include <stdlib.h>
#include <string.h>

qn_err qn_owner_key_open(const char *data_dir, struct qn_owner_key *out, struct qn_error *e)
{
    char *path = qn_path_join(data_dir, QN_OWNER_KEY_FILE);
    struct qn_buf text;
    qn_buf_init(&text, QN_OWNER_KEY_BYTES);
    qn_err err = qn_file_read(path, &text, e);
    if (!err && text.len == QN_OWNER_KEY_BYTES) {
        memcpy(out->bytes, text.data, QN_OWNER_KEY_BYTES);
    } else if (!err || err == QN_ENOTFOUND || err == QN_ELIMIT) {
        if (err != QN_ENOTFOUND)
            qn_warn("access",
                    "file=%s damaged=1 message=\"created again: prompts that models have "
                    "cached on disk are computed again\"",
                    path);
        qn_random_bytes(out->bytes, QN_OWNER_KEY_BYTES);
        err = qn_file_write_atomic(path, out->bytes, QN_OWNER_KEY_BYTES, 0600, e);
    }
    qn_buf_deinit(&text);
    free(path);
    return err;
}

uint64_t qn_owner_salt(const struct qn_owner_key *key, const char *owner)
{
    unsigned char sum[QN_SHA256_BYTES];
    uint64_t salt = 0;
    qn_hmac_sha256(key->bytes, QN_OWNER_KEY_BYTES, owner, strlen(owner), sum);
    for (size_t i = 0; i < sizeof salt; i++)
        salt = salt << 8 | sum[i];
    return salt ? salt : 1;
}
