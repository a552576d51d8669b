/* Keeps the servers that have been used, and the wants and calls that use them; see servers.h and
 * servers_private.h. */
#include "mcp_servers/servers.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "mcp_servers/servers_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *qn_mcp_state_name(enum qn_mcp_state s)
{
    static const char *const names[] = {"off", "starting", "ready", "failed"};
    return names[s];
}

static void process_gone(void *ctx)
{
    qn_mcp_folders_work(ctx);
}

struct qn_mcp *qn_mcp_new(const struct qn_mcp_config *config)
{
    struct qn_mcp *m = qn_xcalloc(1, sizeof *m);
    m->config = *config;
    m->program = qn_xstrdup(config->program);
    m->folder = qn_xstrdup(config->folder);
    m->data_dir = config->data_dir ? qn_xstrdup(config->data_dir) : NULL;
    m->processes = qn_mcp_processes_new(config->loop, process_gone, m);
    qn_mcp_folders_find(m);
    return m;
}

static void forget_waiters(struct qn_mcp_server *s)
{
    struct qn_error e;
    qn_fail(&e, QN_EBUSY, "the server is stopping");
    while (s->wants) {
        struct qn_mcp_want *w = s->wants;
        qn_mcp_unwant(w);
        w->fn(w->ctx, &e);
    }
    while (s->calls)
        qn_mcp_call_cancel(s->calls);
}

static void server_free(struct qn_mcp_server *s)
{
    if (s->process)
        qn_mcp_process_end(s->process);
    forget_waiters(s);
    qn_timer_stop(s->settle);
    qn_timer_stop(s->tick);
    qn_mcp_tools_clear(&s->tools);
    qn_mcp_tools_clear(&s->arrive);
    if (s->prev)
        s->prev->next = s->next;
    else
        s->in->servers = s->next;
    if (s->next)
        s->next->prev = s->prev;
    free(s->owner);
    free(s->label);
    free(s->config);
    free(s->secrets);
    free(s);
}

void qn_mcp_stop(struct qn_mcp *m)
{
    if (!m)
        return;
    m->stopped = true;
    while (m->servers)
        server_free(m->servers);
    m->nowhere = NULL;
    qn_mcp_processes_free(m->processes);
    m->processes = NULL;
}

void qn_mcp_free(struct qn_mcp *m)
{
    if (!m)
        return;
    qn_mcp_folders_free(m);
    free(m->program);
    free(m->folder);
    free(m->data_dir);
    free(m);
}

struct qn_mcp_server *qn_mcp_find(const struct qn_mcp *m, const char *id)
{
    for (struct qn_mcp_server *s = m->servers; s; s = s->next)
        if (qn_str_eq(s->id, id))
            return s;
    return NULL;
}

void qn_mcp_tell(struct qn_mcp_server *s)
{
    if (s->in->config.changed)
        s->in->config.changed(s->in->config.ctx, s->owner);
}

void qn_mcp_look(const struct qn_mcp *m, const char *id, struct qn_mcp_view *out)
{
    const struct qn_mcp_server *s = qn_mcp_find(m, id);
    *out = (struct qn_mcp_view){.error = "", .name = "", .version = "", .protocol = ""};
    if (!s)
        return;
    int64_t left = s->retry_at_ms - qn_now_ms();
    *out = (struct qn_mcp_view){.state = s->state,
                                .error = s->error.message,
                                .retry_ms = s->state == QN_MCP_FAILED && left > 0 ? left : 0,
                                .name = s->name,
                                .version = s->version,
                                .protocol = s->protocol,
                                .listed = s->tools.arena != NULL,
                                .tools = s->tools.list,
                                .n_tools = s->tools.n,
                                .left_out = s->tools.left_out};
}

/* ---- the stored server ---- */

static int64_t call_ms(const char *config)
{
    struct qn_json *doc;
    int64_t s = QN_MCP_CALL_S;
    if (qn_json_parse(config, strlen(config), &doc, NULL))
        return s * 1000;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "call_s");
    (void)qn_json_i64_opt(&v, 1, QN_MCP_CALL_S_MAX, &s, NULL);
    qn_json_free(doc);
    return s * 1000;
}

static void replace(char **at, const char *text)
{
    free(*at);
    *at = qn_xstrdup(text);
}

/* Copies the stored configuration. */
static void take_config(struct qn_mcp_server *s, const struct qn_chat_mcp *stored)
{
    replace(&s->label, stored->name);
    s->stdio = stored->stdio;
    s->enabled = stored->enabled;
    if (s->config && s->revision == stored->revision)
        return;
    s->revision = stored->revision;
    replace(&s->config, stored->config);
    replace(&s->secrets, stored->secrets);
    s->call_ms = call_ms(stored->config);
}

/* Ends the process with the reason `why`, and forgets what is known of the server, because its
 * configuration has changed. */
static void start_over(struct qn_mcp_server *s, const char *why)
{
    qn_mcp_end(s, why);
    qn_mcp_settle_now(s); /* before the reason is cleared below */
    qn_mcp_tools_clear(&s->tools);
    s->name[0] = s->version[0] = s->protocol[0] = '\0';
    s->state = QN_MCP_OFF;
    s->error = (struct qn_error){0};
    s->failures = 0;
    s->retry_at_ms = 0;
}

