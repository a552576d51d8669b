/* Checks and writes the parameters of an answer's request; see body.h and body_params.h. */
#include "answering/body_params.h"

#include "answering/body_tools.h"
#include "base/str.h"
#include "dialects/dialect.h"

#include <string.h>

enum { CHECK_MEMORY_MAX = 16 * 1024 * 1024 };

/* Members of OpenAI's request that clients cannot set, because the conversation determines them. */
static const char *const reserved[] = {
    "messages",  "model",     "stream", "stream_options",
    "functions", "documents", "n",      "continue_final_message"};

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (qn_str_eq(reserved[i], name))
            return true;
    return false;
}

/* Writes the parameter "think" as the member of OpenAI's request that has its type:
 * enable_thinking, thinking_budget or reasoning_effort. */
static qn_err write_think(struct qn_jw *w, const struct qn_jref *v, struct qn_error *e)
{
    switch (qn_json_type(v)) {
    case QN_JSON_NULL:
        return QN_OK;
    case QN_JSON_BOOL:
        qn_jw_key(w, "enable_thinking");
        break;
    case QN_JSON_NUMBER:
        qn_jw_key(w, "thinking_budget");
        break;
    case QN_JSON_STRING:
        qn_jw_key(w, "reasoning_effort");
        break;
    default:
        return qn_json_fail(v, e, "expected a boolean, a number of tokens or an effort");
    }
    qn_jw_value(w, v);
    return QN_OK;
}

/* Parameters about reasoning. If the answer's own parameters have any of these, they override all
 * of these in the chat's parameters. */
static const char *const of_reasoning[] = {"think", "enable_thinking", "thinking",
                                           "thinking_budget", "reasoning_effort"};
enum { OF_REASONING = sizeof of_reasoning / sizeof *of_reasoning };

static bool is_of_reasoning(const char *name)
{
    for (size_t i = 0; i < OF_REASONING; i++)
        if (qn_str_eq(of_reasoning[i], name))
            return true;
    return false;
}

/* Returns true if `own` overrides the member `name`: it has this member, or both are about
 * reasoning. */
static bool replaces(const struct qn_jref *own, const char *name)
{
    struct qn_jref v = qn_json_get(own, name);
    bool any = qn_json_type(&v) != QN_JSON_ABSENT;
    for (size_t i = 0; i < OF_REASONING && !any && is_of_reasoning(name); i++) {
        v = qn_json_get(own, of_reasoning[i]);
        any = qn_json_type(&v) != QN_JSON_ABSENT;
    }
    return any;
}

/* Writes the members of `params`, except reserved ones, "tools", "mcp", and those that `own`
 * overrides. own: MAY be absent (an empty reference). */
static qn_err write_params(struct qn_jw *w, const struct qn_jref *params, const struct qn_jref *own,
                           struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(params, &it); more && !err; more = qn_json_next(&it)) {
        if (is_reserved(it.key) || replaces(own, it.key) || qn_str_eq(it.key, "mcp") ||
            qn_str_eq(it.key, "tools"))
            continue;
        if (qn_str_eq(it.key, "think")) {
            err = write_think(w, &it, e);
            continue;
        }
        qn_jw_key(w, it.key);
        qn_jw_value(w, &it);
    }
    return err;
}

/* Checks the parameters by building a minimal request with them and parsing it with the parser for
 * real requests. */
static qn_err try_params(const struct qn_jref *params, struct qn_error *e)
{
    static const struct qn_jref none = {0};
    struct qn_buf body;
    struct qn_json *doc = NULL;
    qn_buf_init(&body, QN_ANSWER_BODY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "messages");
    qn_jw_arr(&w);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "role", "user");
    qn_jw_kstr(&w, "content", "");
    qn_jw_obj_end(&w);
    qn_jw_arr_end(&w);
    qn_err err = write_params(&w, params, &none, e);
    struct qn_jref tools = qn_json_get(params, "tools");
    if (qn_json_type(&tools) > QN_JSON_NULL) {
        qn_jw_key(&w, "tools");
        qn_jw_value(&w, &tools);
    }
    qn_jw_obj_end(&w);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&body), body.len, &doc, e);
    if (!err) {
        struct qn_arena *arena = qn_arena_new(CHECK_MEMORY_MAX);
        struct qn_request rq = {.doc = doc, .arena = arena, .profile = qn_profile_main()};
        rq.context = rq.keep_alive_ms = QN_UNSET;
        err = qn_page_chat.parse(&rq, e);
        qn_arena_free(arena);
        qn_json_free(doc);
    }
    qn_buf_deinit(&body);
    return err;
}

qn_err qn_answer_params_check(const char *params, struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_jref it;
    qn_err err = qn_json_parse(params, strlen(params), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        err = qn_fail_param(e, QN_EINVAL, "params", "params: expected an object");
    for (bool more = qn_json_first(&root, &it); more && !err; more = qn_json_next(&it))
        if (is_reserved(it.key))
            err = qn_json_fail(&it, e, "the conversation itself determines this");
    if (!err)
        err = qn_answer_mcp_check(&root, e);
    if (!err)
        err = try_params(&root, e);
    qn_json_free(doc);
    return err;
}

qn_err qn_answer_params_write(struct qn_jw *w, const struct qn_answer_ask *ask, struct qn_error *e)
{
    static const struct qn_jref none = {0};
    struct qn_json *own = NULL, *defaults = NULL;
    qn_err err = qn_json_parse(ask->params, strlen(ask->params), &own, e);
    if (!err)
        err = qn_json_parse(ask->defaults, strlen(ask->defaults), &defaults, e);
    if (!err) {
        struct qn_jref a = qn_json_root(own), b = qn_json_root(defaults);
        err = write_params(w, &a, &none, e);
        if (!err)
            err = write_params(w, &b, &a, e);
        struct qn_jref brought =
            replaces(&a, "tools") ? qn_json_get(&a, "tools") : qn_json_get(&b, "tools");
        if (qn_json_count(&brought) || (ask->tools && *ask->tools))
            qn_answer_tools_write(w, &a, &b, ask->tools ? ask->tools : "");
    }
    qn_json_free(own);
    qn_json_free(defaults);
    return err;
}
