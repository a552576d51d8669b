/* See offer.h. */
#include "mcp_servers/offer.h"

#include "base/json.h"
#include "base/str.h"
#include "mcp_servers/servers_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 8 * 1024 * 1024, TEXT_MAX = 16 * 1024 * 1024 };

/* One server whose tools are offered. */
struct part {
    struct qn_mcp_offer *offer;
    const struct qn_chat_mcp *stored; /* in the arena `stored` of the offer */
    struct qn_mcp_want want;
    size_t tools;
    bool settled;
    char *error; /* why its tools could not be listed; NULL: no error */
};

struct qn_mcp_offer {
    struct qn_mcp *mcp;
    struct qn_chats *chats;
    char *owner;
    bool admin;
    char *ids[QN_MCP_OFFER_SERVERS_MAX];
    size_t n_ids;
    void (*ready)(void *ctx);
    void *ctx;
    bool reading; /* a database request is pending */
    bool gone;    /* qn_mcp_offer_free was called; the struct is freed when the request has ended */
    struct qn_arena *stored;
    struct qn_arena *arena; /* memory of the tools' names */
    struct part parts[QN_MCP_OFFER_SERVERS_MAX];
    size_t n_parts;
    struct qn_mcp_offered *tools;
    size_t n_tools;
    struct qn_buf items, servers;
    char *error; /* why the servers could not be read from the database; NULL: no error */
};

static void offer_free(struct qn_mcp_offer *o)
{
    for (size_t i = 0; i < o->n_parts; i++) {
        qn_mcp_unwant(&o->parts[i].want);
        free(o->parts[i].error);
    }
    for (size_t i = 0; i < o->n_ids; i++)
        free(o->ids[i]);
    qn_arena_free(o->stored);
    qn_arena_free(o->arena);
    qn_buf_deinit(&o->items);
    qn_buf_deinit(&o->servers);
    free(o->tools);
    free(o->error);
    free(o->owner);
    free(o);
}

void qn_mcp_offer_free(struct qn_mcp_offer *o)
{
    if (!o)
        return;
    o->gone = true;
    if (!o->reading)
        offer_free(o);
}

/* ---- the tools ---- */

static struct qn_mcp_offered *find(const struct qn_mcp_offer *o, const char *name)
{
    for (size_t i = 0; i < o->n_tools; i++)
        if (qn_str_eq(o->tools[i].name, name))
            return &o->tools[i];
    return NULL;
}

const struct qn_mcp_offered *qn_mcp_offer_find(const struct qn_mcp_offer *o, const char *name)
{
    return find(o, name);
}

static void write_tool(struct qn_mcp_offer *o, const char *name, const struct qn_mcp_tool *tool)
{
    if (o->items.len)
        qn_buf_char(&o->items, ',');
    struct qn_jw w = qn_jw_to(&o->items);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "function");
    qn_jw_key(&w, "function");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "name", name);
    qn_jw_kstr(&w, "description", *tool->description ? tool->description : tool->title);
    qn_jw_key(&w, "parameters");
    qn_jw_raw(&w, tool->schema, strlen(tool->schema));
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
}

/* Writes a unique name for the tool: if the name is taken, a number is appended. */
static void name_tool(struct qn_mcp_offer *o, const struct part *p, const char *tool,
                      char out[static QN_MCP_NAME_MAX + 1])
{
    qn_mcp_name(p->stored->name, tool, 0, out);
    struct qn_mcp_offered *first = find(o, out);
    while (first && find(o, out))
        qn_mcp_name(p->stored->name, tool, first->next++, out);
}

static void add_tool(struct qn_mcp_offer *o, struct part *p, const struct qn_mcp_tool *tool,
                     const struct qn_mcp_permissions *permissions)
{
    struct qn_mcp_offered *t = &o->tools[o->n_tools];
    name_tool(o, p, tool->name, t->name);
    t->next = 2;
    t->server = p->stored->id;
    t->server_name = p->stored->name;
    t->tool = qn_arena_strdup(o->arena, tool->name);
    t->permission = qn_mcp_permissions_of(permissions, tool, NULL);
    qn_mcp_tool_digest(tool, t->digest);
    o->n_tools++;
    p->tools++;
    write_tool(o, t->name, tool);
}

static void add_tools(struct qn_mcp_offer *o, struct part *p)
{
    struct qn_mcp_view view;
    struct qn_mcp_permissions *permissions = qn_mcp_permissions_new(p->stored->permissions);
    qn_mcp_look(o->mcp, p->stored->id, &view);
    for (size_t i = 0; i < view.n_tools && o->n_tools < QN_MCP_OFFER_TOOLS_MAX; i++)
        add_tool(o, p, &view.tools[i], permissions);
    qn_mcp_permissions_free(permissions);
    qn_mcp_permissions_bind(o->chats, o->owner, p->stored, &view);
}

static void write_server(struct qn_jw *w, const char *id, const char *name, size_t tools,
                         const char *error)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", id);
    qn_jw_kstr(w, "name", name);
    qn_jw_ki64(w, "tools", (int64_t)tools);
    qn_jw_kstr(w, "error", error);
    qn_jw_obj_end(w);
}

