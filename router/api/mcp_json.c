/* See mcp_json.h. */
#include "api/mcp_json.h"

#include "api/chat_json.h"
#include "base/str.h"
#include "mcp_servers/permissions.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 4096, VALUE_MAX = 8192, ARGS_MAX = 64, PATHS_MAX = 32 };

/* ---- reading requests ---- */

/* Reads a string of at most `max` bytes without control characters. */
static qn_err read_line(const struct qn_jref *v, size_t max, const char **out, struct qn_error *e)
{
    qn_err err = qn_json_str(v, out, e);
    if (err)
        return err;
    if (strlen(*out) > max)
        return qn_json_fail(v, e, "at most %zu bytes are possible", max);
    for (const char *c = *out; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return qn_json_fail(v, e, "control characters are not possible");
    return QN_OK;
}

static qn_err read_url(const struct qn_jref *v, struct qn_jw *w, struct qn_error *e)
{
    const char *url = NULL;
    qn_err err = read_line(v, WORD_MAX, &url, e);
    if (err)
        return err;
    size_t scheme = qn_str_starts(url, "https://")  ? strlen("https://")
                    : qn_str_starts(url, "http://") ? strlen("http://")
                                                    : 0;
    size_t host = strcspn(url + scheme, "/?#");
    if (!scheme || !host || strchr(url, ' '))
        return qn_json_fail(v, e, "expected an address that begins with http:// or https://");
    if (memchr(url + scheme, '@', host))
        return qn_json_fail(v, e,
                            "a user name or password in an address is not possible: use the "
                            "token");
    qn_jw_kstr(w, "url", url);
    return QN_OK;
}

static qn_err read_command(const struct qn_jref *v, struct qn_jw *w, struct qn_error *e)
{
    const char *command = NULL;
    qn_err err = read_line(v, WORD_MAX, &command, e);
    if (!err && (!*command || (*command != '/' && strchr(command, '/'))))
        err = qn_json_fail(v, e, "expected an absolute path, or a name without a slash");
    if (!err)
        qn_jw_kstr(w, "command", command);
    return err;
}

static qn_err read_list(const struct qn_jref *v, bool paths, struct qn_jw *w, struct qn_error *e)
{
    struct qn_jref it;
    size_t max = paths ? PATHS_MAX : ARGS_MAX;
    const char *text = NULL;
    qn_err err = QN_OK;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array");
    if (qn_json_count(v) > max)
        return qn_json_fail(v, e, "at most %zu are possible", max);
    qn_jw_key(w, v->key);
    qn_jw_arr(w);
    for (bool more = qn_json_first(v, &it); more && !err; more = qn_json_next(&it)) {
        err = paths ? read_line(&it, WORD_MAX, &text, e) : qn_json_str(&it, &text, e);
        if (!err && strlen(text) > WORD_MAX)
            err = qn_json_fail(&it, e, "at most %d bytes are possible", WORD_MAX);
        if (!err && paths && (*text != '/' || !text[1]))
            err = qn_json_fail(&it, e, "expected an absolute path of a file or folder");
        if (!err)
            qn_jw_str(w, text);
    }
    qn_jw_arr_end(w);
    return err;
}

static bool is_variable(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* Reads the environment variables. fresh: the server is new, so null, which removes a variable, is
 * not allowed. */
static qn_err read_env(const struct qn_jref *v, bool fresh, struct qn_jw *w, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object");
    qn_jw_key(w, "env");
    qn_jw_obj(w);
    for (bool more = qn_json_first(v, &it); more && !err; more = qn_json_next(&it)) {
        const char *value = NULL;
        if (!is_variable(it.key) || strlen(it.key) > QN_CHATS_NAME_MAX)
            return qn_json_fail(v, e, "the name of a variable has letters, digits and _");
        if (fresh || qn_json_type(&it) != QN_JSON_NULL)
            err = qn_json_str(&it, &value, e);
        if (!err && value && strlen(value) > VALUE_MAX)
            err = qn_json_fail(&it, e, "at most %d bytes are possible", VALUE_MAX);
        if (!err)
            qn_jw_kstr(w, it.key, value);
    }
    qn_jw_obj_end(w);
    return err;
}

static qn_err read_token(const struct qn_jref *v, struct qn_jw *w, struct qn_error *e)
{
    const char *token = NULL;
    qn_err err = qn_json_type(v) == QN_JSON_NULL ? QN_OK : read_line(v, WORD_MAX, &token, e);
    for (const char *c = token; !err && c && *c; c++)
        if (*c < 0x21)
            err = qn_json_fail(v, e, "expected ASCII characters without blanks");
    if (!err)
        qn_jw_kstr(w, "token", token && *token ? token : NULL);
    return err;
}

/* Writes a permission. ALWAYS gets the digest of the tool definition that `view` has, which is what
 * the client has seen. */
static void write_permission(const char *tool, enum qn_mcp_permission p,
                             const struct qn_mcp_view *view, struct qn_jw *w)
{
    char digest[QN_SHA256_HEX + 1] = "";
    for (size_t i = 0; view && p == QN_MCP_ALWAYS && i < view->n_tools && !*digest; i++)
        if (qn_str_eq(view->tools[i].name, tool))
            qn_mcp_tool_digest(&view->tools[i], digest);
    qn_mcp_permission_write(w, tool, p, *digest ? digest : NULL);
}

/* Reads the permissions. view: the tools of the server; NULL: they are unknown. */
static qn_err read_permissions(const struct qn_jref *v, const struct qn_mcp_view *view,
                               struct qn_jw *w, struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object");
    for (bool more = qn_json_first(v, &it); more && !w->out->overflow; more = qn_json_next(&it)) {
        enum qn_mcp_permission p = QN_MCP_ASK;
        if (qn_json_type(&it) != QN_JSON_NULL && !qn_mcp_permission_parse(qn_json_raw_str(&it), &p))
            return qn_json_fail(&it, e, "expected ask, always or never");
        if (strlen(it.key) > QN_MCP_TOOL_NAME_MAX)
            return qn_json_fail(v, e, "a tool's name has at most %d bytes", QN_MCP_TOOL_NAME_MAX);
        write_permission(it.key, p, view, w);
    }
    return QN_OK;
}

/* Reads the members that are stored in the columns `config` and `secrets`. */
static qn_err read_own(const struct qn_jref *root, bool stdio, bool fresh, struct qn_jw *config,
                       struct qn_jw *secrets, struct qn_error *e)
{
    struct qn_jref call_s = qn_json_get(root, "call_s"), url = qn_json_get(root, "url"),
                   token = qn_json_get(root, "token"), command = qn_json_get(root, "command"),
                   args = qn_json_get(root, "args"), env = qn_json_get(root, "env"),
                   reads = qn_json_get(root, "read"), writes = qn_json_get(root, "write");
    int64_t seconds = fresh ? QN_MCP_CALL_S : 0;
    qn_err err = qn_json_i64_opt(&call_s, 1, QN_MCP_CALL_S_MAX, &seconds, e);
    if (!err && seconds)
        qn_jw_ki64(config, "call_s", seconds);
    if (!err && !stdio && (fresh || qn_json_type(&url) != QN_JSON_ABSENT))
        err = read_url(&url, config, e);
    if (!err && !stdio && qn_json_type(&token) != QN_JSON_ABSENT)
        err = read_token(&token, secrets, e);
    if (!err && stdio && (fresh || qn_json_type(&command) != QN_JSON_ABSENT))
        err = read_command(&command, config, e);
    if (!err && stdio && qn_json_type(&args) != QN_JSON_ABSENT)
        err = read_list(&args, false, config, e);
    if (!err && stdio && qn_json_type(&reads) != QN_JSON_ABSENT)
        err = read_list(&reads, true, config, e);
    if (!err && stdio && qn_json_type(&writes) != QN_JSON_ABSENT)
        err = read_list(&writes, true, config, e);
    if (!err && stdio && qn_json_type(&env) != QN_JSON_ABSENT)
        err = read_env(&env, fresh, secrets, e);
    return err;
}

/* Returns the JSON text; NULL if the object is empty. */
static const char *object_of(struct qn_buf *text)
{
    return text->len > strlen("{}") ? qn_buf_cstr(text) : NULL;
}

/* Returns true if the change has a URL, command or arguments: then the known tools are out of date,
 * because another server may take the place of the present one. */
static bool is_elsewhere(const struct qn_jref *root)
{
    static const char *const names[] = {"url", "command", "args"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qn_jref v = qn_json_get(root, names[i]);
        if (qn_json_type(&v) != QN_JSON_ABSENT)
            return true;
    }
    return false;
}

qn_err qn_mcp_members_read(const struct qn_jref *root, bool stdio, const struct qn_mcp_view *view,
                           struct qn_mcp_members *out, struct qn_error *e)
{
    bool fresh = !view;
    static const char *const of_http[] = {"name",        "kind", "enabled", "call_s",
                                          "permissions", "url",  "token",   NULL};
    static const char *const of_stdio[] = {"name",        "kind",    "enabled", "call_s",
                                           "permissions", "command", "args",    "env",
                                           "read",        "write",   NULL};
    struct qn_jref name = qn_json_get(root, "name"), enabled = qn_json_get(root, "enabled"),
                   permissions = qn_json_get(root, "permissions"), kind = qn_json_get(root, "kind");
    *out = (struct qn_mcp_members){.enabled = true};
    qn_buf_init(&out->config, QN_CHATS_MCP_JSON_MAX);
    qn_buf_init(&out->secrets, QN_CHATS_MCP_JSON_MAX);
    qn_buf_init(&out->permissions, QN_CHATS_MCP_JSON_MAX);
    struct qn_jw c = qn_jw_to(&out->config), s = qn_jw_to(&out->secrets),
                 p = qn_jw_to(&out->permissions);
    qn_jw_obj(&c);
    qn_jw_obj(&s);
    qn_jw_obj(&p);
    qn_err err = qn_api_members_known(root, stdio ? of_stdio : of_http, e);
    if (!err && !fresh && qn_json_type(&kind) != QN_JSON_ABSENT)
        err = qn_json_fail(&kind, e, "a server's kind cannot be changed");
    if (!err && (fresh || qn_json_type(&name) != QN_JSON_ABSENT))
        err = read_line(&name, QN_CHATS_MCP_NAME_MAX, &out->patch.name, e);
    if (!err && qn_json_type(&enabled) != QN_JSON_ABSENT) {
        err = qn_json_bool(&enabled, &out->enabled, e);
        out->patch.enabled = &out->enabled;
    }
    if (!err)
        err = read_own(root, stdio, fresh, &c, &s, e);
    if (!err && qn_json_type(&permissions) != QN_JSON_ABSENT)
        err = read_permissions(&permissions, is_elsewhere(root) ? NULL : view, &p, e);
    qn_jw_obj_end(&c);
    qn_jw_obj_end(&s);
    qn_jw_obj_end(&p);
    if (!err && (out->config.overflow || out->secrets.overflow || out->permissions.overflow))
        err = qn_fail(e, QN_ELIMIT, "the server's configuration has more than %d bytes",
                      QN_CHATS_MCP_JSON_MAX);
    out->patch.config = object_of(&out->config);
    out->patch.secrets = object_of(&out->secrets);
    out->patch.permissions = object_of(&out->permissions);
    return err;
}

void qn_mcp_members_deinit(struct qn_mcp_members *m)
{
    qn_buf_deinit(&m->config);
    qn_buf_deinit(&m->secrets);
    qn_buf_deinit(&m->permissions);
}

/* ---- writing replies ---- */

/* Writes which secrets are stored, but not their values. */
static void write_secrets(struct qn_jw *w, const struct qn_chat_mcp *stored)
{
    struct qn_json *doc = NULL;
    struct qn_jref none = {0}, it;
    /* After an error `doc` is NULL: no secrets. */
    (void)qn_json_parse(stored->secrets, strlen(stored->secrets), &doc, NULL);
    struct qn_jref root = doc ? qn_json_root(doc) : none, token = qn_json_get(&root, "token"),
                   env = qn_json_get(&root, "env");
    if (stored->stdio) {
        qn_jw_key(w, "env");
        qn_jw_arr(w);
        for (bool more = qn_json_first(&env, &it); more; more = qn_json_next(&it))
            qn_jw_str(w, it.key);
        qn_jw_arr_end(w);
    } else {
        qn_jw_kbool(w, "has_token", qn_json_type(&token) == QN_JSON_STRING);
    }
    qn_json_free(doc);
}

/* Writes the stored permissions, without their digests. */
static void write_permissions(struct qn_jw *w, const struct qn_chat_mcp *stored)
{
    struct qn_json *doc = NULL;
    struct qn_jref none = {0}, it;
    (void)qn_json_parse(stored->permissions, strlen(stored->permissions), &doc, NULL);
    struct qn_jref root = doc ? qn_json_root(doc) : none;
    qn_jw_key(w, "permissions");
    qn_jw_obj(w);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it))
        qn_jw_kstr(w, it.key,
                   qn_mcp_permission_name(qn_mcp_permission_stored(qn_json_raw_str(&it))));
    qn_jw_obj_end(w);
    qn_json_free(doc);
}

