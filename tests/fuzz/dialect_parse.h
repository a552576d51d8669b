/* What a dialect's parse accepts must encode as jobs for a child, and decode there: one body for
 * the fuzz targets of all dialects. */
#ifndef QN_TESTS_FUZZ_DIALECT_PARSE_H
#define QN_TESTS_FUZZ_DIALECT_PARSE_H

#include "contract/codec.h"
#include "dialects/dialect.h"

#include <stdint.h>
#include <stdlib.h>

/* Parses n bytes as a request's body; aborts when an accepted request's jobs do not cross. */
static inline int fuzz_dialect_parse(const struct qn_dialect *dialect, const uint8_t *data,
                                     size_t n)
{
    struct qn_json *doc, *again;
    struct qn_error e = {0};
    if (qn_json_parse((const char *)data, n, &doc, &e))
        return 0;
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    struct qn_request rq = {.doc = doc, .arena = arena, .profile = qn_profile_main()};
    if (dialect->parse(&rq, &e) == QN_OK) {
        if (rq.n_jobs > QN_REQUEST_JOBS_MAX) /* none: the model is to be loaded */
            abort();
        for (size_t i = 0; i < rq.n_jobs; i++) {
            struct qn_buf wire;
            struct qn_job job;
            qn_buf_init(&wire, 64 * 1024 * 1024);
            if (qn_job_encode(&rq.jobs[i], &wire) || qn_json_parse(wire.data, wire.len, &again, &e))
                abort();
            struct qn_jref root = qn_json_root(again);
            if (qn_job_decode(&root, &job, arena, &e))
                abort();
            qn_json_free(again);
            qn_buf_deinit(&wire);
        }
    }
    qn_arena_free(arena);
    qn_json_free(doc);
    return 0;
}

#endif
