#include "llm/prompt.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "llm/marks.h"
#include "llm/output.h"
#include "llm/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROMPT_JSON_MAX = 3 * QN_JOB_PROMPT_BYTES_MAX, /* messages, tools and variables together */
    CONTINUE_TAIL_MAX = 1024, /* bytes that a template may put behind the last message */
    PROMPT_TOKENS_SLACK =
        4096 /* counted beyond four contexts, so that the message can name the number */
};

static const char chatml_template[] =
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content "
    "}}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

static const char plain_template[] =
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'assistant' %}Assistant: {{ message.content }}\n"
    "{% else %}User: {{ message.content }}\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}";
static const char plain_stop[] = "\nUser:";

/* Fill-in-the-middle: the metadata keys that name the three tokens, and the families' written forms
 * for files that do not. */
enum fim { FIM_PREFIX, FIM_SUFFIX, FIM_MIDDLE, FIM_COUNT };
static const char *const fim_keys[][FIM_COUNT] = {
    {"tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.fim_suf_token_id",
     "tokenizer.ggml.fim_mid_token_id"},
    {"tokenizer.ggml.prefix_token_id", "tokenizer.ggml.suffix_token_id",
     "tokenizer.ggml.middle_token_id"},
};
static const char *const fim_texts[][FIM_COUNT] = {
    {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
    {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
    {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},
    {"<\xef\xbd\x9c"
     "fim\xe2\x96\x81"
     "begin\xef\xbd\x9c>",
     "<\xef\xbd\x9c"
     "fim\xe2\x96\x81hole\xef\xbd\x9c>",
     "<\xef\xbd\x9c"
     "fim\xe2\x96\x81"
     "end\xef\xbd\x9c>"},
    {"<PRE>", "<SUF>", "<MID>"},
};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum arguments { AS_OBJECTS, AS_TEXT }; /* how the template gets a function's arguments */

struct qn_prompter {
    const struct qn_tokenizer *tok;
    struct qn_template *chat;
    const char *stop;
    bool has_fim;
    int32_t fim[FIM_COUNT];
    enum arguments arguments;
    struct qn_syntax syntax;
    bool *marks; /* [vocabulary] */
};

/* The token whose written form is exactly text; -1: none. */
static int32_t token_of(const struct qn_tokenizer *tok, const char *text)
{
    struct qn_tokens t = {0};
    int32_t id = -1;
    if (qn_tokenize(tok, text, strlen(text), QN_TOK_SPECIAL, 16, &t, NULL) == QN_OK && t.n == 1) {
        size_t len;
        const char *bytes = qn_token_bytes(tok, t.v[0], &len);
        if (len == strlen(text) && memcmp(bytes, text, len) == 0)
            id = t.v[0];
    }
    qn_tokens_deinit(&t);
    return id;
}

static qn_err find_fim(struct qn_prompter *p, const struct qn_gguf *g, struct qn_error *e)
{
    for (size_t row = 0; row < COUNT(fim_keys) && !p->has_fim; row++) {
        size_t found = 0;
        for (size_t i = 0; i < FIM_COUNT && qn_gguf_has(g, fim_keys[row][i]); i++, found++) {
            int64_t id;
            qn_err err = qn_gguf_i64(g, fim_keys[row][i], 0, qn_tokenizer_size(p->tok) - 1, &id, e);
            if (err)
                return err;
            p->fim[i] = (int32_t)id;
        }
        p->has_fim = found == FIM_COUNT;
    }
    for (size_t row = 0; row < COUNT(fim_texts) && !p->has_fim; row++) {
        size_t found = 0;
        for (size_t i = 0; i < FIM_COUNT; i++) {
            p->fim[i] = token_of(p->tok, fim_texts[row][i]);
            found += p->fim[i] >= 0;
        }
        p->has_fim = found == FIM_COUNT;
    }
    return QN_OK;
}

void qn_prompter_free(struct qn_prompter *p)
{
    if (!p)
        return;
    if (p->chat)
        qn_template_free(p->chat);
    free(p->marks);
    free(p);
}

const struct qn_syntax *qn_prompter_syntax(const struct qn_prompter *p)
{
    return &p->syntax;
}

const bool *qn_prompter_marks(const struct qn_prompter *p)
{
    return p->marks;
}

static bool has_token(const void *ctx, const char *text)
{
    return token_of(ctx, text) >= 0;
}

/* Finds the syntax that the template's source speaks of. */
static void find_syntax(struct qn_prompter *p, const struct qn_gguf_str *source)
{
    char *text = qn_xstrndup(source->s, source->n);
    p->syntax = qn_syntax_find(text, has_token, p->tok);
    free(text);
    int32_t n = qn_tokenizer_size(p->tok);
    p->marks = qn_xcalloc((size_t)n, sizeof *p->marks);
    for (int32_t i = 0; i < n; i++) {
        size_t len;
        const char *bytes = qn_token_bytes(p->tok, i, &len);
        if (!qn_token_is_control(p->tok, i) || memchr(bytes, 0, len))
            continue;
        char *written = qn_xstrndup(bytes, len);
        p->marks[i] = qn_syntax_marks(&p->syntax, written);
        free(written);
    }
}

void qn_prompt_deinit(struct qn_prompt *p)
{
    free(p->tokens);
    free(p->echo_text);
    memset(p, 0, sizeof *p);
}

/* Writes a message's content as the text that every template reads: parts become one string. */
static qn_err write_content(const struct qn_prompter *p, struct qn_jw *w,
                            const struct qn_jref *content, struct qn_error *e)
{
    enum qn_json_type type = qn_json_type(content);
    if (type == QN_JSON_NULL || type == QN_JSON_STRING) {
        qn_marks_write(p->tok, w, content);
        return QN_OK;
    }
    if (type != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of parts");
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    qn_err err = QN_OK;
    struct qn_jref part;
    for (bool more = qn_json_first(content, &part); more && !err; more = qn_json_next(&part)) {
        struct qn_jref kind_ref = qn_json_get(&part, "type"), text_ref = qn_json_get(&part, "text");
        const char *kind, *s;
        err = qn_json_str(&kind_ref, &kind, e);
        if (!err && !qn_str_eq(kind, "text")) {
            char path[QN_ERROR_PARAM_MAX];
            qn_json_path(&part, path, sizeof path);
            err = qn_fail_param(
                e, QN_EUNSUPPORTED, path,
                "%s: a part of type \"%s\" is not possible with this model: it reads text only",
                path, kind);
        }
        if (!err)
            err = qn_json_str(&text_ref, &s, e);
        if (!err) {
            if (text.len > 0)
                qn_buf_char(&text, '\n');
            qn_buf_str(&text, s);
        }
    }
    if (!err)
        qn_marks_write_str(p->tok, w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    return err;
}

/* A function's arguments: the API carries them as JSON in a string, most templates print an object
 * with tojson and would quote the string once more. */
static void write_arguments(const struct qn_prompter *p, struct qn_jw *w,
                            const struct qn_jref *arguments)
{
    struct qn_json *doc = NULL;
    struct qn_jref inner = {0};
    const char *text = qn_json_raw_str(arguments);
    if (qn_json_type(arguments) == QN_JSON_STRING &&
        qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK)
        inner = qn_json_root(doc);
    qn_marks_write(p->tok, w, qn_json_type(&inner) == QN_JSON_OBJECT ? &inner : arguments);
    qn_json_free(doc);
}

static bool all_objects(const struct qn_jref *list)
{
    struct qn_jref it;
    bool all = qn_json_type(list) == QN_JSON_ARRAY;
    for (bool more = qn_json_first(list, &it); more && all; more = qn_json_next(&it))
        all = qn_json_type(&it) == QN_JSON_OBJECT;
    return all;
}

static void write_tool_calls(const struct qn_prompter *p, struct qn_jw *w,
                             const struct qn_jref *calls)
{
    struct qn_jref call, member, part;
    qn_jw_arr(w);
    for (bool more = qn_json_first(calls, &call); more; more = qn_json_next(&call)) {
        qn_jw_obj(w);
        for (bool m = qn_json_first(&call, &member); m; m = qn_json_next(&member)) {
            qn_marks_write_key(p->tok, w, member.key);
            if (!qn_str_eq(member.key, "function") || qn_json_type(&member) != QN_JSON_OBJECT) {
                qn_marks_write(p->tok, w, &member);
                continue;
            }
            qn_jw_obj(w);
            for (bool f = qn_json_first(&member, &part); f; f = qn_json_next(&part)) {
                qn_marks_write_key(p->tok, w, part.key);
                if (qn_str_eq(part.key, "arguments"))
                    write_arguments(p, w, &part);
                else
                    qn_marks_write(p->tok, w, &part);
            }
            qn_jw_obj_end(w);
        }
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

/* form: whether function arguments are written as the objects they describe, or as they came. */
static qn_err write_messages(const struct qn_prompter *p, struct qn_jw *w,
                             const struct qn_jref *messages, enum arguments form,
                             struct qn_error *e)
{
    if (qn_json_type(messages) != QN_JSON_ARRAY || qn_json_count(messages) == 0)
        return qn_fail_param(e, QN_EINVAL, "messages",
                             "messages: expected an array with at least one message");
    qn_jw_arr(w);
    struct qn_jref m;
    for (bool more = qn_json_first(messages, &m); more; more = qn_json_next(&m)) {
        struct qn_jref role_ref = qn_json_get(&m, "role");
        const char *role;
        qn_err err = qn_json_str(&role_ref, &role, e);
        if (err)
            return err;
        qn_jw_obj(w);
        struct qn_jref member;
        for (bool any = qn_json_first(&m, &member); any; any = qn_json_next(&member)) {
            qn_marks_write_key(p->tok, w, member.key);
            if (form == AS_OBJECTS && qn_str_eq(member.key, "tool_calls") && all_objects(&member))
                write_tool_calls(p, w, &member);
            else if (!qn_str_eq(member.key, "content"))
                qn_marks_write(p->tok, w, &member);
            else if ((err = write_content(p, w, &member, e)) != QN_OK)
                return err;
        }
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    return QN_OK;
}

static void write_token(struct qn_jw *w, const char *key, const struct qn_tokenizer *tok,
                        int32_t id)
{
    size_t len = 0;
    const char *text = id >= 0 ? qn_token_bytes(tok, id, &len) : "";
    qn_jw_key(w, key);
    qn_jw_strn(w, text, len);
}

/* A JSON array or object that came as text, written under key; checked, as the router may be
 * broken. */
static qn_err write_foreign(const struct qn_prompter *p, struct qn_jw *w, const char *key,
                            const char *json, struct qn_error *e)
{
    if (!json)
        return QN_OK;
    struct qn_json *doc;
    qn_err err = qn_json_parse(json, strlen(json), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    qn_jw_key(w, key);
    qn_marks_write(p->tok, w, &root);
    qn_json_free(doc);
    return QN_OK;
}

/* The template's variables as one JSON object. The request's own come last: of equal names the last
 * one wins, so add_generation_prompt or enable_thinking can be set by a request. */
static qn_err write_vars(const struct qn_prompter *p, const struct qn_chat *chat,
                         enum arguments form, struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_json_parse(chat->messages ? chat->messages : "null",
                               chat->messages ? strlen(chat->messages) : 4, &doc, e);
    if (err)
        return err;
    struct qn_jref messages = {
        .node = qn_json_root(doc).node, .up = &(struct qn_jref){0}, .key = "messages"};
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_key(&w, "messages");
    err = write_messages(p, &w, &messages, form, e);
    qn_json_free(doc);
    if (!err)
        err = write_foreign(p, &w, "tools", chat->tools, e);
    if (!err)
        err = write_foreign(p, &w, "documents", chat->documents, e);
    if (err)
        return err;
    qn_jw_kbool(&w, "add_generation_prompt", !chat->continue_last);
    write_token(&w, "bos_token", p->tok, qn_token_bos(p->tok));
    write_token(&w, "eos_token", p->tok, qn_token_eos(p->tok));
    struct qn_json *extra = NULL;
    if (chat->template_vars) {
        err = qn_json_parse(chat->template_vars, strlen(chat->template_vars), &extra, e);
        if (err)
            return err;
        struct qn_jref root = qn_json_root(extra), v;
        for (bool more = qn_json_first(&root, &v); more; more = qn_json_next(&v)) {
            qn_jw_key(&w, v.key);
            qn_marks_write(p->tok, &w, &v);
        }
        qn_json_free(extra);
    }
    qn_jw_obj_end(&w);
    if (out->overflow)
        return qn_fail_param(e, QN_ELIMIT, "messages", "messages: more than %d bytes",
                             (int)PROMPT_JSON_MAX);
    return QN_OK;
}

/* Cuts the rendering behind the last message's content, so that the model goes on in it. Templates
 * trim contents, so only the trimmed text is looked for. */
static qn_err cut_after_last(struct qn_buf *text, const struct qn_jref *vars, struct qn_error *e)
{
    struct qn_jref messages = qn_json_get(vars, "messages"), m, content = {0};
    for (bool more = qn_json_first(&messages, &m); more; more = qn_json_next(&m))
        content = (struct qn_jref){.node = qn_json_get(&m, "content").node};
    const char *s = qn_json_raw_str(&content);
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r\n", *s))
        s++, n--;
    while (n > 0 && strchr(" \t\r\n", s[n - 1]))
        n--;
    for (size_t at = text->len; n > 0 && at >= n && text->len - at <= CONTINUE_TAIL_MAX; at--) {
        if (memcmp(text->data + at - n, s, n) == 0) {
            text->len = at;
            text->data[at] = '\0';
            return QN_OK;
        }
    }
    return qn_fail_param(
        e, QN_EINVAL, "messages",
        "messages: the last message cannot be continued: it has no text, or the model's chat "
        "template does not show it unchanged");
}

static qn_err render_chat(const struct qn_prompter *p, const struct qn_chat *chat,
                          enum arguments form, struct qn_buf *text, struct qn_error *e)
{
    struct qn_buf json;
    qn_buf_init(&json, PROMPT_JSON_MAX);
    struct qn_json *doc = NULL;
    qn_err err = write_vars(p, chat, form, &json, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&json), json.len, &doc, e);
    if (err)
        goto out;
    struct qn_jref vars = qn_json_root(doc);
    err = qn_template_render(p->chat, &vars, qn_wall_ms(), text, e);
    if (err && e && !e->param[0])
        strcpy(e->param, "messages");
    if (!err && chat->continue_last)
        err = cut_after_last(text, &vars, e);
out:
    qn_json_free(doc);
    qn_buf_deinit(&json);
    return err;
}

/* Whether the template prints arguments that are objects. Some put them into a text with +, which
 * makes nothing useful of an object. */
static enum arguments probe_arguments(const struct qn_prompter *p)
{
    static const char *const contents[] = {"null", "\"\""};
    for (size_t i = 0; i < COUNT(contents); i++) {
        char messages[256];
        snprintf(
            messages, sizeof messages,
            "[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":%s,"
            "\"tool_calls\":[{\"id\":\"call00001\",\"type\":\"function\",\"function\":{\"name\":"
            "\"f\",\"arguments\":\"{\\\"needle\\\":1}\"}}]}]",
            contents[i]);
        struct qn_chat chat = {.messages = messages};
        struct qn_buf text;
        qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
        qn_err err = render_chat(p, &chat, AS_OBJECTS, &text, NULL);
        bool printed = !err && strstr(qn_buf_cstr(&text), "needle") != NULL;
        qn_buf_deinit(&text);
        if (printed)
            return AS_OBJECTS;
    }
    return AS_TEXT;
}

qn_err qn_prompter_new(const struct qn_gguf *g, const struct qn_tokenizer *tok,
                       struct qn_prompter **out, struct qn_error *e)
{
    struct qn_prompter *p = qn_xcalloc(1, sizeof *p);
    p->tok = tok;
    struct qn_gguf_str source = {plain_template, sizeof plain_template - 1};
    qn_err err = QN_OK;
    if (qn_gguf_has(g, "tokenizer.chat_template")) {
        err = qn_gguf_str(g, "tokenizer.chat_template", &source, e);
    } else if (token_of(tok, "<|im_start|>") >= 0 && token_of(tok, "<|im_end|>") >= 0) {
        source = (struct qn_gguf_str){chatml_template, sizeof chatml_template - 1};
    } else {
        p->stop = plain_stop;
    }
    if (!err)
        err = qn_template_new(source.s, source.n, &p->chat, e);
    if (!err)
        find_syntax(p, &source);
    if (!err)
        err = find_fim(p, g, e);
    if (!err)
        p->arguments = probe_arguments(p);
    if (err) {
        qn_prompter_free(p);
        return err;
    }
    *out = p;
    return QN_OK;
}

static qn_err add_text(const struct qn_prompter *p, const char *text, size_t n, unsigned flags,
                       const char *param, int32_t context, struct qn_tokens *out,
                       struct qn_error *e)
{
    size_t most = (size_t)context * 4 + PROMPT_TOKENS_SLACK;
    qn_err err = qn_tokenize(p->tok, text, n, flags, most, out, e);
    if (err == QN_ELIMIT)
        return qn_fail_param(
            e, QN_ECONTEXT, param,
            "the prompt has more than %zu tokens, but the model was loaded with a context of %d "
            "tokens: shorten the prompt, or load the model with a larger context",
            most, (int)context);
    return err;
}

/* Puts the model's start token first, once, and makes sure that there is a token at all. */
static qn_err add_start(const struct qn_prompter *p, struct qn_tokens *t, const char *param,
                        size_t *added, struct qn_error *e)
{
    int32_t bos = qn_token_bos(p->tok);
    bool wanted = qn_tokenizer_adds_bos(p->tok) && bos >= 0 && !(t->n > 0 && t->v[0] == bos);
    if (t->n == 0 && bos < 0)
        bos = qn_token_eos(p->tok); /* what separates documents also begins one */
    if (t->n == 0 && bos < 0)
        return qn_fail_param(
            e, QN_EINVAL, param,
            "%s: the prompt is empty, and this model has no start token to begin with", param);
    *added = 0;
    if (wanted || t->n == 0) {
        qn_tokens_push(t, 0);
        memmove(t->v + 1, t->v, (t->n - 1) * sizeof *t->v);
        t->v[0] = bos;
        *added = 1;
    }
    return QN_OK;
}

static qn_err take_ids(const struct qn_prompter *p, const struct qn_i64s *ids, const char *param,
                       struct qn_tokens *t, struct qn_error *e)
{
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->v[i] < 0 || ids->v[i] >= qn_tokenizer_size(p->tok))
            return qn_fail_param(
                e, QN_EINVAL, param,
                "%s[%zu]: token %lld is not in the model's vocabulary of %d tokens", param, i,
                (long long)ids->v[i], (int)qn_tokenizer_size(p->tok));
        qn_tokens_push(t, (int32_t)ids->v[i]);
    }
    return QN_OK;
}

/* The rendered conversation in tokens. What comes before it has its own start: a second one in the
 * middle of the prompt would tell the model that a new document begins. */
static qn_err add_chat(const struct qn_prompter *p, const struct qn_chat *chat, int32_t context,
                       struct qn_tokens *t, bool *thinking, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_tokens rendered = {0};
    qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = take_ids(p, &chat->before, "context", t, e);
    if (!err)
        err = render_chat(p, chat, p->arguments, &text, e);
    if (!err)
        err = add_text(p, qn_buf_cstr(&text), text.len, QN_TOK_SPECIAL | QN_TOK_MARKED, "messages",
                       context, &rendered, e);
    size_t from = t->n > 0 && rendered.n > 0 && rendered.v[0] == qn_token_bos(p->tok);
    for (size_t i = from; i < rendered.n && !err; i++)
        qn_tokens_push(t, rendered.v[i]);
    if (!err)
        *thinking = qn_syntax_begun(&p->syntax, qn_buf_cstr(&text), text.len);
    qn_tokens_deinit(&rendered);
    qn_buf_deinit(&text);
    return err;
}

/* The request's own template replaces the model's for this one prompt. */
static qn_err make_chat(const struct qn_prompter *p, const struct qn_chat *chat, int32_t context,
                        struct qn_tokens *t, bool *thinking, struct qn_error *e)
{
    struct qn_prompter own = *p;
    size_t added;
    if (chat->template_text) {
        if (qn_template_new(chat->template_text, strlen(chat->template_text), &own.chat, e)) {
            if (e && !e->param[0])
                strcpy(e->param, "template");
            return e ? e->code : QN_EINVAL;
        }
        own.arguments = probe_arguments(&own);
    }
    qn_err err = add_chat(&own, chat, context, t, thinking, e);
    if (!err)
        err = add_start(p, t, "messages", &added, e);
    if (chat->template_text)
        qn_template_free(own.chat);
    return err;
}

/* prefix token, text before, suffix token, text after, middle token: the model goes on between. */
static qn_err make_fim(const struct qn_prompter *p, const struct qn_complete *c, int32_t context,
                       struct qn_tokens *t, struct qn_error *e)
{
    if (!p->has_fim)
        return qn_fail_param(e, QN_EUNSUPPORTED, "suffix",
                             "suffix: this model was not trained to fill in the middle of a text");
    qn_tokens_push(t, p->fim[FIM_PREFIX]);
    qn_err err = c->prompt_tokens.n > 0
                     ? take_ids(p, &c->prompt_tokens, "prompt", t, e)
                     : add_text(p, c->prompt ? c->prompt : "", c->prompt ? strlen(c->prompt) : 0,
                                QN_TOK_SPECIAL, "prompt", context, t, e);
    qn_tokens_push(t, p->fim[FIM_SUFFIX]);
    if (!err)
        err = add_text(p, c->suffix, strlen(c->suffix), QN_TOK_SPECIAL, "suffix", context, t, e);
    qn_tokens_push(t, p->fim[FIM_MIDDLE]);
    return err;
}

/* What the prompt's ids say, for echo. */
static char *text_of(const struct qn_prompter *p, const int32_t *ids, size_t n)
{
    struct qn_buf raw, clean;
    qn_buf_init(&raw, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&clean, 3 * (size_t)QN_JOB_PROMPT_BYTES_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *bytes = qn_token_bytes(p->tok, ids[i], &len);
        qn_buf_add(&raw, bytes, len);
    }
    qn_output_clean(&clean, qn_buf_cstr(&raw), raw.len);
    qn_buf_deinit(&raw);
    qn_buf_cstr(&clean);
    char *text = clean.len ? qn_buf_take(&clean) : qn_xstrdup("");
    qn_buf_deinit(&clean);
    return text;
}

static qn_err make_complete(const struct qn_prompter *p, const struct qn_complete *c,
                            int32_t context, struct qn_tokens *t, struct qn_prompt *out,
                            struct qn_error *e)
{
    qn_err err;
    if (c->suffix && c->suffix[0])
        err = make_fim(p, c, context, t, e);
    else if (c->prompt_tokens.n > 0)
        err = take_ids(p, &c->prompt_tokens, "prompt", t, e);
    else
        err = add_text(p, c->prompt ? c->prompt : "", c->prompt ? strlen(c->prompt) : 0,
                       QN_TOK_SPECIAL, "prompt", context, t, e);
    /* Ids are taken as they are given; text gets the start token. */
    bool ids = c->prompt_tokens.n > 0 && !(c->suffix && c->suffix[0]);
    if (!err && !ids)
        err = add_start(p, t, "prompt", &out->echo_skip, e);
    if (err || !c->echo)
        return err;
    if (c->prompt_tokens.n == 0) {
        out->echo_text = qn_xstrdup(c->prompt ? c->prompt : "");
    } else {
        if (ids)
            out->echo_skip = t->v[0] == qn_token_bos(p->tok);
        out->echo_text = text_of(p, t->v + out->echo_skip, t->n - out->echo_skip);
    }
    return QN_OK;
}

qn_err qn_prompt_make(const struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      struct qn_prompt *out, struct qn_error *e)
{
    memset(out, 0, sizeof *out);
    struct qn_tokens t = {0};
    qn_err err;
    if (job->task == QN_TASK_CHAT) {
        out->stop = p->stop;
        err = make_chat(p, &job->chat, context, &t, &out->thinking, e);
    } else if (job->task == QN_TASK_COMPLETE) {
        err = make_complete(p, &job->complete, context, &t, out, e);
    } else {
        err = qn_fail(e, QN_EUNSUPPORTED, "a language model cannot do the task \"%s\"",
                      qn_task_name(job->task));
    }
    if (err) {
        qn_tokens_deinit(&t);
        qn_prompt_deinit(out);
        return err;
    }
    out->tokens = t.v;
    out->n = t.n;
    return QN_OK;
}
