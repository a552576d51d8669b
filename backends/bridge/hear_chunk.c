/* Parses chunks of streamed chats and completions. See hear.h. */
#include "bridge/hear_private.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

enum { LOGPROBS_MAX = 16 * 1024 * 1024 };

static qn_err bad(const struct qn_jref *at, struct qn_error *e, const char *what)
{
    char path[128];
    qn_json_path(at, path, sizeof path);
    return qn_fail(e, QN_ECHILD, "sent a reply whose %s %s", path[0] ? path : "root", what);
}

static enum qn_finish finish_of(const char *reason)
{
    static const struct {
        const char *name;
        enum qn_finish finish;
    } reasons[] = {
        {"length", QN_FINISH_LENGTH},
        {"tool_calls", QN_FINISH_TOOLS},
        {"function_call", QN_FINISH_TOOLS},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (qn_str_eq(reason, reasons[i].name))
            return reasons[i].finish;
    return QN_FINISH_STOP;
}

static void say_text(struct qn_hearing *h, enum qn_event_kind kind, int64_t index, const char *text,
                     const char *logprobs)
{
    struct qn_event ev;
    if (!*text && !logprobs)
        return;
    h->pieces++;
    if (h->job->count_only)
        return;
    qn_event_init(&ev, kind);
    ev.index = index;
    ev.text = text;
    ev.logprobs = logprobs;
    qn_hear_say(h, &ev);
}

/* Sends reasoning within the text if the client asked for that; the server always separates it. */
static void say_reasoning(struct qn_hearing *h, int64_t index, const char *text)
{
    if (!*text)
        return;
    if (!h->job->chat.reasoning_in_text) {
        say_text(h, QN_EV_REASONING, index, text, NULL);
        return;
    }
    if (!h->choices[index].thinking)
        say_text(h, QN_EV_TEXT, index, "<think>\n", NULL);
    h->choices[index].thinking = true;
    say_text(h, QN_EV_TEXT, index, text, NULL);
}

static void end_reasoning(struct qn_hearing *h, int64_t index)
{
    if (h->choices[index].thinking)
        say_text(h, QN_EV_TEXT, index, "\n</think>\n\n", NULL);
    h->choices[index].thinking = false;
}

/* ---- Calls ---- */

/* Whether a piece begins another call. Some servers give their calls no index, or all the same one;
 * such calls are distinguished by their ids. */
static bool is_another(const char *present, const char *id, const char *name)
{
    return *present && *id && *name && !qn_str_eq(present, id);
}

/* Sends one piece of a tool call. The first piece of each call contains its name, and calls are not
 * interleaved. */
static qn_err say_call(struct qn_hearing *h, int64_t index, const struct qn_jref *call,
                       struct qn_error *e)
{
    struct qn_jref f = qn_json_get(call, "function"), name = qn_json_get(&f, "name"),
                   arguments = qn_json_get(&f, "arguments"), id = qn_json_get(call, "id"),
                   number = qn_json_get(call, "index");
    const char *called = qn_json_raw_str(&name), *known_as = qn_json_raw_str(&id);
    struct qn_buf text;
    struct qn_event ev;
    int64_t n = (int64_t)call->index;
    if (qn_json_i64_opt(&number, 0, QN_EVENT_CALLS_MAX - 1, &n, NULL))
        return bad(&number, e, "is not a valid index of a tool call");
    if (strlen(known_as) > QN_EVENT_CALL_ID_MAX)
        known_as = "";
    bool another = is_another(h->choices[index].id, known_as, called);
    bool first = another || n != h->choices[index].upstream;
    if (first &&
        (!*called || (!another && n < h->choices[index].upstream) ||
         strlen(called) > QN_JOB_TOOL_NAME_MAX || h->choices[index].call + 1 >= QN_EVENT_CALLS_MAX))
        return bad(call, e, "is a tool call without a valid name, or out of order");
    if (first) {
        h->choices[index].upstream = n;
        h->choices[index].call++;
        memcpy(h->choices[index].id, known_as, strlen(known_as) + 1);
    }
    if (h->job->count_only)
        return QN_OK;
    qn_buf_init(&text, QN_SSE_EVENT_MAX);
    if (qn_json_type(&arguments) == QN_JSON_STRING)
        qn_buf_str(&text, qn_json_raw_str(&arguments));
    else if (qn_json_type(&arguments) == QN_JSON_OBJECT) /* a form that only Ollama uses */
        qn_json_print(&arguments, &text);
    qn_event_init(&ev, QN_EV_TOOL_CALL);
    ev.index = index;
    ev.call = h->choices[index].call;
    ev.name = first ? called : NULL;
    ev.call_id = first && *known_as ? known_as : NULL;
    ev.arguments = qn_buf_cstr(&text);
    if (first || text.len)
        qn_hear_say(h, &ev);
    qn_buf_deinit(&text);
    return QN_OK;
}

static qn_err say_calls(struct qn_hearing *h, int64_t index, const struct qn_jref *list,
                        struct qn_error *e)
{
    struct qn_jref call;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(list, &call); more && !err; more = qn_json_next(&call))
        err = say_call(h, index, &call, e);
    return err;
}

