/* See bridge.h. For each job: wait for a usable server, send a request, convert the reply to
 * events, and possibly retry on another server as long as no event has been sent. */
#include "bridge/bridge.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "bridge/hear.h"
#include "bridge/server.h"
#include "bridge/upstreams.h"
#include "child/sandbox.h"
#include "contract/control.h"
#include "contract/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP_MS = 100,  /* longest wait within one step */
    GRIEF_MS = 500, /* after a broken connection to the process's own server: time until the check
                       whether that server has died */
    RETRY_MS = 200, /* delay before a retry on the same server */
    TRIES_MAX = 4,
    LATE_MS = 1000,  /* time allowed for the usage and the end of a reply whose choices are
                        complete */
    HEALTH_MS = 100, /* interval of health checks while a server loads */
    ARENA_MAX = 1024 * 1024,
    SMALL_BODY_MAX = 4 * 1024 * 1024
};

struct run {
    struct bridge *bridge;
    const struct qn_job *job; /* NULL: the slot is free */
    struct qn_sink *out;
    struct qn_hearing hearing;
    struct qn_engine_call ask;
    struct qn_exchange *x; /* NULL: no request is in progress */
    struct qn_up *up;
    unsigned tried; /* bit i: server i has failed for this job */
    int tries;
    int64_t due_ms;         /* earliest time of the next attempt */
    struct qn_error *grief; /* the connection to the server that this process started broke; this
                               error is reported if that server is still alive. NULL: the connection
                               did not break */
    bool paused;
};

struct bridge {
    struct qn_exchanges *xs;
    struct qn_arena *arena;
    struct qn_remote def;
    struct qn_ups ups;
    struct run *runs;
    uint64_t owner;      /* owner_salt of the latest job; 0: no job so far, or the server's own
                            owner */
    bool several_owners; /* jobs of several owners have been received */
    char *base;          /* address of the server that this process started */
};

/* Global because the server is started before the model is loaded. */
static struct qn_server server;

/* ---- One job ---- */

static void send_event(void *ctx, const struct qn_event *ev)
{
    struct run *r = ctx;
    qn_sink_send(r->out, ev);
}

static void run_free(struct run *r)
{
    qn_hearing_deinit(&r->hearing);
    qn_ask_deinit(&r->ask);
    free(r->grief);
    *r = (struct run){.bridge = r->bridge};
}

static void run_fail(struct run *r, const struct qn_error *why)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_ERROR);
    ev.error = *why;
    qn_sink_send(r->out, &ev);
    run_free(r);
}

static bool may_try_again(const struct run *r)
{
    size_t n = r->bridge->ups.balance.n;
    size_t most = n + 1 < TRIES_MAX ? n + 1 : TRIES_MAX;
    return !r->bridge->ups.own && !r->hearing.spoken && (size_t)r->tries < most;
}

static qn_err on_data(void *ctx, int status, const char *content_type, const void *p, size_t n)
{
    struct run *r = ctx;
    qn_err err = qn_hearing_data(&r->hearing, status, content_type, p, n);
    if (!err && qn_hearing_complete(&r->hearing))
        qn_exchange_hurry(r->x, LATE_MS);
    return err;
}

static bool takes_inputs(const struct run *r)
{
    return r->job->embed.count > 0;
}

/* Goes on to the next batch of inputs after the results of one have been sent. The next request
 * starts without a sent event, so it may be repeated on failure. False: there is no further batch.
 */
static bool next_batch(struct run *r)
{
    qn_sink_drop_inputs(r->out);
    if (r->hearing.answered >= (size_t)r->job->embed.count)
        return false;
    r->hearing.spoken = false;
    r->tries = 0;
    r->tried = 0;
    r->due_ms = 0;
    return true;
}

