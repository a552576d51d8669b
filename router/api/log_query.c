/* See log_query.h. */
#include "api/log_query.h"

#include "base/str.h"
#include "models/inventory.h"

#include <stdlib.h>

static qn_err read_number(const char *name, const char *text, int64_t max, int64_t *out,
                          struct qn_error *e)
{
    int64_t v;
    if (!text)
        return QN_OK;
    if (!qn_parse_i64(text, &v) || v < 0 || v > max)
        return qn_fail_param(e, QN_EINVAL, name, "%s: expected a whole number from 0 to %lld", name,
                             (long long)max);
    *out = v;
    return QN_OK;
}

qn_err qn_log_wish_read(const char *(*get)(void *ctx, const char *name), void *ctx,
                        struct qn_log_wish *wish, struct qn_error *e)
{
    const char *after = get(ctx, "after_seq");
    const char *name = after ? "after_seq" : "after";
    if (!after)
        after = get(ctx, name);
    wish->model = get(ctx, "model");
    wish->level = get(ctx, "level");
    wish->log_id = get(ctx, "log_id");
    qn_err err = read_number(name, after, INT64_MAX - 1, &wish->after, e);
    return err ? err : read_number("lines", get(ctx, "lines"), INT32_MAX, &wish->lines, e);
}

/* Accepts the log's own level names and those of Lemonade's clients. */
static bool read_level(const char *text, enum qn_log_level *out)
{
    static const struct {
        const char *word;
        enum qn_log_level level;
    } words[] = {
        {"fatal", QN_LOG_FATAL}, {"critical", QN_LOG_FATAL}, {"error", QN_LOG_ERROR},
        {"warn", QN_LOG_WARN},   {"warning", QN_LOG_WARN},   {"info", QN_LOG_INFO},
        {"debug", QN_LOG_DEBUG}, {"trace", QN_LOG_TRACE},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (qn_str_ieq(text, words[i].word)) {
            *out = words[i].level;
            return true;
        }
    return false;
}

qn_err qn_log_query_init(const struct qn_watch_api *api, const struct qn_caller *caller,
                         const struct qn_log_wish *wish, struct qn_log_query *q, struct qn_error *e)
{
    *q = (struct qn_log_query){.filter = {.most = QN_LOG_TRACE}};
    if (!caller->admin)
        q->filter.owner = caller->owner;
    if (wish->level && !read_level(wish->level, &q->filter.most))
        return qn_fail_param(e, QN_EINVAL, "level",
                             "level: expected " QN_LOG_LEVELS ", not '%.40s'", wish->level);
    if (wish->model) {
        struct qn_snapshot *snap;
        const struct qn_model_row *row;
        qn_err err = qn_inventory_find(api->models->inventory, wish->model, &snap, &row, e);
        if (err)
            return err;
        /* The process has the name of the model that computes; requests are logged with the name
         * that clients sent. */
        q->names[0] = qn_xstrdup(qn_inventory_computes(snap, row)->name);
        q->names[1] = qn_xstrdup(wish->model);
        q->filter.models[0] = q->names[0];
        q->filter.models[1] = q->names[1];
        qn_snapshot_unref(snap);
    }
    struct qn_logs_range kept = qn_logs_range(api->telemetry->logs);
    bool ours = wish->log_id ? qn_str_eq(wish->log_id, qn_logs_id(api->telemetry->logs))
                             : wish->after <= kept.last;
    int64_t after = ours ? wish->after : 0;
    q->next = after + 1;
    if (q->next < kept.first) {
        q->lost = after > 0 ? kept.first - q->next : 0;
        q->next = kept.first;
    }
    if (wish->lines >= 0)
        q->next = qn_logs_newest(api->telemetry->logs, q->next, wish->lines, &q->filter);
    return QN_OK;
}

void qn_log_query_deinit(struct qn_log_query *q)
{
    free(q->names[0]);
    free(q->names[1]);
    *q = (struct qn_log_query){0};
}
