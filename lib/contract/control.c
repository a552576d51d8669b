/* The field tables of control messages, see control.h. */
#include "contract/control.h"

#include "base/str.h"
#include "contract/fields.h"

#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define INTEGER_MAX 9007199254740991.0

enum { NAME_MAX_BYTES = 512, LEVEL_MAX_BYTES = 16 };

#define F(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_control, name), __VA_ARGS__                                \
    }
#define THREADS F(threads, QN_F_I64, .min = 1, .max = 1024)
#define CONTEXT F(context, QN_F_I64, .min = 0, .max = INT32_MAX)

static const struct qn_field load_fields[] = {
    F(secret, QN_F_STR, .max = QN_SECRET_HEX),
    F(name, QN_F_STR, .max = NAME_MAX_BYTES),
    F(files, QN_F_STRS, .max = QN_CONTROL_FILES_MAX),
    THREADS,
    CONTEXT,
    F(options, QN_F_OBJECT, .min = 0),
    F(log_level, QN_F_STR, .max = LEVEL_MAX_BYTES),
};
static const struct qn_field ping_fields[] = {F(seq, QN_F_I64, .min = 0, .max = INTEGER_MAX)};
static const struct qn_field threads_fields[] = {THREADS};
static const struct qn_field stop_fields[] = {F(grace_ms, QN_F_I64, .min = 0, .max = INT32_MAX)};
static const struct qn_field end_reasoning_fields[] = {F(job, QN_F_STR, .max = QN_JOB_ID_MAX)};
static const struct qn_field loading_fields[] = {F(progress, QN_F_F64, .min = 0, .max = 1)};
static const struct qn_field ready_fields[] = {
    CONTEXT,
    F(memory_bytes, QN_F_I64, .min = 0, .max = INTEGER_MAX),
    F(gpu_bytes, QN_F_I64, .min = 0, .max = INTEGER_MAX),
    F(slots, QN_F_I64, .min = 1, .max = 65536),
    THREADS,
    F(upstream, QN_F_STR, .max = QN_CONTROL_UPSTREAM_MAX),
    F(upstream_key, QN_F_STR, .max = QN_SECRET_HEX),
    F(ends_reasoning, QN_F_BOOL, .min = 0),
};
static const struct qn_field warning_fields[] = {
    F(template_warning, QN_F_STR, .max = QN_ERROR_MESSAGE_MAX),
};
static const struct qn_field failed_fields[] = {F(error, QN_F_ERROR, .min = 0)};
static const struct qn_field pong_fields[] = {
    F(seq, QN_F_I64, .min = 0, .max = INTEGER_MAX),
    F(jobs, QN_F_I64, .min = 0, .max = INTEGER_MAX),
    F(step_age_ms, QN_F_I64, .min = 0, .max = INTEGER_MAX),
};

#define ROW(name, table)                                                                           \
    {                                                                                              \
        name, table, COUNT(table)                                                                  \
    }
static const struct {
    const char *name;
    const struct qn_field *fields;
    size_t n;
} kinds[QN_CTL_COUNT] = {
    [QN_CTL_NONE] = {"none", NULL, 0},
    [QN_CTL_LOAD] = ROW("load", load_fields),
    [QN_CTL_PING] = ROW("ping", ping_fields),
    [QN_CTL_THREADS] = ROW("threads", threads_fields),
    [QN_CTL_STOP] = ROW("stop", stop_fields),
    [QN_CTL_LOADING] = ROW("loading", loading_fields),
    [QN_CTL_READY] = ROW("ready", ready_fields),
    [QN_CTL_FAILED] = ROW("failed", failed_fields),
    [QN_CTL_PONG] = ROW("pong", pong_fields),
    [QN_CTL_WARNING] = ROW("warning", warning_fields),
    [QN_CTL_END_REASONING] = ROW("end_reasoning", end_reasoning_fields),
};

void qn_control_init(struct qn_control *c, enum qn_control_kind kind)
{
    *c = (struct qn_control){.kind = kind, .options = "{}", .threads = 1, .slots = 1};
}

qn_err qn_control_encode(const struct qn_control *c, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "msg", kinds[c->kind].name);
    qn_fields_write(kinds[c->kind].fields, kinds[c->kind].n, c, &w);
    qn_jw_obj_end(&w);
    qn_buf_char(out, '\n');
    return out->overflow ? QN_ELIMIT : QN_OK;
}

qn_err qn_control_decode(const struct qn_jref *object, struct qn_control *c, struct qn_arena *arena,
                         struct qn_error *e)
{
    struct qn_jref v = qn_json_get(object, "msg");
    const char *name;
    qn_err err = qn_json_str(&v, &name, e);
    if (err)
        return err;
    qn_control_init(c, QN_CTL_NONE);
    for (int k = QN_CTL_NONE + 1; k < QN_CTL_COUNT; k++)
        if (qn_str_eq(kinds[k].name, name))
            c->kind = (enum qn_control_kind)k;
    if (c->kind == QN_CTL_NONE)
        return qn_json_fail(&v, e, "unknown message '%.40s'", name);
    err = qn_fields_read(kinds[c->kind].fields, kinds[c->kind].n, object, c, arena, e);
    if (!err && c->kind == QN_CTL_LOAD && (!c->secret || !c->name || c->files.n == 0))
        err = qn_fail(e, QN_EINVAL, "a load message needs secret, name and files");
    if (!err && c->kind == QN_CTL_END_REASONING && !c->job)
        err = qn_fail(e, QN_EINVAL, "an end_reasoning message without a job");
    if (!err && c->kind == QN_CTL_FAILED && c->error.code == QN_OK)
        err = qn_fail(e, QN_EINVAL, "a failed message without an error");
    if (!err && c->kind == QN_CTL_WARNING && !c->template_warning)
        err = qn_fail(e, QN_EINVAL, "a warning message without a warning");
    return err;
}
