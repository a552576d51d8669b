/* Replies of /api/chat and /api/generate: one JSON object per line while text is generated, the
 * last one with "done":true and the statistics; or a single object with everything.
 *
 * A tool call is written complete, as one item of a line, because its arguments are an object. Its
 * pieces are therefore collected until the next event of another kind. */
#include "dialects/ollama/ollama.h"

#include "answers/answer.h"
#include "base/clock.h"
#include "base/str.h"
#include "dialects/shared/logprobs.h"

#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, ARGUMENTS_MAX = 4 * 1024 * 1024 };

struct reply {
    const struct qn_ollama_form *form;
    struct qn_buf text, thinking, calls,
        logprobs; /* not written yet; a non-streamed reply writes everything at the end */
    struct qn_buf arguments; /* of the call that is being received */
    char *name, *id;         /* name NULL: no call is being received */
    int64_t call;            /* index of the call */
    size_t said_calls;       /* complete calls */
    char *tokens;            /* JSON array, or NULL */
    enum qn_finish finish;
    int64_t prompt, output;
    double prompt_ms, output_ms;
};

void qn_ollama_time(struct qn_jw *w, const char *key, int64_t wall_ms)
{
    char text[25];
    qn_wall_format(wall_ms, text);
    qn_jw_kstr(w, key, text);
}

void qn_ollama_begin(struct qn_reply *r, const struct qn_ollama_form *form)
{
    struct reply *o = qn_xcalloc(1, sizeof *o);
    o->form = form;
    qn_buf_init(&o->text, QN_REPLY_MAX);
    qn_buf_init(&o->thinking, QN_REPLY_MAX);
    qn_buf_init(&o->calls, QN_REPLY_MAX);
    qn_buf_init(&o->logprobs, QN_REPLY_MAX);
    qn_buf_init(&o->arguments, ARGUMENTS_MAX);
    r->own = o;
}

void qn_ollama_free(void *own)
{
    struct reply *o = own;
    if (!o)
        return;
    qn_buf_deinit(&o->text);
    qn_buf_deinit(&o->thinking);
    qn_buf_deinit(&o->calls);
    qn_buf_deinit(&o->logprobs);
    qn_buf_deinit(&o->arguments);
    free(o->name);
    free(o->id);
    free(o->tokens);
    free(o);
}

/* Writes {"model","created_at" and the text collected so far, in the form's members; the object
 * stays open. */
static struct qn_jw open_object(struct qn_reply *r, bool done)
{
    struct reply *o = r->own;
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", r->rq->model);
    qn_ollama_time(&w, "created_at", qn_wall_ms());
    if (o->form->chat) {
        qn_jw_key(&w, "message");
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "role", "assistant");
        qn_jw_kstr(&w, "content", qn_buf_cstr(&o->text));
    } else {
        qn_jw_kstr(&w, "response", qn_buf_cstr(&o->text));
    }
    if (o->thinking.len)
        qn_jw_kstr(&w, "thinking", qn_buf_cstr(&o->thinking));
    if (o->calls.len)
        qn_jw_kitems(&w, "tool_calls", &o->calls);
    if (o->form->chat)
        qn_jw_obj_end(&w);
    qn_jw_kbool(&w, "done", done);
    return w;
}

static void said(struct reply *o)
{
    qn_buf_clear(&o->text);
    qn_buf_clear(&o->thinking);
    qn_buf_clear(&o->calls);
    qn_buf_clear(&o->logprobs);
}

static void write_line(struct qn_reply *r)
{
    struct reply *o = r->own;
    struct qn_jw w = open_object(r, false);
    if (o->logprobs.len)
        qn_jw_kitems(&w, "logprobs", &o->logprobs);
    qn_jw_obj_end(&w);
    qn_buf_char(r->out, '\n');
    said(o);
}

/* Ends the call that is being received. A call that was cut off within its arguments, at the token
 * limit, is dropped. */
static void close_call(struct qn_reply *r)
{
    struct reply *o = r->own;
    if (!o->name)
        return;
    const char *text = o->arguments.len ? qn_buf_cstr(&o->arguments) : "{}";
    struct qn_json *doc = NULL;
    bool whole = qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK;
    struct qn_jref root = {0};
    if (whole) {
        root = qn_json_root(doc);
        whole = qn_json_type(&root) == QN_JSON_OBJECT;
    }
    if (whole) {
        struct qn_buf object;
        qn_buf_init(&object, ARGUMENTS_MAX);
        qn_json_print(&root, &object);
        struct qn_jw w = qn_jw_to(&o->calls);
        w.comma = o->calls.len > 0;
        qn_jw_obj(&w);
        char made[64];
        if (!o->id) {
            struct qn_buf id;
            qn_buf_init(&id, sizeof made);
            qn_buf_fmt(&id, "call_%.8s%zu", r->id, o->said_calls);
            memcpy(made, qn_buf_cstr(&id), id.len + 1);
            qn_buf_deinit(&id);
        }
        qn_jw_kstr(&w, "id", o->id ? o->id : made);
        qn_jw_key(&w, "function");
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "index", (int64_t)o->said_calls++);
        qn_jw_kstr(&w, "name", o->name);
        qn_jw_key(&w, "arguments");
        qn_jw_raw(&w, qn_buf_cstr(&object), object.len);
        qn_jw_obj_end(&w);
        qn_jw_obj_end(&w);
        qn_buf_deinit(&object);
    }
    qn_json_free(doc);
    free(o->name);
    free(o->id);
    o->name = o->id = NULL;
    qn_buf_clear(&o->arguments);
    if (whole && r->rq->stream)
        write_line(r);
}

