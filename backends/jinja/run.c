/* See run.h. */
#include "jinja/run.h"

#include "jinja/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    BYTES_COPIED_PER_STEP = 64,
    BYTES_WALKED_PER_STEP = 4,
};

static enum qn_tflow fail_with(struct qn_trun *run, qn_err code, const char *fmt, va_list ap)
{
    char text[512];
    vsnprintf(text, sizeof text, fmt, ap);
    run->code = qn_fail(run->e, code, "chat template, line %u: %s", run->at, text);
    return QN_T_FAIL;
}

enum qn_tflow qn_trun_fail(struct qn_trun *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_with(run, QN_EFORMAT, fmt, ap);
    va_end(ap);
    return QN_T_FAIL;
}

enum qn_tflow qn_trun_limit(struct qn_trun *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_with(run, QN_ELIMIT, fmt, ap);
    va_end(ap);
    return QN_T_FAIL;
}

enum qn_tflow qn_trun_undefined(struct qn_trun *run, const struct qn_tval *v)
{
    int n = v->n > 200 ? 200 : (int)v->n;
    struct qn_tval object = {.type = v->of};
    switch (v->kind) {
    case QN_T_NO_NAME:
        return qn_trun_fail(run, "'%.*s' is undefined", n, v->s);
    case QN_T_NO_ATTRIBUTE:
        return qn_trun_fail(run, "'%s object' has no attribute '%.*s'", qn_tval_class(&object), n,
                            v->s);
    case QN_T_NO_ELEMENT:
        return qn_trun_fail(run, "%s object has no element %.*s", qn_tval_class(&object), n, v->s);
    case QN_T_UNSAFE:
        return qn_trun_fail(run, "access to attribute '%.*s' of '%s' object is unsafe", n, v->s,
                            qn_tval_class(&object));
    default:
        return qn_trun_fail(run, "%.*s", n, v->s);
    }
}

enum qn_tflow qn_trun_charge(struct qn_trun *run, size_t n)
{
    if (n > run->steps) {
        run->steps = 0;
        return qn_trun_limit(run, "more than %d steps", QN_TEMPLATE_STEPS_MAX);
    }
    run->steps -= n;
    return QN_T_OK;
}

enum qn_tflow qn_trun_copied(struct qn_trun *run, size_t n)
{
    return qn_trun_charge(run, n / BYTES_COPIED_PER_STEP);
}

enum qn_tflow qn_trun_walked(struct qn_trun *run, size_t n)
{
    return qn_trun_charge(run, n / BYTES_WALKED_PER_STEP);
}

enum qn_tflow qn_trun_alloc(struct qn_trun *run, size_t n, void *out)
{
    void *p = qn_arena_try(run->arena, n ? n : 1);
    if (!p)
        return qn_trun_limit(run, "more than %d bytes of memory", QN_TEMPLATE_MEMORY_MAX);
    *(void **)out = p;
    return qn_trun_copied(run, n);
}

enum qn_tflow qn_trun_put(struct qn_trun *run, const char *s, size_t n)
{
    if (n > 0 && qn_buf_add(&run->out, s, n))
        return qn_trun_limit(run, "more than %d bytes of text", QN_TEMPLATE_OUTPUT_MAX);
    return qn_trun_copied(run, n);
}

enum qn_tflow qn_trun_puts(struct qn_trun *run, const char *s)
{
    return qn_trun_put(run, s, strlen(s));
}

enum qn_tflow qn_trun_putv(struct qn_trun *run, const struct qn_tval *string)
{
    return qn_trun_put(run, string->s, string->n);
}

enum qn_tflow qn_trun_fill(struct qn_trun *run, const char *s, size_t n, size_t count)
{
    if (n > 0 && count > QN_TEMPLATE_OUTPUT_MAX / n)
        return qn_trun_limit(run, "more than %d bytes of text", QN_TEMPLATE_OUTPUT_MAX);
    QN_T_TRY(qn_trun_charge(run, count / 2));
    for (size_t i = 0; i < count; i++)
        QN_T_TRY(qn_trun_put(run, s, n));
    return QN_T_OK;
}

enum qn_tflow qn_trun_copy(struct qn_trun *run, const char *s, size_t n, struct qn_tval *out)
{
    char *p = NULL;
    QN_T_TRY(qn_trun_charge(run, 2));
    QN_T_TRY(qn_trun_alloc(run, n, &p));
    if (n > 0)
        memcpy(p, s, n);
    *out = qn_tval_string(p, n);
    return QN_T_OK;
}

enum qn_tflow qn_trun_take(struct qn_trun *run, size_t mark, struct qn_tval *out)
{
    size_t n = run->out.len - mark;
    QN_T_TRY(qn_trun_copy(run, qn_buf_cstr(&run->out) + mark, n, out));
    run->out.len = mark;
    return QN_T_OK;
}

enum qn_tflow qn_trun_fmt(struct qn_trun *run, struct qn_tval *out, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return qn_trun_copy(run, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1, out);
}

static bool same_name(const char *name, size_t n, const struct qn_tval *key)
{
    return key->type == QN_T_STRING && key->n == n && memcmp(key->s, name, n) == 0;
}

/* Stores each named argument in its parameter's position. */
static enum qn_tflow place_named(struct qn_trun *run, const struct qn_tmember *member,
                                 const char *names, struct qn_tval *out)
{
    size_t i = 0;
    for (const char *at = names; *at; i++) {
        size_t n = strcspn(at, " ");
        if (*at != '/' && same_name(at, n, &member->key)) {
            if (out[i].type != QN_T_MISSING)
                return qn_trun_fail(run, "got multiple values for argument '%.*s'", (int)n, at);
            out[i] = member->val;
            return QN_T_OK;
        }
        at += n + (at[n] == ' ');
    }
    int shown = member->key.n > 100 ? 100 : (int)member->key.n;
    return qn_trun_fail(run, "got an unexpected keyword argument '%.*s'", shown, member->key.s);
}

enum qn_tflow qn_trun_args(struct qn_trun *run, const struct qn_targs *args, const char *names,
                           size_t required, struct qn_tval *out)
{
    size_t count = *names != '\0';
    for (const char *at = names; *at; at++)
        count += *at == ' ';
    if (args->n > count)
        return qn_trun_fail(run, "takes at most %zu arguments (%zu given)", count, args->n);
    for (size_t i = 0; i < count; i++)
        out[i] = i < args->n ? args->v[i] : qn_tval_of(QN_T_MISSING);
    for (size_t i = 0; args->named && i < args->named->n; i++)
        QN_T_TRY(place_named(run, &args->named->members[i], names, out));
    for (size_t i = 0; i < required; i++)
        if (out[i].type == QN_T_MISSING)
            return qn_trun_fail(run, "a required argument is missing (of: %s)", names);
    return QN_T_OK;
}
