/* Leases: who waits for a model, who holds it, and in which order they come to it. */
#include "router/inventory_private.h"

#include "base/clock.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void list_add(struct list *l, struct qn_lease *x)
{
    x->prev = l->last;
    x->next = NULL;
    if (l->last)
        l->last->next = x;
    else
        l->first = x;
    l->last = x;
    l->n++;
}

static void list_remove(struct list *l, struct qn_lease *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        l->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    else
        l->last = x->prev;
    l->n--;
}

/* Tells every waiting lease that it will not be granted. The callbacks may take and release other
 * leases, so the list is emptied first. */
void qn_place_refuse(struct place *p, const struct qn_error *why)
{
    struct qn_lease *x;
    struct list gone = p->waiting;
    p->waiting = (struct list){0};
    p->inv->n_waiting -= gone.n;
    for (x = gone.first; x; x = x->next)
        x->place = NULL;
    while ((x = gone.first)) {
        list_remove(&gone, x);
        if (x->fn)
            x->fn(x->ctx, why);
        free(x);
    }
}

/* True when somebody who came before the ticket waits for this place to become idle. Then nobody
 * later is let in, or the earlier one could wait for ever. */
static bool overtakes(const struct place *at, uint64_t ticket)
{
    return at->awaited && at->awaited < ticket;
}

void qn_place_grant(struct place *p)
{
    for (size_t left = p->waiting.n; left && p->waiting.n && !p->stale; left--) {
        if (qn_place_state(p) != QN_INST_READY || overtakes(p, p->waiting.first->ticket))
            break;
        struct qn_lease *x = p->waiting.first;
        list_remove(&p->waiting, x);
        p->inv->n_waiting--;
        list_add(&p->held, x);
        x->granted = true;
        p->used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->name, qn_wall_ms() / 1000);
        x->fn(x->ctx, NULL);
    }
}

/* The places with waiting leases, earliest ticket first. */
size_t qn_places_by_ticket(struct qn_inventory *inv, struct place **out, size_t max)
{
    size_t n = 0;
    for (struct place *p = inv->places; p && n < max; p = p->next) {
        if (!p->waiting.n)
            continue;
        size_t i = n++;
        for (; i > 0 && out[i - 1]->waiting.first->ticket > p->waiting.first->ticket; i--)
            out[i] = out[i - 1];
        out[i] = p;
    }
    return n;
}

/* True when who wants at least so much context is served by what runs, is being loaded or was asked
 * for by others who still wait: their context never shrinks. */
static bool has_enough(const struct place *p, enum qn_inst_state s, int64_t context)
{
    if (p->waiting.n && p->context_asked != QN_UNSET && p->context_asked >= context)
        return true;
    return s == QN_INST_READY && !p->stale && qn_child_status(p->child).context >= context;
}

qn_err qn_inventory_acquire(struct qn_inventory *inv, const char *name,
                            const struct qn_load_options *options, qn_lease_fn fn, void *ctx,
                            struct qn_lease **out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    if ((int64_t)inv->n_waiting >= inv->config.queue_limit) {
        qn_snapshot_unref(snap);
        return qn_fail(e, QN_EBUSY,
                       "%lld requests are waiting for models already: try again in a moment",
                       (long long)inv->config.queue_limit);
    }
    row = qn_inventory_computes(snap, row);
    if (!row->n_files)
        err = qn_fail_param(e, QN_ENOTFOUND, "model",
                            "model '%s' is not downloaded: `quince pull %s` gets it", row->name,
                            row->name);
    else if (!qn_backend_type_find(row->type))
        err = qn_fail_param(e, QN_EUNSUPPORTED, "model",
                            "model '%s' is of type '%s', which this version cannot run", row->name,
                            row->type);
    if (err) {
        qn_snapshot_unref(snap);
        return err;
    }
    struct place *p = qn_place_get(inv, row);
    p->size_bytes = row->size_bytes;
    int64_t known = qn_row_number(row->details, "kv_token_bytes");
    p->kv_token_bytes = known != QN_UNSET ? known : 0;
    enum qn_inst_state s = qn_place_state(p);
    bool other_files = qn_place_has_process(s) && qn_place_has_other_files(p, row);
    if (options && options->at_least && has_enough(p, s, options->context))
        options = NULL;
    /* A load that names no context takes a running model as it is, and starts another afresh. */
    if (options && (options->context != QN_UNSET || !qn_place_has_process(s)))
        p->context_asked = options->context;
    bool named = options && options->options && strcmp(options->options, "{}") != 0;
    if (named || (options && !qn_place_has_process(s))) {
        free(p->options_asked);
        p->options_asked = named ? qn_xstrdup(options->options) : NULL;
        qn_place_note_again(p);
    }
    qn_place_note_options(p, row);
    if (options && qn_place_has_process(s))
        p->stale =
            qn_place_wanted_context(p, row) != p->context || qn_place_wants_other_options(p, row);
    p->stale |= other_files;
    qn_snapshot_unref(snap);

    p->modest = options && options->modest && (!p->waiting.n || p->modest);
    struct qn_lease *x = qn_xcalloc(1, sizeof *x);
    x->place = p;
    x->ticket = ++inv->tickets;
    x->fn = fn;
    x->ctx = ctx;
    list_add(&p->waiting, x);
    inv->n_waiting++;
    p->used_ms = qn_now_ms();
    p->retry = s == QN_INST_FAILED;
    if (s == QN_INST_LOADING || s == QN_INST_BACKOFF)
        qn_child_load(p->child); /* it may have been given up: it is wanted again */
    qn_inventory_settle_soon(inv);
    *out = x;
    return QN_OK;
}

struct qn_child *qn_lease_child(const struct qn_lease *lease)
{
    return lease->place->child;
}

void qn_lease_count(struct qn_lease *lease, double tokens_s)
{
    lease->place->count.requests++;
    lease->place->count.last_tokens_s = tokens_s;
}

void qn_lease_keep(struct qn_lease *lease, int64_t keep_alive_ms)
{
    lease->place->keep_ms = keep_alive_ms;
    lease->place->leave = false;
    qn_inventory_settle_soon(lease->place->inv);
}

void qn_lease_release(struct qn_lease *x)
{
    if (!x)
        return;
    struct place *p = x->place;
    if (!p) { /* qn_place_refuse is telling others; it will come to this one and free it */
        x->fn = NULL;
        return;
    }
    if (x->granted) {
        list_remove(&p->held, x);
        p->used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->name, qn_wall_ms() / 1000);
    } else {
        list_remove(&p->waiting, x);
        p->inv->n_waiting--;
        if (!p->waiting.n && p->child)
            qn_child_unwant(p->child);
    }
    qn_inventory_settle_soon(p->inv);
    free(x);
}
