/* POST responses: the response. The job's events become items (reasoning, message, function call),
 * written as a whole at the end or, in a stream, as an event for every step with a sequence
 * number. */
#include "dialects/openai/responses.h"

#include "answers/answer.h"
#include "base/str.h"
#include "dialects/shared/logprobs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum item_kind { REASONING, MESSAGE, CALL };

static const char *const id_prefixes[] = {[REASONING] = "rs_", [MESSAGE] = "msg_", [CALL] = "fc_"};

struct item {
    enum item_kind kind;
    const char *id, *call_id, *name; /* in the request's arena; call_id and name only of a CALL */
    struct qn_buf text;              /* the item's text, or the call's arguments */
    struct qn_buf logprobs;          /* of a MESSAGE: list items */
    bool cut;                        /* the output was cut off within the item */
};

struct state {
    struct item *items;
    size_t n;
    int64_t calls;    /* number of items of kind CALL */
    bool open;        /* the last item is not complete */
    int64_t sequence; /* number of the next event */
    bool created;     /* the first events have been written */
    enum qn_finish finish;
    struct qn_openai usage; /* only the sums are used */
};

static const struct qn_responses_ask *ask_of(const struct qn_reply *r)
{
    return r->rq->own;
}

static void begin(struct qn_reply *r)
{
    r->own = qn_xcalloc(1, sizeof(struct state));
}

static void free_state(void *own)
{
    struct state *s = own;
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        qn_buf_deinit(&s->items[i].text);
        qn_buf_deinit(&s->items[i].logprobs);
    }
    free(s->items);
    free(s);
}

/* Opens and closes one event of the stream. */
static struct qn_jw open_event(struct qn_reply *r, struct state *s, const char *type)
{
    qn_buf_str(r->out, "event: ");
    qn_buf_str(r->out, type);
    qn_buf_str(r->out, "\ndata: ");
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", type);
    qn_jw_ki64(&w, "sequence_number", s->sequence++);
    return w;
}

static void close_event(struct qn_reply *r, struct qn_jw *w)
{
    qn_jw_obj_end(w);
    qn_buf_str(r->out, "\n\n");
}

/* The same for an event about the last item. */
static struct qn_jw open_item_event(struct qn_reply *r, struct state *s, const char *type)
{
    struct qn_jw w = open_event(r, s, type);
    qn_jw_kstr(&w, "item_id", s->items[s->n - 1].id);
    qn_jw_ki64(&w, "output_index", (int64_t)s->n - 1);
    return w;
}

/* Writes the single part of a reasoning item or a message. */
static void write_part(struct qn_jw *w, struct item *it, bool summary, bool empty)
{
    qn_jw_obj(w);
    if (it->kind == REASONING) {
        qn_jw_kstr(w, "type", summary ? "summary_text" : "reasoning_text");
    } else {
        struct qn_buf none = {0};
        qn_jw_kstr(w, "type", "output_text");
        qn_jw_key(w, "annotations");
        qn_jw_arr(w);
        qn_jw_arr_end(w);
        qn_jw_kitems(w, "logprobs", empty ? &none : &it->logprobs);
    }
    qn_jw_kstr(w, "text", empty ? "" : qn_buf_cstr(&it->text));
    qn_jw_obj_end(w);
}

/* Writes a list with that part, or an empty list. */
static void write_parts(struct qn_jw *w, const char *key, struct item *it, bool summary, bool empty)
{
    qn_jw_key(w, key);
    qn_jw_arr(w);
    if (!empty)
        write_part(w, it, summary, false);
    qn_jw_arr_end(w);
}

static void write_item(const struct qn_reply *r, struct qn_jw *w, struct item *it, bool begun)
{
    const struct qn_responses_ask *ask = ask_of(r);
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", it->id);
    switch (it->kind) {
    case REASONING:
        qn_jw_kstr(w, "type", "reasoning");
        write_parts(w, "summary", it, true, begun || !ask->summary);
        write_parts(w, "content", it, false, begun || ask->summary);
        if (ask->encrypted && !begun) {
            struct qn_buf sealed;
            qn_buf_init(&sealed, QN_REPLY_MAX);
            qn_buf_str(&sealed, qn_responses_reasoning_mark);
            qn_buf_add(&sealed, qn_buf_cstr(&it->text), it->text.len);
            qn_jw_kstr(w, "encrypted_content", qn_buf_cstr(&sealed));
            qn_buf_deinit(&sealed);
        }
        break;
    case MESSAGE:
        qn_jw_kstr(w, "type", "message");
        qn_jw_kstr(w, "role", "assistant");
        write_parts(w, "content", it, false, begun);
        break;
    case CALL:
        qn_jw_kstr(w, "type", "function_call");
        qn_jw_kstr(w, "call_id", it->call_id);
        qn_jw_kstr(w, "name", it->name);
        qn_jw_kstr(w, "arguments", begun ? "" : qn_buf_cstr(&it->text));
        break;
    }
    qn_jw_kstr(w, "status", begun ? "in_progress" : it->cut ? "incomplete" : "completed");
    qn_jw_obj_end(w);
}

