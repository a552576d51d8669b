/* The run of an answer: its request, made by a worker, and the records that come back; see
 * answer_private.h. */
#include "answering/answer_private.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "dialects/dialect.h"
#include "io/body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PROGRESS_STEP = 0.01; /* smaller ones are not shown */

/* ---- the view of what it waits for ---- */

static void set_waiting(struct qn_answer *x, const struct qn_queue_spot *spot, const char *reason)
{
    free(x->reason);
    x->reason = qn_xstrdup(reason);
    x->view.place = spot->position;
    x->view.wait_ms = spot->wait_ms;
    x->view.reason = x->reason;
}

static void state_changed(struct qn_answer *x)
{
    x->view.state_changes++;
    qn_answer_tell(x);
}

bool qn_answer_look(struct qn_answer *x)
{
    static const enum qn_answer_stage stages[] = {[QN_INFER_PREPARING] = QN_ANSWER_PREPARING,
                                                  [QN_INFER_DOWNLOADING] = QN_ANSWER_DOWNLOADING,
                                                  [QN_INFER_QUEUED] = QN_ANSWER_WAITING,
                                                  [QN_INFER_LOADING] = QN_ANSWER_LOADING,
                                                  [QN_INFER_COMPUTING] = QN_ANSWER_COMPUTING};
    struct qn_infer_progress p;
    if (x->ended || x->stored || x->view.state != QN_CHAT_QUEUED)
        return false;
    if (!x->run)
        return true; /* its request is being made */
    qn_infer_look(x->run, &p);
    bool same = stages[p.stage] == x->view.stage;
    if (p.stage == QN_INFER_QUEUED)
        same = same && p.wait.spot.position == x->view.place &&
               qn_str_eq(p.wait.reason, x->view.reason);
    if (p.stage == QN_INFER_LOADING)
        same = same && fabs(p.wait.progress - x->view.loaded) < PROGRESS_STEP;
    if (p.context > 0)
        x->context = p.context;
    if (same)
        return true;
    x->view.stage = stages[p.stage];
    x->view.loaded = p.wait.progress;
    if (p.stage == QN_INFER_QUEUED)
        set_waiting(x, &p.wait.spot, p.wait.reason);
    state_changed(x);
    return true;
}

static void queued(void *ctx, const struct qn_queue_spot *spot)
{
    struct qn_answer *x = ctx;
    x->view.stage = QN_ANSWER_WAITING;
    set_waiting(x, spot, "");
    state_changed(x);
}

/* ---- records ---- */

static const char *string(const struct qn_jref *record, const char *name)
{
    struct qn_jref v = qn_json_get(record, name);
    return qn_json_raw_str(&v);
}

static int64_t number(const struct qn_jref *record, const char *name)
{
    struct qn_jref v = qn_json_get(record, name);
    return (int64_t)qn_json_raw_f64(&v);
}

static char *printed(const struct qn_jref *v)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_CHATS_JSON_MAX);
    qn_json_print(v, &out);
    return qn_buf_take(&out);
}

static void take_prompt(struct qn_answer *x, const struct qn_jref *record)
{
    x->view.done = number(record, "done");
    x->view.total = number(record, "total");
    x->view.cached = number(record, "cached");
    x->view.prompt_changes++;
    x->view.state_changes += x->view.stage != QN_ANSWER_COMPUTING;
    x->view.stage = QN_ANSWER_COMPUTING;
    qn_answer_tell(x);
}

/* Measures the time until the first piece, and the time spent on reasoning. */
static void note_time(struct qn_answer *x, bool reasoning)
{
    int64_t now = qn_now_ms();
    if (!x->first_ms) {
        struct qn_infer_progress p;
        qn_infer_look(x->run, &p);
        x->context = p.context > 0 ? p.context : x->context;
        x->first_ms = now;
    }
    if (reasoning && !x->thinks)
        x->thinks_since_ms = now;
    else if (!reasoning && x->thinks)
        x->thought_ms += now - x->thinks_since_ms;
    x->thinks = reasoning;
}

/* Models are shown the text that they continue without the white space at its end: the part of it
 * that they write again is left out. */
static const char *without_repeat(struct qn_answer *x, const char *text)
{
    const char *end = qn_buf_cstr(&x->text) + x->text.len;
    while (x->repeat && *text && *text == *(end - x->repeat)) {
        text++;
        x->repeat--;
    }
    if (*text)
        x->repeat = 0;
    return text;
}

/* Returns true when the run must pause. */
static bool take_text(struct qn_answer *x, const struct qn_jref *record, bool reasoning)
{
    const char *text = string(record, "s");
    note_time(x, reasoning);
    if (!reasoning && x->repeat)
        text = without_repeat(x, text);
    return *text ? qn_answer_add(x, reasoning, text, strlen(text)) : x->paused;
}

