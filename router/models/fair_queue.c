/* See fair_queue.h. */
#include "models/fair_queue.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* A member of a list of turns: the first member of struct group and struct qn_fair_client. */
struct qn_fair_node {
    struct qn_fair_node *before, *next;
    size_t n; /* waiting items of the group or client, never 0 */
    char *name;
};

struct group {
    struct qn_fair_node at;
    struct qn_fair_line clients;
};

struct qn_fair_client {
    struct qn_fair_node at;
    struct group *group;
    struct qn_fair_item *first, *last;
};

/* ---- lists of turns ---- */

static void line_append(struct qn_fair_line *l, struct qn_fair_node *x)
{
    x->before = l->last;
    x->next = NULL;
    if (l->last)
        l->last->next = x;
    else
        l->first = x;
    l->last = x;
}

static void line_unlink(struct qn_fair_line *l, struct qn_fair_node *x)
{
    if (x->before)
        x->before->next = x->next;
    else
        l->first = x->next;
    if (x->next)
        x->next->before = x->before;
    else
        l->last = x->before;
}

static void line_turn(struct qn_fair_line *l, struct qn_fair_node *x)
{
    line_unlink(l, x);
    line_append(l, x);
}

/* Finds the node of this name; if there is none, appends a new one of `bytes` bytes. */
static struct qn_fair_node *line_get(struct qn_fair_line *l, const char *name, size_t bytes)
{
    struct qn_fair_node *x = l->first;
    while (x && strcmp(x->name, name) != 0)
        x = x->next;
    if (x)
        return x;
    x = qn_xcalloc(1, bytes);
    x->name = qn_xstrdup(name);
    line_append(l, x);
    return x;
}

static void line_drop(struct qn_fair_line *l, struct qn_fair_node *x)
{
    line_unlink(l, x);
    free(x->name);
    free(x);
}

/* How many items the other nodes of a list serve before x has had `rounds` turns and gets its
 * next. */
static size_t served_by_others(const struct qn_fair_line *l, const struct qn_fair_node *x,
                               size_t rounds)
{
    size_t n = 0, turns = rounds + 1; /* turns that a node before x gets until then */
    for (const struct qn_fair_node *i = l->first; i; i = i->next) {
        if (i == x)
            turns = rounds;
        else
            n += i->n < turns ? i->n : turns;
    }
    return n;
}

/* ---- the queue ---- */

void qn_fair_add(struct qn_fair_queue *q, struct qn_fair_item *x, uint64_t ticket,
                 const char *group, const char *client)
{
    struct group *g = (struct group *)line_get(&q->groups, group, sizeof *g);
    struct qn_fair_client *c = (struct qn_fair_client *)line_get(&g->clients, client, sizeof *c);
    c->group = g;
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
    c->at.n++;
    g->at.n++;
    q->n++;
}

const char *qn_fair_group(const struct qn_fair_item *x)
{
    return x->client->group->at.name;
}

struct qn_fair_item *qn_fair_next(const struct qn_fair_queue *q, uint64_t below)
{
    for (const struct qn_fair_node *g = q->groups.first; g; g = g->next) {
        const struct qn_fair_node *c = ((const struct group *)g)->clients.first;
        for (; c; c = c->next) {
            struct qn_fair_item *x = ((const struct qn_fair_client *)c)->first;
            if (x->ticket < below)
                return x;
        }
    }
    return NULL;
}

void qn_fair_leave(struct qn_fair_queue *q, struct qn_fair_item *x)
{
    struct qn_fair_client *c = x->client;
    struct group *g = c->group;
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
    if (--c->at.n == 0)
        line_drop(&g->clients, &c->at);
    if (--g->at.n == 0)
        line_drop(&q->groups, &g->at);
}

void qn_fair_serve(struct qn_fair_queue *q, struct qn_fair_item *x)
{
    struct group *g = x->client->group;
    line_turn(&g->clients, &x->client->at);
    line_turn(&q->groups, &g->at);
    qn_fair_leave(q, x);
}

size_t qn_fair_ahead(const struct qn_fair_queue *q, const struct qn_fair_item *x)
{
    const struct qn_fair_client *c = x->client;
    size_t rounds = 0; /* turns of x's client that come before x's own */
    for (const struct qn_fair_item *i = x->before; i; i = i->before)
        rounds++;
    /* from here on `rounds` counts turns of the client's group */
    rounds += served_by_others(&c->group->clients, &c->at, rounds);
    return rounds + served_by_others(&q->groups, &c->group->at, rounds);
}
