/* Ollama's pull and push. Pull watches a download job as POST pull does (pull.c), and reports it in
 * Ollama's lines. The job continues if its client disconnects. */
#include "api/ollama.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/pull.h"
#include "base/buf.h"
#include "base/str.h"
#include "downloads/pull_request.h"
#include "http/watchers.h"
#include "models/inventory.h"
#include "registry/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MAX = 16 * 1024,
    FILES_A_TICK = 16,
    HOLD_TICKS = 1000 / QN_PULL_TICK_MS, /* an error within a second has a status of its own */
    ORDER_BYTES_MAX = 1024 * 1024
};

struct asker {
    const struct qn_pulls_api *api;
    struct qn_http *http;
    struct qn_pull_client *client;
    struct qn_watcher counted;
    struct qn_stream *stream; /* NULL: the reply has not begun */
    char *name;
    bool lines;  /* the client wants lines, otherwise one reply */
    size_t told; /* files that have been reported as complete */
    int ticks;
};

static void asker_free(struct asker *a)
{
    qn_watchers_remove(&a->counted);
    free(a->name);
    free(a);
}

static void gone(void *ctx)
{
    struct asker *a = ctx;
    qn_pull_leave(a->client);
    asker_free(a);
}

static void say(struct asker *a, const char *line)
{
    qn_stream_write(a->stream, line, strlen(line));
}

static void say_status(struct asker *a, const char *status)
{
    char line[96];
    snprintf(line, sizeof line, "{\"status\":\"%s\"}\n", status);
    say(a, line);
}

static void begin_stream(struct asker *a)
{
    if (a->stream)
        return;
    a->stream = qn_http_stream(a->http, 200, "application/x-ndjson", NULL, NULL);
    say_status(a, "pulling manifest");
}

/* Writes {"status":"pulling 0123456789ab","digest":"sha256:...","total":N,"completed":N}. */
static void add_file(struct qn_buf *lines, const struct qn_pull_view_file *f)
{
    struct qn_buf status, digest;
    qn_buf_init(&status, LINE_MAX);
    qn_buf_init(&digest, LINE_MAX);
    qn_buf_fmt(&status, "pulling %.12s", *f->sum ? f->sum : f->path);
    qn_buf_fmt(&digest, "%s:%s",
               strlen(f->sum) == 64 ? "sha256"
               : *f->sum            ? "git"
                                    : "file",
               *f->sum ? f->sum : f->path);
    struct qn_jw w = qn_jw_to(lines);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", qn_buf_cstr(&status));
    qn_jw_kstr(&w, "digest", qn_buf_cstr(&digest));
    qn_jw_ki64(&w, "total", f->size_bytes < 0 ? f->here_bytes : f->size_bytes);
    qn_jw_ki64(&w, "completed", f->here_bytes);
    qn_jw_obj_end(&w);
    qn_buf_char(lines, '\n');
    qn_buf_deinit(&status);
    qn_buf_deinit(&digest);
}

/* Writes complete files once each, then those that are being downloaded. */
static void say_files(struct asker *a, const struct qn_pull_view *v)
{
    struct qn_buf lines;
    qn_buf_init(&lines, QN_DOWNLOAD_FILES_MAX * (size_t)LINE_MAX);
    begin_stream(a);
    for (; a->told < v->n && v->files[a->told].done; a->told++)
        add_file(&lines, &v->files[a->told]);
    size_t said = 0;
    for (size_t i = a->told; i < v->n && said < FILES_A_TICK; i++)
        if (v->files[i].here_bytes > 0 && !v->files[i].done) {
            add_file(&lines, &v->files[i]);
            said++;
        }
    say(a, qn_buf_cstr(&lines));
    qn_buf_deinit(&lines);
}

static void on_progress(void *ctx, const struct qn_pull_view *v)
{
    struct asker *a = ctx;
    a->ticks++;
    if (!a->lines || (a->stream && qn_stream_full(a->stream)))
        return;
    if (v->n && (qn_str_eq(v->phase, "fetching") || v->rate_bytes_s > 0))
        say_files(a, v);
    else if (a->ticks >= HOLD_TICKS)
        begin_stream(a);
}

