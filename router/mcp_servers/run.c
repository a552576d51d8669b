/* Starts the process of a server, handles its lines and ends it; see servers_private.h. */
#include "mcp_servers/servers_private.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500, TOOLS_ARENA_MAX = 4 * QN_MCP_TOOLS_BYTES_MAX, GOOD_MS = 60 * 1000 };

void qn_mcp_tools_clear(struct qn_mcp_tools *t)
{
    qn_arena_free(t->arena);
    t->arena = NULL;
    t->n = t->bytes = 0;
    t->left_out = 0;
}

/* ---- wants and calls ---- */

void qn_mcp_call_finish(struct qn_mcp_call *c, bool failed, const char *text, size_t n)
{
    /* `text` may point into the buffer of the call, which is freed below. */
    char *copy = qn_xstrndup(text, n);
    void (*done)(void *, bool, const char *, size_t) = c->done;
    void *ctx = c->ctx;
    c->server->used_ms = qn_now_ms();
    free(c->tool);
    /* Marks the call as not sent, so that qn_mcp_call_cancel sends no cancellation. */
    c->tool = qn_xstrdup("");
    qn_mcp_call_cancel(c);
    done(ctx, failed, copy, n);
    free(copy);
}

static const char *reason(const struct qn_mcp_server *s, char out[static QN_ERROR_MESSAGE_MAX])
{
    int64_t left = s->retry_at_ms - qn_now_ms();
    if (!s->enabled && *s->id)
        return "the MCP server is switched off";
    if (s->state == QN_MCP_FAILED && left > 0)
        snprintf(out, QN_ERROR_MESSAGE_MAX, "%.700s; it can be started again in %lld s",
                 s->error.message, (long long)(left + 999) / 1000);
    else
        snprintf(out, QN_ERROR_MESSAGE_MAX, "%s",
                 *s->error.message ? s->error.message : "the MCP server does not run");
    return out;
}

/* Reports failure for the calls that could not be made: those with due_ms 0. */
static void settle_calls(struct qn_mcp_server *s)
{
    char text[QN_ERROR_MESSAGE_MAX];
    struct qn_mcp_call *c = s->calls;
    while (c) {
        if (c->due_ms) {
            c = c->next;
            continue;
        }
        const char *why = c->refused ? c->refused : reason(s, text);
        qn_mcp_call_finish(c, true, why, strlen(why));
        c = s->calls; /* the callback may have ended other calls */
    }
}

void qn_mcp_settle_now(struct qn_mcp_server *s)
{
    char text[QN_ERROR_MESSAGE_MAX];
    qn_timer_stop(s->settle);
    s->settle = NULL;
    bool good = s->state == QN_MCP_READY && s->fresh && s->tools.arena;
    bool waits = s->process && !good && s->error.code == QN_OK;
    settle_calls(s);
    while (s->wants && !waits) {
        struct qn_mcp_want *w = s->wants;
        struct qn_error e = {0};
        if (!good)
            qn_fail(&e, s->error.code ? s->error.code : QN_ECHILD, "%s", reason(s, text));
        qn_mcp_unwant(w);
        w->fn(w->ctx, good ? NULL : &e);
    }
}

static void settle(void *ctx)
{
    qn_mcp_settle_now(ctx);
}

void qn_mcp_settle(struct qn_mcp_server *s)
{
    if (!s->settle)
        s->settle = qn_timer_start(s->in->config.loop, 0, 0, settle, s);
}

void qn_mcp_send(struct qn_mcp_server *s, bool list)
{
    struct qn_buf lines;
    qn_buf_init(&lines, (size_t)4 * QN_MCP_DOWN_MAX);
    if (list) {
        s->fresh = false;
        s->list_due_ms = qn_now_ms() + QN_MCP_LIST_MS + QN_MCP_GRACE_MS;
        s->error = (struct qn_error){0};
        qn_mcp_down_list(&lines);
    }
    for (struct qn_mcp_call *c = s->state == QN_MCP_READY ? s->calls : NULL; c; c = c->next) {
        if (!c->tool)
            continue;
        qn_mcp_down_call(c->id, c->tool, c->arguments, s->call_ms, &lines);
        c->due_ms = qn_now_ms() + s->call_ms + QN_MCP_GRACE_MS;
        free(c->tool);
        free(c->arguments);
        c->tool = c->arguments = NULL;
    }
    if (lines.len)
        qn_mcp_process_send(s->process, &lines);
    qn_buf_deinit(&lines);
}

/* ---- the end of a process ---- */

