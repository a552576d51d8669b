/* Runs the tool calls of an answer that are for MCP servers. Each change of a call's state is
 * stored in the database before clients see it. See answer_private.h. */
#include "answering/answer_private.h"

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_ROOM = 64 };

static const char *const states[] = {
    [QN_CALL_FOREIGN] = "",       [QN_CALL_ASKING] = "asking", [QN_CALL_RUNNING] = "running",
    [QN_CALL_DONE] = "done",      [QN_CALL_FAILED] = "failed", [QN_CALL_DENIED] = "denied",
    [QN_CALL_STOPPED] = "stopped"};

static bool has_result(const struct qn_answer_call *c)
{
    return c->state == QN_CALL_DONE || c->state == QN_CALL_FAILED || c->state == QN_CALL_DENIED;
}

static bool is_open(const struct qn_answer_call *c)
{
    return c->state == QN_CALL_ASKING || c->state == QN_CALL_RUNNING;
}

bool qn_answer_asks(const struct qn_answer *x)
{
    for (size_t i = 0; i < x->n_calls && x->calling && !x->ended; i++)
        if (x->calls[i].state == QN_CALL_ASKING)
            return true;
    return false;
}

static void write_call(struct qn_jw *w, struct qn_answer_call *c)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", c->id);
    qn_jw_kstr(w, "name", c->name);
    qn_jw_kstr(w, "arguments", qn_buf_cstr(&c->arguments));
    if (c->tool) {
        qn_jw_kstr(w, "server", c->tool->server);
        qn_jw_kstr(w, "server_name", c->tool->server_name);
        qn_jw_kstr(w, "tool", c->tool->tool);
    }
    if (c->state != QN_CALL_FOREIGN)
        qn_jw_kstr(w, "state", states[c->state]);
    if (has_result(c))
        qn_jw_kstr(w, "result", qn_buf_cstr(&c->result));
    qn_jw_obj_end(w);
}

