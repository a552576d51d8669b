/* A request's way through a dialect without a server: a body is parsed, events are played, the
 * bytes come back. Included by tests of dialects, after cmocka. */
#ifndef QN_TESTS_UNIT_DIALECT_PLAY_H
#define QN_TESTS_UNIT_DIALECT_PLAY_H

#include "answers/answer.h"
#include "dialects/dialect.h"

#include <stdlib.h>
#include <string.h>

/* Events of a golden stream. */
#define TEXT(s)                                                                                    \
    {                                                                                              \
        .kind = QN_EV_TEXT, .text = s                                                              \
    }
#define THINK(s)                                                                                   \
    {                                                                                              \
        .kind = QN_EV_REASONING, .text = s                                                         \
    }
#define CALL(i, n, a)                                                                              \
    {                                                                                              \
        .kind = QN_EV_TOOL_CALL, .call = i, .name = n, .arguments = a                              \
    }
#define DONE(f)                                                                                    \
    {                                                                                              \
        .kind = QN_EV_DONE, .finish = f                                                            \
    }

struct fixture {
    struct qn_arena *arena;
    struct qn_json *doc;
    struct qn_request rq;
    struct qn_error e;
};

static inline qn_err parse_as(struct fixture *f, const struct qn_dialect *d, const char *profile,
                              const char *body)
{
    *f = (struct fixture){.arena = qn_arena_new(64 * 1024 * 1024)};
    f->rq.profile = qn_profile_find(profile);
    f->rq.context = f->rq.keep_alive_ms = QN_UNSET;
    qn_err err = qn_json_parse(body, strlen(body), &f->doc, &f->e);
    if (err)
        return err;
    f->rq.doc = f->doc;
    f->rq.arena = f->arena;
    return d->parse(&f->rq, &f->e);
}

static inline qn_err parse(struct fixture *f, const struct qn_dialect *d, const char *body)
{
    return parse_as(f, d, QN_PROFILE_MAIN_NAME, body);
}

static inline void drop(struct fixture *f)
{
    qn_json_free(f->doc);
    qn_arena_free(f->arena);
}

/* The body is refused, with 400, and the words name the member at fault. */
static inline void complains(const struct qn_dialect *d, const char *body, const char *param)
{
    struct fixture f;
    qn_err err = parse(&f, d, body);
    struct qn_problem p = {.error = &f.e};
    if (err == QN_OK || strcmp(f.e.param, param) != 0 || qn_problem_status(&p) != 400)
        fail_msg("%s: error %d param '%s' message '%s'", body, err, f.e.param, f.e.message);
    if (!strstr(f.e.message, param))
        fail_msg("%s: the message does not say where: '%s'", body, f.e.message);
    drop(&f);
}

/* Plays events to a dialect and gives what it wrote; the caller frees. */
static inline char *play(struct fixture *f, const struct qn_dialect *d,
                         const struct qn_event *events, size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {.rq = &f->rq,
                         .arena = f->arena,
                         .out = &out,
                         .id = "ID",
                         .answer_id = "ID",
                         .created_s = 1700000000};
    d->begin(&r);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d->event(&r, 0, &events[i], &f->e), QN_OK);
    d->end(&r);
    d->free(r.own);
    return qn_buf_take(&out);
}

/* The same ended by an error: before the first byte when started is false. */
static inline char *play_failure(struct fixture *f, const struct qn_dialect *d,
                                 const struct qn_event *events, size_t n,
                                 const struct qn_problem *p)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {.rq = &f->rq,
                         .arena = f->arena,
                         .out = &out,
                         .id = "ID",
                         .answer_id = "ID",
                         .created_s = 1700000000};
    d->begin(&r);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d->event(&r, 0, &events[i], &f->e), QN_OK);
    r.started = n > 0;
    (d->fail)(&r, p); /* cmocka has a macro of this name */
    d->free(r.own);
    return qn_buf_take(&out);
}

#endif