static void write_usage(const struct qn_openai *u, struct qn_jw *w)
{
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_ki64(w, "input_tokens", u->prompt);
    qn_jw_key(w, "input_tokens_details");
    qn_jw_obj(w);
    qn_jw_ki64(w, "cached_tokens", u->cached);
    qn_jw_obj_end(w);
    qn_jw_ki64(w, "output_tokens", u->output);
    qn_jw_key(w, "output_tokens_details");
    qn_jw_obj(w);
    qn_jw_ki64(w, "reasoning_tokens", u->reasoning);
    qn_jw_obj_end(w);
    qn_jw_ki64(w, "total_tokens", u->prompt + u->output);
    qn_jw_obj_end(w);
}

/* The error code of a failed response, from the few that OpenAI's clients know. */
static const char *failure_code(const struct qn_problem *p)
{
    if (p->error->code == QN_ECONTEXT)
        return "context_length_exceeded";
    if (p->error->code == QN_EBUSY)
        return "rate_limit_exceeded";
    return qn_problem_status(p) < 500 ? "invalid_prompt" : "server_error";
}

static const char *answer_id(const struct qn_reply *r)
{
    return qn_arena_fmt(r->arena, "resp_%.*s", QN_ANSWER_ID_DIGITS, r->answer_id);
}

/* Writes the response object. s MAY be NULL (no output yet); p is NULL unless the response has
 * failed. */
static void write_response(const struct qn_reply *r, struct state *s, const char *status,
                           const struct qn_problem *p, struct qn_jw *w)
{
    bool incomplete = qn_str_eq(status, "incomplete");
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", answer_id(r));
    qn_jw_kstr(w, "object", "response");
    qn_jw_ki64(w, "created_at", r->created_s);
    qn_jw_kstr(w, "status", status);
    if (p) {
        char words[QN_CRASH_REPORT_WORDS_MAX];
        qn_problem_words(p, words);
        qn_jw_key(w, "error");
        qn_jw_obj(w);
        qn_jw_kstr(w, "code", failure_code(p));
        qn_jw_kstr(w, "message", words);
        qn_jw_obj_end(w);
    } else {
        qn_jw_knull(w, "error");
    }
    if (incomplete) {
        qn_jw_key(w, "incomplete_details");
        qn_jw_obj(w);
        qn_jw_kstr(w, "reason", "max_output_tokens");
        qn_jw_obj_end(w);
    } else {
        qn_jw_knull(w, "incomplete_details");
    }
    qn_jw_kstr(w, "model", r->rq->model);
    qn_jw_key(w, "output");
    qn_jw_arr(w);
    for (size_t i = 0; s && i < s->n; i++)
        write_item(r, w, &s->items[i], false);
    qn_jw_arr_end(w);
    if (s && (incomplete || qn_str_eq(status, "completed")))
        write_usage(&s->usage, w);
    else
        qn_jw_knull(w, "usage");
    qn_buf_char(w->out, ',');
    qn_buf_str(w->out, ask_of(r)->echo);
    qn_jw_obj_end(w);
}

static void say_response(struct qn_reply *r, struct state *s, const char *type, const char *status,
                         const struct qn_problem *p)
{
    struct qn_jw w = open_event(r, s, type);
    qn_jw_key(&w, "response");
    write_response(r, s, status, p, &w);
    close_event(r, &w);
}

/* Writes the first two events, before the first output. */
static void say_created(struct qn_reply *r, struct state *s)
{
    if (s->created || !r->rq->stream)
        return;
    s->created = true;
    say_response(r, s, "response.created", "in_progress", NULL);
    say_response(r, s, "response.in_progress", "in_progress", NULL);
}

static void say_item(struct qn_reply *r, struct state *s, const char *type, bool begun)
{
    struct qn_jw w = open_event(r, s, type);
    qn_jw_ki64(&w, "output_index", (int64_t)s->n - 1);
    qn_jw_key(&w, "item");
    write_item(r, &w, &s->items[s->n - 1], begun);
    close_event(r, &w);
}

