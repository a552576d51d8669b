/* See target.h. */
#include "mcp/target.h"

#include "base/json.h"
#include "base/str.h"

static const char *text(const struct qn_jref *root, const char *key, struct qn_arena *arena)
{
    struct qn_jref v = qn_json_get(root, key);
    return qn_arena_strdup(arena, qn_json_raw_str(&v));
}

/* Reads the strings of an array, or the members of an object as NAME=VALUE. */
static qn_err words(const struct qn_jref *root, const char *key, struct qn_arena *arena,
                    struct qn_words *out, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, key), it;
    bool pairs = qn_json_type(&list) == QN_JSON_OBJECT;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        const char *word = qn_json_raw_str(&it);
        if (out->n == QN_TARGET_WORDS_MAX)
            return qn_json_fail(&list, e, "at most %d are possible", QN_TARGET_WORDS_MAX);
        out->v[out->n++] =
            pairs ? qn_arena_fmt(arena, "%s=%s", it.key, word) : qn_arena_strdup(arena, word);
    }
    return QN_OK;
}

static void read_ports(const struct qn_jref *root, struct qn_mcp_target *out)
{
    struct qn_jref list = qn_json_get(root, "ports"), it;
    for (bool more = qn_json_first(&list, &it); more && out->n_ports < QN_TARGET_WORDS_MAX;
         more = qn_json_next(&it))
        out->ports[out->n_ports++] = (int)qn_json_raw_f64(&it);
}

qn_err qn_mcp_target_read(const char *line, size_t n, struct qn_arena *arena,
                          struct qn_mcp_target *out, struct qn_error *e)
{
    struct qn_json *doc;
    *out = (struct qn_mcp_target){.stdio = false};
    qn_err err = qn_json_parse(line, n, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), ms = qn_json_get(&root, "start_ms"),
                   is_public = qn_json_get(&root, "public");
    const char *what = text(&root, "do", arena), *kind = text(&root, "kind", arena);
    out->stdio = qn_str_eq(kind, "stdio");
    out->url = text(&root, "url", arena);
    out->token = text(&root, "token", arena);
    out->command = text(&root, "command", arena);
    out->folder = text(&root, "folder", arena);
    out->public_only = qn_json_raw_bool(&is_public);
    out->start_ms = (int64_t)qn_json_raw_f64(&ms);
    if (!qn_str_eq(what, "start") || (!out->stdio && !qn_str_eq(kind, "http")) ||
        out->start_ms <= 0)
        err = qn_fail(e, QN_EINVAL, "the first line does not start a server");
    if (!err)
        err = words(&root, "args", arena, &out->args, e);
    if (!err)
        err = words(&root, "env", arena, &out->env, e);
    if (!err)
        err = words(&root, "read", arena, &out->read, e);
    if (!err)
        err = words(&root, "write", arena, &out->write, e);
    if (!err)
        err = words(&root, "private", arena, &out->private, e);
    read_ports(&root, out);
    qn_json_free(doc);
    return err;
}