static void on_end(void *ctx, int status, const struct qn_error *broken)
{
    struct run *r = ctx;
    struct qn_error why = {0};
    bool passing;
    r->x = NULL;
    qn_err err = qn_hearing_end(&r->hearing, status, broken, r->up->who, &passing, &why);
    qn_upstream_hide_key(r->up, &why);
    if (err && broken && r->bridge->ups.own) {
        r->grief = qn_xmalloc(sizeof *r->grief);
        *r->grief = why;
        r->due_ms = qn_now_ms() + GRIEF_MS;
        return;
    }
    /* The server counts as working when it is overloaded (429), when it rejects a request as
     * invalid, and when the content of its reply is malformed: the next request may succeed. */
    bool odd = status == 200 && err == QN_ECHILD && (!broken || r->hearing.error.code);
    qn_upstream_note(r->up, !err || !passing || status == 429 || odd, &why);
    if (!err && takes_inputs(r) && next_batch(r))
        return;
    if (!err) {
        qn_hearing_finish(&r->hearing);
        run_free(r);
    } else if (passing && may_try_again(r)) {
        qn_warn("bridge", "id=%s upstream=%s retry=%d message=\"%s\"", r->job->id, r->up->who,
                r->tries, why.message);
        r->tried |= 1u << (r->up - r->bridge->ups.v);
        r->due_ms = qn_now_ms() + RETRY_MS;
        for (size_t i = 0; i < r->bridge->ups.balance.n; i++)
            if (!(r->tried & 1u << i) &&
                r->bridge->ups.balance.v[i].breaker.state == QN_BREAKER_CLOSED)
                r->due_ms = 0;
    } else {
        run_fail(r, &why);
    }
}

/* No server is usable: waits if a probe is in progress, else fails. */
static void wait_or_fail(struct run *r)
{
    struct qn_ups *u = &r->bridge->ups;
    struct qn_error why = {0};
    int64_t now = qn_now_ms(), due = INT64_MAX;
    size_t next = 0; /* the server of the next attempt */
    if (qn_upstreams_probing(u)) {
        r->due_ms = now + STEP_MS;
        return;
    }
    for (size_t i = 0; i < u->balance.n; i++) {
        if (u->balance.v[i].breaker.due_ms < due) {
            due = u->balance.v[i].breaker.due_ms;
            next = i;
        }
    }
    qn_fail(&why, QN_EBUSY,
            "no server behind this model answers; the next attempt is in %lld s. The last error of "
            "that server: %.600s",
            (long long)((due - now + 999) / 1000), u->v[next].error.message);
    run_fail(r, &why);
}

/* If the own server has died, this process exits too, and the router decides what to do with the
 * job. If the server is alive, the job fails with the error of the connection. */
static void end_grief(struct run *r)
{
    char how[80];
    bool by_signal;
    if (qn_server_ended(&server, how, &by_signal)) {
        r->due_ms = qn_now_ms() + GRIEF_MS;
        return;
    }
    struct qn_error why = *r->grief;
    run_fail(r, &why);
}

static void try_to_begin(struct run *r)
{
    static const struct qn_exchange_events events = {on_data, on_end};
    struct bridge *b = r->bridge;
    struct qn_error why = {0};
    char url[QN_REMOTE_URL_MAX + 64];
    int at = qn_balance_pick(&b->ups.balance, r->tried);
    if (at < 0) {
        wait_or_fail(r);
        return;
    }
    r->up = &b->ups.v[at];
    r->tries++;
    qn_ask_deinit(&r->ask);
    struct qn_ask_to to = r->up->to;
    to.several_owners = b->several_owners;
    qn_err err = qn_ask_make(r->job, &to, qn_sink_inputs(r->out), &r->ask, &why);
    qn_hearing_begin(&r->hearing, &r->ask);
    snprintf(url, sizeof url, "%s%s", r->up->url, r->ask.path);
    const struct qn_exchange_request rq = {
        .url = url,
        .key = r->up->key,
        .ca_file = r->up->ca_file,
        .content_type = r->ask.content_type,
        .body = qn_buf_cstr(&r->ask.body),
        .n = r->ask.body.len,
        .connect_ms = QN_UPSTREAM_CONNECT_MS,
        .silence_ms = b->def.timeout_s * 1000,
    };
    if (!err)
        err = qn_exchange_begin(b->xs, &rq, &events, r, &r->x, &why);
    if (err)
        run_fail(r, &why);
}

static qn_err bridge_start(void *self, const struct qn_job *job, void *prepared,
                           struct qn_sink *out, struct qn_error *e)
{
    (void)prepared;
    struct bridge *b = self;
    int64_t i = 0;
    while (i < b->def.slots && b->runs[i].job)
        i++;
    if (i == b->def.slots)
        return qn_fail(e, QN_EBUSY, "all slots are taken");
    b->several_owners = b->several_owners || (b->owner && b->owner != job->owner_salt);
    b->owner = job->owner_salt;
    struct run *r = &b->runs[i];
    *r = (struct run){.bridge = b, .job = job, .out = out};
    qn_hearing_init(&r->hearing, job, send_event, r);
    return QN_OK;
}

/* Whether the job has no request in progress and cannot begin one, because its next inputs have not
 * arrived. */