/* Names of the events about an item's part. */
static const struct {
    const char *added, *delta, *text_done, *done; /* added and done NULL: a call has no parts */
    const char *index;                            /* the name of the part's index */
} part_events[] = {
    {"response.content_part.added", "response.reasoning_text.delta", "response.reasoning_text.done",
     "response.content_part.done", "content_index"},
    {"response.content_part.added", "response.output_text.delta", "response.output_text.done",
     "response.content_part.done", "content_index"},
    {NULL, "response.function_call_arguments.delta", "response.function_call_arguments.done", NULL,
     NULL},
    {"response.reasoning_summary_part.added", "response.reasoning_summary_text.delta",
     "response.reasoning_summary_text.done", "response.reasoning_summary_part.done",
     "summary_index"},
};

static size_t events_of(const struct qn_reply *r, const struct item *it)
{
    return it->kind == REASONING && ask_of(r)->summary ? 3 : (size_t)it->kind;
}

static void say_part(struct qn_reply *r, struct state *s, const char *type, bool begun)
{
    struct item *it = &s->items[s->n - 1];
    struct qn_jw w = open_item_event(r, s, type);
    qn_jw_ki64(&w, part_events[events_of(r, it)].index, 0);
    qn_jw_key(&w, "part");
    write_part(&w, it, ask_of(r)->summary, begun);
    close_event(r, &w);
}

static void close_item(struct qn_reply *r, struct state *s)
{
    if (!s->open)
        return;
    s->open = false;
    if (!r->rq->stream)
        return;
    struct item *it = &s->items[s->n - 1];
    size_t k = events_of(r, it);
    struct qn_jw w = open_item_event(r, s, part_events[k].text_done);
    if (part_events[k].index)
        qn_jw_ki64(&w, part_events[k].index, 0);
    if (it->kind == CALL)
        qn_jw_kstr(&w, "name", it->name);
    if (it->kind == MESSAGE)
        qn_jw_kitems(&w, "logprobs", &it->logprobs);
    qn_jw_kstr(&w, it->kind == CALL ? "arguments" : "text", qn_buf_cstr(&it->text));
    close_event(r, &w);
    if (part_events[k].done)
        say_part(r, s, part_events[k].done, false);
    say_item(r, s, "response.output_item.done", false);
}

static struct item *open_item(struct qn_reply *r, struct state *s, enum item_kind kind,
                              const struct qn_event *ev)
{
    close_item(r, s);
    s->items = qn_xrealloc(s->items, (s->n + 1) * sizeof *s->items);
    struct item *it = &s->items[s->n];
    *it = (struct item){.kind = kind};
    it->id = qn_arena_fmt(r->arena, "%s%.*s%02zx", id_prefixes[kind], QN_ANSWER_ID_DIGITS,
                          r->answer_id, s->n);
    qn_buf_init(&it->text, QN_REPLY_MAX);
    qn_buf_init(&it->logprobs, QN_REPLY_MAX);
    if (kind == CALL) {
        it->name = qn_arena_strdup(r->arena, ev->name);
        it->call_id = ev->call_id && *ev->call_id
                          ? qn_arena_strdup(r->arena, ev->call_id)
                          : qn_arena_fmt(r->arena, "call_%.24s%02zx", r->id, s->n);
        s->calls++;
    }
    s->n++;
    s->open = true;
    if (r->rq->stream) {
        say_item(r, s, "response.output_item.added", true);
        const char *added = part_events[events_of(r, it)].added;
        if (added)
            say_part(r, s, added, true);
    }
    return it;
}

/* Writes more of the last item. logprobs: of this piece, or NULL. */
static qn_err say_more(struct qn_reply *r, struct state *s, const char *piece, const char *logprobs,
                       struct qn_error *e)
{
    struct item *it = &s->items[s->n - 1];
    struct qn_buf tokens;
    qn_buf_init(&tokens, QN_REPLY_MAX);
    qn_err err = logprobs ? qn_logprobs_add(logprobs, true, &tokens, e) : QN_OK;
    if (!err && tokens.len) {
        if (it->logprobs.len)
            qn_buf_char(&it->logprobs, ',');
        qn_buf_add(&it->logprobs, tokens.data, tokens.len);
    }
    if (!err && (qn_buf_str(&it->text, piece) || it->logprobs.overflow))
        err = qn_fail(e, QN_ELIMIT, "the reply is too long");
    if (!err && r->rq->stream && *piece) {
        size_t k = events_of(r, it);
        struct qn_jw w = open_item_event(r, s, part_events[k].delta);
        if (part_events[k].index)
            qn_jw_ki64(&w, part_events[k].index, 0);
        if (it->kind == MESSAGE)
            qn_jw_kitems(&w, "logprobs", &tokens);
        qn_jw_kstr(&w, "delta", piece);
        close_event(r, &w);
    }
    qn_buf_deinit(&tokens);
    return err;
}

