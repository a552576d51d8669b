/* See conversation.h. */
#include "cli/conversation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/client.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES_MAX = 32 * 1024 * 1024 };

struct answer {
    struct qn_conversation *c;
    struct qn_buf text;
    int64_t started_ms;
    bool failed; /* the server said so inside the stream */
    struct qn_error error;
};

void qn_conversation_init(struct qn_conversation *c, const struct qn_cli *cli, const char *model)
{
    *c = (struct qn_conversation){.cli = cli, .model = model};
    qn_buf_init(&c->messages, MESSAGES_MAX);
}

void qn_conversation_deinit(struct qn_conversation *c)
{
    qn_buf_deinit(&c->messages);
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

static void add_message(struct qn_buf *out, const char *role, const char *text, size_t n)
{
    if (out->len)
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
    qn_jw_key(&w, "messages");
    struct qn_buf list;
    qn_buf_init(&list, MESSAGES_MAX);
    if (c->system)
        add_message(&list, "system", c->system, strlen(c->system));
    if (list.len && c->messages.len)
        qn_buf_char(&list, ',');
    qn_buf_add(&list, qn_buf_cstr((struct qn_buf *)&c->messages), c->messages.len);
    qn_jw_arr(&w);
    qn_buf_add(body, qn_buf_cstr(&list), list.len);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_buf_deinit(&list);
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

static bool on_chunk(void *ctx, const char *data, size_t n)
{
    struct answer *a = ctx;
    struct qn_json *doc;
    if (qn_str_eq(data, "[DONE]") || qn_json_parse(data, n, &doc, NULL) != QN_OK)
        return true;
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref error = qn_json_get(&root, "error");
    struct qn_jref message = qn_json_get(&error, "message");
    if (qn_json_type(&message) == QN_JSON_STRING) {
        a->failed = true;
        qn_fail(&a->error, QN_ECHILD, "%s", qn_json_raw_str(&message));
    }
    struct qn_jref usage = qn_json_get(&root, "usage");
    take_usage(&a->c->stats, &usage);
    struct qn_jref choices = qn_json_get(&root, "choices"), choice;
    if (qn_json_first(&choices, &choice)) {
        struct qn_jref delta = qn_json_get(&choice, "delta");
        struct qn_jref content = qn_json_get(&delta, "content");
        const char *text = qn_json_raw_str(&content);
        if (text[0]) {
            if (a->text.len == 0)
                a->c->stats.first_ms = (double)(qn_now_ms() - a->started_ms);
            qn_buf_str(&a->text, text);
            qn_print_answer(text, strlen(text));
        }
    }
    qn_json_free(doc);
    return !a->failed;
}

qn_err qn_conversation_ask(struct qn_conversation *c, const char *prompt, const volatile int *stop,
                           struct qn_error *e)
{
    size_t before = c->messages.len;
    add_message(&c->messages, "user", prompt, strlen(prompt));
    struct qn_buf body;
    qn_buf_init(&body, MESSAGES_MAX + 65536);
    build_request(c, &body);
    struct answer a = {.c = c, .started_ms = qn_now_ms()};
    qn_buf_init(&a.text, MESSAGES_MAX);
    c->stats = (struct qn_turn_stats){0};
    qn_err err;
    if (c->messages.overflow || body.overflow)
        err = qn_fail(e, QN_ELIMIT, "the conversation has grown too long: /clear begins a new one");
    else
        err = qn_client_stream(c->cli, "/v1/chat/completions", qn_buf_cstr(&body), on_chunk, &a,
                               stop, e);
    c->stats.total_ms = (double)(qn_now_ms() - a.started_ms);
    if (a.failed)
        err = qn_fail(e, a.error.code, "%s", a.error.message);
    if (a.text.len && (a.text.data[a.text.len - 1] != '\n' || err))
        qn_print_answer("\n", 1);
    if (err == QN_OK || err == QN_ECANCELLED) {
        add_message(&c->messages, "assistant", qn_buf_cstr(&a.text), a.text.len);
    } else {
        c->messages.len = before;
        c->messages.overflow = false;
        if (c->messages.data)
            c->messages.data[before] = '\0';
    }
    qn_buf_deinit(&a.text);
    qn_buf_deinit(&body);
    return err;
}