static void say_error(struct asker *a, const struct qn_error *e)
{
    struct qn_buf line;
    qn_buf_init(&line, LINE_MAX);
    struct qn_jw w = qn_jw_to(&line);
    qn_jw_obj(&w);
    const struct qn_error shown = qn_api_pull_shown(a->http, e);
    qn_jw_kstr(&w, "error", shown.message);
    qn_jw_obj_end(&w);
    qn_buf_char(&line, '\n');
    say(a, qn_buf_cstr(&line));
    qn_buf_deinit(&line);
}

static void say_success(struct asker *a)
{
    say_status(a, "verifying sha256 digest");
    say_status(a, "writing manifest");
    say_status(a, "success");
}

static void answer_success(struct qn_http *h)
{
    struct qn_buf body;
    qn_buf_init(&body, LINE_MAX);
    qn_buf_str(&body, "{\"status\":\"success\"}");
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

static void on_end(void *ctx, const struct qn_pull_view *v, const struct qn_error *e)
{
    struct asker *a = ctx;
    qn_http_on_gone(a->http, NULL, NULL);
    if (e && !a->stream) {
        qn_api_pull_refuse(a->api->puller, a->http, a->name, e);
    } else if (!a->lines) {
        answer_success(a->http);
    } else {
        if (e) {
            say_error(a, e);
        } else {
            say_files(a, v);
            say_success(a);
        }
        qn_stream_end(a->stream);
    }
    asker_free(a);
}

static const struct qn_pull_events events = {.progress = on_progress, .end = on_end};

/* Replies for an installed model as if it had just been downloaded. */
static void answer_here(const struct qn_pulls_api *api, struct qn_http *h, const char *name,
                        bool lines)
{
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row;
    char digest[QN_OLLAMA_DIGEST_MAX];
    if (!lines || qn_inventory_find(api->puller->models->inventory, name, &snap, &row, NULL)) {
        answer_success(h);
        return;
    }
    struct asker a = {.api = api, .http = h, .lines = true};
    qn_ollama_digest(row, digest);
    begin_stream(&a);
    struct qn_buf line;
    qn_buf_init(&line, LINE_MAX);
    add_file(&line, &(struct qn_pull_view_file){.path = row->name,
                                                .sum = digest,
                                                .size_bytes = row->size_bytes,
                                                .here_bytes = row->size_bytes});
    say(&a, qn_buf_cstr(&line));
    qn_buf_deinit(&line);
    say_success(&a);
    qn_stream_end(a.stream);
    qn_snapshot_unref(snap);
}

static void ask(const struct qn_pulls_api *api, struct qn_http *h, struct qn_pull_order *o,
                const char *name, bool lines)
{
    struct qn_error e = {0};
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->http = h;
    a->name = qn_xstrdup(name);
    a->lines = lines;
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    struct qn_pull_wish wish = {
        .order = o, .owner = caller.owner, .admin = caller.admin, .priority = QN_UNSET_PRIORITY};
    qn_err err =
        qn_watchers_add(api->serving->watchers, caller.owner, QN_API_PULL_INSTEAD, &a->counted, &e);
    if (!err)
        err = qn_pulls_ask(api->puller->pulls, &wish, &events, a, &a->client, &e);
    if (err) {
        qn_api_pull_refuse(api->puller, h, name, &e);
        asker_free(a);
    } else {
        qn_http_on_gone(h, gone, a);
    }
}

void qn_api_ollama_pull(const struct qn_pulls_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    struct qn_pull_asked asked = {0};
    const char *name = NULL;
    bool lines = true;
    struct qn_arena *arena = qn_arena_new(ORDER_BYTES_MAX);
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "stream");
        err = qn_ollama_model_of(&root, &name, &e);
        if (!err)
            err = qn_json_bool_opt(&v, &lines, &e);
    }
    if (!err)
        err = qn_pull_by_name(api->puller, name, true, true, arena, &asked, &e);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    asked.order.local = qn_web_is_offline(api->puller->web);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    else if (asked.here)
        answer_here(api, h, asked.order.model, lines);
    else
        ask(api, h, &asked.order, name, lines);
    qn_arena_free(arena);
    qn_json_free(doc);
}

void qn_api_ollama_push(const struct qn_pulls_api *api, struct qn_http *h, const char *id)
{
    (void)api;
    (void)id;
    qn_answer_plain(h, 501, "not_implemented", "quince does not upload models");
}
