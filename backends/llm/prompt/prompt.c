#include "llm/prompt/prompt.h"

#include "base/buf.h"
#include "base/log.h"
#include "llm/output.h"
#include "llm/prompt/marks.h"
#include "llm/prompt/prompt_fallback.h"
#include "llm/prompt/prompt_render.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* memory for adapting a conversation to the template */
    FIT_BYTES_MAX = 8 * QN_JOB_PROMPT_BYTES_MAX,
    PROMPT_TOKENS_SLACK =
        /* tokens counted beyond four contexts before tokenizing stops, so that the message can name
         * a number */
    4096
};

/* Fill-in-the-middle: the metadata keys of the three tokens, and the token texts of known families
 * for files without these keys. */
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

struct qn_prompter {
    const struct qn_tokenizer *tok;
    struct qn_renderer chat;
    struct qn_renderer with_tools; /* for files with a separate template for tools; else empty */
    /* for conversations with which the model's own template fails; empty: not available */
    struct qn_renderer builtin;
    const char *builtin_stop;
    const char *stop;
    bool has_fim;
    int32_t fim[FIM_COUNT];
    struct qn_syntax syntax;
    bool *marks; /* [vocabulary] */
    char compile_warning[QN_ERROR_MESSAGE_MAX];
    const char *_Atomic warning; /* see qn_prompter_warning; set by preparing threads, too */
};

/* The warning is a constant and does not contain the template's error, whose message may contain
 * text of the conversation. */
static const char conversation_warning[] =
    "the model's chat template failed at a conversation, and a built-in form took its place; the "
    "log has the reason";

/* The token with exactly this text; -1: none. */
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
    qn_renderer_deinit(&p->chat);
    qn_renderer_deinit(&p->with_tools);
    qn_renderer_deinit(&p->builtin);
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

const char *qn_prompter_warning(const struct qn_prompter *p)
{
    return atomic_load(&p->warning);
}

/* Logs and records that a template does not compile, what replaces it, and why. */
static void warn_of_source(struct qn_prompter *p, const char *what, const struct qn_error *why)
{
    snprintf(p->compile_warning, sizeof p->compile_warning, "%s: %.300s", what, why->message);
    atomic_store(&p->warning, p->compile_warning);
    qn_warn("llm", "%s", p->compile_warning);
}

static bool has_token(const void *ctx, const char *text)
{
    return token_of(ctx, text) >= 0;
}

