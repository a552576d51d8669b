/* See mcp_wire.h. */
#include "contract/mcp_wire.h"

#include "base/str.h"

#include <string.h>

static const char *const kinds[QN_MCP_UP_KINDS] = {
    [QN_MCP_UP_READY] = "ready",       [QN_MCP_UP_TOOL] = "tool",     [QN_MCP_UP_LISTED] = "listed",
    [QN_MCP_UP_TEXT] = "text",         [QN_MCP_UP_RESULT] = "result", [QN_MCP_UP_FAILED] = "failed",
    [QN_MCP_UP_UNLISTED] = "unlisted", [QN_MCP_UP_DOWN] = "down"};

/* ---- lines to the router ---- */

static bool has_id(enum qn_mcp_up_kind kind)
{
    return kind == QN_MCP_UP_TEXT || kind == QN_MCP_UP_RESULT || kind == QN_MCP_UP_FAILED;
}

static bool has_message(enum qn_mcp_up_kind kind)
{
    return kind == QN_MCP_UP_FAILED || kind == QN_MCP_UP_UNLISTED || kind == QN_MCP_UP_DOWN;
}

void qn_mcp_up_write(const struct qn_mcp_up *up, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "is", kinds[up->kind]);
    if (has_id(up->kind))
        qn_jw_ki64(&w, "id", up->id);
    if (has_message(up->kind))
        qn_jw_kstr(&w, "message", up->message);
    if (up->kind == QN_MCP_UP_READY) {
        qn_jw_kstr(&w, "name", up->name);
        qn_jw_kstr(&w, "version", up->version);
        qn_jw_kstr(&w, "protocol", up->protocol);
    } else if (up->kind == QN_MCP_UP_TOOL) {
        qn_jw_kstr(&w, "name", up->name);
        qn_jw_kstr(&w, "title", up->title);
        qn_jw_kstr(&w, "description", up->description);
        qn_jw_key(&w, "schema");
        qn_jw_raw(&w, up->schema, strlen(up->schema));
    } else if (up->kind == QN_MCP_UP_LISTED) {
        qn_jw_ki64(&w, "left_out", up->left_out);
    } else if (up->kind == QN_MCP_UP_TEXT) {
        qn_jw_kstr(&w, "s", up->text);
    } else if (up->kind == QN_MCP_UP_RESULT) {
        qn_jw_kbool(&w, "error", up->error);
    }
    qn_jw_obj_end(&w);
    qn_buf_char(out, '\n');
}

static qn_err read_text(const struct qn_jref *root, const char *key, size_t max, const char **out,
                        struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, key);
    qn_err err = qn_json_str(&v, out, e);
    if (!err && strlen(*out) > max)
        err = qn_json_fail(&v, e, "more than %zu bytes", max);
    return err;
}

static qn_err read_tool(const struct qn_jref *root, struct qn_mcp_up *out, struct qn_buf *schema,
                        struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "schema");
    qn_err err = read_text(root, "name", QN_MCP_TOOL_NAME_MAX, &out->name, e);
    if (!err && !*out->name)
        err = qn_fail(e, QN_EINVAL, "a tool without a name");
    if (!err)
        err = read_text(root, "title", QN_MCP_TOOL_NAME_MAX, &out->title, e);
    if (!err)
        err = read_text(root, "description", QN_MCP_DESCRIPTION_MAX, &out->description, e);
    if (!err && qn_json_type(&v) != QN_JSON_OBJECT)
        err = qn_json_fail(&v, e, "expected an object");
    if (!err)
        err = qn_json_print(&v, schema);
    if (!err && schema->len > QN_MCP_SCHEMA_MAX)
        err = qn_json_fail(&v, e, "more than %d bytes", QN_MCP_SCHEMA_MAX);
    out->schema = qn_buf_cstr(schema);
    return err;
}