void qn_mcp_changed(struct qn_mcp *m, const struct qn_chat_mcp *stored)
{
    struct qn_mcp_server *s = qn_mcp_find(m, stored->id);
    if (!s)
        return;
    if (s->revision != stored->revision)
        start_over(s, "the server's configuration has changed");
    else if (!stored->enabled && s->enabled)
        start_over(s, "the server was switched off");
    take_config(s, stored);
}

void qn_mcp_removed(struct qn_mcp *m, const char *id)
{
    struct qn_mcp_server *s = qn_mcp_find(m, id);
    if (s) {
        qn_mcp_end(s, "the server was deleted");
        qn_mcp_settle_now(s);
        server_free(s);
    }
    qn_mcp_folder_remove(m, id);
}

/* ---- wants ---- */

static struct qn_mcp_server *add_server(struct qn_mcp *m, const char *id, const char *owner)
{
    struct qn_mcp_server *s = qn_xcalloc(1, sizeof *s);
    s->in = m;
    snprintf(s->id, sizeof s->id, "%s", id);
    s->owner = qn_xstrdup(owner);
    s->revision = -1;
    s->next = m->servers;
    if (s->next)
        s->next->prev = s;
    m->servers = s;
    return s;
}

void qn_mcp_want(struct qn_mcp *m, const struct qn_chat_mcp *stored, const char *owner, bool admin,
                 bool again, struct qn_mcp_want *w)
{
    struct qn_mcp_server *s = qn_mcp_find(m, stored->id);
    if (!s)
        s = add_server(m, stored->id, owner);
    if (!qn_str_eq(s->owner, owner)) { /* it has been given to another owner */
        free(s->owner);
        s->owner = qn_xstrdup(owner);
    }
    if (s->config && s->revision != stored->revision)
        start_over(s, "the server's configuration has changed");
    if (s->admin != admin)
        start_over(s, "the server was restarted because a client with other rights uses it");
    take_config(s, stored);
    s->admin = admin;
    s->used_ms = qn_now_ms();
    w->server = s;
    w->prev = NULL;
    w->next = s->wants;
    if (w->next)
        w->next->prev = w;
    s->wants = w;
    if (!s->process && (again || s->used_ms >= s->retry_at_ms))
        qn_mcp_start(s);
    else if (!s->process)
        qn_mcp_settle(s); /* the server has failed: the error is reported */
    else if (again && s->state == QN_MCP_READY && s->fresh)
        qn_mcp_send(s, true);
    else if (s->state == QN_MCP_READY && s->fresh)
        qn_mcp_settle(s);
}

void qn_mcp_unwant(struct qn_mcp_want *w)
{
    struct qn_mcp_server *s = w->server;
    if (!s)
        return;
    if (w->prev)
        w->prev->next = w->next;
    else
        s->wants = w->next;
    if (w->next)
        w->next->prev = w->prev;
    w->server = NULL;
}

/* ---- calls ---- */

/* Marks a call that cannot be made. Its failure is reported from the loop, like every other
 * result. */
static void fail_later(struct qn_mcp_call *c)
{
    c->due_ms = 0; /* qn_mcp_settle reports it */
}

static struct qn_mcp_server *nowhere(struct qn_mcp *m)
{
    if (!m->nowhere) {
        m->nowhere = add_server(m, "", "");
        qn_fail(&m->nowhere->error, QN_ENOTFOUND, "the MCP server was deleted");
    }
    return m->nowhere;
}

void qn_mcp_call_begin(struct qn_mcp *m, const char *server, bool admin, const char *tool,
                       const char *arguments, struct qn_mcp_call *c)
{
    struct qn_mcp_server *s = qn_mcp_find(m, server);
    if (!s)
        s = nowhere(m);
    c->server = s;
    c->refused = NULL;
    c->id = ++s->next_id;
    c->tool = qn_xstrdup(tool);
    c->arguments = qn_xstrdup(arguments);
    qn_buf_init(&c->text, QN_MCP_RESULT_MAX);
    c->prev = NULL;
    c->next = s->calls;
    if (c->next)
        c->next->prev = c;
    s->calls = c;
    s->used_ms = qn_now_ms();
    c->due_ms = s->used_ms + s->call_ms + QN_MCP_START_MS + QN_MCP_GRACE_MS;
    if (!s->process)
        s->admin = admin;
    else if (s->admin != admin)
        c->refused = "a client with other rights uses the MCP server";
    if (!*s->id || !s->enabled || c->refused)
        fail_later(c);
    else if (s->process)
        qn_mcp_send(s, false);
    else if (s->used_ms >= s->retry_at_ms)
        qn_mcp_start(s);
    else
        fail_later(c);
    if (!c->due_ms)
        qn_mcp_settle(s);
}

void qn_mcp_call_cancel(struct qn_mcp_call *c)
{
    struct qn_mcp_server *s = c->server;
    if (!s)
        return;
    if (!c->tool && s->process) {
        struct qn_buf line;
        qn_buf_init(&line, 128);
        qn_mcp_down_cancel(c->id, &line);
        qn_mcp_process_send(s->process, &line);
        qn_buf_deinit(&line);
    }
    if (c->prev)
        c->prev->next = c->next;
    else
        s->calls = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->server = NULL;
    free(c->tool);
    free(c->arguments);
    c->tool = c->arguments = NULL;
    qn_buf_deinit(&c->text);
}