/* ---- Logprobs ---- */

/* bytes: the list that the server sent, or an absent reference. */
static void write_bytes(struct qn_jw *w, const char *text, const struct qn_jref *bytes)
{
    struct qn_jref it;
    qn_jw_key(w, "bytes");
    qn_jw_arr(w);
    if (qn_json_type(bytes) == QN_JSON_ARRAY) {
        for (bool more = qn_json_first(bytes, &it); more; more = qn_json_next(&it)) {
            double v = qn_json_raw_f64(&it);
            qn_jw_i64(w, v >= 0 && v < 256 ? (int64_t)v : 0);
        }
    } else {
        for (const unsigned char *s = (const unsigned char *)text; *s; s++)
            qn_jw_i64(w, *s);
    }
    qn_jw_arr_end(w);
}

static void write_token(struct qn_jw *w, const struct qn_jref *token, bool with_top)
{
    struct qn_jref bytes = qn_json_get(token, "bytes"), id = qn_json_get(token, "id"),
                   text = qn_json_get(token, "token"), p = qn_json_get(token, "logprob"),
                   top = qn_json_get(token, "top_logprobs"), it;
    double number = qn_json_raw_f64(&id);
    qn_jw_obj(w);
    qn_jw_ki64(w, "id", number >= 0 && number <= INT32_MAX ? (int64_t)number : 0);
    qn_jw_kstr(w, "token", qn_json_raw_str(&text));
    write_bytes(w, qn_json_raw_str(&text), &bytes);
    if (qn_json_type(&p) == QN_JSON_NUMBER)
        qn_jw_kf64(w, "logprob", qn_json_raw_f64(&p));
    else
        qn_jw_knull(w, "logprob");
    if (with_top) {
        qn_jw_key(w, "top");
        qn_jw_arr(w);
        for (bool more = qn_json_first(&top, &it); more; more = qn_json_next(&it))
            write_token(w, &it, false);
        qn_jw_arr_end(w);
    }
    qn_jw_obj_end(w);
}

/* The older form of completions: parallel lists, and for each token an object of alternatives. */
static void write_lists(struct qn_jw *w, const struct qn_jref *tokens, const struct qn_jref *lists)
{
    const struct qn_jref none = {0};
    struct qn_jref text, p, alternatives, it;
    struct qn_jref ps = qn_json_get(lists, "token_logprobs"),
                   tops = qn_json_get(lists, "top_logprobs");
    bool more_p = qn_json_first(&ps, &p), more_top = qn_json_first(&tops, &alternatives);
    for (bool more = qn_json_first(tokens, &text); more; more = qn_json_next(&text)) {
        qn_jw_obj(w);
        qn_jw_ki64(w, "id", 0);
        qn_jw_kstr(w, "token", qn_json_raw_str(&text));
        write_bytes(w, qn_json_raw_str(&text), &none);
        if (more_p && qn_json_type(&p) == QN_JSON_NUMBER)
            qn_jw_kf64(w, "logprob", qn_json_raw_f64(&p));
        else
            qn_jw_knull(w, "logprob");
        qn_jw_key(w, "top");
        qn_jw_arr(w);
        for (bool also = more_top && qn_json_first(&alternatives, &it); also;
             also = qn_json_next(&it)) {
            qn_jw_obj(w);
            qn_jw_ki64(w, "id", 0);
            qn_jw_kstr(w, "token", it.key ? it.key : "");
            write_bytes(w, it.key ? it.key : "", &none);
            qn_jw_kf64(w, "logprob", qn_json_raw_f64(&it));
            qn_jw_obj_end(w);
        }
        qn_jw_arr_end(w);
        qn_jw_obj_end(w);
        more_p = more_p && qn_json_next(&p);
        more_top = more_top && qn_json_next(&alternatives);
    }
}

const char *qn_hear_logprobs(const struct qn_jref *choice, struct qn_buf *out)
{
    struct qn_jref lists = qn_json_get(choice, "logprobs"),
                   content = qn_json_get(&lists, "content"), tokens = qn_json_get(&lists, "tokens"),
                   it;
    struct qn_jw w = qn_jw_to(out);
    if (!qn_json_count(&content) && !qn_json_count(&tokens))
        return NULL;
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&content, &it); more; more = qn_json_next(&it))
        write_token(&w, &it, true);
    if (!qn_json_count(&content))
        write_lists(&w, &tokens, &lists);
    qn_jw_arr_end(&w);
    return out->overflow ? NULL : out->data;
}