char *qn_answer_calls_json(const struct qn_answer *x)
{
    struct qn_buf out;
    qn_buf_init(&out, QN_ANSWERING_CALLS_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_arr(&w);
    for (size_t i = 0; i < x->n_calls; i++) {
        out.overflow = out.overflow || x->calls[i].arguments.overflow;
        write_call(&w, &x->calls[i]);
    }
    qn_jw_arr_end(&w);
    if (!out.overflow)
        return qn_buf_take(&out);
    qn_buf_deinit(&out);
    return NULL;
}

/* ---- storing calls ---- */

static void store(struct qn_answer *x);

static void calls_stored(void *ctx, const struct qn_chats_found *found)
{
    struct qn_answer *x = ctx;
    x->storing = false;
    if (x->ended)
        return; /* qn_answer_end stores the calls, too */
    if (found->e) {
        qn_answer_fail(x, found->e);
        return;
    }
    free(x->kept_calls);
    x->kept_calls = x->new_calls;
    x->new_calls = NULL;
    x->view.calls = x->kept_calls;
    x->view.calls_changes++;
    x->view.state_changes += x->view.state != QN_CHAT_ANSWERING || x->view.stage != QN_ANSWER_CALLS;
    x->view.state = QN_CHAT_ANSWERING;
    x->view.stage = QN_ANSWER_CALLS;
    if (x->again)
        store(x);
    qn_answer_tell(x);
}

/* Stores the present calls. If an earlier store is still running, stores them when it has
 * finished. */
static void store(struct qn_answer *x)
{
    x->again = x->storing;
    if (x->storing)
        return;
    free(x->new_calls);
    x->new_calls = qn_answer_calls_json(x);
    if (!x->new_calls) { /* the calls are too long; qn_answer_end reports this error */
        qn_answer_end(x, QN_CHAT_DONE, "tool_calls", NULL);
        return;
    }
    x->storing = true;
    qn_chats_set_calls(x->in->chats, x->id, x->new_calls, calls_stored, x);
}

/* ---- results ---- */

/* Sets the state and the result of a call. The result is cut if the results of the answer would
 * exceed QN_ANSWERING_RESULTS_MAX. */
static void set_result(struct qn_answer_call *c, enum qn_call_state state, const char *text,
                       size_t n)
{
    static const char note[] = "\n[the rest of the result was left out]";
    struct qn_answer *x = c->answer;
    size_t left = x->results + NOTE_ROOM < QN_ANSWERING_RESULTS_MAX
                      ? QN_ANSWERING_RESULTS_MAX - NOTE_ROOM - x->results
                      : 0;
    bool whole = n <= left;
    c->state = state;
    qn_buf_clear(&c->result);
    qn_buf_add(&c->result, text, whole ? n : qn_utf8_whole(text, left));
    if (!whole)
        qn_buf_str(&c->result, note);
    x->results += c->result.len;
}

static void set_reason(struct qn_answer_call *c, enum qn_call_state state, const char *text)
{
    set_result(c, state, text, strlen(text));
}

/* If all calls have ended, ends the answer. The next answer then continues with the results, unless
 * there are calls that the client itself has to run. */
static void go_on(struct qn_answer *x)
{
    bool foreign = false;
    for (size_t i = 0; i < x->n_calls; i++) {
        if (is_open(&x->calls[i]))
            return;
        foreign = foreign || x->calls[i].state == QN_CALL_FOREIGN;
    }
    x->goes_on = !foreign;
    qn_answer_end(x, QN_CHAT_DONE, "tool_calls", NULL);
}

static void result_came(void *ctx, bool failed, const char *text, size_t n)
{
    struct qn_answer_call *c = ctx;
    struct qn_answer *x = c->answer;
    if (x->ended)
        return;
    set_result(c, failed ? QN_CALL_FAILED : QN_CALL_DONE, text, n);
    qn_info("mcp", "call=%s server=%s bytes=%zu", states[c->state], c->tool->server, n);
    store(x);
    if (!x->ended)
        go_on(x);
}

static void run(struct qn_answer_call *c)
{
    c->state = QN_CALL_RUNNING;
    c->run.done = result_came;
    c->run.ctx = c;
    qn_mcp_call_begin(c->answer->in->mcp, c->tool->server, c->answer->caller.admin, c->tool->tool,
                      qn_buf_cstr(&c->arguments), &c->run);
}

/* ---- starting calls ---- */

static void begin_call(struct qn_answer *x, struct qn_answer_call *c, size_t *runs)
{
    c->tool = qn_mcp_offer_find(x->offer, c->name);
    if (!c->tool && qn_answer_tools_has(&x->tools, c->name))
        return; /* a tool that the client runs itself */
    if (!c->tool)
        set_reason(c, QN_CALL_FAILED, "There is no tool of this name.");
    else if (++*runs > QN_ANSWERING_RUNS_MAX)
        set_reason(c, QN_CALL_FAILED, "Too many calls in one message: this one was not run.");
    else if (c->tool->permission == QN_MCP_NEVER)
        set_reason(c, QN_CALL_DENIED, "The user does not allow this tool.");
    else if (c->tool->permission == QN_MCP_ALWAYS)
        run(c);
    else
        c->state = QN_CALL_ASKING;
}

void qn_answer_calls(struct qn_answer *x)
{
    size_t runs = 0;
    bool last = x->round >= QN_ANSWERING_ROUNDS_MAX;
    x->calling = true;
    for (size_t i = 0; i < x->n_calls; i++) {
        struct qn_answer_call *c = &x->calls[i];
        c->answer = x;
        if (!last)
            begin_call(x, c, &runs);
        else if ((c->tool = qn_mcp_offer_find(x->offer, c->name)))
            c->state = QN_CALL_STOPPED;
    }
    if (last) {
        qn_answer_end(x, QN_CHAT_CUT, "rounds", NULL);
        return;
    }
    store(x);
    if (!x->ended)
        go_on(x);
}

void qn_answer_calls_stop(struct qn_answer *x)
{
    for (size_t i = 0; i < x->n_calls; i++) {
        qn_mcp_call_cancel(&x->calls[i].run);
        if (is_open(&x->calls[i]))
            x->calls[i].state = QN_CALL_STOPPED;
    }
}

/* ---- permissions ---- */

static void decide(struct qn_answer_call *c, bool allowed)
{
    if (allowed)
        run(c);
    else
        set_reason(c, QN_CALL_DENIED, "The user did not allow this call.");
}

static struct qn_answer *find_answer(const struct qn_answering *a, const char *owner,
                                     const char *message)
{
    for (struct qn_answer *x = a->answers; x; x = x->next)
        if (!x->stored && !x->ended && x->calling && qn_str_eq(x->id, message) &&
            qn_str_eq(x->caller.owner, owner))
            return x;
    return NULL;
}

/* Finds a call by its id. Engines may use an id twice: then the first call that waits for a
 * permission is returned. */
static struct qn_answer_call *find_call(struct qn_answer *x, const char *id)
{
    struct qn_answer_call *found = NULL;
    for (size_t i = 0; x && i < x->n_calls; i++)
        if (qn_str_eq(x->calls[i].id, id) &&
            (!found || (found->state != QN_CALL_ASKING && x->calls[i].state == QN_CALL_ASKING)))
            found = &x->calls[i];
    return found;
}

qn_err qn_answering_allow(struct qn_answering *a, const char *owner, const char *message,
                          const char *call, enum qn_answering_decision d, struct qn_error *e)
{
    struct qn_answer *x = find_answer(a, owner, message);
    struct qn_answer_call *c = find_call(x, call);
    bool allowed = d == QN_ALLOW_ONCE || d == QN_ALLOW_ALWAYS,
         stored = d == QN_ALLOW_ALWAYS || d == QN_ALLOW_NEVER;
    if (!c)
        return qn_fail_param(e, QN_ENOTFOUND, x ? "call" : "id",
                             "no answer with this id and call is in progress");
    if (c->state != QN_CALL_ASKING)
        return qn_fail_param(e, QN_ECONFLICT, "call", "the call does not wait for a permission");
    if (stored)
        qn_mcp_offer_allow(x->offer, c->name, allowed ? QN_MCP_ALWAYS : QN_MCP_NEVER);
    decide(c, allowed);
    for (size_t i = 0; i < x->n_calls && stored; i++)
        if (x->calls[i].state == QN_CALL_ASKING && qn_str_eq(x->calls[i].name, c->name))
            decide(&x->calls[i], allowed);
    store(x);
    if (!x->ended)
        go_on(x);
    return QN_OK;
}