void qn_mcp_end(struct qn_mcp_server *s, const char *why)
{
    if (s->process) {
        qn_mcp_process_end(s->process);
        qn_info("mcp", "server=%s state=ended", s->id);
    }
    s->process = NULL;
    s->fresh = false;
    s->state = QN_MCP_OFF;
    qn_timer_stop(s->tick);
    s->tick = NULL;
    qn_mcp_tools_clear(&s->arrive);
    if (!why)
        return;
    qn_fail(&s->error, QN_ECHILD, "%s", why);
    while (s->calls)
        qn_mcp_call_finish(s->calls, true, why, strlen(why));
    qn_mcp_settle(s);
}

/* Ends a server that has failed, and sets the pause until its next start. The error is not logged,
 * because it may contain text of the server. */
static void fail(struct qn_mcp_server *s, const char *why)
{
    int64_t pause = QN_MCP_BACKOFF_MS;
    for (int i = 0; i < s->failures && pause < QN_MCP_BACKOFF_MAX_MS; i++)
        pause *= 2;
    s->failures++;
    if (pause > QN_MCP_BACKOFF_MAX_MS)
        pause = QN_MCP_BACKOFF_MAX_MS;
    qn_warn("mcp", "server=%s state=failed failures=%d retry_ms=%lld", s->id, s->failures,
            (long long)pause);
    qn_mcp_end(s, why);
    s->state = QN_MCP_FAILED;
    s->retry_at_ms = qn_now_ms() + pause;
    qn_mcp_tell(s);
}

static void closed(void *ctx, const char *why)
{
    fail(ctx, why);
}

/* ---- lines ---- */

static struct qn_mcp_call *find_call(struct qn_mcp_server *s, int64_t id)
{
    for (struct qn_mcp_call *c = s->calls; c; c = c->next)
        if (c->id == id && !c->tool)
            return c;
    return NULL; /* the call has been cancelled in the meantime */
}

static void take_ready(struct qn_mcp_server *s, const struct qn_mcp_up *up)
{
    snprintf(s->name, sizeof s->name, "%s", up->name);
    snprintf(s->version, sizeof s->version, "%s", up->version);
    snprintf(s->protocol, sizeof s->protocol, "%s", up->protocol);
    if (s->state == QN_MCP_READY)
        return; /* the process has begun a new session with its server */
    s->state = QN_MCP_READY;
    s->ready_ms = qn_now_ms();
    qn_info("mcp", "server=%s state=ready protocol=%.40s", s->id, s->protocol);
    qn_mcp_send(s, false);
    qn_mcp_tell(s);
}

/* Appends the tool to the list that is arriving. Returns false if the process exceeds the limits
 * that it is supposed to keep. */
static bool take_tool(struct qn_mcp_server *s, const struct qn_mcp_up *up)
{
    struct qn_mcp_tools *t = &s->arrive;
    t->bytes += strlen(up->name) + strlen(up->title) + strlen(up->description) + strlen(up->schema);
    if (t->n >= QN_MCP_TOOLS_MAX || t->bytes > QN_MCP_TOOLS_BYTES_MAX)
        return false;
    if (!t->arena)
        t->arena = qn_arena_new(TOOLS_ARENA_MAX);
    t->list[t->n++] =
        (struct qn_mcp_tool){.name = qn_arena_strdup(t->arena, up->name),
                             .title = qn_arena_strdup(t->arena, up->title),
                             .description = qn_arena_strdup(t->arena, up->description),
                             .schema = qn_arena_strdup(t->arena, up->schema)};
    return true;
}

static void take_list(struct qn_mcp_server *s, int64_t left_out)
{
    qn_mcp_tools_clear(&s->tools);
    s->tools = s->arrive;
    if (!s->tools.arena)
        s->tools.arena = qn_arena_new(TOOLS_ARENA_MAX);
    s->tools.left_out = left_out;
    s->arrive = (struct qn_mcp_tools){.arena = NULL};
    s->fresh = true;
    s->error = (struct qn_error){0};
    s->retry_at_ms = 0;
    qn_mcp_settle(s);
    qn_mcp_tell(s);
}

static void take_unlisted(struct qn_mcp_server *s, const char *message)
{
    qn_mcp_tools_clear(&s->arrive);
    qn_fail(&s->error, QN_ECHILD, "%s", message);
    s->fresh = true; /* no other list is pending */
    qn_mcp_settle(s);
    qn_mcp_tell(s);
}

