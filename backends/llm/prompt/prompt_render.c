/* See prompt_render.h. */
#include "llm/prompt/prompt_render.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "jinja/bind.h"
#include "llm/prompt/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTINUE_TAIL_MAX = 1024 /* most bytes that a template may put after the last message */ };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* The inputs of one rendering. */
struct binding {
    const struct qn_renderer *r;
    const struct qn_chat *chat;
};

static struct qn_tval *variable(struct qn_trun *run, const char *name)
{
    return qn_trun_variable(run, name, strlen(name));
}

static enum qn_tflow set(struct qn_trun *run, struct qn_tdict *dict, const char *key,
                         const struct qn_tval *value)
{
    struct qn_tval name = qn_tval_cstr(key);
    return qn_tdict_set(run, dict, &name, value);
}

static enum qn_tflow set_text(const struct qn_renderer *r, struct qn_trun *run,
                              struct qn_tdict *dict, const char *key, const char *text)
{
    struct qn_tval value;
    QN_T_TRY(qn_marks_string(r->tok, run, text, strlen(text), &value));
    return set(run, dict, key, &value);
}

/* Parses a JSON text from the job. Errors are handled although the router has validated it, in case
 * the router is faulty. */
static enum qn_tflow json_value(const struct qn_renderer *r, struct qn_trun *run, const char *json,
                                struct qn_tval *out)
{
    struct qn_json *doc;
    struct qn_error why = {0};
    if (qn_json_parse(json, strlen(json), &doc, &why))
        return qn_trun_limit(run, "%s", why.message);
    struct qn_jref root = qn_json_root(doc);
    enum qn_tflow flow = qn_marks_json(r->tok, run, &root, out);
    qn_json_free(doc);
    return flow;
}

/* Sets a function's arguments: most templates print an object with tojson and would quote a string
 * again. Arguments that are not an object stay text. */
static enum qn_tflow set_arguments(const struct qn_renderer *r, struct qn_trun *run,
                                   struct qn_tdict *function, const char *text)
{
    struct qn_json *doc = NULL;
    struct qn_jref root = {0};
    struct qn_tval value;
    if (r->arguments == QN_AS_OBJECTS && qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK)
        root = qn_json_root(doc);
    enum qn_tflow flow = qn_json_type(&root) == QN_JSON_OBJECT
                             ? qn_marks_json(r->tok, run, &root, &value)
                             : qn_marks_string(r->tok, run, text, strlen(text), &value);
    qn_json_free(doc);
    QN_T_TRY(flow);
    return set(run, function, "arguments", &value);
}

static enum qn_tflow set_calls(const struct qn_renderer *r, struct qn_trun *run,
                               const struct qn_message *m, struct qn_tdict *message)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, qn_message_count(m, QN_PART_CALL), &list));
    for (size_t i = 0; i < m->parts.n; i++) {
        const struct qn_message_part *p = &m->parts.v[i];
        struct qn_tdict *call = NULL, *function = NULL;
        struct qn_tval value;
        if (p->kind != QN_PART_CALL)
            continue;
        QN_T_TRY(qn_tdict_new(run, 3, &call));
        QN_T_TRY(qn_tdict_new(run, 2, &function));
        if (p->id)
            QN_T_TRY(set_text(r, run, call, "id", p->id));
        QN_T_TRY(set_text(r, run, call, "type", "function"));
        QN_T_TRY(set_text(r, run, function, "name", p->name));
        QN_T_TRY(set_arguments(r, run, function, p->arguments));
        value = qn_tval_dict(function);
        QN_T_TRY(set(run, call, "function", &value));
        value = qn_tval_dict(call);
        QN_T_TRY(qn_tlist_push(run, list, &value));
    }
    struct qn_tval calls = qn_tval_list(list);
    return set(run, message, "tool_calls", &calls);
}

/* Sets the content as plain text, which every template can read; *empty: there is none. In messages
 * with calls some templates require null instead. */
static enum qn_tflow set_content(const struct qn_renderer *r, struct qn_trun *run,
                                 const struct qn_message *m, struct qn_tdict *message, bool *empty)
{
    size_t texts = qn_message_count(m, QN_PART_TEXT);
    struct qn_tval value = qn_tval_none();
    if (texts == 1) {
        const char *text = qn_message_find(m, QN_PART_TEXT)->text;
        QN_T_TRY(qn_marks_string(r->tok, run, text, strlen(text), &value));
    } else if (texts > 1) {
        struct qn_buf joined, marked;
        qn_buf_init(&joined, QN_JOB_PROMPT_BYTES_MAX);
        qn_buf_init(&marked, QN_TEMPLATE_MEMORY_MAX);
        qn_message_text(m, &joined);
        qn_marks_add(r->tok, qn_buf_cstr(&joined), joined.len, &marked);
        enum qn_tflow flow = qn_trun_copy(run, qn_buf_cstr(&marked), marked.len, &value);
        qn_buf_deinit(&joined);
        qn_buf_deinit(&marked);
        QN_T_TRY(flow);
    }
    *empty = value.type == QN_T_NONE || value.n == 0;
    if (*empty && qn_message_find(m, QN_PART_CALL))
        value = r->manner.null_content ? qn_tval_none() : qn_tval_cstr("");
    return set(run, message, "content", &value);
}

