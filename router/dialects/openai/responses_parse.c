/* Parses the body of POST responses. */
#include "dialects/openai/responses.h"
#include "dialects/shared/defaults.h"

#include "base/str.h"
#include "contract/codec.h"

#include <math.h>
#include <string.h>

static const char *const known[] = {
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "max_output_tokens",
    "max_tool_calls",
    "truncation",
    "previous_response_id",
    "include",
    "top_logprobs",
    "background",
    "conversation",
    "prompt",
    "chat_template_kwargs",
    "enable_thinking",
    "thinking",
    "reasoning_effort",
    "reasoning_budget",
    "thinking_budget",
    "thinking_budget_tokens",
    NULL,
};

/* Members that only OpenAI's own servers support; they are refused, because ignoring them would
 * silently change the result. */
static const struct {
    const char *member, *why;
} refused[] = {
    {"conversation", "this server stores no conversations: use previous_response_id"},
    {"prompt", "this server stores no prompts: give instructions and input"},
};

/* Strings of the request that every response repeats unchanged; absent ones are omitted. */
static const char *const repeated[] = {"user", "safety_identifier", "prompt_cache_key",
                                       "prompt_cache_retention"};

static qn_err check_refused(const struct qn_jref *root, struct qn_error *e)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct qn_jref v = qn_json_get(root, refused[i].member);
        if (qn_json_type(&v) > QN_JSON_NULL)
            return qn_json_fail(&v, e, "%s", refused[i].why);
    }
    struct qn_jref v = qn_json_get(root, "background");
    bool background = false;
    qn_err err = qn_json_bool_opt(&v, &background, e);
    if (!err && background)
        err = qn_json_fail(&v, e,
                           "this server does not create responses in the background: wait for "
                           "them, or stream them");
    return err;
}

static qn_err read_include(const struct qn_jref *root, struct qn_sampling *s,
                           struct qn_responses_ask *ask, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "include"), top = qn_json_get(root, "top_logprobs"), it;
    if (qn_json_type(&list) > QN_JSON_NULL && qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_json_fail(&list, e, "expected an array");
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it)) {
        const char *name;
        err = qn_json_str(&it, &name, e);
        if (err)
            return err;
        if (qn_str_eq(name, "message.output_text.logprobs"))
            s->logprobs = 0;
        ask->encrypted |= qn_str_eq(name, "reasoning.encrypted_content");
    }
    int64_t asked = s->logprobs;
    err = qn_sampling_read(s, "logprobs", &top, e);
    if (!err && s->logprobs == 0 && asked == QN_UNSET)
        s->logprobs = QN_UNSET; /* top_logprobs is 0, and the tokens' own log-probabilities were not
                                   asked for */
    ask->openai.logprobs = s->logprobs != QN_UNSET;
    return err;
}

static qn_err read_reasoning(const struct qn_jref *root, struct qn_responses_ask *ask,
                             struct qn_error *e)
{
    static const char *const members[] = {"summary", "generate_summary"};
    struct qn_jref reasoning = qn_json_get(root, "reasoning");
    if (qn_json_type(&reasoning) > QN_JSON_NULL && qn_json_type(&reasoning) != QN_JSON_OBJECT)
        return qn_json_fail(&reasoning, e, "expected an object");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct qn_jref v = qn_json_get(&reasoning, members[i]);
        const char *text = NULL;
        qn_err err = qn_json_str_opt(&v, &text, e);
        if (!err && text && !qn_str_eq(text, "auto") && !qn_str_eq(text, "concise") &&
            !qn_str_eq(text, "detailed") && !qn_str_eq(text, "none"))
            err = qn_json_fail(&v, e, "'%.40s' is not one of auto, concise, detailed, none", text);
        if (err)
            return err;
        if (text)
            ask->summary = !qn_str_eq(text, "none");
    }
    return QN_OK;
}

static qn_err read_text(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                        struct qn_error *e)
{
    struct qn_jref text = qn_json_get(root, "text"), format = qn_json_get(&text, "format");
    struct qn_jref verbosity = qn_json_get(&text, "verbosity");
    const char *name = NULL;
    if (qn_json_type(&text) > QN_JSON_NULL && qn_json_type(&text) != QN_JSON_OBJECT)
        return qn_json_fail(&text, e, "expected an object");
    qn_err err = qn_json_str_opt(&verbosity, &name, e);
    if (!err && name && !qn_str_eq(name, "low") && !qn_str_eq(name, "medium") &&
        !qn_str_eq(name, "high"))
        err = qn_json_fail(&verbosity, e, "'%.40s' is not one of low, medium, high", name);
    return err ? err : qn_openai_format(&format, rq, job, e);
}

