/* Replies of Anthropic's Messages API: as a whole, as a stream of its seven events, and the count
 * of tokens. A reply is a list of blocks (thinking, text, tool_use) that open and close one after
 * another; both forms are written by the same sequence of steps. */
#include "dialects/anthropic/anthropic.h"

#include "answers/answer.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum block { NONE, THINKING, TEXT, TOOL };

struct state {
    enum block open;
    int64_t n;    /* blocks opened so far */
    int64_t call; /* TOOL: index of the call */
    bool begun;   /* streams: message_start has been written */
    enum qn_finish finish;
    char *stop;             /* the stop sequence that ended the text, or NULL */
    struct qn_buf list;     /* non-streamed replies: the closed blocks, separated by commas */
    struct qn_buf text;     /* non-streamed replies: the open block's text or arguments */
    struct qn_buf header;   /* non-streamed replies: a tool_use up to its input */
    int64_t prompt, cached; /* tokens; from PROGRESS, until USAGE has the final numbers */
    int64_t output;
    int64_t thought; /* reasoning tokens of output */
};

static void begin(struct qn_reply *r)
{
    struct state *s = qn_xcalloc(1, sizeof *s);
    qn_buf_init(&s->list, QN_REPLY_MAX);
    qn_buf_init(&s->text, QN_REPLY_MAX);
    qn_buf_init(&s->header, QN_REPLY_MAX);
    r->own = s;
}

static void free_state(void *own)
{
    struct state *s = own;
    if (!s)
        return;
    qn_buf_deinit(&s->list);
    qn_buf_deinit(&s->text);
    qn_buf_deinit(&s->header);
    free(s->stop);
    free(s);
}

/* ---- pieces of both forms ---- */

/* Opens the object. input_tokens are those that were not cached. */
static void write_usage(struct qn_jw *w, const struct state *s, bool ended)
{
    qn_jw_obj(w);
    qn_jw_ki64(w, "input_tokens", s->prompt - s->cached);
    qn_jw_ki64(w, "cache_creation_input_tokens", 0);
    qn_jw_ki64(w, "cache_read_input_tokens", s->cached);
    qn_jw_ki64(w, "output_tokens", ended ? s->output : 0);
    if (!ended)
        return;
    qn_jw_key(w, "output_tokens_details");
    qn_jw_obj(w);
    qn_jw_ki64(w, "thinking_tokens", s->thought);
    qn_jw_obj_end(w);
}

static const char *stop_reason(const struct qn_reply *r)
{
    const struct state *s = r->own;
    const struct qn_anthropic_ask *ask = r->rq->own;
    if (s->finish == QN_FINISH_TOOLS)
        return "tool_use";
    if (s->finish == QN_FINISH_LENGTH) /* fewer tokens than max_tokens: the context is full */
        return s->output < ask->max_tokens ? "model_context_window_exceeded" : "max_tokens";
    return s->stop ? "stop_sequence" : "end_turn";
}

/* Writes the members of a message before its content: id to model. */
static void write_head(const struct qn_reply *r, struct qn_jw *w)
{
    char id[128];
    snprintf(id, sizeof id, "msg_%.100s", r->id);
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", id);
    qn_jw_kstr(w, "type", "message");
    qn_jw_kstr(w, "role", "assistant");
    qn_jw_kstr(w, "model", r->rq->model);
}

/* Writes the members after the content; reason NULL: the message has not ended. */
static void write_tail(const struct qn_reply *r, struct qn_jw *w, const char *reason)
{
    const struct state *s = r->own;
    const struct qn_anthropic_ask *ask = r->rq->own;
    qn_jw_kstr(w, "stop_reason", reason);
    qn_jw_kstr(w, "stop_sequence", reason ? s->stop : NULL);
    qn_jw_knull(w, "stop_details");
    qn_jw_knull(w, "container");
    qn_jw_key(w, "usage");
    write_usage(w, s, reason != NULL);
    qn_jw_kstr(w, "service_tier", "standard");
    qn_jw_obj_end(w);
    if (ask->warnings) {
        qn_jw_key(w, "warnings");
        qn_jw_arr(w);
        qn_jw_str(w, ask->warnings);
        qn_jw_arr_end(w);
    }
    qn_jw_obj_end(w);
}

/* Writes a block before its content: {"type":"text","text":""}. */
static void write_block_start(const struct qn_reply *r, enum block kind, const struct qn_event *ev,
                              struct qn_jw *w)
{
    char id[160];
    qn_jw_obj(w);
    if (kind == THINKING) {
        qn_jw_kstr(w, "type", "thinking");
        qn_jw_kstr(w, "thinking", "");
        qn_jw_kstr(w, "signature", "");
    } else if (kind == TEXT) {
        qn_jw_kstr(w, "type", "text");
        qn_jw_kstr(w, "text", "");
    } else {
        snprintf(id, sizeof id, "toolu_%.100s%02lld", r->id, (long long)ev->call);
        qn_jw_kstr(w, "type", "tool_use");
        qn_jw_kstr(w, "id", ev->call_id && *ev->call_id ? ev->call_id : id);
        qn_jw_kstr(w, "name", ev->name);
        qn_jw_key(w, "input");
        qn_jw_obj(w);
        qn_jw_obj_end(w);
    }
    qn_jw_obj_end(w);
}