static enum qn_tflow message_value(const struct qn_renderer *r, struct qn_trun *run,
                                   const struct qn_message *m, struct qn_tval *out)
{
    struct qn_tdict *dict = NULL;
    const struct qn_message_part *reasoning = qn_message_find(m, QN_PART_REASONING);
    bool calls = qn_message_find(m, QN_PART_CALL) != NULL, empty;
    QN_T_TRY(qn_tdict_new(run, 6, &dict));
    QN_T_TRY(set_text(r, run, dict, "role", qn_role_name(m->role)));
    if (m->name)
        QN_T_TRY(set_text(r, run, dict, "name", m->name));
    if (m->tool_call_id)
        QN_T_TRY(set_text(r, run, dict, "tool_call_id", m->tool_call_id));
    QN_T_TRY(set_content(r, run, m, dict, &empty));
    if (reasoning)
        QN_T_TRY(set_text(r, run, dict, "reasoning_content", reasoning->text));
    /* In messages with calls such a template accepts either reasoning or content as the analysis.
     */
    if (reasoning && r->manner.thinking && (empty || !calls))
        QN_T_TRY(set_text(r, run, dict, "thinking", reasoning->text));
    if (calls)
        QN_T_TRY(set_calls(r, run, m, dict));
    *out = qn_tval_dict(dict);
    return QN_T_OK;
}

static enum qn_tflow bind_messages(const struct binding *b, struct qn_trun *run)
{
    const struct qn_messages *messages = &b->chat->messages;
    struct qn_tval *place = variable(run, "messages"), item;
    struct qn_tlist *list = NULL;
    if (!place)
        return QN_T_OK;
    QN_T_TRY(qn_tlist_new(run, messages->n, &list));
    for (size_t i = 0; i < messages->n; i++) {
        QN_T_TRY(message_value(b->r, run, &messages->v[i], &item));
        QN_T_TRY(qn_tlist_push(run, list, &item));
    }
    *place = qn_tval_list(list);
    return QN_T_OK;
}

static void bind_value(struct qn_trun *run, const char *name, struct qn_tval value)
{
    struct qn_tval *place = variable(run, name);
    if (place)
        *place = value;
}

/* Binds a token's text; a token that is not valid UTF-8 is bound as "". */
static void bind_token(struct qn_trun *run, const char *name, const struct qn_tokenizer *tok,
                       int32_t id)
{
    size_t len = 0;
    const char *text = id >= 0 ? qn_token_bytes(tok, id, &len) : "";
    bind_value(run, name, qn_tval_string(text, qn_utf8_valid(text, len) ? len : 0));
}

static enum qn_tflow bind_json(const struct binding *b, struct qn_trun *run, const char *name,
                               const char *json)
{
    struct qn_tval *place = json ? variable(run, name) : NULL;
    return place ? json_value(b->r, run, json, place) : QN_T_OK;
}

/* Binds the request's own variables. */
static enum qn_tflow bind_own(const struct binding *b, struct qn_trun *run)
{
    struct qn_tval vars;
    if (!b->chat->template_vars)
        return QN_T_OK;
    QN_T_TRY(json_value(b->r, run, b->chat->template_vars, &vars));
    if (vars.type != QN_T_DICT)
        return QN_T_OK;
    for (size_t i = 0; i < vars.dict->n; i++) {
        const struct qn_tmember *m = &vars.dict->members[i];
        struct qn_tval *place = qn_trun_variable(run, m->key.s, m->key.n);
        if (place)
            *place = m->val;
    }
    return QN_T_OK;
}

/* Binds the template's variables. The request's own come last: of equal names the last one wins, so
 * a request can override add_generation_prompt or enable_thinking. */