static qn_err read_truncation(const struct qn_jref *root, struct qn_job *job, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "truncation");
    const char *name = "disabled";
    qn_err err = qn_json_str_opt(&v, &name, e);
    job->truncate = qn_str_eq(name, "auto");
    if (!err && !job->truncate && !qn_str_eq(name, "disabled"))
        err = qn_json_fail(&v, e, "'%.40s' is not one of auto, disabled", name);
    return err;
}

/* The conversation that is continued must be completely stored. */
static qn_err read_previous(const struct qn_jref *root, const struct qn_request *rq,
                            struct qn_responses_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "previous_response_id");
    const char *id = "";
    qn_err err = qn_json_str_opt(&v, &id, e);
    if (err)
        return err;
    ask->previous = id;
    if (*id && rq->n_chain == 0)
        return qn_json_fail(
            &v, e,
            "previous response not found: it or one before it was not stored, or has been deleted");
    return QN_OK;
}

/* Writes the request's value of this name, or fallback, a JSON value. */
static void repeat(struct qn_jw *w, const struct qn_jref *object, const char *key,
                   const char *fallback)
{
    struct qn_jref v = qn_json_get(object, key);
    qn_jw_key(w, key);
    if (qn_json_type(&v) <= QN_JSON_NULL) {
        qn_jw_raw(w, fallback, strlen(fallback));
        return;
    }
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    qn_json_print(&v, &text);
    qn_jw_raw(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
}

/* Makes the members of a response that come from its request, as text without the braces. */
static qn_err write_echo(const struct qn_jref *root, struct qn_request *rq,
                         struct qn_responses_ask *ask, const struct qn_sampling *s,
                         struct qn_error *e)
{
    struct qn_jref text = qn_json_get(root, "text"), reasoning = qn_json_get(root, "reasoning");
    struct qn_buf out;
    qn_buf_init(&out, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_kbool(&w, "background", false);
    repeat(&w, root, "instructions", "null");
    repeat(&w, root, "max_output_tokens", "null");
    repeat(&w, root, "max_tool_calls", "null");
    repeat(&w, root, "metadata", "{}");
    repeat(&w, root, "parallel_tool_calls", "true");
    repeat(&w, root, "previous_response_id", "null");
    qn_jw_key(&w, "reasoning");
    qn_jw_obj(&w);
    repeat(&w, &reasoning, "effort", "null");
    repeat(&w, &reasoning, "summary", "null");
    qn_jw_obj_end(&w);
    qn_jw_kstr(&w, "service_tier", "default");
    qn_jw_kbool(&w, "store", ask->store);
    repeat(&w, root, "temperature", "null");
    qn_jw_key(&w, "text");
    qn_jw_obj(&w);
    repeat(&w, &text, "format", "{\"type\":\"text\"}");
    repeat(&w, &text, "verbosity", "\"medium\"");
    qn_jw_obj_end(&w);
    repeat(&w, root, "tool_choice", "\"auto\"");
    repeat(&w, root, "tools", "[]");
    qn_jw_ki64(&w, "top_logprobs", s->logprobs == QN_UNSET ? 0 : s->logprobs);
    repeat(&w, root, "top_p", "null");
    repeat(&w, root, "truncation", "\"disabled\"");
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        struct qn_jref v = qn_json_get(root, repeated[i]);
        if (qn_json_type(&v) == QN_JSON_STRING)
            qn_jw_kstr(&w, repeated[i], qn_json_raw_str(&v));
    }
    qn_jw_obj_end(&w);
    struct qn_buf inner;
    qn_buf_init(&inner, QN_JOB_PROMPT_BYTES_MAX);
    if (out.overflow)
        inner.overflow = true;
    else
        qn_buf_add(&inner, out.data + 1, out.len - 2);
    qn_err err = qn_openai_keep(rq, &inner, root, &ask->echo, e);
    qn_buf_deinit(&inner);
    qn_buf_deinit(&out);
    return err;
}

/* Members of which only the type is checked. */
static qn_err check_rest(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref metadata = qn_json_get(root, "metadata");
    struct qn_jref calls = qn_json_get(root, "max_tool_calls");
    int64_t n;
    if (qn_json_type(&metadata) > QN_JSON_NULL && qn_json_type(&metadata) != QN_JSON_OBJECT)
        return qn_json_fail(&metadata, e, "expected an object");
    struct qn_buf text;
    qn_buf_init(&text, QN_RESPONSES_METADATA_MAX);
    bool fits = qn_json_type(&metadata) <= QN_JSON_NULL || qn_json_print(&metadata, &text) == QN_OK;
    qn_buf_deinit(&text);
    if (!fits)
        return qn_json_fail(&metadata, e, "too long: at most %d bytes", QN_RESPONSES_METADATA_MAX);
    /* Limits calls of built-in tools, which this server does not have. */
    return qn_json_i64_opt(&calls, 1, INT32_MAX, &n, e);
}

/* Reads max_output_tokens and the members that chat has, too. */
static qn_err read_common(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                          struct qn_responses_ask *ask, struct qn_error *e)
{
    struct qn_jref n = qn_json_get(root, "n"), max = qn_json_get(root, "max_output_tokens");
    struct qn_jref store = qn_json_get(root, "store");
    qn_err err = qn_openai_common(root, rq, &job->sampling, &ask->openai, e);
    if (!err && job->sampling.n != QN_UNSET && job->sampling.n != 1)
        err = qn_json_fail(&n, e, "a response has one choice: n must be 1");
    if (!err)
        err = qn_sampling_read(&job->sampling, "max_tokens", &max, e);
    ask->store = true;
    if (!err)
        err = qn_json_bool_opt(&store, &ask->store, e);
    return err ? err : read_text(root, rq, job, e);
}

/* Checks the number of input items. Called before any of them is converted or looked up. */
static qn_err check_items(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref input = qn_json_get(root, "input");
    return qn_json_count(&input) > QN_RESPONSES_ITEMS_MAX
               ? qn_json_fail(&input, e, "at most %d items are allowed", QN_RESPONSES_ITEMS_MAX)
               : QN_OK;
}

qn_err qn_responses_parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    struct qn_responses_ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    qn_job_init(job);
    job->task = QN_TASK_CHAT;
    rq->jobs = job;
    rq->n_jobs = 1;
    rq->own = ask;
    ask->openai.flat_tools = true;
    qn_err err = check_items(&root, e);
    if (!err)
        err = check_refused(&root, e);
    if (!err)
        err = read_common(&root, rq, job, ask, e);
    if (!err)
        err = read_include(&root, &job->sampling, ask, e);
    if (!err)
        err = read_reasoning(&root, ask, e);
    if (!err)
        err = qn_openai_reasoning(&root, rq, &job->chat, &ask->openai, e);
    if (!err)
        err = qn_openai_tools(&root, rq, &job->chat, &ask->openai, e);
    if (!err)
        err = read_truncation(&root, job, e);
    if (!err)
        err = check_rest(&root, e);
    if (!err)
        err = read_previous(&root, rq, ask, e);
    struct qn_jref v = qn_json_get(&root, "instructions"), input = qn_json_get(&root, "input");
    const char *instructions = NULL;
    if (!err)
        err = qn_json_str_opt(&v, &instructions, e);
    if (!err)
        err = qn_responses_input(&input, instructions, rq, job, ask, e);
    if (err)
        return err;
    qn_sampling_defaults(&rq->profile->chat, &job->sampling);
    qn_openai_unknown(&root, "responses", known);
    return write_echo(&root, rq, ask, &job->sampling, e);
}