/* ---- the stream ---- */

static struct qn_jw open_event(struct qn_reply *r, const char *name)
{
    qn_buf_fmt(r->out, "event: %s\ndata: ", name);
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", name);
    return w;
}

static void close_event(struct qn_reply *r, struct qn_jw *w)
{
    qn_jw_obj_end(w);
    qn_buf_str(r->out, "\n\n");
}

static void ping(struct qn_reply *r)
{
    struct qn_jw w = open_event(r, "ping");
    close_event(r, &w);
}

static void write_message_start(struct qn_reply *r)
{
    struct state *s = r->own;
    s->begun = true;
    struct qn_jw w = open_event(r, "message_start");
    qn_jw_key(&w, "message");
    write_head(r, &w);
    qn_jw_key(&w, "content");
    qn_jw_arr(&w);
    qn_jw_arr_end(&w);
    write_tail(r, &w, NULL);
    close_event(r, &w);
}

/* Writes one piece of the open block: {"type":"text_delta","text":...}. */
static void write_delta(struct qn_reply *r, const char *type, const char *key, const char *piece)
{
    const struct state *s = r->own;
    struct qn_jw w = open_event(r, "content_block_delta");
    qn_jw_ki64(&w, "index", s->n - 1);
    qn_jw_key(&w, "delta");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", type);
    qn_jw_kstr(&w, key, piece);
    qn_jw_obj_end(&w);
    close_event(r, &w);
}

static void stream_open(struct qn_reply *r, enum block kind, const struct qn_event *ev)
{
    struct state *s = r->own;
    if (!s->begun)
        write_message_start(r);
    struct qn_jw w = open_event(r, "content_block_start");
    qn_jw_ki64(&w, "index", s->n - 1);
    qn_jw_key(&w, "content_block");
    write_block_start(r, kind, ev, &w);
    close_event(r, &w);
    if (s->n == 1)
        ping(r);
}

static void stream_close(struct qn_reply *r)
{
    const struct state *s = r->own;
    if (s->open == THINKING)
        write_delta(r, "signature_delta", "signature", r->id);
    struct qn_jw w = open_event(r, "content_block_stop");
    qn_jw_ki64(&w, "index", s->n - 1);
    close_event(r, &w);
}

static void stream_end(struct qn_reply *r)
{
    const struct state *s = r->own;
    if (!s->begun)
        write_message_start(r);
    struct qn_jw w = open_event(r, "message_delta");
    qn_jw_key(&w, "delta");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "stop_reason", stop_reason(r));
    qn_jw_kstr(&w, "stop_sequence", s->stop);
    qn_jw_knull(&w, "stop_details");
    qn_jw_knull(&w, "container");
    qn_jw_obj_end(&w);
    qn_jw_key(&w, "usage");
    write_usage(&w, s, true);
    qn_jw_obj_end(&w);
    close_event(r, &w);
    w = open_event(r, "message_stop");
    close_event(r, &w);
}

/* ---- the whole reply ---- */

static void whole_open(struct qn_reply *r, enum block kind, const struct qn_event *ev)
{
    struct state *s = r->own;
    qn_buf_clear(&s->text);
    qn_buf_clear(&s->header);
    if (kind != TOOL)
        return;
    struct qn_jw w = qn_jw_to(&s->header);
    write_block_start(r, kind, ev, &w);
}

static void whole_close(struct qn_reply *r)
{
    static const char empty_input[] = "{}}";
    struct state *s = r->own;
    if (s->n > 1)
        qn_buf_char(&s->list, ',');
    if (s->open == TOOL) { /* replaces the empty input by the arguments that the model wrote */
        struct qn_json *doc = NULL;
        bool whole = s->text.len && qn_json_parse(s->text.data, s->text.len, &doc, NULL) == QN_OK;
        qn_json_free(doc);
        qn_buf_add(&s->list, s->header.data, s->header.len - (whole ? strlen(empty_input) : 0));
        if (whole) { /* otherwise it was cut off: like the stream, it then keeps the empty input */
            qn_buf_add(&s->list, s->text.data, s->text.len);
            qn_buf_char(&s->list, '}');
        }
        return;
    }
    struct qn_jw w = qn_jw_to(&s->list);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", s->open == TEXT ? "text" : "thinking");
    qn_jw_kstr(&w, s->open == TEXT ? "text" : "thinking", qn_buf_cstr(&s->text));
    if (s->open == THINKING)
        qn_jw_kstr(&w, "signature", r->id);
    qn_jw_obj_end(&w);
}

