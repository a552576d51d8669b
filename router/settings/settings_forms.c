/* Settings whose value must have a certain syntax: checks of that syntax, and their structured form
 * in JSON (config.json, requests, reports). */
#include "settings/settings_private.h"

#include "answers/profile.h"
#include "base/log.h"
#include "base/str.h"
#include "contract/cache_types.h"
#include "contract/server_args.h"
#include "settings/groups.h"
#include "settings/kinds.h"
#include "settings/listeners.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_ARENA_MAX = 64 * 1024 };

/* ---- checks: the error is a phrase behind the setting's name ---- */

static qn_err check_log_level(const char *text, struct qn_error *e)
{
    enum qn_log_level level;
    return qn_log_level_parse(text, &level)
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be " QN_LOG_LEVELS ", not '%.80s'", text);
}

static qn_err check_cache_type(const char *text, struct qn_error *e)
{
    return qn_cache_type_own(text)
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be " QN_CACHE_TYPES_OWN_TEXT ", not '%.80s'", text);
}

static qn_err check_llamacpp_args(const char *text, struct qn_error *e)
{
    struct qn_strings words;
    struct qn_error why = {0};
    struct qn_arena *arena = qn_arena_new(ARGS_ARENA_MAX);
    qn_err err =
        qn_server_args_read(qn_server_kind_of_program("llama-server"), text, arena, &words, &why);
    qn_arena_free(arena);
    return err ? qn_fail(e, err, "must be arguments for llama-server: %s", why.message) : QN_OK;
}

static qn_err check_profile(const char *text, struct qn_error *e)
{
    return qn_profile_find(text)
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be " QN_PROFILE_NAMES ", not '%.80s'", text);
}

static qn_err check_websocket_port(const char *text, struct qn_error *e)
{
    int64_t port;
    bool word = qn_str_eq(text, "auto") || qn_str_eq(text, "off");
    return word || (qn_parse_i64(text, &port) && port >= 0 && port <= 65535)
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be auto, off or a port from 0 to 65535, not '%.80s'",
                         text);
}

static qn_err check_ollama_port(const char *text, struct qn_error *e)
{
    struct qn_listeners one = {0};
    return qn_listeners_ollama(text, "localhost", &one, NULL) == QN_OK
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be auto, off or a port from 1 to 65535, not '%.80s'",
                         text);
}

static qn_err check_listen(const char *text, struct qn_error *e)
{
    struct qn_listeners places = {0};
    struct qn_error why = {0};
    return qn_listeners_read(text, "localhost", &places, &why)
               ? qn_fail(e, QN_EINVAL, "is not right: %s", why.message)
               : QN_OK;
}

static qn_err check_limits(const char *text, struct qn_error *e)
{
    struct qn_kind_limits limits;
    struct qn_error why = {0};
    return qn_kind_limits_parse(text, &limits, &why) == QN_OK
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "is wrong: %s", why.message);
}

static qn_err check_groups(const char *text, struct qn_error *e)
{
    struct qn_groups groups;
    struct qn_error why = {0};
    qn_err err = qn_groups_parse(text, &groups, &why);
    qn_groups_free(&groups);
    return err ? qn_fail(e, QN_EINVAL, "is wrong: %s", why.message) : QN_OK;
}

static qn_err check_share(const char *text, struct qn_error *e)
{
    double share;
    return qn_parse_f64(text, &share) && share > 0 && share <= 1
               ? QN_OK
               : qn_fail(e, QN_EINVAL, "must be a number above 0, at most 1, not '%.80s'", text);
}

/* ---- from JSON ---- */

static qn_err read_plain(const struct qn_jref *v, struct qn_buf *out, struct qn_error *e)
{
    (void)e;
    qn_json_print(v, out);
    return QN_OK;
}

/* Reads a list of names and joins them with the first character of marks; names must not contain
 * any character of marks. */
static qn_err read_names(const struct qn_jref *v, const char *marks, struct qn_buf *out,
                         struct qn_error *e)
{
    struct qn_jref it;
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        const char *name;
        qn_err err = qn_json_str(&it, &name, e);
        if (!err && strpbrk(name, marks))
            err = qn_json_fail(&it, e, "cannot have any of %s here", marks);
        if (err)
            return err;
        if (out->len)
            qn_buf_char(out, *marks);
        qn_buf_str(out, name);
    }
    return QN_OK;
}

static qn_err read_folders(const struct qn_jref *v, struct qn_buf *out, struct qn_error *e)
{
    return read_names(v, ":", out, e);
}

static qn_err read_models(const struct qn_jref *v, struct qn_buf *out, struct qn_error *e)
{
    return read_names(v, ",", out, e);
}

