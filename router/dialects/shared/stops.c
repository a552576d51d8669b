/* See stops.h. */
#include "dialects/shared/stops.h"

#include <string.h>

qn_err qn_stops_read(const struct qn_jref *v, unsigned habits, struct qn_arena *arena,
                     struct qn_strings *out, struct qn_error *e)
{
    bool one = qn_json_type(v) == QN_JSON_STRING && (habits & QN_STOPS_ONE);
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (!one && qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e,
                            habits & QN_STOPS_ONE ? "expected a string or an array of strings"
                                                  : "expected an array of strings");
    size_t n = one ? 1 : qn_json_count(v);
    if (n > QN_JOB_STOPS_MAX)
        return qn_json_fail(v, e, "at most %d stop strings are allowed, not %zu", QN_JOB_STOPS_MAX,
                            n);
    out->v = qn_arena_alloc(arena, (n + 1) * sizeof *out->v);
    out->n = 0;
    struct qn_jref item = *v;
    for (bool more = one || qn_json_first(v, &item); more; more = !one && qn_json_next(&item)) {
        const char *text;
        qn_err err = qn_json_str(&item, &text, e);
        if (err)
            return err;
        if (strlen(text) > QN_JOB_STOP_BYTES_MAX)
            return qn_json_fail(&item, e, "a stop string has at most %d bytes",
                                QN_JOB_STOP_BYTES_MAX);
        if (!*text && !one && !(habits & QN_STOPS_EMPTY))
            return qn_json_fail(&item, e, "a stop string must not be empty");
        if (*text)
            out->v[out->n++] = qn_arena_strdup(arena, text);
    }
    return QN_OK;
}