static bool waits_for_inputs(const struct run *r)
{
    return !r->x && takes_inputs(r) && !qn_sink_inputs(r->out);
}

static bool bridge_step(void *self)
{
    struct bridge *b = self;
    int64_t now = qn_now_ms(), wait = STEP_MS;
    bool busy = false;
    qn_upstreams_probe_due(&b->ups, now);
    for (int64_t i = 0; i < b->def.slots; i++) {
        struct run *r = &b->runs[i];
        if (r->job && waits_for_inputs(r))
            continue;
        if (r->job && !r->x && r->due_ms <= now)
            (r->grief ? end_grief : try_to_begin)(r);
        if (!r->job)
            continue;
        bool full = qn_sink_full(r->out);
        if (r->x)
            qn_exchange_pause(r->x, full);
        busy = busy || !full;
        if (!r->x && r->due_ms - now < wait)
            wait = r->due_ms > now ? r->due_ms - now : 0;
    }
    if (!busy)
        return false;
    qn_exchanges_run(b->xs, (int)wait);
    return true;
}

static void bridge_cancel(void *self, const struct qn_job *job)
{
    struct bridge *b = self;
    for (int64_t i = 0; i < b->def.slots; i++)
        if (b->runs[i].job == job) {
            if (b->runs[i].x)
                qn_exchange_cancel(b->runs[i].x);
            run_free(&b->runs[i]);
        }
}

static void bridge_wake(void *self)
{
    struct bridge *b = self;
    qn_exchanges_wake(b->xs);
}

static void bridge_unload(void *self)
{
    struct bridge *b = self;
    for (int64_t i = 0; b->runs && i < b->def.slots; i++)
        if (b->runs[i].job)
            run_free(&b->runs[i]);
    qn_exchanges_free(b->xs);
    qn_upstreams_deinit(&b->ups);
    if (server.program)
        qn_server_stop(&server);
    qn_arena_free(b->arena);
    free(b->runs);
    free(b->base);
    free(b);
}

/* ---- Loading ---- */

/* A request that is sent while no other request is in progress, and its reply. */
struct small {
    struct qn_buf body;
    int status; /* 0: no reply */
    bool over;
};

static qn_err small_data(void *ctx, int status, const char *content_type, const void *p, size_t n)
{
    struct small *s = ctx;
    (void)status;
    (void)content_type;
    return qn_buf_add(&s->body, p, n);
}

static void small_end(void *ctx, int status, const struct qn_error *e)
{
    struct small *s = ctx;
    s->status = e ? 0 : status;
    s->over = true;
}

static qn_err ask_small(struct bridge *b, const char *path, struct small *s, struct qn_error *e)
{
    static const struct qn_exchange_events events = {small_data, small_end};
    char url[256];
    struct qn_exchange *x;
    snprintf(url, sizeof url, "%s%s", server.url, path);
    const struct qn_exchange_request rq = {.url = url,
                                           .key = server.key[0] ? server.key : NULL,
                                           .connect_ms = QN_UPSTREAM_CONNECT_MS,
                                           .silence_ms = QN_PROBE_SILENCE_MS,
                                           .total_ms = QN_PROBE_TOTAL_MS};
    *s = (struct small){0};
    qn_buf_init(&s->body, SMALL_BODY_MAX);
    qn_err err = qn_exchange_begin(b->xs, &rq, &events, s, &x, e);
    while (!err && !s->over)
        qn_exchanges_run(b->xs, STEP_MS);
    return err;
}

/* Estimates the progress of loading by the share of the file that the server has in memory, the
 * best measure available from outside. */
static double share_loaded(const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0 || st.st_size < 1)
        return 0;
    double share = (double)qn_server_bytes(&server) / (double)st.st_size;
    return share < 0.95 ? share : 0.95;
}

static qn_err wait_for_server(struct bridge *b, const char *file, struct qn_progress *p,
                              struct qn_error *e)
{
    char how[80];
    bool by_signal;
    for (;;) {
        struct small s;
        if (qn_server_ended(&server, how, &by_signal)) /* a server that exits by itself would do so
                                                          again */
            return qn_fail(e, by_signal ? QN_ECHILD : QN_EUNSUPPORTED,
                           "%s %s while it loaded the model: its last lines in the "
                           "log say why",
                           server.program, how);
        if (qn_progress_cancelled(p))
            return qn_fail(e, QN_ECANCELLED, "loading was cancelled");
        qn_progress_set(p, share_loaded(file));
        qn_err err = ask_small(b, server.health, &s, e);
        qn_buf_deinit(&s.body);
        if (err || (s.status && s.status != 503))
            return err;
        usleep(HEALTH_MS * 1000);
    }
}