/* Finds the syntax for reasoning and calls from the templates' sources. */
static void find_syntax(struct qn_prompter *p, const struct qn_gguf_str *source,
                        const struct qn_gguf_str *tools)
{
    struct qn_buf text;
    qn_buf_init(&text, 2 * (size_t)QN_TEMPLATE_SOURCE_MAX + 1);
    qn_buf_add(&text, source->s, source->n);
    qn_buf_char(&text, '\n');
    qn_buf_add(&text, tools->s, tools->n);
    p->syntax = qn_syntax_find(qn_buf_cstr(&text), has_token, p->tok);
    qn_buf_deinit(&text);
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

/* Compiles the model's template, and the built-in form as its fallback. If the model's template
 * does not compile, only the built-in form is used. */
static qn_err use_own_template(struct qn_prompter *p, const struct qn_builtin_form *form,
                               struct qn_gguf_str *source, struct qn_error *e)
{
    struct qn_error why = {0};
    if (qn_renderer_init(&p->chat, p->tok, source->s, source->n, &why)) {
        warn_of_source(p, "the model's chat template is not used, but a built-in form", &why);
        *source = (struct qn_gguf_str){form->source, strlen(form->source)};
        return qn_renderer_init(&p->chat, p->tok, source->s, source->n, e);
    }
    p->stop = NULL;
    p->builtin_stop = form->stop;
    return qn_renderer_init(&p->builtin, p->tok, form->source, strlen(form->source), e);
}

qn_err qn_prompter_new(const struct qn_gguf *g, const struct qn_tokenizer *tok,
                       struct qn_prompter **out, struct qn_error *e)
{
    struct qn_prompter *p = qn_xcalloc(1, sizeof *p);
    p->tok = tok;
    struct qn_builtin_form form =
        qn_builtin_form(token_of(tok, "<|im_start|>") >= 0 && token_of(tok, "<|im_end|>") >= 0);
    struct qn_gguf_str source = {form.source, strlen(form.source)}, tools = {"", 0};
    struct qn_error why = {0};
    qn_err err = QN_OK;
    p->stop = form.stop;
    if (qn_gguf_has(g, "tokenizer.chat_template")) {
        err = qn_gguf_str(g, "tokenizer.chat_template", &source, e);
        if (!err)
            err = use_own_template(p, &form, &source, e);
    } else {
        err = qn_renderer_init(&p->chat, tok, source.s, source.n, e);
    }
    if (!err && qn_gguf_has(g, "tokenizer.chat_template.tool_use"))
        err = qn_gguf_str(g, "tokenizer.chat_template.tool_use", &tools, e);
    /* Not an error: the model works without the template for tools. */
    if (!err && tools.n && qn_renderer_init(&p->with_tools, tok, tools.s, tools.n, &why)) {
        warn_of_source(p, "the chat template for tools is not used", &why);
        tools = (struct qn_gguf_str){"", 0};
    }
    if (!err)
        find_syntax(p, &source, &tools);
    if (!err)
        err = find_fim(p, g, e);
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

/* Prepends the model's start token unless it is there already, and ensures that there is at least
 * one token. */
static qn_err add_start(const struct qn_prompter *p, struct qn_tokens *t, const char *param,
                        size_t *added, struct qn_error *e)
{
    int32_t bos = qn_token_bos(p->tok);
    bool wanted = qn_tokenizer_adds_bos(p->tok) && bos >= 0 && !(t->n > 0 && t->v[0] == bos);
    if (t->n == 0 && bos < 0)
        bos = qn_token_eos(p->tok); /* the token that ends a document also precedes the next */
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

/* Turns reasoning on or off by writing the model's own marks, for templates without a switch. */
static void settle_thinking(const struct qn_prompter *p, const struct qn_renderer *r,
                            const struct qn_chat *chat, struct qn_buf *text, bool *thinking)
{
    const char *open, *close;
    *thinking = qn_syntax_begun(&p->syntax, qn_buf_cstr(text), text->len);
    if (chat->think == QN_UNSET || chat->continue_last ||
        !qn_syntax_tags(&p->syntax, &open, &close))
        return;
    if (chat->think && !*thinking && !r->manner.think_switch) {
        qn_buf_fmt(text, "%s\n", open);
        *thinking = true;
    } else if (!chat->think && (*thinking || !r->manner.think_switch)) {
        qn_buf_fmt(text, "%s\n\n%s\n\n", *thinking ? "" : open, close);
        *thinking = false;
    }
}

/* The reasoning of a message that is to be continued and has no text yet; NULL: there is none. */
static const char *unfinished_reasoning(const struct qn_chat *chat)
{
    if (!chat->continue_last || chat->messages.n < 2)
        return NULL;
    const struct qn_message *last = &chat->messages.v[chat->messages.n - 1];
    const struct qn_message_part *text = qn_message_find(last, QN_PART_TEXT);
    const struct qn_message_part *reasoning = qn_message_find(last, QN_PART_REASONING);
    bool alone = (!text || !*text->text) && !qn_message_find(last, QN_PART_CALL);
    return reasoning && alone ? reasoning->text : NULL;
}

/* Renders the conversation up to the end from which the model continues. Templates show the
 * reasoning of a finished message only, so a message that ended within its reasoning is not
 * rendered: its reasoning is written behind the mark with which an answer begins. */
static qn_err render(const struct qn_prompter *p, const struct qn_renderer *r,
                     const struct qn_chat *chat, struct qn_buf *text, bool *thinking,
                     struct qn_error *e)
{
    const char *reasoning = unfinished_reasoning(chat), *open;
    struct qn_chat shown = *chat;
    if (reasoning) {
        shown.messages.n--;
        shown.continue_last = false;
        shown.think = 1;
    }
    qn_err err = qn_render_chat(r, &shown, text, e);
    if (err)
        return err;
    settle_thinking(p, r, &shown, text, thinking);
    if (!reasoning)
        return QN_OK;
    if (!qn_syntax_tags(&p->syntax, &open, NULL))
        return qn_fail_param(e, QN_EINVAL, "messages",
                             "messages: the last message cannot be continued: it has no text, and "
                             "how this model marks its reasoning is not known");
    if (!*thinking)
        qn_buf_fmt(text, "%s\n", open);
    qn_marks_add(p->tok, reasoning, strlen(reasoning), text);
    *thinking = true;
    return text->overflow ? qn_fail_param(e, QN_ELIMIT, "messages", "messages: too long") : QN_OK;
}

/* Renders and tokenizes the conversation, and appends chat->before and then the conversation's
 * tokens. chat->before has a start token of its own; a second one in the middle of the prompt would
 * tell the model that a new document begins. room: if not 0, chat->before is cut so that the prompt
 * has at most this many tokens. */
static qn_err add_chat(const struct qn_prompter *p, const struct qn_renderer *r,
                       const struct qn_chat *chat, int32_t context, size_t room,
                       struct qn_tokens *t, bool *thinking, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_tokens rendered = {0};
    struct qn_i64s before = chat->before;
    qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = render(p, r, chat, &text, thinking, e);
    if (!err)
        err = add_text(p, qn_buf_cstr(&text), text.len, QN_TOK_SPECIAL | QN_TOK_MARKED, "messages",
                       context, &rendered, e);
    if (!err && room && before.n + rendered.n > room) {
        size_t over = before.n + rendered.n - room;
        over = over < before.n ? over : before.n;
        before.v += over;
        before.n -= over;
    }
    if (!err)
        err = take_ids(p, &before, "context", t, e);
    size_t from = t->n > 0 && rendered.n > 0 && rendered.v[0] == qn_token_bos(p->tok);
    for (size_t i = from; i < rendered.n && !err; i++)
        qn_tokens_push(t, rendered.v[i]);
    qn_tokens_deinit(&rendered);
    qn_buf_deinit(&text);
    return err;
}

/* Tokens that a truncated prompt may have: some of the context is reserved for the reply. */
static size_t room_for_prompt(int32_t context, int64_t max_tokens)
{
    int64_t answer = max_tokens > 0 ? max_tokens : context / 4;
    if (answer > context / 2)
        answer = context / 2;
    return (size_t)(context - answer > 0 ? context - answer : 1);
}

/* Uses as many of the last turns as fit, found by binary search: one more turn never makes a prompt
 * shorter. */
static qn_err add_last_turns(const struct qn_prompter *p, const struct qn_renderer *r,
                             const struct qn_chat *chat, int32_t context, size_t room,
                             struct qn_tokens *t, bool *thinking, struct qn_error *e)
{
    qn_err err = add_chat(p, r, chat, context, room, t, thinking, e);
    size_t turns = qn_conversation_turns(&chat->messages), fails = 0, fits = turns;
    if ((err && err != QN_ECONTEXT) || (!err && t->n <= room) || turns < 2)
        return err;
    struct qn_message *shown = qn_xcalloc(chat->messages.n, sizeof *shown);
    for (size_t drop = turns - 1; fits - fails > 1;) {
        struct qn_chat shorter = *chat;
        struct qn_tokens tokens = {0};
        bool begun = false;
        qn_conversation_drop(&chat->messages, drop, shown, &shorter.messages);
        qn_err tried = add_chat(p, r, &shorter, context, room, &tokens, &begun, e);
        /* If not even the last turn fits, the later length check reports it. */
        bool good = (!tried && tokens.n <= room) || drop == turns - 1;
        if (good) {
            qn_tokens_deinit(t);
            *t = tokens;
            *thinking = begun;
            err = tried;
            fits = drop;
        } else {
            qn_tokens_deinit(&tokens);
            fails = drop;
        }
        if (tried && tried != QN_ECONTEXT)
            break;
        drop = fails + (fits - fails) / 2;
    }
    free(shown);
    return err;
}

/* Whether the template cannot show some of the messages unchanged. */
static bool needs_fitting(const struct qn_messages *messages, const struct qn_manner *m)
{
    for (size_t i = 0; i < messages->n && !m->system; i++)
        if (messages->v[i].role == QN_ROLE_SYSTEM)
            return true;
    return qn_conversation_calls(messages);
}

/* Adapts the conversation to what this template supports. */
static qn_err fit_chat(const struct qn_prompter *p, const struct qn_renderer *r,
                       struct qn_chat *chat, struct qn_arena *arena, struct qn_error *e)
{
    const struct qn_manner *m = &r->manner;
    const char *told = NULL;
    if (chat->tools && !m->tools) {
        told = chat->tool_choice == QN_TOOLS_NONE ? NULL : chat->tools;
        chat->tools = NULL;
    }
    /* Only families trained with effort levels know the finer ones: "minimal" becomes "low", and
     * turns reasoning off if the template has a switch for it. */
    if (chat->effort && strcmp(chat->effort, "minimal") == 0) {
        if (chat->think == QN_UNSET && m->think_switch)
            chat->think = 0;
        chat->effort = "low";
    }
    if (chat->think == 0 && !chat->effort && p->syntax.think &&
        !qn_syntax_tags(&p->syntax, NULL, NULL))
        chat->effort = "low"; /* harmony always reasons */
    if (!told && !needs_fitting(&chat->messages, m))
        return QN_OK;
    struct qn_messages all = chat->messages;
    return qn_conversation_fit(&all, told, m, arena, &chat->messages, e);
}

/* The tokens of the conversation as this renderer shows it. */
static qn_err chat_tokens(const struct qn_prompter *p, const struct qn_renderer *r,
                          const struct qn_job *job, int32_t context, struct qn_tokens *t,
                          bool *thinking, struct qn_error *e)
{
    struct qn_chat chat = job->chat;
    struct qn_arena *arena = qn_arena_new(FIT_BYTES_MAX);
    qn_err err = fit_chat(p, r, &chat, arena, e);
    if (!err && job->truncate)
        err = add_last_turns(p, r, &chat, context,
                             room_for_prompt(context, job->sampling.max_tokens), t, thinking, e);
    else if (!err)
        err = add_chat(p, r, &chat, context, 0, t, thinking, e);
    qn_arena_free(arena);
    return err;
}

/* The same with the built-in form, after the model's template has failed. */
static qn_err fall_back(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                        struct qn_tokens *t, struct qn_prompt *out, qn_err err, struct qn_error *e)
{
    struct qn_error why = {0};
    struct qn_tokens tokens = {0};
    bool thinking = false;
    if (!p->builtin.chat || !qn_may_fall_back(err, e, &job->chat))
        return err;
    if (chat_tokens(p, &p->builtin, job, context, &tokens, &thinking, &why)) {
        qn_tokens_deinit(&tokens);
        return err;
    }
    qn_warn("llm", "the model's chat template fails at a conversation, a built-in form is used: %s",
            e ? e->message : "");
    const char *none = NULL;
    atomic_compare_exchange_strong(&p->warning, &none, conversation_warning);
    qn_tokens_deinit(t);
    *t = tokens;
    out->thinking = thinking;
    out->stop = p->builtin_stop;
    return QN_OK;
}

/* Rejects media parts: this backend has no encoder for them. */
static qn_err refuse_media(const struct qn_messages *messages, struct qn_error *e)
{
    char param[64];
    for (size_t i = 0; i < messages->n; i++)
        for (size_t k = 0, n = 0; k < messages->v[i].parts.n; k++) {
            const struct qn_message_part *p = &messages->v[i].parts.v[k];
            if (p->kind == QN_PART_PICTURE || p->kind == QN_PART_SOUND) {
                snprintf(param, sizeof param, "messages[%zu].content[%zu]", i, n);
                return qn_fail_param(
                    e, QN_EUNSUPPORTED, param,
                    "%s: a part of type \"%s\" is not possible with this model: it reads text only",
                    param, p->kind == QN_PART_PICTURE ? "image_url" : "input_audio");
            }
            n += qn_part_is_content(p);
        }
    return QN_OK;
}

/* If the request has its own template, that template replaces the model's for this prompt. */
static qn_err make_chat(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                        struct qn_tokens *t, struct qn_prompt *out, struct qn_error *e)
{
    const struct qn_chat *chat = &job->chat;
    struct qn_renderer own = {0};
    const struct qn_renderer *r = &p->chat;
    size_t added;
    if (p->with_tools.chat && (chat->tools || qn_conversation_calls(&chat->messages)))
        r = &p->with_tools;
    qn_err err = refuse_media(&chat->messages, e);
    if (!err && chat->template_text) {
        err = qn_renderer_init(&own, p->tok, chat->template_text, strlen(chat->template_text), e);
        if (err && e && !e->param[0])
            strcpy(e->param, "template");
        r = &own;
    }
    if (!err)
        err = chat_tokens(p, r, job, context, t, &out->thinking, e);
    if (err)
        err = fall_back(p, job, context, t, out, err, e);
    if (!err)
        err = add_start(p, t, "messages", &added, e);
    qn_renderer_deinit(&own);
    return err;
}

/* The order is: prefix token, text before, suffix token, text after, middle token; the model
 * generates what belongs between the texts. */
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

/* The text of the prompt's ids, for echo. */
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
    /* Token ids are used unchanged; text gets the start token. */
    bool ids = c->prompt_tokens.n > 0 && !(c->suffix && c->suffix[0]);
    if (!err && !ids && !(c->bare && t->n > 0))
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

/* Drops tokens from the beginning of a prompt that is too long, but keeps the start token. */
static void keep_end(const struct qn_prompter *p, struct qn_tokens *t, size_t room)
{
    if (t->n <= room)
        return;
    size_t start = t->v[0] == qn_token_bos(p->tok) && room > 1;
    memmove(t->v + start, t->v + (t->n - room + start), (room - start) * sizeof *t->v);
    t->n = room;
}

qn_err qn_prompt_make(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      struct qn_prompt *out, struct qn_error *e)
{
    memset(out, 0, sizeof *out);
    struct qn_tokens t = {0};
    qn_err err;
    if (job->task == QN_TASK_CHAT) {
        out->stop = p->stop;
        err = make_chat(p, job, context, &t, out, e);
    } else if (job->task == QN_TASK_COMPLETE) {
        err = make_complete(p, &job->complete, context, &t, out, e);
        if (!err && job->truncate)
            keep_end(p, &t, room_for_prompt(context, job->sampling.max_tokens));
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
