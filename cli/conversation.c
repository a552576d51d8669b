/* See conversation.h. */
#include "cli/conversation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/client.h"
#include "cli/note.h"
#include "cli/print.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES_MAX = 32 * 1024 * 1024 };

/* A reply that is being received. */
struct answer {
    struct qn_conversation *c;
    struct qn_note note;
    int64_t started_ms;
    bool done;        /* the stream ended with its end mark */
    bool unread;      /* stdout does not accept output any more */
    bool thinking;    /* the last reasoning text shown has not been closed */
    bool failed;      /* the server reported an error inside the stream */
    size_t forgotten; /* turns dropped from the conversation and not reported yet */
    struct qn_error error;
};

void qn_conversation_init(struct qn_conversation *c, const struct qn_cli *cli, const char *model)
{
    *c = (struct qn_conversation){.cli = cli, .model = model};
    qn_buf_init(&c->messages, MESSAGES_MAX);
    qn_buf_init(&c->answer, MESSAGES_MAX);
    qn_buf_init(&c->thoughts, MESSAGES_MAX);
}

void qn_conversation_deinit(struct qn_conversation *c)
{
    qn_buf_deinit(&c->messages);
    qn_buf_deinit(&c->answer);
    qn_buf_deinit(&c->thoughts);
    free(c->system);
}

void qn_conversation_clear(struct qn_conversation *c)
{
    qn_buf_clear(&c->messages);
}

void qn_conversation_set_system(struct qn_conversation *c, const char *text)
{
    free(c->system);
    c->system = text && text[0] ? qn_xstrdup(text) : NULL;
}

/* Appends a message to the list that begins at out->data + begin. */
static void add_message(struct qn_buf *out, size_t begin, const char *role, const char *text,
                        size_t n)
{
    if (out->len > begin)
        qn_buf_char(out, ',');
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "role", role);
    qn_jw_key(&w, "content");
    qn_jw_strn(&w, text, n);
    qn_jw_obj_end(&w);
}

