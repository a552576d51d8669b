/* See body_parse.h. */
#include "http/body_parse.h"

#include "io/body.h"

#include <stdlib.h>

struct qn_body_parse {
    struct qn_body *body;
    const char *text; /* lent by the body */
    size_t n;
    struct qn_json *doc;
    qn_err err;
    struct qn_error error;
    qn_body_parse_fn done; /* NULL: nobody waits any more */
    void *ctx;
};

static void parse(void *ctx)
{
    struct qn_body_parse *p = ctx;
    p->err = qn_json_parse(p->text, p->n, &p->doc, &p->error);
    qn_body_deinit(p->body); /* files and maps may be slow to go, too */
}

static void parsed(void *ctx)
{
    struct qn_body_parse *p = ctx;
    if (p->done)
        p->done(p->ctx, p->err, p->err ? NULL : p->doc, &p->error);
    else if (!p->err)
        qn_json_free(p->doc);
    free(p->body);
    free(p);
}

struct qn_body_parse *qn_body_parse_start(struct qn_loop *l, struct qn_http *h,
                                          qn_body_parse_fn done, void *ctx)
{
    struct qn_body_parse *p = qn_xcalloc(1, sizeof *p);
    p->body = qn_http_body_take(h, &p->text, &p->n);
    p->done = done;
    p->ctx = ctx;
    qn_loop_work(l, parse, parsed, p);
    return p;
}

void qn_body_parse_leave(struct qn_body_parse *p)
{
    if (p)
        p->done = NULL;
}
