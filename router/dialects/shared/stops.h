/* Stop strings, which all APIs write nearly alike. */
#ifndef QN_DIALECTS_SHARED_STOPS_H
#define QN_DIALECTS_SHARED_STOPS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

enum {
    QN_STOPS_ONE = 1,   /* a single string may replace the list; "" is not a stop string */
    QN_STOPS_EMPTY = 2, /* empty strings in a list are ignored; otherwise they are refused */
};

/* Reads v; absent or null leaves *out unchanged. habits: a set of QN_STOPS_... bits. The strings
 * are copied into arena. */
qn_err qn_stops_read(const struct qn_jref *v, unsigned habits, struct qn_arena *arena,
                     struct qn_strings *out, struct qn_error *e);

#endif
