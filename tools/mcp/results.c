/* See results.h. */
#include "mcp/results.h"

#include "base/str.h"

#include <string.h>

enum { CUT_ROOM = 64, WORD_MAX = 200 };

static const char *member(const struct qn_jref *object, const char *name)
{
    struct qn_jref v = qn_json_get(object, name);
    return qn_json_raw_str(&v);
}

bool qn_result_clean(const char *text, size_t max, struct qn_buf *out)
{
    size_t n = strlen(text), most = n > max ? qn_utf8_whole(text, max) : n;
    for (size_t i = 0; i < most; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t')
            qn_buf_char(out, (char)c);
    }
    return n <= max;
}

/* Appends a note that names the type of a block that is not text. */
static void name_block(const struct qn_jref *block, struct qn_buf *out)
{
    struct qn_jref resource = qn_json_get(block, "resource");
    const char *kind = member(block, "type"), *type = member(block, "mimeType"),
               *uri = member(block, "uri");
    if (!*uri)
        uri = member(&resource, "uri");
    qn_buf_str(out, "[left out: ");
    qn_result_clean(*kind ? kind : "a block without a type", WORD_MAX, out);
    if (*type) {
        qn_buf_char(out, ' ');
        qn_result_clean(type, WORD_MAX, out);
    }
    if (*uri) {
        qn_buf_char(out, ' ');
        qn_result_clean(uri, WORD_MAX, out);
    }
    qn_buf_char(out, ']');
}

static size_t room(const struct qn_buf *out, size_t before)
{
    size_t used = out->len - before;
    return used < QN_MCP_RESULT_MAX - CUT_ROOM ? QN_MCP_RESULT_MAX - CUT_ROOM - used : 0;
}

bool qn_result_text(const struct qn_jref *result, struct qn_buf *out)
{
    struct qn_jref content = qn_json_get(result, "content"), it,
                   structured = qn_json_get(result, "structuredContent"),
                   error = qn_json_get(result, "isError");
    const size_t before = out->len;
    bool any = false, whole = true;
    for (bool more = qn_json_first(&content, &it); more; more = qn_json_next(&it)) {
        bool text = qn_str_eq(member(&it, "type"), "text");
        if (room(out, before) < 4 * WORD_MAX) {
            whole = false;
            break;
        }
        if (out->len > before)
            qn_buf_char(out, '\n');
        if (text)
            whole = qn_result_clean(member(&it, "text"), room(out, before), out) && whole;
        else
            name_block(&it, out);
        any = any || text;
    }
    if (!any && qn_json_type(&structured) == QN_JSON_OBJECT) {
        struct qn_buf json;
        qn_buf_init(&json, 2 * 4 * 1024 * 1024);
        qn_json_print(&structured, &json);
        if (out->len > before)
            qn_buf_char(out, '\n');
        whole = qn_result_clean(qn_buf_cstr(&json), room(out, before), out) && whole;
        qn_buf_deinit(&json);
    }
    if (!whole)
        qn_buf_str(out, "\n[the rest of the result was left out]");
    return qn_json_raw_bool(&error);
}

bool qn_result_tool(const struct qn_jref *tool, struct qn_tool_count *count, struct qn_mcp_up *up,
                    struct qn_buf *schema, struct qn_buf *description)
{
    struct qn_jref input = qn_json_get(tool, "inputSchema");
    const char *name = member(tool, "name"), *title = member(tool, "title");
    *up = (struct qn_mcp_up){.kind = QN_MCP_UP_TOOL, .name = name};
    qn_buf_clear(schema);
    qn_buf_clear(description);
    if (!*name || strlen(name) > QN_MCP_TOOL_NAME_MAX || count->n >= QN_MCP_TOOLS_MAX ||
        qn_json_type(&input) != QN_JSON_OBJECT || qn_json_print(&input, schema)) {
        count->left_out++;
        return false;
    }
    qn_result_clean(member(tool, "description"), QN_MCP_DESCRIPTION_MAX, description);
    up->title = strlen(title) <= QN_MCP_TOOL_NAME_MAX ? title : "";
    up->description = qn_buf_cstr(description);
    up->schema = qn_buf_cstr(schema);
    size_t bytes = strlen(name) + strlen(up->title) + description->len + schema->len;
    if (count->bytes + bytes > QN_MCP_TOOLS_BYTES_MAX) {
        count->left_out++;
        return false;
    }
    count->n++;
    count->bytes += bytes;
    return true;
}
