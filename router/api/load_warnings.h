/* What a load's reply warns of: options that the request or the model's settings name and that did
 * not have their effect. The load has succeeded all the same. Loop thread only. */
#ifndef QN_API_LOAD_WARNINGS_H
#define QN_API_LOAD_WARNINGS_H

#include "base/arena.h"
#include "base/json.h"
#include "io/http_server.h"
#include "models/inventory.h"

#include <stddef.h>

enum { QN_LOAD_WARNINGS_MAX = 4 };

/* Sentences; the strings are the arena's that they were made in. Begins as zero. */
struct qn_load_warnings {
    const char *v[QN_LOAD_WARNINGS_MAX];
    size_t n;
};

/* Options of the request that have no effect in quince (see qn_load_option_idle). body: the
 * request. */
void qn_load_warn_of_idle(struct qn_load_warnings *w, const struct qn_jref *body,
                          struct qn_arena *arena);

/* The model that now runs was to have another engine, or arguments for one, and quince's own engine
 * computes it. */
void qn_load_warn_of_engine(struct qn_load_warnings *w, const struct qn_loaded *loaded,
                            struct qn_arena *arena);

/* The member "warnings", and the headers X-Quince-Warning and X-Lemonade-Warning; nothing when
 * there is none. */
void qn_load_warnings_write(const struct qn_load_warnings *w, struct qn_http *h,
                            struct qn_jw *reply);

#endif
