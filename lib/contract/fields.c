/* See fields.h. */
#include "contract/fields.h"

#include "base/str.h"
#include "contract/frame.h"
#include "contract/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_TEXT_MAX = 64 * 1024 * 1024 }; /* of a JSON value that is stored as text */
enum { HEX64_DIGITS = 16 };

static void *at(const struct qn_field *f, void *base)
{
    return (char *)base + f->offset;
}

static const void *cat(const struct qn_field *f, const void *base)
{
    return (const char *)base + f->offset;
}

/* ---- writing: each function writes one member, or none if the field is unset ---- */

static void write_string(const struct qn_field *f, const char *s, struct qn_jw *w)
{
    if (s)
        qn_jw_kstr(w, f->name, s);
}

static void write_integer(const struct qn_field *f, int64_t v, struct qn_jw *w)
{
    if (v != QN_UNSET)
        qn_jw_ki64(w, f->name, v);
}

static void write_real(const struct qn_field *f, double v, struct qn_jw *w)
{
    if (!isnan(v))
        qn_jw_kf64(w, f->name, v);
}

static void write_hex64(const struct qn_field *f, uint64_t v, struct qn_jw *w)
{
    char digits[HEX64_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, v);
    if (v)
        qn_jw_kstr(w, f->name, digits);
}

static void write_bool(const struct qn_field *f, bool v, struct qn_jw *w)
{
    if (v)
        qn_jw_kbool(w, f->name, true);
}

/* s is JSON already. */
static void write_text(const struct qn_field *f, const char *s, struct qn_jw *w)
{
    if (!s)
        return;
    qn_jw_key(w, f->name);
    qn_jw_raw(w, s, strlen(s));
}

static void write_strings(const struct qn_field *f, const struct qn_strings *list, struct qn_jw *w)
{
    if (list->n == 0)
        return;
    qn_jw_key(w, f->name);
    qn_jw_arr(w);
    for (size_t i = 0; i < list->n; i++)
        qn_jw_str(w, list->v[i]);
    qn_jw_arr_end(w);
}

static void write_integers(const struct qn_field *f, const struct qn_i64s *list, struct qn_jw *w)
{
    if (list->n == 0)
        return;
    qn_jw_key(w, f->name);
    qn_jw_arr(w);
    for (size_t i = 0; i < list->n; i++)
        qn_jw_i64(w, list->v[i]);
    qn_jw_arr_end(w);
}

static void write_biases(const struct qn_field *f, const struct qn_biases *list, struct qn_jw *w)
{
    if (list->n == 0)
        return;
    qn_jw_key(w, f->name);
    qn_jw_arr(w);
    for (size_t i = 0; i < list->n; i++) {
        qn_jw_arr(w);
        qn_jw_i64(w, list->v[i].token);
        qn_jw_f64(w, list->v[i].bias);
        qn_jw_arr_end(w);
    }
    qn_jw_arr_end(w);
}

static void write_loras(const struct qn_field *f, const struct qn_loras *list, struct qn_jw *w)
{
    if (!list->given)
        return;
    qn_jw_key(w, f->name);
    qn_jw_arr(w);
    for (size_t i = 0; i < list->n; i++) {
        qn_jw_arr(w);
        if (list->v[i].name)
            qn_jw_str(w, list->v[i].name);
        else
            qn_jw_i64(w, list->v[i].id);
        if (isnan(list->v[i].scale))
            qn_jw_null(w);
        else
            qn_jw_f64(w, list->v[i].scale);
        qn_jw_arr_end(w);
    }
    qn_jw_arr_end(w);
}

/* The memory layout of every list that a QN_F_LIST field describes. */
struct list {
    void *v;
    size_t n;
};