static enum qn_tflow bind_all(struct qn_trun *run, void *ctx)
{
    static const char *const switches[] = {"enable_thinking", "thinking", "reasoning"};
    const struct binding *b = ctx;
    const struct qn_chat *chat = b->chat;
    const struct qn_tokenizer *tok = b->r->tok;
    QN_T_TRY(bind_messages(b, run));
    QN_T_TRY(bind_json(b, run, "tools", chat->tools));
    QN_T_TRY(bind_json(b, run, "documents", chat->documents));
    bind_value(run, "add_generation_prompt", qn_tval_bool(!chat->continue_last));
    bind_token(run, "bos_token", tok, qn_token_bos(tok));
    bind_token(run, "eos_token", tok, qn_token_eos(tok));
    for (size_t i = 0; i < COUNT(switches) && chat->think != QN_UNSET; i++)
        /* families use different names */
        bind_value(run, switches[i], qn_tval_bool(chat->think != 0));
    if (chat->effort)
        bind_value(run, "reasoning_effort", qn_tval_cstr(chat->effort));
    return bind_own(b, run);
}

/* Cuts the rendering after the last message's content, so that the model continues that text.
 * Templates trim contents, so the trimmed text is searched. */
static qn_err cut_after_last(struct qn_buf *text, const struct qn_renderer *r,
                             const struct qn_message *last, struct qn_error *e)
{
    struct qn_buf plain, content;
    qn_buf_init(&plain, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&content, QN_TEMPLATE_MEMORY_MAX);
    qn_message_text(last, &plain);
    qn_marks_add(r->tok, qn_buf_cstr(&plain), plain.len, &content);
    const char *s = qn_buf_cstr(&content);
    size_t n = content.len;
    bool cut = false;
    while (n > 0 && strchr(" \t\r\n", *s))
        s++, n--;
    while (n > 0 && strchr(" \t\r\n", s[n - 1]))
        n--;
    for (size_t at = text->len; n > 0 && at >= n && text->len - at <= CONTINUE_TAIL_MAX && !cut;
         at--) {
        cut = memcmp(text->data + at - n, s, n) == 0;
        if (cut) {
            text->len = at;
            text->data[at] = '\0';
        }
    }
    qn_buf_deinit(&plain);
    qn_buf_deinit(&content);
    return cut ? QN_OK
               : qn_fail_param(
                     e, QN_EINVAL, "messages",
                     "messages: the last message cannot be continued: it has no text, or the "
                     "model's chat template does not show it unchanged");
}

qn_err qn_render_chat(const struct qn_renderer *p, const struct qn_chat *chat, struct qn_buf *text,
                      struct qn_error *e)
{
    struct binding binding = {p, chat};
    if (chat->messages.n == 0)
        return qn_fail_param(e, QN_EINVAL, "messages", "messages: at least one message is needed");
    qn_err err = qn_template_render_bound(p->chat, bind_all, &binding, qn_wall_ms(), text, e);
    if (err && e && !e->param[0])
        strcpy(e->param, "messages");
    if (!err && chat->continue_last)
        err = cut_after_last(text, p, &chat->messages.v[chat->messages.n - 1], e);
    return err;
}

/* ---- Trial renderings: what the template supports ---- */

#define TOOL                                                                                       \
    "[{\"type\":\"function\",\"function\":{\"name\":\"needle\",\"description\":\"d\","             \
    "\"parameters\":"                                                                              \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"d\"}},"     \
    "\"required\":[\"a\"]}}}]"

enum { TRIAL_MESSAGES = 4, TRIAL_PARTS = 4, TRIAL_BYTES = 32 };

/* A conversation for a trial rendering. */
struct trial {
    struct qn_message messages[TRIAL_MESSAGES];
    struct qn_message_part parts[TRIAL_MESSAGES][TRIAL_PARTS];
    char arguments[2][TRIAL_BYTES];
    size_t n;
};

static void add_part(struct trial *t, struct qn_message_part part)
{
    struct qn_message_parts *parts = &t->messages[t->n - 1].parts;
    parts->v = t->parts[t->n - 1];
    parts->v[parts->n++] = part;
}

static void add_message(struct trial *t, enum qn_role role, const char *text)
{
    t->messages[t->n++] = (struct qn_message){.role = role};
    if (text)
        add_part(t, (struct qn_message_part){.kind = QN_PART_TEXT, .text = text});
}

/* Adds a call with one argument of this name. */
static void add_call(struct trial *t, size_t i, const char *argument)
{
    static const char *const ids[] = {"call00001", "call00002"};
    snprintf(t->arguments[i], TRIAL_BYTES, "{\"%s\":1}", argument);
    add_part(t, (struct qn_message_part){
                    .kind = QN_PART_CALL, .id = ids[i], .name = "f", .arguments = t->arguments[i]});
}

static void add_result(struct trial *t, const char *text)
{
    add_message(t, QN_ROLE_TOOL, text);
    t->messages[t->n - 1].tool_call_id = "call00001";
    t->messages[t->n - 1].name = "f";
}

