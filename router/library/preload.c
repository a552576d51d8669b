/* See preload.h. */
#include "library/preload.h"

#include "base/buf.h"
#include "base/log.h"
#include "contract/job.h"
#include "http/serving.h"
#include "library/discovery.h"
#include "models/inventory.h"

#include <stdlib.h>
#include <string.h>

struct qn_preload {
    const struct qn_serving *serving;
    struct qn_inventory *inventory;
    struct qn_discovery *discovery;
    char *names, *rest;    /* split into words as they are reached */
    struct qn_buf unknown; /* comma-separated */
    bool searched;
    char *name; /* of the model being loaded; points into names */
    struct qn_lease *lease;
    struct qn_timer *next; /* the first load, too, waits for the loop */
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
        complain(p, e);
    } else {
        qn_info("preload", "model=%s loaded=1", p->name);
        qn_lease_release(p->lease);
    }
    p->lease = NULL;
    load_next(p);
}

static void begin(struct qn_preload *p, const char *names)
{
    char *copy = qn_xstrdup(names);
    free(p->names);
    p->names = p->rest = copy;
    p->next = qn_timer_start(p->serving->loop, 0, 0, load_next, p);
}

static void searched(void *ctx, size_t found)
{
    struct qn_preload *p = ctx;
    (void)found;
    if (!p->serving->closed)
        begin(p, qn_buf_cstr(&p->unknown));
}

static void load_next(void *ctx)
{
    struct qn_preload *p = ctx;
    const struct qn_load_options options = {.context = QN_UNSET, .modest = true};
    qn_timer_stop(p->next);
    p->next = NULL;
    while (!p->lease && (p->name = strsep(&p->rest, ","))) {
        struct qn_error e = {0};
        p->name += strspn(p->name, " ");
        if (!*p->name)
            continue;
        qn_err err =
            qn_inventory_acquire(p->inventory, p->name, &options, "", loaded, p, &p->lease, &e);
        if (err)
            p->lease = NULL;
        if (err == QN_ENOTFOUND && !p->searched)
            qn_buf_fmt(&p->unknown, "%s,", p->name);
        else if (err)
            complain(p, &e);
    }
    if (!p->lease && p->unknown.len && !p->searched) {
        p->searched = true;
        qn_discovery_again(p->discovery, searched, p);
    }
}

struct qn_preload *qn_preload_start(const struct qn_serving *serving,
                                    struct qn_inventory *inventory, struct qn_discovery *discovery,
                                    const char *names)
{
    if (!names || !*names)
        return NULL;
    struct qn_preload *p = qn_xcalloc(1, sizeof *p);
    p->serving = serving;
    p->inventory = inventory;
    p->discovery = discovery;
    qn_buf_init(&p->unknown, strlen(names) + 1);
    begin(p, names);
    return p;
}

void qn_preload_stop(struct qn_preload *p)
{
    if (!p)
        return;
    qn_timer_stop(p->next);
    p->next = NULL;
    qn_lease_release(p->lease);
    p->lease = NULL;
}

void qn_preload_free(struct qn_preload *p)
{
    if (!p)
        return;
    qn_buf_deinit(&p->unknown);
    free(p->names);
    free(p);
}