static void write_servers(struct qn_mcp_offer *o)
{
    struct qn_jw w = qn_jw_to(&o->servers);
    qn_jw_arr(&w);
    for (size_t i = 0; i < o->n_parts; i++) {
        const struct part *p = &o->parts[i];
        write_server(&w, p->stored->id, p->stored->name, p->tools, p->error);
    }
    /* After an error of the database the names are unknown, so ids stand in for them. */
    for (size_t i = 0; i < o->n_ids && o->error; i++)
        write_server(&w, o->ids[i], o->ids[i], 0, o->error);
    qn_jw_arr_end(&w);
}

/* Completes the offer if every server has listed its tools or has failed; else does nothing. */
static void finish_if_settled(struct qn_mcp_offer *o)
{
    for (size_t i = 0; i < o->n_parts; i++)
        if (!o->parts[i].settled)
            return;
    /* Always in the order of the ids, so that prompts share a cached prefix. */
    for (size_t i = 0; i < o->n_parts; i++)
        if (!o->parts[i].error)
            add_tools(o, &o->parts[i]);
    write_servers(o);
    o->ready(o->ctx);
}

static void settled(void *ctx, const struct qn_error *e)
{
    struct part *p = ctx;
    p->settled = true;
    p->error = e ? qn_xstrdup(e->message) : NULL;
    finish_if_settled(p->offer);
}

/* ---- the servers ---- */

static void found(void *ctx, const struct qn_chats_found *f)
{
    struct qn_mcp_offer *o = ctx;
    o->reading = false;
    if (o->gone || o->mcp->stopped) {
        if (o->gone)
            offer_free(o);
        return;
    }
    o->error = f->e ? qn_xstrdup(f->e->message) : NULL;
    for (size_t i = 0; i < o->n_ids && !f->e; i++)
        for (size_t k = 0; k < f->n_mcp; k++) {
            const struct qn_chat_mcp *m = &f->mcp[k];
            if (!qn_str_eq(m->id, o->ids[i]) || !m->enabled || (m->stdio && !o->admin))
                continue;
            struct part *p = &o->parts[o->n_parts++];
            *p = (struct part){.offer = o, .stored = m, .want = {.fn = settled, .ctx = p}};
        }
    o->stored = *f->arena;
    *f->arena = NULL;
    for (size_t i = 0; i < o->n_parts; i++)
        qn_mcp_want(o->mcp, o->parts[i].stored, o->owner, o->admin, false, &o->parts[i].want);
    if (!o->n_parts)
        finish_if_settled(o);
}

struct qn_mcp_offer *qn_mcp_offer_new(const struct qn_mcp_offer_wish *wish,
                                      void (*ready)(void *ctx), void *ctx)
{
    struct qn_mcp_offer *o = qn_xcalloc(1, sizeof *o);
    o->mcp = wish->mcp;
    o->chats = wish->chats;
    o->owner = qn_xstrdup(wish->owner);
    o->admin = wish->admin;
    o->ready = ready;
    o->ctx = ctx;
    o->arena = qn_arena_new(ARENA_MAX);
    o->tools = qn_xcalloc(QN_MCP_OFFER_TOOLS_MAX, sizeof *o->tools);
    qn_buf_init(&o->items, TEXT_MAX);
    qn_buf_init(&o->servers, TEXT_MAX);
    for (size_t i = 0; i < wish->n && o->n_ids < QN_MCP_OFFER_SERVERS_MAX; i++) {
        bool twice = false;
        for (size_t k = 0; k < o->n_ids; k++)
            twice = twice || qn_str_eq(o->ids[k], wish->ids[i]);
        if (!twice)
            o->ids[o->n_ids++] = qn_xstrdup(wish->ids[i]);
    }
    o->reading = true;
    qn_chats_mcp_list(o->chats, o->owner, found, o);
    return o;
}

const char *qn_mcp_offer_tools(const struct qn_mcp_offer *o)
{
    return o->items.len ? o->items.data : "";
}

const char *qn_mcp_offer_servers(const struct qn_mcp_offer *o)
{
    return o->servers.len ? o->servers.data : "[]";
}

void qn_mcp_offer_allow(struct qn_mcp_offer *o, const char *name, enum qn_mcp_permission permission)
{
    struct qn_buf patch;
    for (size_t i = 0; i < o->n_tools; i++) {
        struct qn_mcp_offered *t = &o->tools[i];
        if (!qn_str_eq(t->name, name))
            continue;
        t->permission = permission;
        qn_buf_init(&patch, 16 * 1024);
        struct qn_jw w = qn_jw_to(&patch);
        qn_jw_obj(&w);
        qn_mcp_permission_write(&w, t->tool, permission, t->digest);
        qn_jw_obj_end(&w);
        qn_chats_mcp_change(o->chats, o->owner, t->server,
                            &(struct qn_chat_mcp_patch){.permissions = qn_buf_cstr(&patch)}, NULL,
                            NULL);
        qn_buf_deinit(&patch);
    }
}
