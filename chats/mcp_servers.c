/* See mcp_servers.h. */
#include "chats/mcp_servers.h"

#include "base/rand.h"
#include "chats/rows.h"

#include <stdlib.h>
#include <string.h>

/* The arguments of the functions that add or change a server. */
struct changing {
    const char *id; /* id of the server; NULL: a server is added */
    bool stdio, has_enabled, enabled;
    struct qn_chat_mcp_patch patch;
};

static qn_err load(struct qn_chats_task *t, const char *id, struct qn_error *e)
{
    sqlite3_stmt *s;
    struct qn_chat_mcp *list = qn_arena_try(t->arena, QN_CHATS_MCP_MAX * sizeof *list);
    if (!list)
        return qn_fail(e, QN_ENOMEM, "no memory for the MCP servers");
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT id, name, stdio, enabled, created, updated, revision, config,"
                              " secrets, permissions FROM mcp_server WHERE owner = ?1"
                              " AND (?2 IS NULL OR id = ?2)"
                              " ORDER BY name COLLATE NOCASE, name LIMIT ?3",
                              "isi", t->owner_n, id, (int64_t)QN_CHATS_MCP_MAX);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        struct qn_chat_mcp *m = &list[t->found.n_mcp];
        *m = (struct qn_chat_mcp){.id = qn_chats_text(t->arena, s, 0),
                                  .name = qn_chats_text(t->arena, s, 1),
                                  .stdio = sqlite3_column_int(s, 2) != 0,
                                  .enabled = sqlite3_column_int(s, 3) != 0,
                                  .created_ms = sqlite3_column_int64(s, 4),
                                  .updated_ms = sqlite3_column_int64(s, 5),
                                  .revision = sqlite3_column_int64(s, 6),
                                  .config = qn_chats_text(t->arena, s, 7),
                                  .secrets = qn_chats_text(t->arena, s, 8),
                                  .permissions = qn_chats_text(t->arena, s, 9)};
        if (!m->id || !m->name || !m->config || !m->secrets || !m->permissions)
            break;
        t->found.n_mcp++;
    }
    t->found.mcp = list;
    err = qn_chats_done(t->d, s, step, e);
    return !err && step == SQLITE_ROW ? qn_fail(e, QN_ENOMEM, "no memory for the MCP servers")
                                      : err;
}

static void tell(struct qn_chats_task *t)
{
    qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_MCP, .owner = t->owner});
}

static qn_err list(struct qn_chats_task *t, struct qn_error *e)
{
    qn_err err = qn_chats_find_owner(t, e);
    return err || !t->owner_n ? err : load(t, NULL, e);
}

void qn_chats_mcp_list(struct qn_chats *c, const char *owner, qn_chats_fn fn, void *ctx)
{
    qn_chats_task_run(qn_chats_task_new(c, owner, list, false, fn, ctx), QN_OK);
}

static qn_err list_ids(struct qn_chats_task *t, struct qn_error *e)
{
    sqlite3_stmt *s;
    int64_t n;
    int step = SQLITE_DONE;
    qn_err err = qn_chats_ints(t->d, &n, 1, e, "SELECT count(*) FROM mcp_server", "");
    struct qn_chat_mcp *ids = err ? NULL : qn_arena_try(t->arena, ((size_t)n + 1) * sizeof *ids);
    if (!err && !ids)
        err = qn_fail(e, QN_ENOMEM, "no memory for the MCP servers");
    if (!err)
        err = qn_chats_sql(t->d, &s, e, "SELECT id FROM mcp_server LIMIT ?", "i", n);
    if (err)
        return err;
    t->found.mcp = ids;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *id = qn_chats_text(t->arena, s, 0);
        if (!id)
            break;
        ids[t->found.n_mcp++] = (struct qn_chat_mcp){.id = id};
    }
    err = qn_chats_done(t->d, s, step, e);
    return !err && step == SQLITE_ROW ? qn_fail(e, QN_ENOMEM, "no memory for the MCP servers")
                                      : err;
}

void qn_chats_mcp_list_ids(struct qn_chats *c, qn_chats_fn fn, void *ctx)
{
    qn_chats_task_run(qn_chats_task_new(c, NULL, list_ids, false, fn, ctx), QN_OK);
}

/* ---- changes ---- */

static qn_err find(struct qn_chats_task *t, const char *id, int64_t *n, struct qn_error *e)
{
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_ints(t->d, n, 1, e, "SELECT n FROM mcp_server WHERE id = ? AND owner = ?",
                            "si", id, t->owner_n);
    return err == QN_ENOTFOUND
               ? qn_fail_param(e, QN_ENOTFOUND, "id", "there is no MCP server '%.40s'", id)
               : err;
}

