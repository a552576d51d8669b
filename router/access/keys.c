/* See keys.h. */
#include "access/keys.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct qn_keys {
    struct qn_key_row *rows;
    size_t n;
    uint64_t last_id;
};

struct qn_keys *qn_keys_new(void)
{
    return qn_xcalloc(1, sizeof(struct qn_keys));
}

void qn_keys_free(struct qn_keys *k)
{
    if (!k)
        return;
    free(k->rows);
    free(k);
}

bool qn_key_name_ok(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= QN_KEY_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

void qn_key_sum(const char *secret, unsigned char out[static QN_SHA256_BYTES])
{
    struct qn_sha256 s;
    qn_sha256_init(&s);
    qn_sha256_add(&s, secret, strlen(secret));
    qn_sha256_end(&s, out);
}

static size_t place_of(const struct qn_keys *k, const char *name)
{
    size_t i = 0;
    while (i < k->n && !qn_str_eq(k->rows[i].name, name))
        i++;
    return i;
}

qn_err qn_keys_room(const struct qn_keys *k, const char *name, struct qn_error *e)
{
    if (place_of(k, name) < k->n)
        return qn_fail_param(e, QN_ECONFLICT, "name",
                             "there is a key named '%s': remove it first, or choose another name",
                             name);
    if (k->n == QN_KEYS_MAX)
        return qn_fail(e, QN_ELIMIT, "there are %d keys already: remove some", QN_KEYS_MAX);
    return QN_OK;
}

qn_err qn_keys_add(struct qn_keys *k, const struct qn_key_row *row, struct qn_error *e)
{
    qn_err err = qn_keys_room(k, row->name, e);
    if (err)
        return err;
    k->rows = qn_xrealloc(k->rows, (k->n + 1) * sizeof *k->rows);
    k->rows[k->n] = *row;
    k->rows[k->n++].id = ++k->last_id;
    return QN_OK;
}

qn_err qn_keys_remove(struct qn_keys *k, const char *name, struct qn_error *e)
{
    size_t i = place_of(k, name);
    if (i == k->n)
        return qn_fail_param(e, QN_ENOTFOUND, "name", "there is no key named '%.80s'", name);
    if (k->rows[i].fixed)
        return qn_fail_param(e, QN_ECONFLICT, "name",
                             "the key '%s' comes from the server's environment: it goes when the "
                             "server is started without it",
                             name);
    memmove(&k->rows[i], &k->rows[i + 1], (k->n - i - 1) * sizeof *k->rows);
    k->n--;
    return QN_OK;
}

size_t qn_keys_count(const struct qn_keys *k)
{
    return k->n;
}

const struct qn_key_row *qn_keys_at(const struct qn_keys *k, size_t i)
{
    return i < k->n ? &k->rows[i] : NULL;
}

const struct qn_key_row *qn_keys_named(const struct qn_keys *k, const char *name)
{
    return qn_keys_at(k, place_of(k, name));
}

bool qn_keys_have(const struct qn_keys *k, uint64_t id)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->rows[i].id == id)
            return true;
    return false;
}

bool qn_keys_have_admin(const struct qn_keys *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->rows[i].admin)
            return true;
    return false;
}

/* Constant time: no branch depends on the bytes. */
static bool same_sum(const unsigned char *a, const unsigned char *b)
{
    volatile unsigned char differs = 0;
    for (size_t i = 0; i < QN_SHA256_BYTES; i++)
        differs = (unsigned char)(differs | (a[i] ^ b[i]));
    return differs == 0;
}

const struct qn_key_row *qn_keys_find(const struct qn_keys *k, const char *secret)
{
    unsigned char sum[QN_SHA256_BYTES];
    const struct qn_key_row *found = NULL;
    if (!secret || !*secret || strnlen(secret, QN_KEY_SECRET_MAX + 1) > QN_KEY_SECRET_MAX)
        return NULL;
    qn_key_sum(secret, sum);
    for (size_t i = 0; i < k->n; i++)
        if (same_sum(sum, k->rows[i].sum) && (!found || k->rows[i].admin))
            found = &k->rows[i];
    return found;
}

static qn_err add_secret(struct qn_keys *k, const char *name, const char *secret, bool admin,
                         struct qn_error *e)
{
    struct qn_key_row row = {.admin = admin, .fixed = true};
    if (strnlen(secret, QN_KEY_SECRET_MAX + 1) > QN_KEY_SECRET_MAX)
        return qn_fail(e, QN_EINVAL, "the %s key in the environment is longer than %d bytes", name,
                       QN_KEY_SECRET_MAX);
    row.weak = strlen(secret) < QN_KEY_SHORT;
    memcpy(row.name, name, strlen(name) + 1);
    qn_key_sum(secret, row.sum);
    return qn_keys_add(k, &row, e);
}

qn_err qn_keys_from_env(struct qn_keys *k, const char *const *env, struct qn_error *e)
{
    const char *api = qn_env_get(env, "QUINCE_API_KEY");
    const char *admin = qn_env_get(env, "QUINCE_ADMIN_API_KEY");
    if (!api)
        api = qn_env_get(env, "LEMONADE_API_KEY");
    if (!admin)
        admin = qn_env_get(env, "LEMONADE_ADMIN_API_KEY");
    qn_err err = api ? add_secret(k, "environment", api, !admin, e) : QN_OK;
    if (!err && admin)
        err = add_secret(k, "environment-admin", admin, true, e);
    return err;
}
