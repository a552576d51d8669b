/* See load_options.h. */
#include "models/load_options.h"

#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LIMIT = 8192, VALUE_LIMIT = 64 * 1024 };

void qn_load_options_of(const struct qn_backend_type *type, const struct qn_jref *object,
                        struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (const struct qn_load_option *o = type->load_options; o->name; o++) {
        struct qn_jref v = qn_json_get(object, o->name);
        if (qn_json_type(&v) <= QN_JSON_NULL)
            continue;
        struct qn_buf value;
        qn_buf_init(&value, out->limit);
        qn_json_print(&v, &value);
        qn_jw_key(&w, o->name);
        qn_jw_raw(&w, qn_buf_cstr(&value), value.len);
        qn_buf_deinit(&value);
    }
    qn_jw_obj_end(&w);
}

bool qn_load_options_name(const char *options, const char *param)
{
    char option[QN_ERROR_PARAM_MAX];
    struct qn_json *doc;
    if (!options || !param || qn_json_parse(options, strlen(options), &doc, NULL))
        return false;
    snprintf(option, sizeof option, "%.*s", (int)strcspn(param, ".["), param);
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, option);
    bool named = *option && qn_json_type(&v) > QN_JSON_NULL;
    qn_json_free(doc);
    return named;
}

const char *qn_load_options_for_admins(const struct qn_jref *object)
{
    const struct qn_backend_type *type;
    for (size_t i = 0; (type = qn_backend_type_at(i)); i++)
        for (const struct qn_load_option *o = type->load_options; o->name; o++) {
            struct qn_jref v = qn_json_get(object, o->name);
            /* Some clients send empty strings for options that they do not set. */
            bool empty = qn_json_type(&v) == QN_JSON_STRING && !*qn_json_raw_str(&v);
            if (o->admin && qn_json_type(&v) > QN_JSON_NULL && !empty)
                return o->name;
        }
    return NULL;
}

const char *qn_load_option_idle(const char *name)
{
    static const struct {
        const char *name, *why;
    } idle[] = {
        {"downsize_idle_timeout",
         "has no effect here: a loaded model keeps its KV cache, so that later requests can reuse "
         "it; evict_idle_timeout, keep_alive and the setting idle determine when the model is "
         "unloaded"},
    };
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (qn_str_eq(idle[i].name, name))
            return idle[i].why;
    return NULL;
}

/* DATA_DIR/prefixes/NAME.prefix, with characters of the name that are unsafe in file names
 * replaced. */
static void cache_file(const struct qn_load_places *places, struct qn_buf *path)
{
    qn_buf_fmt(path, "%s/prefixes/", places->data_dir);
    for (const char *s = places->name; *s; s++)
        qn_buf_char(path, isalnum((unsigned char)*s) || strchr("-_.", *s) ? *s : '_');
    qn_buf_str(path, ".prefix");
}

static qn_err write_model(const struct qn_load_option *o, const struct qn_jref *v,
                          const struct qn_load_places *places, struct qn_jw *w, struct qn_error *e)
{
    const char *name;
    struct qn_buf path;
    qn_err err = qn_json_str(v, &name, e);
    if (err || !*name)
        return err;
    qn_buf_init(&path, PATH_LIMIT);
    err = places->model_file(places->ctx, name, &path, e);
    if (!err)
        qn_jw_kstr(w, o->name, qn_buf_cstr(&path));
    qn_buf_deinit(&path);
    return err;
}

static qn_err write_cache(const struct qn_load_option *o, const struct qn_jref *v,
                          const struct qn_load_places *places, struct qn_jw *w, struct qn_error *e)
{
    bool wanted;
    struct qn_buf path;
    qn_err err = qn_json_bool(v, &wanted, e);
    if (err || !wanted)
        return err;
    qn_buf_init(&path, PATH_LIMIT);
    cache_file(places, &path);
    qn_jw_kstr(w, o->name, qn_buf_cstr(&path));
    qn_buf_deinit(&path);
    return QN_OK;
}