/* Reads a number, or an object such as {"llm": 2}. */
static qn_err read_limits(const struct qn_jref *v, struct qn_buf *out, struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(v) == QN_JSON_NUMBER)
        return read_plain(v, out, e);
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        int64_t n;
        qn_err err = qn_json_i64(&it, -1, QN_KIND_LIMIT_MAX, &n, e);
        if (err)
            return err;
        if (qn_kind_parse(it.key) == QN_KIND_COUNT)
            return qn_json_fail(&it, e, "is not a kind of models");
        qn_buf_fmt(out, "%s%s=%lld", out->len ? "," : "", it.key, (long long)n);
    }
    return QN_OK;
}

/* ---- to JSON ---- */

static void write_number(const char *text, struct qn_jw *w)
{
    double v = 0;
    qn_parse_f64(text, &v);
    qn_jw_f64(w, v);
}

static void write_port(const char *text, struct qn_jw *w)
{
    int64_t port;
    if (qn_parse_i64(text, &port))
        qn_jw_i64(w, port);
    else
        qn_jw_str(w, text);
}

static void write_groups(const char *text, struct qn_jw *w)
{
    qn_jw_obj(w);
    qn_jw_members(w, text);
    qn_jw_obj_end(w);
}

static void write_names(const char *text, char mark, struct qn_jw *w)
{
    qn_jw_arr(w);
    while (*text) {
        const char *end = strchr(text, mark);
        size_t n = end ? (size_t)(end - text) : strlen(text);
        if (n)
            qn_jw_strn(w, text, n);
        text += n + (end != NULL);
    }
    qn_jw_arr_end(w);
}

static void write_models(const char *text, struct qn_jw *w)
{
    write_names(text, ',', w);
}

/* Writes a number if one limit applies to all kinds of models, else an object with a limit for each
 * kind. */
static void write_limits(const char *text, struct qn_jw *w)
{
    struct qn_kind_limits limits;
    int64_t number;
    if (qn_parse_i64(text, &number)) {
        qn_jw_i64(w, number);
        return;
    }
    qn_jw_obj(w);
    if (qn_kind_limits_parse(text, &limits, NULL) == QN_OK)
        for (int k = 0; k < QN_KIND_COUNT; k++)
            qn_jw_ki64(w, qn_kind_name((enum qn_kind)k), limits.of[k]);
    qn_jw_obj_end(w);
}

/* ---- the table ---- */

enum { A = 1 << QN_JSON_ARRAY, O = 1 << QN_JSON_OBJECT, N = 1 << QN_JSON_NUMBER };

#define AT(member) offsetof(struct qn_settings, member)
static const struct form {
    size_t offset;
    qn_err (*check)(const char *text, struct qn_error *e); /* NULL: any text is valid */
    unsigned takes; /* JSON types, as bits 1 << enum qn_json_type, that `read` converts to text */
    qn_err (*read)(const struct qn_jref *v, struct qn_buf *out, struct qn_error *e);
    void (*write)(const char *text, struct qn_jw *w); /* NULL: written as a string */
} forms[] = {
    {AT(log_level), check_log_level, 0, NULL, NULL},
    {AT(cache_type), check_cache_type, 0, NULL, NULL},
    {AT(llamacpp_args), check_llamacpp_args, 0, NULL, NULL},
    {AT(profile), check_profile, 0, NULL, NULL},
    {AT(websocket_port), check_websocket_port, N, read_plain, write_port},
    {AT(ollama_port), check_ollama_port, N, read_plain, write_port},
    {AT(listen), check_listen, A, qn_listeners_text, NULL},
    {AT(extra_models_dir), NULL, A, read_folders, NULL},
    {AT(max_loaded_models), check_limits, N | O, read_limits, write_limits},
    {AT(groups), check_groups, O, read_plain, write_groups},
    {AT(preload), NULL, A, read_models, write_models},
    {AT(auto_evict_threshold), check_share, N, read_plain, write_number},
};

static const struct form *form_of(const struct qn_setting_row *r)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].offset == r->offset)
            return &forms[i];
    return NULL;
}

qn_err qn_setting_check(const struct qn_setting_row *r, const char *where, const char *text,
                        struct qn_error *e)
{
    const struct form *f = form_of(r);
    struct qn_error why = {0};
    if (!*text && (r->scope & QN_SETTING_MAY_BE_EMPTY))
        return QN_OK;
    if (!*text)
        return qn_fail_param(e, QN_EINVAL, r->name, "%s must not be empty", where);
    if (f && f->check && f->check(text, &why))
        return qn_fail_param(e, QN_EINVAL, r->name, "%s %s", where, why.message);
    return QN_OK;
}

qn_err qn_setting_read(const struct qn_setting_row *r, const struct qn_jref *v, struct qn_buf *text,
                       bool *own_form, struct qn_error *e)
{
    const struct form *f = form_of(r);
    *own_form = f && (f->takes & 1u << qn_json_type(v));
    return *own_form ? f->read(v, text, e) : read_plain(v, text, e);
}

void qn_setting_write(const struct qn_setting_row *r, const char *text, struct qn_jw *w)
{
    const struct form *f = form_of(r);
    if (f && f->write)
        f->write(text, w);
    else
        qn_jw_str(w, text);
}