static qn_err read_members(const struct qn_jref *root, struct qn_mcp_up *out, struct qn_buf *schema,
                           struct qn_error *e)
{
    struct qn_jref id = qn_json_get(root, "id"), left = qn_json_get(root, "left_out"),
                   error = qn_json_get(root, "error");
    qn_err err = QN_OK;
    if (has_id(out->kind))
        err = qn_json_i64(&id, 1, INT64_C(1) << 53, &out->id, e);
    if (!err && has_message(out->kind))
        err = read_text(root, "message", QN_MCP_MESSAGE_TEXT_MAX, &out->message, e);
    if (err)
        return err;
    switch (out->kind) {
    case QN_MCP_UP_READY:
        err = read_text(root, "name", QN_MCP_WORD_MAX, &out->name, e);
        if (!err)
            err = read_text(root, "version", QN_MCP_WORD_MAX, &out->version, e);
        return err ? err : read_text(root, "protocol", QN_MCP_WORD_MAX, &out->protocol, e);
    case QN_MCP_UP_TOOL:
        return read_tool(root, out, schema, e);
    case QN_MCP_UP_LISTED:
        return qn_json_i64(&left, 0, INT64_C(1) << 32, &out->left_out, e);
    case QN_MCP_UP_TEXT:
        return read_text(root, "s", QN_MCP_PIECE_MAX, &out->text, e);
    case QN_MCP_UP_RESULT:
        return qn_json_bool(&error, &out->error, e);
    default:
        return QN_OK;
    }
}

qn_err qn_mcp_up_read(const char *line, size_t n, struct qn_mcp_up *out, struct qn_json **doc,
                      struct qn_buf *schema, struct qn_error *e)
{
    struct qn_error why = {0};
    *out = (struct qn_mcp_up){.name = "",
                              .version = "",
                              .protocol = "",
                              .title = "",
                              .description = "",
                              .schema = "",
                              .text = "",
                              .message = ""};
    *doc = NULL;
    qn_err err = n > QN_MCP_UP_MAX ? qn_fail(&why, QN_ELIMIT, "a line of %zu bytes", n)
                                   : qn_json_parse(line, n, doc, &why);
    if (!err) {
        struct qn_jref root = qn_json_root(*doc), is = qn_json_get(&root, "is");
        size_t i = 0;
        while (i < QN_MCP_UP_KINDS && !qn_str_eq(kinds[i], qn_json_raw_str(&is)))
            i++;
        out->kind = (enum qn_mcp_up_kind)i;
        err = i < QN_MCP_UP_KINDS ? read_members(&root, out, schema, &why)
                                  : qn_fail(&why, QN_EFORMAT, "a line of an unknown kind");
    }
    if (!err)
        return QN_OK;
    qn_json_free(*doc);
    *doc = NULL;
    return qn_fail(e, QN_ECHILD, "quince-mcp broke its protocol: %s", why.message);
}

static const char program_line[] = "{\"is\":\"program\",";

void qn_mcp_program_write(int64_t pid, struct qn_buf *out)
{
    qn_buf_fmt(out, "%s\"pid\":%lld}\n", program_line, (long long)pid);
}

bool qn_mcp_program_read(const char *line, size_t n, int64_t *pid)
{
    struct qn_json *doc;
    const size_t start = sizeof program_line - 1;
    if (n < start || memcmp(line, program_line, start) || n > QN_MCP_MESSAGE_TEXT_MAX ||
        qn_json_parse(line, n, &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "pid");
    bool good = !qn_json_i64(&v, 2, INT32_MAX, pid, NULL);
    qn_json_free(doc);
    return good;
}

/* ---- lines to quince-mcp ---- */

void qn_mcp_down_list(struct qn_buf *out)
{
    qn_buf_str(out, "{\"do\":\"list\"}\n");
}

void qn_mcp_down_call(int64_t id, const char *tool, const char *arguments, int64_t ms,
                      struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "do", "call");
    qn_jw_ki64(&w, "id", id);
    qn_jw_kstr(&w, "tool", tool);
    qn_jw_kstr(&w, "arguments", arguments);
    qn_jw_ki64(&w, "ms", ms);
    qn_jw_obj_end(&w);
    qn_buf_char(out, '\n');
}

void qn_mcp_down_cancel(int64_t id, struct qn_buf *out)
{
    qn_buf_fmt(out, "{\"do\":\"cancel\",\"id\":%lld}\n", (long long)id);
}