/* Reads slots and context length from llama-server's /props; other servers do not have this
 * path. */
static void read_props(struct bridge *b)
{
    struct small s;
    struct qn_json *doc;
    bool there = ask_small(b, "/props", &s, NULL) == QN_OK && s.status == 200 &&
                 qn_json_parse(qn_buf_cstr(&s.body), s.body.len, &doc, NULL) == QN_OK;
    qn_buf_deinit(&s.body);
    if (!there)
        return;
    struct qn_jref root = qn_json_root(doc), settings, slots = qn_json_get(&root, "total_slots");
    settings = qn_json_get(&root, "default_generation_settings");
    struct qn_jref context = qn_json_get(&settings, "n_ctx");
    int64_t n;
    if (qn_json_type(&slots) == QN_JSON_NUMBER &&
        !qn_json_i64(&slots, 1, QN_REMOTE_SLOTS_MAX, &n, NULL))
        b->def.slots = n;
    if (qn_json_type(&context) == QN_JSON_NUMBER && !qn_json_i64(&context, 1, INT32_MAX, &n, NULL))
        b->def.context = n;
    qn_json_free(doc);
}

static qn_err load_own(struct bridge *b, const struct qn_load *opts, struct qn_progress *p,
                       struct qn_ready *ready, struct qn_error *e)
{
    qn_err err = wait_for_server(b, opts->files[0], p, e);
    if (err)
        return err;
    b->def = (struct qn_remote){.n = 1,
                                .slots = 1,
                                .timeout_s = QN_REMOTE_TIMEOUT_S,
                                .context = opts->context,
                                .flavour = server.api == QN_API_OPENAI ? QN_FLAVOUR_LLAMA
                                                                       : QN_FLAVOUR_OPENAI};
    if (server.api == QN_API_OPENAI)
        read_props(b);
    b->base = qn_xmalloc(sizeof server.url + 8);
    sprintf(b->base, "%s%s", server.url, server.base);
    b->def.v[0] = (struct qn_remote_upstream){
        .url = b->base, .model = opts->name, .key = server.key[0] ? server.key : NULL, .weight = 1};
    qn_upstreams_init(&b->ups, b->xs, &b->def);
    b->ups.own = true;
    b->ups.v[0].to.api = server.api;
    snprintf(b->ups.v[0].who, sizeof b->ups.v[0].who, "%s", server.program);
    ready->upstream = server.url;
    ready->upstream_key = server.key[0] ? server.key : NULL;
    ready->memory_bytes = qn_server_bytes(&server);
    return qn_server_watch(&server, e);
}

static int64_t own_bytes(void)
{
    struct qn_server self = {.pid = getpid()};
    return qn_server_bytes(&self);
}

static qn_err read_definition(const char *path, const struct qn_jref *options,
                              struct qn_arena *arena, struct qn_remote *out, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_json *doc = NULL;
    struct qn_error why = {0};
    struct qn_jref key = qn_json_get(options, "key");
    const char *given = *qn_json_raw_str(&key) ? qn_json_raw_str(&key) : NULL;
    qn_buf_init(&text, QN_REMOTE_FILE_MAX);
    qn_err err = qn_file_read(path, &text, e);
    if (!err && qn_json_parse(qn_buf_cstr(&text), text.len, &doc, &why))
        err = qn_fail(e, QN_EFORMAT, "%.300s is not a valid definition of a remote model: %.400s",
                      path, why.message);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_remote_read(&root, given, arena, out, e);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    return err;
}

/* Probes all servers at once; loading succeeds if at least one replies. */
static qn_err load_remote(struct bridge *b, const struct qn_load *opts, struct qn_progress *p,
                          struct qn_ready *ready, struct qn_error *e)
{
    qn_err err = read_definition(opts->files[0], &opts->options, b->arena, &b->def, e);
    if (err)
        return err;
    size_t good = 0;
    qn_upstreams_init(&b->ups, b->xs, &b->def);
    for (size_t i = 0; i < b->def.n; i++)
        qn_upstream_probe(&b->ups.v[i]);
    while (qn_upstreams_probing(&b->ups)) {
        qn_exchanges_run(b->xs, STEP_MS);
        qn_progress_set(p, 0.5);
        if (qn_progress_cancelled(p))
            return qn_fail(e, QN_ECANCELLED, "loading was cancelled");
    }
    for (size_t i = 0; i < b->def.n; i++) {
        struct qn_up *u = &b->ups.v[i];
        good += u->error.code == QN_OK;
        if (u->context && (!b->def.context || u->context < b->def.context))
            b->def.context = u->context;
        for (int k = 1; u->error.code && k < QN_BREAKER_FAILURES; k++) {
            struct qn_error why = u->error;
            qn_upstream_note(u, false, &why);
        }
    }
    if (!good) {
        *e = b->ups.v[0].error;
        return e->code;
    }
    ready->memory_bytes = own_bytes();
    return QN_OK;
}