static void take_up(struct qn_mcp_server *s, const struct qn_mcp_up *up)
{
    struct qn_mcp_call *c = find_call(s, up->id);
    switch (up->kind) {
    case QN_MCP_UP_READY:
        take_ready(s, up);
        break;
    case QN_MCP_UP_TOOL:
        if (!take_tool(s, up))
            fail(s, "the process that speaks with the server exceeds its limits");
        break;
    case QN_MCP_UP_LISTED:
        take_list(s, up->left_out);
        break;
    case QN_MCP_UP_UNLISTED:
        take_unlisted(s, up->message);
        break;
    case QN_MCP_UP_TEXT:
        if (c) /* text beyond the limit is dropped */
            qn_buf_str(&c->text, up->text);
        break;
    case QN_MCP_UP_RESULT:
        s->failures = 0;
        if (c)
            qn_mcp_call_finish(c, up->error, qn_buf_cstr(&c->text), c->text.len);
        break;
    case QN_MCP_UP_FAILED:
        if (c)
            qn_mcp_call_finish(c, true, up->message, strlen(up->message));
        break;
    case QN_MCP_UP_DOWN:
    case QN_MCP_UP_KINDS:
        fail(s, up->message);
        break;
    }
}

static void take_line(void *ctx, const char *line, size_t n)
{
    struct qn_mcp_server *s = ctx;
    struct qn_mcp_up up;
    struct qn_json *doc;
    struct qn_buf schema;
    struct qn_error e = {0};
    qn_buf_init(&schema, QN_MCP_UP_MAX);
    if (qn_mcp_up_read(line, n, &up, &doc, &schema, &e))
        fail(s, e.message);
    else
        take_up(s, &up);
    qn_json_free(doc);
    qn_buf_deinit(&schema);
}

/* ---- time ---- */

static void tick(void *ctx)
{
    struct qn_mcp_server *s = ctx;
    int64_t now = qn_now_ms();
    bool late = !s->fresh && now >= s->list_due_ms;
    for (const struct qn_mcp_call *c = s->calls; c; c = c->next)
        late = late || now >= c->due_ms;
    if (late) {
        fail(s, "the server did not answer in time");
        return;
    }
    if (s->failures && s->state == QN_MCP_READY && now - s->ready_ms >= GOOD_MS)
        s->failures = 0;
    if (!s->calls && !s->wants && now - s->used_ms >= QN_MCP_IDLE_MS) {
        qn_mcp_end(s, NULL);
        qn_mcp_tell(s);
    }
}

/* ---- the start of a process ---- */

static void write_start(const struct qn_mcp_server *s, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    char *folder = qn_path_join(s->in->folder, s->id);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "do", "start");
    qn_jw_kstr(&w, "kind", s->stdio ? "stdio" : "http");
    qn_jw_members(&w, s->config);
    qn_jw_members(&w, s->secrets);
    qn_jw_kstr(&w, "folder", folder);
    qn_jw_kbool(&w, "public", !s->admin);
    qn_mcp_write_limits(s->in, &w);
    qn_jw_ki64(&w, "start_ms", QN_MCP_START_MS);
    qn_jw_obj_end(&w);
    qn_buf_char(out, '\n');
    free(folder);
}

static qn_err may_start(const struct qn_mcp_server *s, struct qn_error *e)
{
    if (s->in->stopped)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (s->stdio && !s->admin)
        return qn_fail(e, QN_EINVAL, "it is a program, which only an admin can have run");
    return qn_mcp_room(s->in, s->owner, e);
}

void qn_mcp_start(struct qn_mcp_server *s)
{
    static const struct qn_mcp_process_events ev = {.line = take_line, .closed = closed};
    struct qn_buf line;
    struct qn_error e = {0};
    s->error = e;
    qn_err err = may_start(s, &e);
    if (!err)
        err =
            qn_mcp_process_start(s->in->processes, s->in->program, s->id, &ev, s, &s->process, &e);
    if (err) {
        s->error = e;
        s->state = QN_MCP_FAILED;
        s->retry_at_ms = 0;
        for (struct qn_mcp_call *c = s->calls; c; c = c->next)
            c->due_ms = 0;
        qn_mcp_settle(s);
        return;
    }
    s->state = QN_MCP_STARTING;
    s->list_due_ms = qn_now_ms() + QN_MCP_START_MS + QN_MCP_GRACE_MS;
    s->tick = qn_timer_start(s->in->config.loop, TICK_MS, TICK_MS, tick, s);
    qn_buf_init(&line, QN_MCP_DOWN_MAX);
    write_start(s, &line);
    qn_mcp_process_send(s->process, &line);
    qn_buf_deinit(&line);
    qn_info("mcp", "server=%s state=starting kind=%s", s->id, s->stdio ? "stdio" : "http");
    qn_mcp_tell(s);
}
