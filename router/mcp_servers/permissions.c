/* See permissions.h. */
#include "mcp_servers/permissions.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS "always"

struct one {
    const char *tool, *value; /* point into `doc` */
};

struct qn_mcp_permissions {
    struct qn_json *doc; /* the stored JSON; NULL: it is not valid */
    struct one *list;
    size_t n;
};

const char *qn_mcp_permission_name(enum qn_mcp_permission p)
{
    return p == QN_MCP_ALWAYS ? ALWAYS : p == QN_MCP_NEVER ? "never" : "ask";
}

bool qn_mcp_permission_parse(const char *name, enum qn_mcp_permission *out)
{
    *out = qn_str_eq(name, ALWAYS)    ? QN_MCP_ALWAYS
           : qn_str_eq(name, "never") ? QN_MCP_NEVER
                                      : QN_MCP_ASK;
    return *out != QN_MCP_ASK || qn_str_eq(name, "ask");
}

/* ---- digests ---- */

void qn_mcp_tool_digest(const struct qn_mcp_tool *t, char out[static QN_SHA256_HEX + 1])
{
    struct qn_sha256 s;
    const char *const parts[] = {t->name, t->title, t->description, t->schema};
    qn_sha256_init(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        qn_sha256_add(&s, parts[i], strlen(parts[i]) + 1);
    qn_sha256_hex(&s, out);
}

/* Returns the digest in a stored value of ALWAYS, "" if it has none; NULL: the value is not
 * ALWAYS. */
static const char *digest_of(const char *value)
{
    if (!qn_str_starts(value, ALWAYS))
        return NULL;
    value += strlen(ALWAYS);
    return *value == ' ' ? value + 1 : *value ? NULL : value;
}

void qn_mcp_permission_write(struct qn_jw *w, const char *tool, enum qn_mcp_permission p,
                             const char *digest)
{
    char value[sizeof ALWAYS + 1 + QN_SHA256_HEX];
    snprintf(value, sizeof value, "%s %s", ALWAYS, digest ? digest : "");
    qn_jw_kstr(w, tool,
               p == QN_MCP_ASK                ? NULL
               : p == QN_MCP_ALWAYS && digest ? value
                                              : qn_mcp_permission_name(p));
}

enum qn_mcp_permission qn_mcp_permission_stored(const char *value)
{
    enum qn_mcp_permission p;
    if (digest_of(value))
        return QN_MCP_ALWAYS;
    (void)qn_mcp_permission_parse(value, &p);
    return p;
}

/* ---- the permissions of a server ---- */

static int by_tool(const void *a, const void *b)
{
    return strcmp(((const struct one *)a)->tool, ((const struct one *)b)->tool);
}

struct qn_mcp_permissions *qn_mcp_permissions_new(const char *stored)
{
    struct qn_mcp_permissions *p = qn_xcalloc(1, sizeof *p);
    struct qn_jref it;
    if (qn_json_parse(stored, strlen(stored), &p->doc, NULL))
        return p;
    struct qn_jref root = qn_json_root(p->doc);
    p->list = qn_xcalloc(qn_json_count(&root) + 1, sizeof *p->list);
    for (bool more = qn_json_first(&root, &it); more && it.key; more = qn_json_next(&it))
        p->list[p->n++] = (struct one){it.key, qn_json_raw_str(&it)};
    qsort(p->list, p->n, sizeof *p->list, by_tool);
    return p;
}

void qn_mcp_permissions_free(struct qn_mcp_permissions *p)
{
    if (!p)
        return;
    qn_json_free(p->doc);
    free(p->list);
    free(p);
}

static const char *value_of(const struct qn_mcp_permissions *p, const char *tool)
{
    const struct one key = {.tool = tool}, *found = NULL;
    if (p->n)
        found = bsearch(&key, p->list, p->n, sizeof *p->list, by_tool);
    return found ? found->value : "";
}

enum qn_mcp_permission qn_mcp_permissions_of(const struct qn_mcp_permissions *p,
                                             const struct qn_mcp_tool *tool, bool *changed)
{
    char digest[QN_SHA256_HEX + 1] = "";
    const char *value = value_of(p, tool->name), *allowed = digest_of(value);
    if (allowed && *allowed)
        qn_mcp_tool_digest(tool, digest);
    bool other = allowed && !qn_str_eq(allowed, digest);
    if (changed)
        *changed = other;
    return other ? QN_MCP_ASK : qn_mcp_permission_stored(value);
}

void qn_mcp_permissions_bind(struct qn_chats *c, const char *owner,
                             const struct qn_chat_mcp *stored, const struct qn_mcp_view *view)
{
    struct qn_mcp_permissions *p = qn_mcp_permissions_new(stored->permissions);
    char digest[QN_SHA256_HEX + 1];
    size_t n = 0;
    struct qn_buf patch;
    qn_buf_init(&patch, QN_CHATS_MCP_JSON_MAX);
    struct qn_jw w = qn_jw_to(&patch);
    qn_jw_obj(&w);
    for (size_t i = 0; i < view->n_tools && p->n; i++) {
        if (!qn_str_eq(value_of(p, view->tools[i].name), ALWAYS))
            continue;
        qn_mcp_tool_digest(&view->tools[i], digest);
        qn_mcp_permission_write(&w, view->tools[i].name, QN_MCP_ALWAYS, digest);
        n++;
    }
    qn_jw_obj_end(&w);
    if (n && !patch.overflow)
        qn_chats_mcp_change(c, owner, stored->id,
                            &(struct qn_chat_mcp_patch){.bound = qn_buf_cstr(&patch)}, NULL, NULL);
    qn_buf_deinit(&patch);
    qn_mcp_permissions_free(p);
}
