/* What a parser makes of an answer, as one line: T<text> R<reasoning> C<name>#<id>(<arguments>),
 * neighbours of one kind joined. For the tests of calls.h. */
#ifndef TESTS_CALLS_RUN_H
#define TESTS_CALLS_RUN_H

#include "base/buf.h"
#include "llm/toolcall/calls.h"

#include <string.h>

struct calls_seen {
    struct qn_buf log;
    char kind;    /* of the last piece */
    int64_t call; /* the last one */
    int calls;    /* first pieces */
    bool wrong;   /* the order of the pieces was not as calls.h says */
};

static void calls_close(struct calls_seen *s, char next)
{
    if (s->kind && s->kind != next)
        qn_buf_str(&s->log, s->kind == 'C' ? ")" : ">");
    if (s->kind != next && next && next != 'C')
        qn_buf_fmt(&s->log, "%c<", next);
    s->kind = next;
}

static void calls_text(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at)
{
    struct calls_seen *s = ctx;
    (void)at;
    s->wrong |= n == 0;
    calls_close(s, reasoning ? 'R' : 'T');
    qn_buf_add(&s->log, bytes, n);
}

static void calls_call(void *ctx, int64_t call, const char *id, const char *name,
                       const char *arguments)
{
    struct calls_seen *s = ctx;
    if (name) {
        calls_close(s, 0);
        s->kind = 'C';
        s->wrong |= call != s->calls++;
        qn_buf_fmt(&s->log, "C%s", name);
        if (id)
            qn_buf_fmt(&s->log, "#%s", id);
        qn_buf_char(&s->log, '(');
    } else {
        s->wrong |= s->kind != 'C' || call != s->call || id;
    }
    s->call = call;
    qn_buf_str(&s->log, arguments);
}

/* The answer in three pieces, cut at a <= b. The log is the caller's. */
static struct calls_seen calls_run(const struct qn_parse_config *c, const char *text, size_t n,
                                   size_t a, size_t b)
{
    struct calls_seen s = {0};
    qn_buf_init(&s.log, 64 * 1024 * 1024);
    struct qn_parse *p = qn_parse_new(c, &(struct qn_parse_sink){&s, calls_text, calls_call});
    qn_parse_feed(p, text, a);
    qn_parse_feed(p, text + a, b - a);
    qn_parse_feed(p, text + b, n - b);
    qn_parse_end(p);
    s.wrong |= qn_parse_calls(p) != s.calls;
    qn_parse_free(p);
    calls_close(&s, 0);
    qn_buf_cstr(&s.log);
    return s;
}

#endif