static void write_list(const struct qn_field *f, const void *p, struct qn_jw *w)
{
    struct list list;
    memcpy(&list, p, sizeof list);
    if (list.n == 0)
        return;
    qn_jw_key(w, f->name);
    qn_jw_arr(w);
    for (size_t i = 0; i < list.n; i++) {
        qn_jw_obj(w);
        qn_fields_write(f->items->fields, f->items->n, (char *)list.v + i * f->items->size, w);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

static void write_enum(const struct qn_field *f, int v, struct qn_jw *w)
{
    if (v > 0)
        qn_jw_kstr(w, f->name, f->enum_name(v));
}

static void write_error(const struct qn_field *f, const struct qn_error *err, struct qn_jw *w)
{
    qn_jw_key(w, f->name);
    qn_jw_obj(w);
    qn_jw_kstr(w, "code", qn_err_name(err->code));
    qn_jw_kstr(w, "param", err->param);
    qn_jw_kstr(w, "message", err->message);
    qn_jw_obj_end(w);
}

static void write_one(const struct qn_field *f, const void *base, struct qn_jw *w)
{
    const void *p = cat(f, base);
    switch (f->type) {
    case QN_F_STR:
        write_string(f, *(const char *const *)p, w);
        break;
    case QN_F_I64:
        write_integer(f, *(const int64_t *)p, w);
        break;
    case QN_F_F64:
        write_real(f, *(const double *)p, w);
        break;
    case QN_F_HEX64:
        write_hex64(f, *(const uint64_t *)p, w);
        break;
    case QN_F_BOOL:
        write_bool(f, *(const bool *)p, w);
        break;
    case QN_F_ARRAY:
    case QN_F_OBJECT:
        write_text(f, *(const char *const *)p, w);
        break;
    case QN_F_STRS:
        write_strings(f, p, w);
        break;
    case QN_F_I64S:
        write_integers(f, p, w);
        break;
    case QN_F_BIASES:
        write_biases(f, p, w);
        break;
    case QN_F_LORAS:
        write_loras(f, p, w);
        break;
    case QN_F_LIST:
        write_list(f, p, w);
        break;
    case QN_F_ENUM: {
        int v;
        memcpy(&v, p, sizeof v);
        write_enum(f, v, w);
        break;
    }
    case QN_F_ERROR:
        write_error(f, p, w);
        break;
    }
}

void qn_fields_write(const struct qn_field *table, size_t n, const void *base, struct qn_jw *w)
{
    for (size_t i = 0; i < n; i++)
        write_one(&table[i], base, w);
}

/* ---- reading ---- */

/* Reads a JSON value of the wanted type and stores its JSON text. */
static qn_err read_text(const struct qn_jref *v, enum qn_json_type want, const char **out,
                        struct qn_arena *arena, struct qn_error *e)
{
    if (qn_json_type(v) != want)
        return qn_json_fail(v, e, "expected %s, not %s", qn_json_type_name(want),
                            qn_json_type_name(qn_json_type(v)));
    struct qn_buf text;
    qn_buf_init(&text, JSON_TEXT_MAX);
    qn_err err = qn_json_print(v, &text);
    char *copy = err ? NULL : qn_arena_try(arena, text.len + 1);
    if (copy)
        memcpy(copy, qn_buf_cstr(&text), text.len + 1);
    qn_buf_deinit(&text);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "a value is too large");
    *out = copy;
    return QN_OK;
}

/* Checks that v is an array of at most f->max items and allocates memory for the items. */
static qn_err list_begin(const struct qn_field *f, const struct qn_jref *v, size_t item,
                         struct qn_arena *arena, size_t *n, void **items, struct qn_error *e)
{
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array, not %s", qn_json_type_name(qn_json_type(v)));
    *n = qn_json_count(v);
    if ((double)*n > f->max)
        return qn_json_fail(v, e, "holds %zu items, at most %.0f are allowed", *n, f->max);
    *items = qn_arena_try(arena, *n * item + 1);
    return *items ? QN_OK : qn_fail(e, QN_ELIMIT, "a list is too large");
}

static qn_err copy_string(const struct qn_jref *v, double max, const char **out,
                          struct qn_arena *arena, struct qn_error *e)
{
    const char *s;
    qn_err err = qn_json_str(v, &s, e);
    if (err)
        return err;
    size_t n = strlen(s);
    if (max > 0 && (double)n > max)
        return qn_json_fail(v, e, "has %zu bytes, at most %.0f are allowed", n, max);
    char *copy = qn_arena_try(arena, n + 1);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "a text is too large");
    memcpy(copy, s, n + 1);
    *out = copy;
    return QN_OK;
}