/* Whether the conversation can be rendered and the result contains `needle`. */
static bool shows(const struct qn_renderer *r, struct trial *t, const char *tools,
                  const char *needle)
{
    struct qn_chat chat = {.messages = {t->messages, t->n}, .tools = tools, .think = QN_UNSET};
    struct qn_buf text;
    qn_buf_init(&text, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = qn_render_chat(r, &chat, &text, NULL);
    bool printed = !err && strstr(qn_buf_cstr(&text), needle) != NULL;
    qn_buf_deinit(&text);
    return printed;
}

/* Renders an optional system message and a user message. */
static bool shows_text(const struct qn_renderer *r, const char *system, const char *tools,
                       const char *needle)
{
    struct trial t = {.n = 0};
    if (system)
        add_message(&t, QN_ROLE_SYSTEM, system);
    add_message(&t, QN_ROLE_USER, "x");
    return shows(r, &t, tools, needle);
}

/* Renders a user message, then an assistant message with calls (a and b: names of their arguments,
 * b may be NULL) and optional reasoning, then the optional result of the first call. */
static bool shows_calls(const struct qn_renderer *r, const char *a, const char *b,
                        const char *thought, const char *answer)
{
    struct trial t = {.n = 0};
    add_message(&t, QN_ROLE_USER, "x");
    add_message(&t, QN_ROLE_ASSISTANT, NULL);
    if (thought)
        add_part(&t, (struct qn_message_part){.kind = QN_PART_REASONING, .text = thought});
    add_call(&t, 0, a);
    if (b)
        add_call(&t, 1, b);
    if (answer)
        add_result(&t, answer);
    return shows(r, &t, NULL, "needle");
}

/* Some templates append arguments to a string with +, which fails for an object, and some require
 * null content. Sets the form with which the arguments appear. */
static bool find_call_form(struct qn_renderer *r)
{
    static const enum qn_arguments forms[] = {QN_AS_OBJECTS, QN_AS_TEXT};
    for (size_t i = 0; i < 4; i++) {
        r->arguments = forms[i / 2];
        r->manner.null_content = i % 2;
        if (shows_calls(r, "needle", NULL, NULL, NULL))
            return true;
    }
    r->arguments = QN_AS_TEXT;
    r->manner.null_content = false;
    return false;
}

/* Whether reasoning appears in the rendering; finds out which of the two names it needs. */
static bool find_thinking(struct qn_renderer *r)
{
    if (shows_calls(r, "a", NULL, "needle", NULL))
        return false;
    r->manner.thinking = true;
    return shows_calls(r, "a", NULL, "needle", NULL);
}

static bool shows_result(const struct qn_renderer *r)
{
    struct trial t = {.n = 0};
    if (r->manner.calls)
        return shows_calls(r, "a", NULL, NULL, "needle");
    add_message(&t, QN_ROLE_USER, "x");
    add_message(&t, QN_ROLE_ASSISTANT, "y");
    add_result(&t, "needle");
    return shows(r, &t, NULL, "needle");
}

static bool think_makes_a_difference(const struct qn_renderer *r)
{
    struct trial t = {.n = 0};
    struct qn_buf text[2];
    qn_err err[2];
    add_message(&t, QN_ROLE_USER, "x");
    for (int think = 0; think < 2; think++) {
        struct qn_chat chat = {.messages = {t.messages, t.n}, .think = think};
        qn_buf_init(&text[think], QN_TEMPLATE_OUTPUT_MAX);
        err[think] = qn_render_chat(r, &chat, &text[think], NULL);
    }
    bool differ = !err[0] && !err[1] && strcmp(qn_buf_cstr(&text[0]), qn_buf_cstr(&text[1])) != 0;
    qn_buf_deinit(&text[0]);
    qn_buf_deinit(&text[1]);
    return differ;
}

static void find_manner(struct qn_renderer *r)
{
    struct qn_manner *m = &r->manner;
    /* If the template needs variables that the trial lacks, support for system messages and tools
     * is assumed. */
    bool renders = shows_text(r, NULL, NULL, "");
    m->system = !renders || shows_text(r, "needle", NULL, "needle");
    m->tools = !renders || shows_text(r, NULL, TOOL, "needle");
    m->calls = find_call_form(r);
    m->many_calls = shows_calls(r, "a", "needle", NULL, NULL);
    m->results = shows_result(r);
    m->thinking = find_thinking(r);
    m->think_switch = think_makes_a_difference(r);
}

qn_err qn_renderer_init(struct qn_renderer *r, const struct qn_tokenizer *tok, const char *source,
                        size_t n, struct qn_error *e)
{
    *r = (struct qn_renderer){.tok = tok};
    qn_err err = qn_template_new(source, n, &r->chat, e);
    if (!err)
        find_manner(r);
    return err;
}

void qn_renderer_deinit(struct qn_renderer *r)
{
    if (r->chat)
        qn_template_free(r->chat);
    r->chat = NULL;
}
