/* Validation of load options' values, see load_options.h. What only the model's process can
 * determine (whether an adapter's file is valid and fits the model) is left to that process. */
#include "models/load_options.h"

#include "base/str.h"
#include "contract/server_args.h"
#include "formats/stretch.h"

#include <string.h>

enum { ARGS_ARENA_MAX = 64 * 1024 };

static qn_err check_word(const struct qn_load_option *o, const struct qn_jref *v,
                         struct qn_error *e)
{
    const char *text = qn_json_raw_str(v);
    char known[128] = "";
    for (const char *const *w = o->words; *w; w++) {
        if (qn_str_ieq(text, *w))
            return QN_OK;
        if (strlen(known) + strlen(*w) + 3 < sizeof known) {
            strcat(known, *known ? ", " : "");
            strcat(known, *w);
        }
    }
    return qn_json_fail(v, e, "unknown type '%.40s': %s exist", text, known);
}

static qn_err check_stretch(const struct qn_jref *v, struct qn_error *e)
{
    struct qn_stretch stretch;
    struct qn_error why = {0};
    return qn_stretch_parse(qn_json_raw_str(v), &stretch, &why) == QN_OK
               ? QN_OK
               : qn_json_fail(v, e, "%s", why.message);
}

/* The model's process has another working directory than the client: a relative path would name
 * another file there. */
static qn_err check_adapter(const struct qn_jref *v, struct qn_error *e)
{
    struct qn_jref path = qn_json_get(v, "path"), name = qn_json_get(v, "name");
    struct qn_jref scale = qn_json_get(v, "scale");
    const char *text;
    double factor;
    qn_err err = qn_json_str(&path, &text, e);
    if (!err && *text != '/')
        err = qn_json_fail(&path, e, "'%.200s' is not an absolute path of a GGUF file", text);
    text = NULL;
    if (!err)
        err = qn_json_str_opt(&name, &text, e);
    if (!err && text && (!*text || strlen(text) > QN_JOB_LORA_NAME_MAX))
        err = qn_json_fail(&name, e, "a name has 1 to %d bytes", QN_JOB_LORA_NAME_MAX);
    if (!err && qn_json_type(&scale) > QN_JSON_NULL)
        err = qn_json_f64(&scale, -QN_JOB_LORA_SCALE_MAX, QN_JOB_LORA_SCALE_MAX, &factor, e);
    return err;
}

qn_err qn_load_adapters_count(const struct qn_jref *list, struct qn_error *e)
{
    size_t n = qn_json_type(list) == QN_JSON_ARRAY ? qn_json_count(list) : 0;
    return n > QN_LOAD_ADAPTERS_MAX
               ? qn_json_fail(list, e, "a model takes at most %d adapters, not %zu",
                              QN_LOAD_ADAPTERS_MAX, n)
               : QN_OK;
}

static qn_err check_adapters(const struct qn_jref *list, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = qn_load_adapters_count(list, e);
    for (bool more = qn_json_first(list, &it); more && !err; more = qn_json_next(&it))
        err = check_adapter(&it, e);
    return err;
}

/* Arguments for another project's server, some of which quince sets itself. */
static qn_err check_arguments(const struct qn_load_option *o, const struct qn_jref *v,
                              struct qn_error *e)
{
    const struct qn_server_kind *kind = NULL;
    struct qn_strings words;
    for (size_t i = 0; i < qn_server_kinds() && !kind; i++)
        if (qn_str_eq(qn_server_kind_at(i)->args_option, o->name))
            kind = qn_server_kind_at(i);
    if (!kind)
        return QN_OK;
    struct qn_arena *arena = qn_arena_new(ARGS_ARENA_MAX);
    qn_err err = qn_server_args_read(kind, qn_json_raw_str(v), arena, &words, e);
    qn_arena_free(arena);
    return err;
}

static qn_err check_number(const struct qn_load_option *o, const struct qn_jref *v,
                           struct qn_error *e)
{
    int64_t whole;
    double number;
    if (o->max <= o->min)
        return QN_OK;
    return o->whole ? qn_json_i64(v, o->min, o->max, &whole, e)
                    : qn_json_f64(v, (double)o->min, (double)o->max, &number, e);
}

qn_err qn_load_option_check(const struct qn_load_option *o, const struct qn_jref *v,
                            struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (o->kind == QN_LOAD_ADAPTERS && qn_json_type(v) != o->type)
        return qn_json_fail(v, e, "expected an array of objects with path, name and scale");
    if (qn_json_type(v) != o->type)
        return qn_json_fail(v, e, "expected %s", qn_json_type_name(o->type));
    if (o->type == QN_JSON_NUMBER)
        return check_number(o, v, e);
    if (o->kind == QN_LOAD_ADAPTERS)
        return check_adapters(v, e);
    if (o->kind == QN_LOAD_STRETCH)
        return check_stretch(v, e);
    if (o->words)
        return check_word(o, v, e);
    return o->type == QN_JSON_STRING ? check_arguments(o, v, e) : QN_OK;
}

qn_err qn_load_options_check(const struct qn_backend_type *type, const struct qn_jref *object,
                             struct qn_error *e)
{
    int64_t tokens = -1;
    struct qn_jref context = qn_json_get(object, "ctx_size");
    qn_err err = qn_json_i64_opt(&context, -1, QN_CONTEXT_MAX, &tokens, e);
    for (const struct qn_load_option *o = type ? type->load_options : NULL; o && o->name && !err;
         o++) {
        struct qn_jref v = qn_json_get(object, o->name);
        err = qn_load_option_check(o, &v, e);
    }
    return err;
}