size_t qn_responses_earlier(const struct qn_json *doc, struct qn_arena *arena, const char **chain,
                            const char *ids[QN_EARLIER_MAX])
{
    struct qn_jref root = qn_json_root(doc), input = qn_json_get(&root, "input"), item;
    struct qn_jref previous = qn_json_get(&root, "previous_response_id");
    size_t n = 0;
    if (qn_json_count(&input) > QN_RESPONSES_ITEMS_MAX)
        return 0; /* parse refuses it later */
    if (*qn_json_raw_str(&previous))
        *chain = qn_json_raw_str(&previous);
    if (qn_json_type(&input) != QN_JSON_ARRAY)
        return 0;
    for (bool more = qn_json_first(&input, &item); more && n < QN_EARLIER_MAX;
         more = qn_json_next(&item)) {
        struct qn_jref type = qn_json_get(&item, "type"), role = qn_json_get(&item, "role");
        struct qn_jref id = qn_json_get(&item, "id");
        bool refers = qn_str_eq(qn_json_raw_str(&type), "item_reference") ||
                      (!*qn_json_raw_str(&type) && qn_json_type(&role) <= QN_JSON_NULL);
        const char *owner = refers ? qn_responses_owner(qn_json_raw_str(&id), arena) : NULL;
        bool known_already = !owner;
        for (size_t i = 0; i < n && !known_already; i++)
            known_already = qn_str_eq(ids[i], owner);
        if (!known_already)
            ids[n++] = owner;
    }
    return n;
}