/* ---- Choices ---- */

static void say_done(struct qn_hearing *h, int64_t index, const struct qn_jref *choice,
                     const char *reason)
{
    /* in vLLM: the stop string or a token id */
    struct qn_jref stop = qn_json_get(choice, "stop_reason");
    struct qn_event ev;
    end_reasoning(h, index);
    qn_event_init(&ev, QN_EV_DONE);
    ev.index = index;
    ev.finish = h->job->count_only ? QN_FINISH_STOP : finish_of(reason);
    if (h->choices[index].call >= 0 && ev.finish == QN_FINISH_STOP)
        ev.finish = QN_FINISH_TOOLS; /* some servers report "stop" for tool calls */
    ev.stop = qn_json_type(&stop) == QN_JSON_STRING ? qn_json_raw_str(&stop) : NULL;
    h->choices[index].done = true;
    qn_hear_say(h, &ev);
}

static qn_err take_choice(struct qn_hearing *h, const struct qn_jref *choice, bool whole,
                          struct qn_error *e)
{
    static const char *const reasonings[] = {"reasoning_content", "reasoning"};
    struct qn_jref number = qn_json_get(choice, "index"),
                   reason = qn_json_get(choice, "finish_reason");
    struct qn_jref delta = qn_json_get(choice, whole ? "message" : "delta");
    struct qn_buf list;
    int64_t index = 0;
    if (qn_json_i64_opt(&number, 0, qn_hear_choices(h) - 1, &index, NULL))
        return bad(&number, e, "is not the index of a requested choice");
    if (h->choices[index].done)
        return QN_OK;
    qn_buf_init(&list, LOGPROBS_MAX);
    const char *logprobs =
        h->job->sampling.logprobs != QN_UNSET ? qn_hear_logprobs(choice, &list) : NULL;
    qn_err err = QN_OK;
    if (h->job->task == QN_TASK_COMPLETE) {
        struct qn_jref text = qn_json_get(choice, "text");
        say_text(h, QN_EV_TEXT, index, qn_json_raw_str(&text), logprobs);
    } else {
        struct qn_jref content = qn_json_get(&delta, "content"),
                       refusal = qn_json_get(&delta, "refusal"),
                       calls = qn_json_get(&delta, "tool_calls");
        const char *thought = "";
        for (size_t i = 0; i < 2 && !*thought; i++) {
            struct qn_jref v = qn_json_get(&delta, reasonings[i]);
            thought = qn_json_raw_str(&v);
        }
        say_reasoning(h, index, thought);
        const char *text = qn_json_raw_str(&content);
        if (!*text)
            text = qn_json_raw_str(&refusal);
        if (*text || qn_json_count(&calls))
            end_reasoning(h, index);
        say_text(h, QN_EV_TEXT, index, text, *thought && !*text ? NULL : logprobs);
        err = say_calls(h, index, &calls, e);
    }
    qn_buf_deinit(&list);
    if (!err && qn_json_type(&reason) == QN_JSON_STRING)
        say_done(h, index, choice, qn_json_raw_str(&reason));
    return err;
}

/* llama-server's count of prompt tokens that it has processed. */
static void take_progress(struct qn_hearing *h, const struct qn_jref *root)
{
    struct qn_jref at = qn_json_get(root, "prompt_progress"), done = qn_json_get(&at, "processed"),
                   total = qn_json_get(&at, "total"), cache = qn_json_get(&at, "cache");
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_PROGRESS);
    if (qn_json_type(&at) == QN_JSON_OBJECT && !h->spoken &&
        !qn_json_i64(&done, 0, INT32_MAX, &ev.done, NULL) &&
        !qn_json_i64(&total, ev.done, INT32_MAX, &ev.total, NULL)) {
        if (qn_json_type(&cache) != QN_JSON_NUMBER ||
            qn_json_i64(&cache, 0, ev.done, &ev.reused, NULL))
            ev.reused = 0;
        qn_hear_say(h, &ev);
    }
}

qn_err qn_hear_chunk(struct qn_hearing *h, const struct qn_jref *root, bool whole,
                     struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "choices"), choice;
    qn_err err = QN_OK;
    if (qn_json_type(root) != QN_JSON_OBJECT)
        return bad(root, e, "is not an object");
    take_progress(h, root);
    for (bool more = qn_json_first(&list, &choice); more && !err; more = qn_json_next(&choice))
        err = take_choice(h, &choice, whole, e);
    qn_hear_usage(h, root);
    return err;
}