static qn_err say_text(struct qn_reply *r, struct state *s, const struct qn_event *ev,
                       struct qn_error *e)
{
    enum item_kind kind = ev->kind == QN_EV_TEXT ? MESSAGE : REASONING;
    const struct qn_openai_ask *ask = &ask_of(r)->openai;
    if (kind == REASONING && ask->hide_reasoning)
        return QN_OK;
    if (!s->open || s->items[s->n - 1].kind != kind)
        open_item(r, s, kind, ev);
    bool logprobs = kind == MESSAGE && ask->logprobs;
    return say_more(r, s, ev->text, logprobs ? ev->logprobs : NULL, e);
}

static qn_err say_call(struct qn_reply *r, struct state *s, const struct qn_event *ev,
                       struct qn_error *e)
{
    bool fresh = ev->name != NULL;
    bool goes_on = s->open && s->items[s->n - 1].kind == CALL;
    if (ev->call + 1 != s->calls + fresh || (!fresh && !goes_on))
        return qn_fail(e, QN_ECHILD, "the model's process sent tool calls out of order");
    if (fresh)
        open_item(r, s, CALL, ev);
    return say_more(r, s, ev->arguments, NULL, e);
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct state *s = r->own;
    if (ev->kind == QN_EV_USAGE) {
        s->usage.prompt += ev->usage.prompt;
        s->usage.cached += ev->usage.cached;
        s->usage.output += ev->usage.output;
        s->usage.reasoning += ev->usage.reasoning;
        return QN_OK;
    }
    if (ev->kind != QN_EV_TEXT && ev->kind != QN_EV_REASONING && ev->kind != QN_EV_TOOL_CALL &&
        ev->kind != QN_EV_DONE)
        return QN_OK;
    if (job != 0 || ev->index != 0)
        return qn_fail(e, QN_ECHILD, "the model's process sent a choice that was not requested");
    say_created(r, s);
    if (ev->kind == QN_EV_TOOL_CALL)
        return say_call(r, s, ev, e);
    if (ev->kind != QN_EV_DONE)
        return say_text(r, s, ev, e);
    s->finish = ev->finish;
    if (s->n == 0) /* a response has at least one message, even an empty one */
        open_item(r, s, MESSAGE, ev);
    if (s->open)
        s->items[s->n - 1].cut = ev->finish == QN_FINISH_LENGTH;
    close_item(r, s);
    return QN_OK;
}

static void keep(struct qn_reply *r, struct state *s, const char *status)
{
    const struct qn_responses_ask *ask = ask_of(r);
    struct qn_buf body;
    qn_buf_init(&body, QN_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    write_response(r, s, status, NULL, &w);
    char *copy = body.overflow ? NULL : qn_arena_try(r->arena, body.len + 1);
    if (copy)
        r->keep = (struct qn_kept){.id = answer_id(r),
                                   .previous = ask->previous,
                                   .input = ask->input,
                                   .body = memcpy(copy, body.data, body.len + 1)};
    qn_buf_deinit(&body);
}

static void end(struct qn_reply *r)
{
    struct state *s = r->own;
    bool cut = s->finish == QN_FINISH_LENGTH;
    const char *status = cut ? "incomplete" : "completed";
    if (ask_of(r)->store)
        keep(r, s, status);
    if (r->rq->stream) {
        say_response(r, s, cut ? "response.incomplete" : "response.completed", status, NULL);
        return;
    }
    struct qn_jw w = qn_jw_to(r->out);
    write_response(r, s, status, NULL, &w);
}

/* Within a stream: writes the error event, then the response as it is so far, with the status
 * failed. */
static void fail(struct qn_reply *r, const struct qn_problem *p)
{
    if (!r->started) {
        qn_problem_body(p, r->rq->family, r->out);
        return;
    }
    struct state nothing = {0}, *s = r->own ? r->own : &nothing;
    say_created(r, s);
    if (s->open) {
        s->items[s->n - 1].cut = true;
        s->open = false;
    }
    char words[QN_CRASH_REPORT_WORDS_MAX];
    qn_problem_words(p, words);
    struct qn_jw w = open_event(r, s, "error");
    qn_jw_kstr(&w, "code", failure_code(p));
    qn_jw_kstr(&w, "message", words);
    qn_jw_kstr(&w, "param", *p->error->param ? p->error->param : NULL);
    close_event(r, &w);
    say_response(r, s, "response.failed", "failed", p);
}

const struct qn_dialect qn_responses = {
    .task = QN_TASK_CHAT,
    .stream_type = "text/event-stream",
    .earlier = qn_responses_earlier,
    .parse = qn_responses_parse,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = fail,
    .ping = qn_openai_ping,
    .free = free_state,
};