static void whole_end(struct qn_reply *r)
{
    struct state *s = r->own;
    struct qn_jw w = qn_jw_to(r->out);
    write_head(r, &w);
    qn_jw_key(&w, "content");
    qn_jw_arr(&w);
    if (s->list.len)
        qn_jw_raw(&w, s->list.data, s->list.len);
    qn_jw_arr_end(&w);
    write_tail(r, &w, stop_reason(r));
    r->out->overflow |= s->list.overflow;
}

/* ---- the walk ---- */

static void close_block(struct qn_reply *r)
{
    struct state *s = r->own;
    if (s->open == NONE)
        return;
    if (r->rq->stream)
        stream_close(r);
    else
        whole_close(r);
    s->open = NONE;
}

static void open_block(struct qn_reply *r, enum block kind, const struct qn_event *ev)
{
    struct state *s = r->own;
    close_block(r);
    s->n++;
    if (r->rq->stream)
        stream_open(r, kind, ev);
    else
        whole_open(r, kind, ev);
    s->open = kind;
    s->call = ev->call;
}

static qn_err fill_block(struct qn_reply *r, const char *piece, struct qn_error *e)
{
    static const struct {
        const char *type, *key;
    } deltas[] = {
        [THINKING] = {"thinking_delta", "thinking"},
        [TEXT] = {"text_delta", "text"},
        [TOOL] = {"input_json_delta", "partial_json"},
    };
    struct state *s = r->own;
    const struct qn_anthropic_ask *ask = r->rq->own;
    if (!piece || !*piece || (s->open == THINKING && ask->hide_thinking))
        return QN_OK;
    if (r->rq->stream)
        write_delta(r, deltas[s->open].type, deltas[s->open].key, piece);
    else if (qn_buf_str(&s->text, piece))
        return qn_fail(e, QN_ELIMIT, "the reply is too long");
    return QN_OK;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct state *s = r->own;
    if (ev->index != 0 || job != 0)
        return qn_fail(e, QN_ECHILD, "the model's process sent a choice that was not requested");
    switch (ev->kind) {
    case QN_EV_PROGRESS:
        s->prompt = ev->total;
        s->cached = ev->reused < ev->total ? ev->reused : ev->total;
        return QN_OK;
    case QN_EV_REASONING:
    case QN_EV_TEXT: {
        enum block kind = ev->kind == QN_EV_TEXT ? TEXT : THINKING;
        if (s->open != kind && *ev->text)
            open_block(r, kind, ev);
        return *ev->text ? fill_block(r, ev->text, e) : QN_OK;
    }
    case QN_EV_TOOL_CALL:
        if (ev->name)
            open_block(r, TOOL, ev);
        else if (s->open != TOOL || s->call != ev->call)
            return qn_fail(e, QN_ECHILD,
                           "the model's process continued a call that it had not begun");
        return fill_block(r, ev->arguments, e);
    case QN_EV_DONE:
        s->finish = ev->finish;
        free(s->stop);
        s->stop = ev->stop ? qn_xstrdup(ev->stop) : NULL;
        close_block(r);
        return QN_OK;
    case QN_EV_USAGE:
        s->prompt = ev->usage.prompt;
        s->cached = ev->usage.cached;
        s->output = ev->usage.output;
        s->thought = ev->usage.reasoning;
        return QN_OK;
    default:
        return QN_OK;
    }
}

static void end(struct qn_reply *r)
{
    if (r->rq->stream)
        stream_end(r);
    else
        whole_end(r);
}

static void end_count(struct qn_reply *r)
{
    const struct state *s = r->own;
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "input_tokens", s->prompt);
    qn_jw_obj_end(&w);
}

static void fail(struct qn_reply *r, const struct qn_problem *p)
{
    if (r->started)
        qn_buf_str(r->out, "event: error\ndata: ");
    qn_problem_body(p, QN_FAMILY_ANTHROPIC, r->out);
    if (r->started)
        qn_buf_str(r->out, "\n\n");
}

const struct qn_dialect qn_anthropic = {
    .task = QN_TASK_CHAT,
    .stream_type = "text/event-stream",
    .id_header = "request-id",
    .parse = qn_anthropic_parse,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = fail,
    .ping = ping,
    .free = free_state,
};

const struct qn_dialect qn_anthropic_count = {
    .task = QN_TASK_CHAT,
    .stream_type = "text/event-stream",
    .id_header = "request-id",
    .parse = qn_anthropic_parse_count,
    .begin = begin,
    .event = event,
    .end = end_count,
    .fail = fail,
    .ping = ping,
    .free = free_state,
};
