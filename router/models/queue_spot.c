/* See queue_spot.h. */
#include "models/queue_spot.h"

static const double NEWEST = 0.2; /* weight of the newest duration */

void qn_mean_add(struct qn_mean *m, double x)
{
    m->value = m->any ? m->value + NEWEST * (x - m->value) : x;
    m->any = true;
}

/* The position of a request with this number of requests ahead of it. */
static int64_t position(size_t ahead, int64_t room)
{
    int64_t must_end = (int64_t)ahead - room + 1;
    return must_end > 0 ? must_end + 1 : 1;
}

struct qn_queue_spot qn_queue_spot(const struct qn_queue_facts *f)
{
    int64_t room = f->used < f->capacity ? f->capacity - f->used : 0;
    double each = f->answer_ms / (double)f->capacity;
    double loading =
        f->loaded || f->load_ms < (double)f->loading_ms ? 0 : f->load_ms - (double)f->loading_ms;
    double before = loading + f->others_ms;
    struct qn_queue_spot s = {
        .position = position(f->ahead, room),
        .depth = position(f->waiting - 1, room),
        .clear_ms = before + each > 1 ? (int64_t)(before + each) : 1,
    };
    s.wait_ms = (int64_t)(before + (double)(s.position - 1) * each);
    return s;
}
