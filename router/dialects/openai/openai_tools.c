/* Tools and tool_choice in the forms of chat, its deprecated functions and the Responses API:
 * {"type":"function","function":{...}} or the function's members beside the type. */
#include "dialects/openai/openai.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOOLS_MAX = 1000,
    ALLOWED_MAX = 1000 /* names in an allowed_tools choice */
};

/* A parsed tool_choice. */
struct choice {
    enum qn_tool_choice mode;
    const char *name;     /* NAMED */
    const char **allowed; /* the names in allowed_tools, sorted */
    size_t n_allowed;
    bool limited; /* the choice has such a list */
};

/* Collects the tools of a request for a job. */
struct gather {
    struct qn_buf list;
    struct qn_jw w;
    const struct choice *choice;
    size_t n;
    bool flat;  /* a tool's members are beside its type */
    bool found; /* the tool that must be called exists */
};

/* Returns the object that has a tool's name. */
static struct qn_jref function_of(const struct qn_jref *tool)
{
    struct qn_jref inner = qn_json_get(tool, "function");
    return qn_json_type(&inner) > QN_JSON_NULL ? inner : *tool;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool allowed(const struct choice *c, const char *name)
{
    return !c->limited || (c->n_allowed && bsearch(&name, c->allowed, c->n_allowed,
                                                   sizeof *c->allowed, compare_names));
}

/* Reads the names of the list and sorts them, as every tool of the request is looked up among
 * them. */
static void take_allowed(const struct qn_jref *list, struct qn_arena *arena, struct choice *c)
{
    struct qn_jref tool;
    c->limited = true;
    c->allowed = qn_arena_alloc(arena, (qn_json_count(list) + 1) * sizeof *c->allowed);
    for (bool more = qn_json_first(list, &tool); more; more = qn_json_next(&tool)) {
        struct qn_jref f = function_of(&tool), v = qn_json_get(&f, "name");
        c->allowed[c->n_allowed++] = qn_json_raw_str(&v);
    }
    qsort(c->allowed, c->n_allowed, sizeof *c->allowed, compare_names);
}

static qn_err read_mode(const struct qn_jref *v, enum qn_tool_choice *out, struct qn_error *e)
{
    static const struct {
        const char *name;
        enum qn_tool_choice mode;
    } modes[] = {
        {"auto", QN_TOOLS_AUTO},
        {"none", QN_TOOLS_NONE},
        {"required", QN_TOOLS_REQUIRED},
        {"any", QN_TOOLS_REQUIRED}, /* the name in Mistral's API */
    };
    const char *text;
    qn_err err = qn_json_str(v, &text, e);
    if (err)
        return err;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (qn_str_eq(text, modes[i].name)) {
            *out = modes[i].mode;
            return QN_OK;
        }
    return qn_json_fail(v, e, "'%.40s' is not one of auto, none, required", text);
}

/* Reads {"mode","tools"}, in "allowed_tools" or beside the type. */
static qn_err read_allowed(const struct qn_jref *v, struct qn_arena *arena, struct choice *c,
                           struct qn_error *e)
{
    struct qn_jref inner = qn_json_get(v, "allowed_tools");
    const struct qn_jref *at = qn_json_type(&inner) == QN_JSON_OBJECT ? &inner : v;
    struct qn_jref mode = qn_json_get(at, "mode");
    struct qn_jref tools = qn_json_get(at, "tools");
    qn_err err = read_mode(&mode, &c->mode, e);
    if (!err && c->mode != QN_TOOLS_AUTO && c->mode != QN_TOOLS_REQUIRED)
        err = qn_json_fail(&mode, e, "expected auto or required");
    if (!err && qn_json_type(&tools) != QN_JSON_ARRAY)
        err = qn_json_fail(&tools, e, "expected an array");
    if (!err && qn_json_count(&tools) > ALLOWED_MAX)
        err = qn_json_fail(&tools, e, "at most %d tools are allowed", ALLOWED_MAX);
    if (!err)
        take_allowed(&tools, arena, c);
    return err;
}

static qn_err read_choice(const struct qn_jref *v, struct qn_arena *arena, struct choice *c,
                          struct qn_error *e)
{
    *c = (struct choice){.mode = QN_TOOLS_UNSET};
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) == QN_JSON_STRING)
        return read_mode(v, &c->mode, e);
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected a string or an object");
    struct qn_jref type = qn_json_get(v, "type");
    const char *text = "function"; /* the deprecated {"name"} has no type */
    qn_err err = qn_json_str_opt(&type, &text, e);
    if (err)
        return err;
    if (qn_str_eq(text, "allowed_tools"))
        return read_allowed(v, arena, c, e);
    if (!qn_str_eq(text, "function"))
        return qn_json_fail(&type, e, "'%.40s' is not supported: function and allowed_tools are",
                            text);
    struct qn_jref inner = qn_json_get(v, "function");
    const struct qn_jref *at = qn_json_type(&inner) > QN_JSON_NULL ? &inner : v;
    struct qn_jref name = qn_json_get(at, "name");
    c->mode = QN_TOOLS_NAMED;
    return qn_json_str(&name, &c->name, e);
}