static qn_err read_strings(const struct qn_field *f, const struct qn_jref *v,
                           struct qn_strings *out, struct qn_arena *arena, struct qn_error *e)
{
    size_t n;
    void *items;
    qn_err err = list_begin(f, v, sizeof(char *), arena, &n, &items, e);
    const char **list = items;
    struct qn_jref it;
    size_t i = 0;
    for (bool more = !err && qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = copy_string(&it, 0, &list[i++], arena, e);
    if (!err)
        *out = (struct qn_strings){.v = list, .n = n};
    return err;
}

static qn_err read_integers(const struct qn_field *f, const struct qn_jref *v, struct qn_i64s *out,
                            struct qn_arena *arena, struct qn_error *e)
{
    size_t n;
    void *items;
    qn_err err = list_begin(f, v, sizeof(int64_t), arena, &n, &items, e);
    int64_t *list = items;
    struct qn_jref it;
    size_t i = 0;
    for (bool more = !err && qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = qn_json_i64(&it, 0, INT32_MAX, &list[i++], e);
    if (!err)
        *out = (struct qn_i64s){.v = list, .n = n};
    return err;
}

static qn_err read_biases(const struct qn_field *f, const struct qn_jref *v, struct qn_biases *out,
                          struct qn_arena *arena, struct qn_error *e)
{
    size_t n;
    void *items;
    qn_err err = list_begin(f, v, sizeof(struct qn_bias), arena, &n, &items, e);
    struct qn_bias *list = items;
    struct qn_jref it, part;
    size_t i = 0;
    for (bool more = !err && qn_json_first(v, &it); more && !err; more = qn_json_next(&it), i++) {
        if (qn_json_count(&it) != 2 || !qn_json_first(&it, &part))
            return qn_json_fail(&it, e, "expected [token, bias]");
        err = qn_json_i64(&part, 0, INT32_MAX, &list[i].token, e);
        if (!err && qn_json_next(&part))
            err = qn_json_f64(&part, -1e9, 1e9, &list[i].bias, e);
    }
    if (!err)
        *out = (struct qn_biases){.v = list, .n = n};
    return err;
}

/* Reads [id or name, scale or null]. */
static qn_err read_lora(const struct qn_jref *v, struct qn_lora *out, struct qn_arena *arena,
                        struct qn_error *e)
{
    struct qn_jref part;
    *out = (struct qn_lora){.scale = NAN};
    if (qn_json_count(v) != 2 || !qn_json_first(v, &part))
        return qn_json_fail(v, e, "expected [adapter, scale]");
    qn_err err = qn_json_type(&part) == QN_JSON_STRING
                     ? copy_string(&part, QN_JOB_LORA_NAME_MAX, &out->name, arena, e)
                     : qn_json_i64(&part, 0, INT32_MAX, &out->id, e);
    if (err || !qn_json_next(&part) || qn_json_type(&part) <= QN_JSON_NULL)
        return err;
    return qn_json_f64(&part, -QN_JOB_LORA_SCALE_MAX, QN_JOB_LORA_SCALE_MAX, &out->scale, e);
}

static qn_err read_loras(const struct qn_field *f, const struct qn_jref *v, struct qn_loras *out,
                         struct qn_arena *arena, struct qn_error *e)
{
    size_t n;
    void *items;
    qn_err err = list_begin(f, v, sizeof(struct qn_lora), arena, &n, &items, e);
    struct qn_lora *list = items;
    struct qn_jref it;
    size_t i = 0;
    for (bool more = !err && qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = read_lora(&it, &list[i++], arena, e);
    if (!err)
        *out = (struct qn_loras){.v = list, .n = n, .given = true};
    return err;
}

static void unset(const struct qn_field_items *items, void *base)
{
    static const int64_t whole = QN_UNSET;
    static const double real = NAN;
    for (size_t i = 0; i < items->n; i++) {
        if (items->fields[i].type == QN_F_I64)
            memcpy(at(&items->fields[i], base), &whole, sizeof whole);
        else if (items->fields[i].type == QN_F_F64)
            memcpy(at(&items->fields[i], base), &real, sizeof real);
    }
}

static qn_err read_list(const struct qn_field *f, const struct qn_jref *v, void *out,
                        struct qn_arena *arena, struct qn_error *e)
{
    struct list list;
    struct qn_jref it;
    size_t i = 0;
    qn_err err = list_begin(f, v, f->items->size, arena, &list.n, &list.v, e);
    for (bool more = !err && qn_json_first(v, &it); more && !err; more = qn_json_next(&it)) {
        void *item = (char *)list.v + i++ * f->items->size;
        unset(f->items, item);
        err = qn_fields_read(f->items->fields, f->items->n, &it, item, arena, e);
    }
    if (!err)
        memcpy(out, &list, sizeof list);
    return err;
}

static qn_err read_enum(const struct qn_field *f, const struct qn_jref *v, void *p,
                        struct qn_error *e)
{
    const char *s;
    qn_err err = qn_json_str(v, &s, e);
    if (err)
        return err;
    for (int i = 1; i < f->enum_count; i++)
        if (qn_str_eq(f->enum_name(i), s)) {
            memcpy(p, &i, sizeof i);
            return QN_OK;
        }
    return qn_json_fail(v, e, "unknown value '%.40s'", s);
}

static qn_err read_hex64(const struct qn_jref *v, uint64_t *out, struct qn_error *e)
{
    const char *s;
    qn_err err = qn_json_str(v, &s, e);
    if (err)
        return err;
    if (strlen(s) != HEX64_DIGITS || strspn(s, "0123456789abcdef") != HEX64_DIGITS)
        return qn_json_fail(v, e, "expected %d hexadecimal digits", HEX64_DIGITS);
    *out = strtoull(s, NULL, 16);
    return QN_OK;
}

static qn_err read_error(const struct qn_jref *v, struct qn_error *out, struct qn_error *e)
{
    const char *code = NULL, *param = "", *message = NULL;
    struct qn_jref member = qn_json_get(v, "code");
    qn_err err = qn_json_str(&member, &code, e);
    member = qn_json_get(v, "param");
    if (!err)
        err = qn_json_str_opt(&member, &param, e);
    member = qn_json_get(v, "message");
    if (!err)
        err = qn_json_str(&member, &message, e);
    if (!err)
        qn_fail_param(out, qn_err_parse(code), param, "%s", message);
    return err;
}

qn_err qn_field_read(const struct qn_field *f, const struct qn_jref *v, void *base,
                     struct qn_arena *arena, struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    void *p = at(f, base);
    switch (f->type) {
    case QN_F_STR:
        return copy_string(v, f->max, p, arena, e);
    case QN_F_I64:
        return qn_json_i64(v, (int64_t)f->min, (int64_t)f->max, p, e);
    case QN_F_F64:
        return qn_json_f64(v, f->min, f->max, p, e);
    case QN_F_HEX64:
        return read_hex64(v, p, e);
    case QN_F_BOOL:
        return qn_json_bool(v, p, e);
    case QN_F_ARRAY:
        return read_text(v, QN_JSON_ARRAY, p, arena, e);
    case QN_F_OBJECT:
        return read_text(v, QN_JSON_OBJECT, p, arena, e);
    case QN_F_STRS:
        return read_strings(f, v, p, arena, e);
    case QN_F_I64S:
        return read_integers(f, v, p, arena, e);
    case QN_F_BIASES:
        return read_biases(f, v, p, arena, e);
    case QN_F_LORAS:
        return read_loras(f, v, p, arena, e);
    case QN_F_LIST:
        return read_list(f, v, p, arena, e);
    case QN_F_ENUM:
        return read_enum(f, v, p, e);
    case QN_F_ERROR:
        return read_error(v, p, e);
    }
    return qn_fail(e, QN_EINTERNAL, "field %s has no type", f->name);
}

qn_err qn_fields_read(const struct qn_field *table, size_t n, const struct qn_jref *object,
                      void *base, struct qn_arena *arena, struct qn_error *e)
{
    if (qn_json_type(object) != QN_JSON_OBJECT)
        return qn_json_fail(object, e, "expected an object, not %s",
                            qn_json_type_name(qn_json_type(object)));
    for (size_t i = 0; i < n; i++) {
        struct qn_jref v = qn_json_get(object, table[i].name);
        qn_err err = qn_field_read(&table[i], &v, base, arena, e);
        if (err)
            return err;
    }
    return QN_OK;
}