static void build_request(const struct qn_conversation *c, struct qn_buf *body)
{
    struct qn_jw w = qn_jw_to(body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", c->model);
    qn_jw_kbool(&w, "stream", true);
    qn_jw_key(&w, "stream_options");
    qn_jw_raw(&w, "{\"include_usage\":true}", 22);
    if (c->max_tokens) {
        qn_jw_key(&w, "max_tokens");
        qn_jw_raw(&w, c->max_tokens, strlen(c->max_tokens));
    }
    if (c->temperature) {
        qn_jw_key(&w, "temperature");
        qn_jw_raw(&w, c->temperature, strlen(c->temperature));
    }
    if (c->think != QN_THINK_AS_EVER)
        qn_jw_kbool(&w, "enable_thinking", c->think == QN_THINK_ON);
    qn_jw_key(&w, "messages");
    qn_jw_arr(&w);
    size_t list = body->len;
    if (c->system)
        add_message(body, list, "system", c->system, strlen(c->system));
    if (c->messages.len && body->len > list)
        qn_buf_char(body, ',');
    if (c->messages.len)
        qn_buf_add(body, c->messages.data, c->messages.len);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
}

static void take_usage(struct qn_turn_stats *s, const struct qn_jref *usage)
{
    if (qn_json_type(usage) != QN_JSON_OBJECT)
        return;
    struct qn_jref v = qn_json_get(usage, "prompt_tokens");
    s->prompt_tokens = (int64_t)qn_json_raw_f64(&v);
    v = qn_json_get(usage, "completion_tokens");
    s->output_tokens = (int64_t)qn_json_raw_f64(&v);
    struct qn_jref details = qn_json_get(usage, "prompt_tokens_details");
    v = qn_json_get(&details, "cached_tokens");
    s->cached_tokens = (int64_t)qn_json_raw_f64(&v);
}

/* Ends the display of reasoning, which is dim on a terminal with colours and otherwise marked by
 * lines before and after. */
static void end_thoughts(struct answer *a)
{
    if (!a->thinking)
        return;
    a->thinking = false;
    fputs(qn_screen_coloured(stdout) ? "\033[22m\n\n" : "\n(end of thinking)\n\n", stdout);
}

/* Called when the reply begins: first reports the turns that were dropped for it. */
static void tell_forgotten(struct answer *a)
{
    if (a->forgotten && !a->c->silent) {
        qn_note_end(&a->note);
        printf("(the context is full: the oldest %zu turn%s dropped)\n", a->forgotten,
               a->forgotten == 1 ? " is" : "s are");
    }
    a->forgotten = 0;
}

static void take_thought(struct answer *a, const char *text)
{
    struct qn_conversation *c = a->c;
    if (!text[0])
        return;
    tell_forgotten(a);
    a->note.doing = "thinking:";
    qn_buf_str(&c->thoughts, text);
    if (c->silent || c->hide_thoughts || !isatty(STDOUT_FILENO))
        return;
    if (!a->thinking) {
        qn_note_end(&a->note);
        fputs(qn_screen_coloured(stdout) ? "\033[2m" : "(thinking)\n", stdout);
        while (*text == '\n')
            text++;
    }
    a->thinking = true;
    a->unread = !qn_print_answer(text, strlen(text));
}

static void take_text(struct answer *a, const char *text)
{
    struct qn_conversation *c = a->c;
    if (!text[0])
        return;
    tell_forgotten(a);
    if (c->answer.len == 0)
        c->stats.first_ms = (double)(qn_now_ms() - a->started_ms);
    qn_buf_str(&c->answer, text);
    if (c->silent)
        return;
    qn_note_end(&a->note);
    end_thoughts(a);
    a->unread = !qn_print_answer(text, strlen(text));
}

static bool on_chunk(void *ctx, const char *event, const char *data, size_t n)
{
    struct answer *a = ctx;
    (void)event;
    struct qn_json *doc;
    if (qn_str_eq(data, "[DONE]")) {
        a->done = true;
        return true;
    }
    if (qn_json_parse(data, n, &doc, &a->error) != QN_OK) {
        a->failed = true;
        qn_fail(&a->error, QN_EFORMAT, "the server's reply is invalid");
        return false;
    }
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref error = qn_json_get(&root, "error");
    struct qn_jref message = qn_json_get(&error, "message");
    if (qn_json_type(&message) == QN_JSON_STRING) {
        struct qn_jref slug = qn_json_get(&error, "code");
        bool too_long = qn_str_eq(qn_json_raw_str(&slug), "context_length_exceeded");
        a->failed = true;
        qn_fail(&a->error, too_long ? QN_ECONTEXT : QN_ECHILD, "%s", qn_json_raw_str(&message));
    }
    struct qn_jref usage = qn_json_get(&root, "usage");
    take_usage(&a->c->stats, &usage);
    struct qn_jref choices = qn_json_get(&root, "choices"), choice;
    if (qn_json_first(&choices, &choice)) {
        struct qn_jref delta = qn_json_get(&choice, "delta");
        struct qn_jref content = qn_json_get(&delta, "content");
        struct qn_jref thought = qn_json_get(&delta, "reasoning_content");
        struct qn_jref finish = qn_json_get(&choice, "finish_reason");
        take_thought(a, qn_json_raw_str(&thought));
        take_text(a, qn_json_raw_str(&content));
        if (qn_json_type(&finish) == QN_JSON_STRING)
            snprintf(a->c->finish, sizeof a->c->finish, "%s", qn_json_raw_str(&finish));
    }
    qn_json_free(doc);
    return !a->failed && !a->unread;
}

static void tick(void *ctx)
{
    qn_note_tick(&((struct answer *)ctx)->note);
}

/* Sends the request and receives the complete reply. */
static qn_err converse(struct answer *a, const volatile sig_atomic_t *stop, struct qn_error *e)
{
    struct qn_conversation *c = a->c;
    struct qn_buf body;
    qn_buf_init(&body, MESSAGES_MAX + 65536);
    build_request(c, &body);
    qn_err err;
    if (c->messages.overflow || body.overflow) {
        err = qn_fail(e, QN_ELIMIT, "the conversation has grown beyond %d bytes", MESSAGES_MAX);
    } else {
        const struct qn_client_wait wait = {.stop = stop, .tick = tick, .ctx = a};
        err = qn_client_stream(c->cli, "/v1/chat/completions", qn_buf_cstr(&body), on_chunk, a,
                               &wait, e);
    }
    qn_buf_deinit(&body);
    if (a->failed)
        return qn_fail(e, a->error.code, "%s", a->error.message);
    if (a->unread)
        return qn_fail(e, QN_EIO, "the reply cannot be written");
    if (!err && !a->done)
        return qn_fail(e, QN_EIO, "the reply ended early: has the server stopped?");
    return err;
}

/* Removes the last question. Turns before it may have been dropped since it was added. */
static void take_back(struct qn_conversation *c, size_t question)
{
    size_t len = c->messages.len > question ? c->messages.len - question : 0;
    c->messages.len = len;
    c->messages.overflow = false;
    if (c->messages.data)
        c->messages.data[len] = '\0';
}

/* Drops the oldest turns, at least a quarter of the text, so that the next question has room too
 * and most of the model's cached prefix is not recomputed each time. The last question stays.
 * Returns the number of turns dropped. */
static size_t forget_oldest(struct qn_conversation *c)
{
    /* The text at which a turn begins: a user's message. It cannot occur within a message, where
     * quotes are escaped. */
    static const char turn[] = ",{\"role\":\"user\",";
    size_t wanted = c->messages.len / 4, at = 0, turns = 0;
    for (const char *next; at <= wanted; turns++, at = (size_t)(next - c->messages.data) + 1)
        if (!(next = strstr(c->messages.data + at, turn)))
            break;
    qn_buf_drop(&c->messages, at);
    return turns;
}

/* Sends the question, and again with fewer turns as long as they do not fit the model's context. If
 * there is no reply, the dropped turns are restored. */
static qn_err converse_fitting(struct answer *a, const volatile sig_atomic_t *stop,
                               struct qn_error *e)
{
    struct qn_conversation *c = a->c;
    char *whole = NULL;
    size_t whole_len = c->messages.len, forgotten;
    qn_err err = converse(a, stop, e);
    while (err == QN_ECONTEXT && !c->answer.len) {
        if (!whole)
            whole = qn_xstrndup(qn_buf_cstr(&c->messages), whole_len);
        if (!(forgotten = forget_oldest(c)))
            break;
        a->forgotten += forgotten;
        a->failed = false;
        err = converse(a, stop, e);
    }
    if (whole && err && !c->answer.len) {
        qn_buf_clear(&c->messages);
        qn_buf_add(&c->messages, whole, whole_len);
    }
    free(whole);
    return err;
}

qn_err qn_conversation_ask(struct qn_conversation *c, const char *prompt,
                           const volatile sig_atomic_t *stop, struct qn_error *e)
{
    size_t before = c->messages.len;
    struct answer a = {.c = c, .started_ms = qn_now_ms()};
    add_message(&c->messages, 0, "user", prompt, strlen(prompt));
    size_t question = c->messages.len - before;
    qn_buf_clear(&c->answer);
    qn_buf_clear(&c->thoughts);
    c->finish[0] = '\0';
    c->stats = (struct qn_turn_stats){.asked = true};
    qn_note_begin(&a.note, c->cli, c->model);
    qn_err err = converse_fitting(&a, stop, e);
    qn_note_end(&a.note);
    end_thoughts(&a);
    c->stats.total_ms = (double)(qn_now_ms() - a.started_ms);
    size_t n = c->answer.len;
    if (!c->silent && n && (c->answer.data[n - 1] != '\n' || err))
        qn_print_answer("\n", 1);
    if (!err || (err == QN_ECANCELLED && n))
        add_message(&c->messages, 0, "assistant", qn_buf_cstr(&c->answer), n);
    else
        take_back(c, question);
    return err;
}

void qn_conversation_write(const struct qn_conversation *c, struct qn_jw *w)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "model", c->model);
    qn_jw_key(w, "content");
    qn_jw_strn(w, c->answer.len ? c->answer.data : "", c->answer.len);
    if (c->thoughts.len) {
        qn_jw_key(w, "reasoning");
        qn_jw_strn(w, c->thoughts.data, c->thoughts.len);
    }
    qn_jw_kstr(w, "finish_reason", c->finish);
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_ki64(w, "prompt_tokens", c->stats.prompt_tokens);
    qn_jw_ki64(w, "completion_tokens", c->stats.output_tokens);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
}