static void write_tools(struct qn_jw *w, const struct qn_chat_mcp *stored,
                        const struct qn_mcp_view *view)
{
    if (!view->listed) {
        qn_jw_knull(w, "tools");
        return;
    }
    struct qn_mcp_permissions *permissions = qn_mcp_permissions_new(stored->permissions);
    qn_jw_key(w, "tools");
    qn_jw_arr(w);
    for (size_t i = 0; i < view->n_tools; i++) {
        const struct qn_mcp_tool *t = &view->tools[i];
        bool changed;
        enum qn_mcp_permission p = qn_mcp_permissions_of(permissions, t, &changed);
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", t->name);
        qn_jw_kstr(w, "title", t->title);
        qn_jw_kstr(w, "description", t->description);
        qn_jw_key(w, "schema");
        qn_jw_raw(w, t->schema, strlen(t->schema));
        qn_jw_kstr(w, "permission", qn_mcp_permission_name(p));
        if (changed)
            qn_jw_kbool(w, "changed", true);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_mcp_permissions_free(permissions);
}

void qn_mcp_server_write(struct qn_jw *w, const struct qn_chat_mcp *stored,
                         const struct qn_mcp_view *view)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", stored->id);
    qn_jw_kstr(w, "name", stored->name);
    qn_jw_kstr(w, "kind", stored->stdio ? "stdio" : "http");
    qn_jw_kbool(w, "enabled", stored->enabled);
    qn_jw_members(w, stored->config);
    write_secrets(w, stored);
    write_permissions(w, stored);
    qn_jw_ki64(w, "created", stored->created_ms);
    qn_jw_ki64(w, "updated", stored->updated_ms);
    qn_jw_kstr(w, "state", qn_mcp_state_name(view->state));
    qn_jw_kstr(w, "error", *view->error ? view->error : NULL);
    if (view->state == QN_MCP_FAILED)
        qn_jw_ki64(w, "retry_ms", view->retry_ms);
    qn_jw_key(w, "server");
    if (*view->protocol) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", view->name);
        qn_jw_kstr(w, "version", view->version);
        qn_jw_kstr(w, "protocol", view->protocol);
        qn_jw_obj_end(w);
    } else {
        qn_jw_null(w);
    }
    write_tools(w, stored, view);
    qn_jw_ki64(w, "left_out", view->left_out);
    qn_jw_obj_end(w);
}