static void take_call(struct qn_answer *x, const struct qn_jref *record)
{
    struct qn_jref name = qn_json_get(record, "name");
    note_time(x, false);
    if (qn_json_type(&name) == QN_JSON_STRING) {
        x->calls = qn_xrealloc(x->calls, (x->n_calls + 1) * sizeof *x->calls);
        struct qn_answer_call *call = &x->calls[x->n_calls++];
        *call = (struct qn_answer_call){.id = qn_xstrdup(string(record, "id")),
                                        .name = qn_xstrdup(qn_json_raw_str(&name))};
        qn_buf_init(&call->arguments, QN_ANSWERING_CALLS_MAX);
        qn_buf_init(&call->result, QN_ANSWERING_RESULTS_MAX);
    }
    if (x->n_calls)
        qn_buf_str(&x->calls[x->n_calls - 1].arguments, string(record, "arguments"));
}

/* Takes one record of the dialect. Returns true when the run must pause. */
static bool take_record(struct qn_answer *x, const char *line, size_t n)
{
    struct qn_json *doc;
    bool full = false;
    if (qn_json_parse(line, n, &doc, NULL))
        return false;
    struct qn_jref record = qn_json_root(doc);
    const char *kind = string(&record, "t");
    if (qn_str_eq(kind, "text") || qn_str_eq(kind, "think"))
        full = take_text(x, &record, qn_str_eq(kind, "think"));
    else if (qn_str_eq(kind, "prompt"))
        take_prompt(x, &record);
    else if (qn_str_eq(kind, "call"))
        take_call(x, &record);
    else if (qn_str_eq(kind, "stats") && !x->figures)
        x->figures = printed(&record);
    else if (qn_str_eq(kind, "end") && !x->end)
        x->end = printed(&record);
    qn_json_free(doc);
    return full;
}

/* The dialect writes whole lines. */
static bool take_records(struct qn_answer *x, const char *bytes, size_t n)
{
    bool full = false;
    for (const char *end; n && (end = memchr(bytes, '\n', n)) != NULL;) {
        size_t line = (size_t)(end - bytes);
        full = take_record(x, bytes, line) || full;
        bytes += line + 1;
        n -= line + 1;
    }
    return full;
}

static bool write_more(void *ctx, const struct qn_infer_head *head, const void *bytes, size_t n)
{
    (void)head;
    return take_records(ctx, bytes, n);
}

/* The run has ended, with the record "end" as its last one. */
static void end(void *ctx, const struct qn_infer_end *how)
{
    struct qn_answer *x = ctx;
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (how->rest->len)
        take_records(x, how->rest->data, how->rest->len);
    x->run = NULL;
    enum qn_chat_state state = QN_CHAT_FAILED;
    if (!x->end || qn_json_parse(x->end, strlen(x->end), &doc, NULL)) {
        qn_fail(&e, QN_EINTERNAL, "the answer ended without a reason");
        qn_answer_fail(x, &e);
        return;
    }
    struct qn_jref root = qn_json_root(doc), error = qn_json_get(&root, "error");
    char *why = qn_json_type(&error) == QN_JSON_OBJECT ? printed(&error) : NULL;
    (void)qn_chat_state_parse(string(&root, "state"), &state);
    if (state == QN_CHAT_FAILED && x->in->inference->serving->stopping)
        state = QN_CHAT_INTERRUPTED; /* its model was not loaded any more */
    if (state == QN_CHAT_DONE && x->n_calls && x->offer)
        qn_answer_calls(x);
    else
        qn_answer_end(x, state, string(&root, "finish"), why);
    free(why);
    qn_json_free(doc);
}

/* ---- the request ---- */

static void start(struct qn_answer *x)
{
    static const struct qn_infer_client client = {
        .queued = queued, .write = write_more, .end = end};
    const struct qn_inference *with = x->in->inference;
    char id[QN_REQUEST_ID_DIGITS + 1];
    struct qn_error e;
    struct qn_body *body = qn_xcalloc(1, sizeof *body);
    struct qn_infer_request request = {.dialect = &qn_page_chat,
                                       .profile = x->profile,
                                       .family = QN_FAMILY_ERROR,
                                       .caller = x->caller,
                                       .name = x->client,
                                       .owner = x->share,
                                       .id = id,
                                       .body = body,
                                       .limit_ms = with->request_timeout_ms};
    qn_infer_id(with, x->caller.owner, id);
    qn_body_of(body, &x->body);
    if (qn_body_finish(body, &request.text, &request.n, &e))
        request.why = &e;
    qn_infer_start(with, &request, &client, x, &x->run);
}

/* Runs on a worker. */
static void make_body(void *ctx)
{
    struct qn_answer *x = ctx;
    qn_answer_body(&x->ask, &x->body, &x->error);
}

static void made(void *ctx)
{
    struct qn_answer *x = ctx;
    x->busy = false;
    qn_arena_free(x->arena);
    x->arena = NULL;
    if (x->ended)
        qn_answer_drop(x);
    else if (x->error.code)
        qn_answer_fail(x, &x->error);
    else
        start(x);
}

void qn_answer_request(struct qn_answer *x)
{
    x->busy = true;
    qn_loop_work(x->in->inference->serving->loop, make_body, made, x);
}

void qn_answer_run(struct qn_answer *x)
{
    if (qn_answer_may_have_mcp(x->ask.params) || qn_answer_may_have_mcp(x->ask.defaults))
        qn_answer_offer(x);
    else
        qn_answer_request(x);
}