static qn_err add_call(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct reply *o = r->own;
    if (o->name && ev->call != o->call)
        close_call(r);
    if (!o->name) {
        if (!ev->name)
            return qn_fail(e, QN_ECHILD, "the model's process began a call without a name");
        o->name = qn_xstrdup(ev->name);
        o->id = ev->call_id && *ev->call_id ? qn_xstrdup(ev->call_id) : NULL;
        o->call = ev->call;
    }
    if (qn_buf_str(&o->arguments, ev->arguments))
        return qn_fail(e, QN_ELIMIT, "the arguments of a call are too long");
    return QN_OK;
}

static qn_err add_text(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct reply *o = r->own;
    close_call(r);
    struct qn_buf *to = ev->kind == QN_EV_TEXT ? &o->text : &o->thinking;
    qn_err err = ev->logprobs ? qn_logprobs_add(ev->logprobs, false, &o->logprobs, e) : QN_OK;
    if (!err && qn_buf_str(to, ev->text))
        err = qn_fail(e, QN_ELIMIT, "the reply is too long");
    if (!err && r->rq->stream)
        write_line(r);
    return err;
}

qn_err qn_ollama_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                       struct qn_error *e)
{
    struct reply *o = r->own;
    (void)job;
    switch (ev->kind) {
    case QN_EV_TEXT:
    case QN_EV_REASONING:
        return add_text(r, ev, e);
    case QN_EV_TOOL_CALL:
        return add_call(r, ev, e);
    case QN_EV_DONE:
        close_call(r);
        o->finish = ev->finish;
        free(o->tokens);
        o->tokens = ev->tokens ? qn_xstrdup(ev->tokens) : NULL;
        return QN_OK;
    case QN_EV_USAGE:
        o->prompt += ev->usage.prompt;
        o->output += ev->usage.output;
        o->prompt_ms += ev->usage.prompt_ms;
        o->output_ms += ev->usage.output_ms;
        return QN_OK;
    default:
        return QN_OK;
    }
}

static int64_t ns(double ms)
{
    return (int64_t)(ms * NS_PER_MS);
}

void qn_ollama_end(struct qn_reply *r)
{
    struct reply *o = r->own;
    int64_t now = qn_now_ms();
    const char *reason = o->finish == QN_FINISH_LENGTH ? "length" : "stop";
    if (r->rq->n_jobs == 0)
        reason = r->rq->keep_alive_ms == 0 ? "unload" : "load";
    struct qn_jw w = open_object(r, true);
    qn_jw_kstr(&w, "done_reason", reason);
    if (o->form->context && o->tokens) {
        qn_jw_key(&w, "context");
        qn_jw_raw(&w, o->tokens, strlen(o->tokens));
    }
    if (r->rq->n_jobs > 0) {
        qn_jw_ki64(&w, "total_duration", ns((double)(now - r->began_ms)));
        qn_jw_ki64(&w, "load_duration",
                   ns((double)(r->granted_ms > 0 ? r->granted_ms - r->began_ms : 0)));
        qn_jw_ki64(&w, "prompt_eval_count", o->prompt);
        qn_jw_ki64(&w, "prompt_eval_duration", ns(o->prompt_ms));
        qn_jw_ki64(&w, "eval_count", o->output);
        qn_jw_ki64(&w, "eval_duration", ns(o->output_ms));
    }
    if (o->logprobs.len)
        qn_jw_kitems(&w, "logprobs", &o->logprobs);
    qn_jw_obj_end(&w);
    if (r->rq->stream)
        qn_buf_char(r->out, '\n');
}

void qn_ollama_fail(struct qn_reply *r, const struct qn_problem *p)
{
    qn_problem_body(p, QN_FAMILY_TEXT, r->out);
    if (r->started)
        qn_buf_char(r->out, '\n');
}

/* Writes white space before the next object, because clients take an empty line for an invalid
 * one. */
void qn_ollama_ping(struct qn_reply *r)
{
    qn_buf_char(r->out, ' ');
}
