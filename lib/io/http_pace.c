/* See http_pace.h. */
#include "io/http_pace.h"

void qn_pace_begin(struct qn_pace *p, const struct qn_pace_rule *rule, int64_t now_ms)
{
    *p = (struct qn_pace){
        .rule = rule, .began_ms = now_ms, .moved_ms = now_ms, .progress_ms = now_ms};
}

void qn_pace_move(struct qn_pace *p, uint64_t bytes, int64_t now_ms)
{
    uint64_t before = p->bytes / QN_PACE_PROGRESS_BYTES;
    if (bytes == 0)
        return;
    p->bytes += bytes;
    p->moved_ms = now_ms;
    if (p->bytes / QN_PACE_PROGRESS_BYTES != before)
        p->progress_ms = now_ms;
}

void qn_pace_pardon(struct qn_pace *p, int64_t ms)
{
    p->began_ms += ms;
    p->moved_ms += ms;
    p->progress_ms += ms;
}

bool qn_pace_is_late(const struct qn_pace *p, int64_t now_ms)
{
    const struct qn_pace_rule *r = p->rule;
    if (!r)
        return false;
    int64_t took_ms = now_ms - p->began_ms;
    if (r->stall_ms && now_ms - p->moved_ms >= r->stall_ms)
        return true;
    if (r->total_ms && took_ms >= r->total_ms)
        return true;
    int64_t earned_ms = (int64_t)(p->bytes / QN_PACE_BYTES_PER_S) * 1000;
    return r->grace_ms && took_ms >= r->grace_ms + earned_ms;
}
