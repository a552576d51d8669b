/* See form.h. */
#include "dialects/shared/form.h"

#include "base/str.h"
#include "dialects/shared/keep_alive.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length of a field's name without the brackets that make it a list. */
static size_t bare_length(const char *name, bool *list)
{
    size_t n = strlen(name), k = n;
    *list = false;
    if (n < 3 || name[n - 1] != ']')
        return n;
    for (k = n - 2; k > 0 && name[k] >= '0' && name[k] <= '9';)
        k--;
    *list = k > 0 && name[k] == '[';
    return *list ? k : n;
}

/* Reads the whole part, so it is called once for each part. */
static bool is_file(const struct qn_part *p)
{
    return p->filename || memchr(p->data, '\0', p->len) || !qn_utf8_valid(p->data, p->len);
}

static bool same_field(const struct qn_part *a, const struct qn_part *b)
{
    bool list;
    size_t n = bare_length(a->name, &list), m = bare_length(b->name, &list);
    return n == m && memcmp(a->name, b->name, n) == 0;
}

/* Writes the field of part i and, if it is a list, all other parts of the same name. */
static qn_err write_field(const struct qn_multipart *m, const bool *file, size_t i,
                          struct qn_arena *arena, struct qn_jw *w, struct qn_error *e)
{
    const struct qn_part *p = &m->v[i];
    bool list, other;
    size_t n = bare_length(p->name, &list);
    for (size_t k = 0; k < i; k++) {
        if (file[k] || !same_field(&m->v[k], p))
            continue;
        bare_length(m->v[k].name, &other);
        return list && other ? QN_OK /* it has been written with the first one */
                             : qn_fail_param(e, QN_EINVAL, p->name,
                                             "%s: the form has this field twice", p->name);
    }
    if (!list && !p->len)
        return QN_OK;
    qn_jw_key(w, qn_arena_strndup(arena, p->name, n));
    if (!list) {
        qn_jw_strn(w, p->data, p->len);
        return QN_OK;
    }
    qn_jw_arr(w);
    for (size_t k = i; k < m->n; k++) {
        bare_length(m->v[k].name, &other);
        if (other && !file[k] && same_field(&m->v[k], p))
            qn_jw_strn(w, m->v[k].data, m->v[k].len);
    }
    qn_jw_arr_end(w);
    return QN_OK;
}

/* Parts, and parts with the same name, are few, so pairs of them may be compared. */
static qn_err split(const struct qn_multipart *all, struct qn_arena *arena, struct qn_json **doc,
                    struct qn_multipart *files, struct qn_error *e)
{
    struct qn_buf text;
    qn_err err = QN_OK;
    qn_buf_init(&text, QN_FORM_TEXT_MAX);
    struct qn_jw w = qn_jw_to(&text);
    files->v = qn_arena_alloc(arena, (all->n + 1) * sizeof *files->v);
    files->n = 0;
    bool *file = qn_arena_alloc(arena, (all->n + 1) * sizeof *file);
    for (size_t i = 0; i < all->n; i++)
        if ((file[i] = is_file(&all->v[i])))
            files->v[files->n++] = all->v[i];
    qn_jw_obj(&w);
    for (size_t i = 0; i < all->n && !err; i++)
        if (!file[i])
            err = write_field(all, file, i, arena, &w, e);
    qn_jw_obj_end(&w);
    if (!err && text.overflow)
        err = qn_fail(e, QN_EINVAL, "the form's text fields have more than %d bytes",
                      QN_FORM_TEXT_MAX);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, doc, e);
    qn_buf_deinit(&text);
    return err;
}

qn_err qn_form_read(const char *content_type, const char *body, size_t n, struct qn_arena *arena,
                    struct qn_json **doc, struct qn_multipart *files, struct qn_error *e)
{
    char boundary[QN_MULTIPART_BOUNDARY_MAX + 1];
    struct qn_multipart all;
    struct qn_error why = {0};
    qn_err err = qn_multipart_boundary(content_type, boundary, &why);
    if (!err)
        err = qn_multipart_parse(body, n, boundary, arena, &all, &why);
    if (err)
        return qn_fail(e, err == QN_EUNSUPPORTED ? err : QN_EINVAL,
                       "The request must be multipart/form-data: %s", why.message);
    return split(&all, arena, doc, files, e);
}

