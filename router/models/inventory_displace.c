/* Chooses the waiting request that is refused in favour of one of another owner when a queue is
 * full.
 *
 * A new request displaces the newest waiting request of the owner with the most of them, if the new
 * request's owner still has fewer than that owner afterwards. So owners that ask for more than the
 * queue holds converge to equal shares of it, and no two owners displace each other's requests in
 * turn.
 *
 * Callbacks of refused leases run in the loop's next turn, never within the new request's call. */
#include "models/inventory_private.h"

#include "base/str.h"
#include "base/tally.h"

/* True when the lease may be displaced. Additional jobs of a running request and restarted requests
 * may not: they have been admitted before. `bounded`: only requests with a limit of their own. */
static bool may_go(const struct qn_lease *x, bool bounded)
{
    return !x->another && !x->again && (!bounded || (x->told && x->told->max_queue >= 0));
}

/* Adds the leases that may be displaced to a count per owner. */
static void count(const struct qn_model_slot *p, bool bounded, struct qn_tally *held)
{
    for (struct qn_fair_item *i = p->queue.waiting.oldest; i; i = i->newer)
        if (may_go(qn_lease_of(i), bounded))
            qn_tally_add(held, qn_fair_group(i), 1);
}

/* The owner's newest lease that waits for this model; NULL: none. */
static struct qn_lease *newest_of(const struct qn_model_slot *p, bool bounded, const char *owner)
{
    for (struct qn_fair_item *i = p->queue.waiting.newest; i; i = i->older)
        if (may_go(qn_lease_of(i), bounded) && qn_str_eq(qn_fair_group(i), owner))
            return qn_lease_of(i);
    return NULL;
}

struct qn_lease *qn_inventory_displaceable(struct qn_inventory *inv, struct qn_model_slot *only,
                                           bool bounded, const char *owner)
{
    struct qn_tally held;
    struct qn_lease *gone = NULL;
    struct qn_model_slot *first = only ? only : inv->model_slots;
    int64_t most;
    qn_tally_init(&held);
    for (struct qn_model_slot *p = first; p; p = only ? NULL : p->next)
        count(p, bounded, &held);
    const char *whose = qn_tally_most(&held, &most);
    if (whose && most > qn_tally_of(&held, owner) + 1) {
        for (struct qn_model_slot *p = first; p; p = only ? NULL : p->next) {
            struct qn_lease *x = newest_of(p, bounded, whose);
            if (x && (!gone || x->item.ticket > gone->item.ticket))
                gone = x;
        }
    }
    qn_tally_deinit(&held);
    return gone;
}