static qn_err bridge_load(const struct qn_load *opts, struct qn_progress *p, void **self,
                          struct qn_ready *ready, struct qn_error *e)
{
    struct bridge *b = qn_xcalloc(1, sizeof *b);
    b->arena = qn_arena_new(ARENA_MAX);
    qn_err err = qn_exchanges_new(&b->xs, e);
    if (!err)
        err = server.program ? load_own(b, opts, p, ready, e) : load_remote(b, opts, p, ready, e);
    if (err) {
        bridge_unload(b);
        return err;
    }
    b->runs = qn_xcalloc((size_t)b->def.slots, sizeof *b->runs);
    for (int64_t i = 0; i < b->def.slots; i++)
        b->runs[i].bridge = b;
    ready->slots = b->def.slots;
    ready->context = b->def.context > opts->context ? b->def.context : opts->context;
    for (size_t i = 0; i < b->def.n; i++)
        qn_info("bridge", "model=%s upstream=%s flavour=%s called=\"%s\" weight=%lld usable=%d",
                opts->name, b->ups.v[i].who, qn_flavour_name(b->ups.v[i].to.flavour),
                b->ups.v[i].to.model ? b->ups.v[i].to.model : "", (long long)b->def.v[i].weight,
                b->ups.v[i].error.code == QN_OK);
    *self = b;
    return QN_OK;
}

/* ---- The sandbox of the bridge ---- */

/* Files that are needed to resolve names and verify certificates. */
static const char *const network_files[] = {
    "/etc/resolv.conf",     "/run/systemd/resolve", "/etc/hosts",    "/etc/nsswitch.conf",
    "/etc/host.conf",       "/etc/gai.conf",        "/etc/ssl",      "/etc/pki",
    "/etc/ca-certificates", "/usr/local/share",     "/etc/services",
};
enum { NETWORK_FILES = sizeof network_files / sizeof *network_files };

static qn_err confine_remote(const struct qn_control *load, const struct qn_jref *options,
                             struct qn_error *e)
{
    struct qn_confine_path paths[NETWORK_FILES + 1];
    struct qn_remote def = {0};
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    size_t n = 0;
    for (size_t i = 0; i < NETWORK_FILES; i++)
        paths[n++] = (struct qn_confine_path){network_files[i], 0};
    /* Errors in the definition are ignored here, because loading reports them. */
    if (read_definition(load->files.v[0], options, arena, &def, NULL) == QN_OK && def.ca_file)
        paths[n++] = (struct qn_confine_path){def.ca_file, 0};
    struct qn_sandbox_needs needs = {.paths = paths, .n = n, .calls = QN_CONFINE_CLIENT};
    qn_err err = qn_child_sandbox("remote", load, &needs, e);
    qn_arena_free(arena);
    return err;
}

static qn_err bridge_confine(const struct qn_control *load, struct qn_error *e)
{
    static const struct qn_sandbox_needs to_own = {.calls = QN_CONFINE_CLIENT};
    struct qn_json *doc;
    qn_err err = qn_json_parse(load->options, strlen(load->options), &doc, e);
    if (err)
        return err;
    struct qn_jref options = qn_json_root(doc);
    if (!qn_server_wanted(&options)) {
        err = confine_remote(load, &options, e);
    } else {
        err = qn_server_start(&server, load, &options, e);
        if (!err)
            err = qn_child_sandbox("remote", load, &to_own, e);
    }
    qn_json_free(doc);
    return err;
}

const struct qn_backend qn_bridge_backend = {
    .type = "bridge",
    .load = bridge_load,
    .start = bridge_start,
    .step = bridge_step,
    .cancel = bridge_cancel,
    .confine = bridge_confine,
    .wake = bridge_wake,
    .unload = bridge_unload,
};
