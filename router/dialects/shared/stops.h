/* Stop strings, as every API but for small habits writes them. */
#ifndef QN_DIALECTS_SHARED_STOPS_H
#define QN_DIALECTS_SHARED_STOPS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

enum {
    QN_STOPS_ONE = 1,   /* one string may stand for a list; "" is no stop string */
    QN_STOPS_EMPTY = 2, /* empty strings in a list mean nothing; else they are refused */
};

/* Reads v, which may be absent or null (nothing happens). habits: QN_STOPS_. The strings are copied
 * into arena. */
qn_err qn_stops_read(const struct qn_jref *v, unsigned habits, struct qn_arena *arena,
                     struct qn_strings *out, struct qn_error *e);

#endif