size_t qn_form_files(const struct qn_request *rq, const char *name, const struct qn_part **out,
                     size_t max)
{
    size_t found = 0, n = strlen(name);
    bool list;
    for (size_t i = 0; rq->files && i < rq->files->n; i++) {
        const struct qn_part *p = &rq->files->v[i];
        if (bare_length(p->name, &list) != n || memcmp(p->name, name, n) != 0)
            continue;
        if (found < max)
            out[found] = p;
        found++;
    }
    return found;
}

/* Whether v is to be read as a text. */
static bool as_text(const struct qn_request *rq, const struct qn_jref *v)
{
    return rq->files && qn_json_type(v) == QN_JSON_STRING;
}

qn_err qn_form_i64(const struct qn_request *rq, const struct qn_jref *v, int64_t min, int64_t max,
                   int64_t *out, struct qn_error *e)
{
    int64_t n;
    if (!as_text(rq, v))
        return qn_json_i64_opt(v, min, max, out, e);
    if (!qn_parse_i64(qn_json_raw_str(v), &n) || n < min || n > max)
        return qn_json_fail(v, e, "expected a whole number from %lld to %lld", (long long)min,
                            (long long)max);
    *out = n;
    return QN_OK;
}

qn_err qn_form_f64(const struct qn_request *rq, const struct qn_jref *v, double min, double max,
                   double *out, struct qn_error *e)
{
    double n;
    if (!as_text(rq, v))
        return qn_json_f64_opt(v, min, max, out, e);
    if (!qn_parse_f64(qn_json_raw_str(v), &n) || n < min || n > max)
        return qn_json_fail(v, e, "expected a number from %g to %g", min, max);
    *out = n;
    return QN_OK;
}

qn_err qn_form_bool(const struct qn_request *rq, const struct qn_jref *v, bool *out,
                    struct qn_error *e)
{
    if (!as_text(rq, v))
        return qn_json_bool_opt(v, out, e);
    const char *text = qn_json_raw_str(v);
    bool yes = qn_str_ieq(text, "true") || qn_str_eq(text, "1");
    if (!yes && !qn_str_ieq(text, "false") && !qn_str_eq(text, "0"))
        return qn_json_fail(v, e, "expected true or false");
    *out = yes;
    return QN_OK;
}

qn_err qn_form_text(const struct qn_jref *v, size_t chars_max, const char **out, struct qn_error *e)
{
    const char *text = NULL;
    size_t chars = 0;
    qn_err err = qn_json_str_opt(v, &text, e);
    if (err || !text)
        return err;
    for (const char *p = text; *p; p++)
        chars += ((unsigned char)*p & 0xC0) != 0x80; /* not a continuation byte of UTF-8 */
    if (chars > chars_max)
        return qn_json_fail(v, e, "has %zu characters, at most %zu are allowed", chars, chars_max);
    *out = text;
    return QN_OK;
}

qn_err qn_form_missing(const char *name, struct qn_error *e)
{
    return qn_fail_param(e, QN_EINVAL, name, "Missing '%s' field in request", name);
}

qn_err qn_form_job(struct qn_request *rq, enum qn_task task, struct qn_job **job,
                   struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v = qn_json_get(&root, "model");
    *job = qn_arena_alloc(rq->arena, sizeof **job);
    qn_job_init(*job);
    (*job)->task = task;
    rq->jobs = *job;
    rq->n_jobs = 1;
    qn_err err = qn_json_str_opt(&v, &rq->model, e);
    if (!err && (!rq->model || !*rq->model))
        err = qn_form_missing("model", e);
    return err ? err : qn_keep_alive_of(&root, &rq->keep_alive_ms, e);
}