/* Makes one function a tool of the job, with all members but the type. */
static qn_err add_function(struct gather *g, const struct qn_jref *f, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(f, "name"), it;
    struct qn_jref parameters = qn_json_get(f, "parameters");
    const char *name, *text = NULL;
    qn_err err = qn_json_str(&v, &name, e);
    if (!err && (!*name || strlen(name) > QN_JOB_TOOL_NAME_MAX))
        err = qn_json_fail(&v, e, "a tool's name has 1 to %d bytes", QN_JOB_TOOL_NAME_MAX);
    v = qn_json_get(f, "description");
    if (!err)
        err = qn_json_str_opt(&v, &text, e);
    if (!err && qn_json_type(&parameters) > QN_JSON_NULL &&
        qn_json_type(&parameters) != QN_JSON_OBJECT)
        err = qn_json_fail(&parameters, e, "expected an object: a JSON schema");
    if (err || !allowed(g->choice, name))
        return err;
    g->n++;
    g->found |= qn_str_eq(g->choice->name, name);
    qn_jw_obj(&g->w);
    qn_jw_kstr(&g->w, "type", "function");
    qn_jw_key(&g->w, "function");
    qn_jw_obj(&g->w);
    struct qn_buf value;
    qn_buf_init(&value, QN_JOB_PROMPT_BYTES_MAX);
    for (bool more = qn_json_first(f, &it); more; more = qn_json_next(&it)) {
        if (qn_str_eq(it.key, "type"))
            continue;
        qn_buf_clear(&value);
        qn_json_print(&it, &value);
        qn_jw_key(&g->w, it.key);
        qn_jw_raw(&g->w, qn_buf_cstr(&value), value.len);
    }
    qn_buf_deinit(&value);
    qn_jw_obj_end(&g->w);
    qn_jw_obj_end(&g->w);
    return QN_OK;
}

static qn_err add_tool(struct gather *g, const struct qn_jref *tool, struct qn_error *e)
{
    struct qn_jref type = qn_json_get(tool, "type"), inner = qn_json_get(tool, "function");
    const char *text;
    if (qn_json_type(tool) != QN_JSON_OBJECT)
        return qn_json_fail(tool, e, "expected an object");
    qn_err err = qn_json_str(&type, &text, e);
    if (err)
        return err;
    if (!qn_str_eq(text, "function"))
        return qn_json_fail(&type, e,
                            "a tool of type '%.40s' is not available here, only functions are: "
                            "leave it out or give a function in its place",
                            text);
    struct qn_jref name = qn_json_get(tool, "name");
    bool flat = g->flat || qn_json_type(&name) > QN_JSON_ABSENT;
    return add_function(g, flat && qn_json_type(&inner) <= QN_JSON_NULL ? tool : &inner, e);
}

/* Reads the list of tools, or of deprecated functions, that the choice allows. */
static qn_err read_list(const struct qn_jref *list, const struct qn_openai_ask *ask,
                        const struct choice *choice, const struct qn_jref *choice_at,
                        struct qn_request *rq, struct qn_chat *chat, struct qn_error *e)
{
    if (qn_json_type(list) > QN_JSON_NULL && qn_json_type(list) != QN_JSON_ARRAY)
        return qn_json_fail(list, e, "expected an array");
    if (qn_json_count(list) > TOOLS_MAX)
        return qn_json_fail(list, e, "at most %d tools are allowed", TOOLS_MAX);
    struct gather g = {.choice = choice, .flat = ask->flat_tools};
    qn_buf_init(&g.list, QN_JOB_PROMPT_BYTES_MAX);
    g.w = qn_jw_to(&g.list);
    qn_jw_arr(&g.w);
    qn_err err = QN_OK;
    struct qn_jref tool;
    for (bool more = qn_json_first(list, &tool); more && !err; more = qn_json_next(&tool)) {
        if (!ask->functions)
            err = add_tool(&g, &tool, e);
        else if (qn_json_type(&tool) != QN_JSON_OBJECT)
            err = qn_json_fail(&tool, e, "expected an object");
        else
            err = add_function(&g, &tool, e);
    }
    qn_jw_arr_end(&g.w);
    if (!err && choice->mode == QN_TOOLS_NAMED && !g.found)
        err = qn_json_fail(choice_at, e, "there is no tool '%.60s' in the request", choice->name);
    else if (!err && choice->mode == QN_TOOLS_REQUIRED && g.n == 0)
        err = qn_json_fail(choice_at, e, "a tool call is required, but there is no tool");
    if (!err && g.n > 0) {
        chat->tool_choice = choice->mode;
        chat->tool_name = choice->name;
        err = qn_openai_keep(rq, &g.list, list, &chat->tools, e);
    }
    qn_buf_deinit(&g.list);
    return err;
}

qn_err qn_openai_tools(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                       struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref tools = qn_json_get(root, "tools"), functions = qn_json_get(root, "functions");
    struct qn_jref parallel = qn_json_get(root, "parallel_tool_calls");
    ask->functions =
        qn_json_type(&functions) > QN_JSON_NULL && qn_json_type(&tools) <= QN_JSON_NULL;
    struct qn_jref at = qn_json_get(root, ask->functions ? "function_call" : "tool_choice");
    struct choice choice;
    bool several = true;
    qn_err err = read_choice(&at, rq->arena, &choice, e);
    if (!err)
        err = qn_json_bool_opt(&parallel, &several, e);
    chat->single_call = !several || ask->functions;
    return err ? err
               : read_list(ask->functions ? &functions : &tools, ask, &choice, &at, rq, chat, e);
}