/* A number of GiB; 0 is omitted. */
static qn_err write_weights(const struct qn_load_option *o, const struct qn_jref *v,
                            const struct qn_load_places *places, struct qn_jw *w,
                            struct qn_error *e)
{
    int64_t gib;
    struct qn_buf folder;
    qn_err err = qn_json_i64(v, 0, QN_WEIGHT_CACHE_GIB_MAX, &gib, e);
    if (err || gib == 0)
        return err;
    qn_buf_init(&folder, PATH_LIMIT);
    qn_buf_fmt(&folder, "%s/weights", places->data_dir);
    qn_jw_key(w, o->name);
    qn_jw_obj(w);
    qn_jw_kstr(w, "folder", qn_buf_cstr(&folder));
    qn_jw_ki64(w, "gib", gib);
    qn_jw_obj_end(w);
    qn_buf_deinit(&folder);
    return QN_OK;
}

static qn_err write_option(const struct qn_load_option *o, const struct qn_jref *v,
                           const struct qn_load_places *places, struct qn_jw *w, struct qn_error *e)
{
    qn_err err = qn_load_option_check(o, v, e);
    if (err)
        return err;
    if (o->kind == QN_LOAD_MODEL)
        return write_model(o, v, places, w, e);
    if (o->kind == QN_LOAD_CACHE_FILE)
        return write_cache(o, v, places, w, e);
    if (o->kind == QN_LOAD_WEIGHT_CACHE)
        return write_weights(o, v, places, w, e);
    struct qn_buf value;
    qn_buf_init(&value, VALUE_LIMIT);
    if (qn_json_print(v, &value))
        err = qn_json_fail(v, e, "has more than %d bytes", VALUE_LIMIT);
    qn_jw_key(w, o->name);
    qn_jw_raw(w, qn_buf_cstr(&value), value.len);
    qn_buf_deinit(&value);
    return err;
}

qn_err qn_load_options_merge(const struct qn_backend_type *type, const char *const *layers,
                             size_t n, const struct qn_load_places *places, struct qn_buf *out,
                             struct qn_error *e)
{
    struct qn_json **docs = qn_xcalloc(n, sizeof(struct qn_json *));
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = qn_json_parse(layers[i], strlen(layers[i]), &docs[i], e);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (const struct qn_load_option *o = type->load_options; o->name && !err; o++) {
        for (size_t i = 0; i < n && o->kind != QN_LOAD_HOUSE; i++) {
            struct qn_jref root = qn_json_root(docs[i]), v = qn_json_get(&root, o->name);
            if (qn_json_type(&v) <= QN_JSON_NULL)
                continue;
            err = write_option(o, &v, places, &w, e);
            break;
        }
    }
    qn_jw_obj_end(&w);
    for (size_t i = 0; i < n; i++)
        qn_json_free(docs[i]);
    free(docs);
    return err;
}

void qn_load_options_plain(const struct qn_backend_type *type, const char *const *layers, size_t n,
                           struct qn_buf *out)
{
    struct qn_json **docs = qn_xcalloc(n, sizeof(struct qn_json *));
    struct qn_jw w = qn_jw_to(out);
    for (size_t i = 0; i < n; i++)
        if (qn_json_parse(layers[i], strlen(layers[i]), &docs[i], NULL))
            docs[i] = NULL;
    qn_jw_obj(&w);
    for (const struct qn_load_option *o = type->load_options; o->name; o++) {
        bool engine = o->kind == QN_LOAD_HOUSE && o->type == QN_JSON_STRING;
        bool plain = o->kind == QN_LOAD_VALUE || o->kind == QN_LOAD_STRETCH || engine;
        bool said = !plain;
        for (size_t i = 0; i < n && !said; i++) {
            struct qn_jref root = docs[i] ? qn_json_root(docs[i]) : (struct qn_jref){0};
            struct qn_jref v = qn_json_get(&root, o->name);
            said = qn_json_type(&v) > QN_JSON_NULL;
            if (said) {
                qn_jw_key(&w, o->name);
                qn_jw_value(&w, &v);
            }
        }
    }
    qn_jw_obj_end(&w);
    for (size_t i = 0; i < n; i++)
        qn_json_free(docs[i]);
    free(docs);
}