/* Returns QN_ECONFLICT if the owner has another server of this name. except: the row that may have
 * the name. */
static qn_err check_name(struct qn_chats_task *t, const char *name, int64_t except,
                         struct qn_error *e)
{
    int64_t other;
    qn_err err = qn_chats_ints(t->d, &other, 1, e,
                               "SELECT n FROM mcp_server WHERE owner = ? AND name = ? AND n <> ?",
                               "isi", t->owner_n, name, except);
    if (err == QN_ENOTFOUND)
        return QN_OK;
    return err ? err
               : qn_fail_param(e, QN_ECONFLICT, "name", "name: there is an MCP server '%.64s'",
                               name);
}

/* Checks the limits after the merge: the merged objects may exceed limits that each part kept.
 * Returns QN_ELIMIT. */
static qn_err check_sizes(struct qn_chats_task *t, int64_t n, struct qn_error *e)
{
    int64_t of[3];
    qn_err err = qn_chats_ints(t->d, of, 3, e,
                               "SELECT (SELECT count(*) FROM json_each(secrets, '$.env')),"
                               " (SELECT count(*) FROM json_each(permissions)),"
                               " max(length(config), length(secrets), length(permissions))"
                               " FROM mcp_server WHERE n = ?",
                               "i", n);
    if (!err && of[0] > QN_CHATS_MCP_ENV_MAX)
        err = qn_fail_param(e, QN_ELIMIT, "env", "env: at most %d variables", QN_CHATS_MCP_ENV_MAX);
    if (!err && of[1] > QN_CHATS_MCP_PERMISSIONS_MAX)
        err = qn_fail_param(e, QN_ELIMIT, "permissions", "permissions: at most %d tools",
                            QN_CHATS_MCP_PERMISSIONS_MAX);
    if (!err && of[2] > QN_CHATS_MCP_JSON_MAX)
        err = qn_fail(e, QN_ELIMIT, "the server's configuration has more than %d bytes",
                      QN_CHATS_MCP_JSON_MAX);
    return err;
}

static qn_err insert(struct qn_chats_task *t, const struct changing *c, char *id, int64_t *n,
                     struct qn_error *e)
{
    int64_t have;
    qn_err err = qn_chats_own(t, e);
    if (!err)
        err = qn_chats_ints(t->d, &have, 1, e, "SELECT count(*) FROM mcp_server WHERE owner = ?",
                            "i", t->owner_n);
    if (!err && have >= QN_CHATS_MCP_MAX)
        err = qn_fail(e, QN_ELIMIT, "there are %d MCP servers already: delete one first",
                      QN_CHATS_MCP_MAX);
    if (!err)
        err = check_name(t, c->patch.name, 0, e);
    qn_random_hex(id, QN_CHATS_ID_DIGITS);
    if (!err)
        err =
            qn_chats_run(t->d, e,
                         "INSERT INTO mcp_server(id, owner, name, stdio, enabled, created,"
                         " updated, revision, config, secrets, permissions)"
                         " VALUES(?, ?, ?, ?, 1, ?, 0, 0, '{}', '{}', '{}')",
                         "sisii", id, t->owner_n, c->patch.name, (int64_t)c->stdio, qn_chats_now());
    *n = sqlite3_last_insert_rowid(t->d->db);
    return err;
}

/* Must be called before `config` is merged. If the URL or the command changes, removes the secrets,
 * which were meant for another server. If the URL, the command or the arguments change, removes all
 * permissions "always". */
static qn_err forget(struct qn_chats_task *t, int64_t n, const char *config, struct qn_error *e)
{
    int64_t other[2];
    qn_err err = qn_chats_ints(
        t->d, other, 2, e,
        "SELECT json_extract(config, '$.url', '$.command') <> json_extract(new, '$.url',"
        " '$.command'), json_extract(config, '$.args') IS NOT json_extract(new, '$.args')"
        " FROM (SELECT config, json_patch(config, ?2) AS new FROM mcp_server WHERE n = ?1)",
        "is", n, config);
    if (!err && other[0])
        err = qn_chats_run(t->d, e, "UPDATE mcp_server SET secrets = '{}' WHERE n = ?", "i", n);
    if (!err && (other[0] || other[1]))
        err = qn_chats_run(t->d, e,
                           "UPDATE mcp_server SET permissions = (SELECT json_group_object(key,"
                           " value) FROM json_each(permissions) WHERE value NOT LIKE 'always%')"
                           " WHERE n = ?",
                           "i", n);
    return err;
}

static qn_err bind(struct qn_chats_task *t, int64_t n, const char *bound, struct qn_error *e)
{
    return qn_chats_run(t->d, e,
                        "UPDATE mcp_server SET permissions = json_patch(permissions, (SELECT"
                        " json_group_object(b.key, b.value) FROM json_each(?2) b"
                        " JOIN json_each(permissions) p ON p.key = b.key WHERE p.value = 'always'))"
                        " WHERE n = ?1",
                        "is", n, bound);
}

