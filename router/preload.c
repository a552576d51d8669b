/* See preload.h. */
#include "router/preload.h"

#include "base/buf.h"
#include "base/log.h"
#include "contract/job.h"

#include <stdlib.h>
#include <string.h>

struct qn_preload {
    struct qn_inventory *inv;
    char *names, *rest; /* cut into words as they are reached */
    const char *name;   /* that is being loaded */
    struct qn_lease *lease;
    struct qn_timer *next; /* the first one waits for the loop, like every other */
};

static void load_next(void *ctx);

static void complain(const struct qn_preload *p, const struct qn_error *e)
{
    qn_warn("preload", "model=%s loaded=0 message=\"%s\"", p->name, e->message);
}

static void loaded(void *ctx, const struct qn_error *e)
{
    struct qn_preload *p = ctx;
    if (e) {
        p->lease = NULL;
        complain(p, e);
    } else {
        qn_info("preload", "model=%s loaded=1", p->name);
        qn_lease_release(p->lease);
        p->lease = NULL;
    }
    load_next(p);
}

static void load_next(void *ctx)
{
    struct qn_preload *p = ctx;
    const struct qn_load_options options = {.context = QN_UNSET, .modest = true};
    qn_timer_stop(p->next);
    p->next = NULL;
    while (!p->lease && (p->name = strsep(&p->rest, ","))) {
        struct qn_error e = {0};
        while (*p->name == ' ')
            p->name++;
        if (*p->name && qn_inventory_acquire(p->inv, p->name, &options, loaded, p, &p->lease, &e)) {
            p->lease = NULL;
            complain(p, &e);
        }
    }
}

struct qn_preload *qn_preload_start(struct qn_loop *l, struct qn_inventory *inv, const char *names)
{
    if (!names || !*names)
        return NULL;
    struct qn_preload *p = qn_xcalloc(1, sizeof *p);
    p->inv = inv;
    p->names = p->rest = qn_xstrdup(names);
    p->next = qn_timer_start(l, 0, 0, load_next, p);
    return p;
}

void qn_preload_stop(struct qn_preload *p)
{
    if (!p)
        return;
    qn_timer_stop(p->next);
    qn_lease_release(p->lease);
    free(p->names);
    free(p);
}
