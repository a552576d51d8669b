/* See fair_queue.h. */
#include "router/fair_queue.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct qn_fair_client {
    struct qn_fair_client *before, *next; /* in the line */
    struct qn_fair_item *first, *last;    /* never empty */
    size_t n;
    char name[];
};

static void line_append(struct qn_fair_queue *q, struct qn_fair_client *c)
{
    c->before = q->last;
    c->next = NULL;
    if (q->last)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
}

static void line_unlink(struct qn_fair_queue *q, struct qn_fair_client *c)
{
    if (c->before)
        c->before->next = c->next;
    else
        q->first = c->next;
    if (c->next)
        c->next->before = c->before;
    else
        q->last = c->before;
}

static struct qn_fair_client *client_get(struct qn_fair_queue *q, const char *name)
{
    struct qn_fair_client *c = q->first;
    while (c && strcmp(c->name, name) != 0)
        c = c->next;
    if (c)
        return c;
    size_t size = strlen(name) + 1;
    c = qn_xcalloc(1, sizeof *c + size);
    memcpy(c->name, name, size);
    line_append(q, c);
    return c;
}

void qn_fair_add(struct qn_fair_queue *q, struct qn_fair_item *x, uint64_t ticket,
                 const char *client)
{
    struct qn_fair_client *c = client_get(q, client);
    *x =
        (struct qn_fair_item){.client = c, .before = c->last, .older = q->newest, .ticket = ticket};
    if (c->last)
        c->last->next = x;
    else
        c->first = x;
    c->last = x;
    if (q->newest)
        q->newest->newer = x;
    else
        q->oldest = x;
    q->newest = x;
    c->n++;
    q->n++;
}

struct qn_fair_item *qn_fair_next(const struct qn_fair_queue *q, uint64_t below)
{
    for (const struct qn_fair_client *c = q->first; c; c = c->next)
        if (c->first->ticket < below)
            return c->first;
    return NULL;
}

void qn_fair_leave(struct qn_fair_queue *q, struct qn_fair_item *x)
{
    struct qn_fair_client *c = x->client;
    if (x->before)
        x->before->next = x->next;
    else
        c->first = x->next;
    if (x->next)
        x->next->before = x->before;
    else
        c->last = x->before;
    if (x->older)
        x->older->newer = x->newer;
    else
        q->oldest = x->newer;
    if (x->newer)
        x->newer->older = x->older;
    else
        q->newest = x->older;
    x->client = NULL;
    q->n--;
    if (--c->n == 0) {
        line_unlink(q, c);
        free(c);
    }
}

void qn_fair_serve(struct qn_fair_queue *q, struct qn_fair_item *x)
{
    struct qn_fair_client *c = x->client;
    line_unlink(q, c);
    line_append(q, c);
    qn_fair_leave(q, x);
}

size_t qn_fair_ahead(const struct qn_fair_queue *q, const struct qn_fair_item *x)
{
    size_t rounds = 0, n = 0; /* rounds in which its client is served before it */
    for (const struct qn_fair_item *i = x->before; i; i = i->before)
        rounds++;
    size_t turns = rounds + 1; /* that who stands before its client has until then */
    for (const struct qn_fair_client *c = q->first; c; c = c->next) {
        if (c == x->client) {
            n += rounds;
            turns = rounds;
        } else {
            n += c->n < turns ? c->n : turns;
        }
    }
    return n;
}