static qn_err change(struct qn_chats_task *t, struct qn_error *e)
{
    const struct changing *c = t->args;
    const struct qn_chat_mcp_patch *p = &c->patch;
    char *id = qn_arena_alloc(t->arena, QN_CHATS_ID_DIGITS + 1);
    int64_t n;
    qn_err err = c->id ? find(t, c->id, &n, e) : insert(t, c, id, &n, e);
    if (!err && p->name)
        err = check_name(t, p->name, n, e);
    if (!err && p->config)
        err = forget(t, n, p->config, e);
    if (!err && p->bound)
        err = bind(t, n, p->bound, e);
    if (!err)
        err = qn_chats_run(t->d, e,
                           "UPDATE mcp_server SET name = coalesce(?2, name), updated = ?3,"
                           " enabled = CASE WHEN ?4 THEN ?5 ELSE enabled END,"
                           " config = CASE WHEN ?6 IS NULL THEN config"
                           " ELSE json_patch(config, ?6) END,"
                           " secrets = CASE WHEN ?7 IS NULL THEN secrets"
                           " ELSE json_patch(secrets, ?7) END,"
                           " permissions = CASE WHEN ?8 IS NULL THEN permissions"
                           " ELSE json_patch(permissions, ?8) END,"
                           " revision = revision + (?6 IS NOT NULL OR ?7 IS NOT NULL)"
                           " WHERE n = ?1",
                           "isiiisss", n, p->name, qn_chats_now(), (int64_t)c->has_enabled,
                           (int64_t)c->enabled, p->config, p->secrets, p->permissions);
    if (!err)
        err = check_sizes(t, n, e);
    if (!err)
        tell(t);
    return err ? err : load(t, c->id ? c->id : id, e);
}

static void start(struct qn_chats *c, const char *owner, const char *id, bool stdio,
                  const struct qn_chat_mcp_patch *p, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, change, true, fn, ctx);
    struct changing *args = t->args = qn_arena_alloc(t->arena, sizeof *args);
    const struct {
        const char *name, *text, **copy;
        size_t max;
    } members[] = {
        {"id", id, &args->id, QN_CHATS_NAME_MAX},
        {"name", p->name, &args->patch.name, QN_CHATS_MCP_NAME_MAX},
        {"config", p->config, &args->patch.config, QN_CHATS_MCP_JSON_MAX},
        {"secrets", p->secrets, &args->patch.secrets, QN_CHATS_MCP_JSON_MAX},
        {"permissions", p->permissions, &args->patch.permissions, QN_CHATS_MCP_JSON_MAX},
        {"permissions", p->bound, &args->patch.bound, QN_CHATS_MCP_JSON_MAX},
    };
    qn_err err = QN_OK;
    for (size_t i = 0; i < sizeof members / sizeof *members && !err; i++) {
        err = qn_chats_check(members[i].name, members[i].text, members[i].max, &t->error);
        if (!err)
            *members[i].copy = qn_chats_copy(t, members[i].text);
    }
    if (!err && ((p->name && !*p->name) || (!id && !p->name)))
        err = qn_fail_param(&t->error, QN_EINVAL, "name", "name: an MCP server needs a name");
    args->stdio = stdio;
    args->has_enabled = p->enabled != NULL;
    args->enabled = p->enabled && *p->enabled;
    qn_chats_task_run(t, err);
}

void qn_chats_mcp_add(struct qn_chats *c, const char *owner, bool stdio,
                      const struct qn_chat_mcp_patch *server, qn_chats_fn fn, void *ctx)
{
    start(c, owner, NULL, stdio, server, fn, ctx);
}

void qn_chats_mcp_change(struct qn_chats *c, const char *owner, const char *id,
                         const struct qn_chat_mcp_patch *patch, qn_chats_fn fn, void *ctx)
{
    start(c, owner, id, false, patch, fn, ctx);
}

static qn_err remove_server(struct qn_chats_task *t, struct qn_error *e)
{
    int64_t n;
    qn_err err = find(t, t->args, &n, e);
    if (!err)
        err = qn_chats_run(t->d, e, "DELETE FROM mcp_server WHERE n = ?", "i", n);
    if (!err)
        tell(t);
    return err;
}

void qn_chats_mcp_remove(struct qn_chats *c, const char *owner, const char *id, qn_chats_fn fn,
                         void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, remove_server, true, fn, ctx);
    qn_err err = qn_chats_check("id", id, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        t->args = qn_arena_strdup(t->arena, id);
    qn_chats_task_run(t, err);
}
