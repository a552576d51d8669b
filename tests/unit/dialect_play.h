/* A request's way through a dialect without a server: a body is parsed, events are played, the
 * bytes come back. Included by tests of dialects, after cmocka. */
#ifndef QN_TESTS_UNIT_DIALECT_PLAY_H
#define QN_TESTS_UNIT_DIALECT_PLAY_H

#include "router/answer.h"
#include "router/dialects/dialect.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct qn_arena *arena;
    struct qn_json *doc;
    struct qn_request rq;
    struct qn_error e;
};

static inline qn_err parse_as(struct fixture *f, const struct qn_dialect *d,
                              enum qn_profile profile, const char *body)
{
    *f = (struct fixture){.arena = qn_arena_new(64 * 1024 * 1024)};
    f->rq.profile = profile;
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
    return parse_as(f, d, QN_PROFILE_LEMONADE, body);
}

static inline void drop(struct fixture *f)
{
    qn_json_free(f->doc);
    qn_arena_free(f->arena);
}

/* Plays events to a dialect and gives what it wrote; the caller frees. */
static inline char *play(struct fixture *f, const struct qn_dialect *d,
                         const struct qn_event *events, size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {
        .rq = &f->rq, .arena = f->arena, .out = &out, .id = "ID", .created_s = 1700000000};
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
    struct qn_reply r = {
        .rq = &f->rq, .arena = f->arena, .out = &out, .id = "ID", .created_s = 1700000000};
    d->begin(&r);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d->event(&r, 0, &events[i], &f->e), QN_OK);
    r.started = n > 0;
    (d->fail)(&r, p); /* cmocka has a macro of this name */
    d->free(r.own);
    return qn_buf_take(&out);
}

#endif
