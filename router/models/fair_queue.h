/* A queue that is fair between clients: each client's requests are served in order of arrival, and
 * the waiting clients take turns (round robin). A client that sends a hundred requests at once
 * delays another client's single request by one request at most.
 *
 * Clients belong to groups: a group is an identity that the server has verified (a key, an
 * address), a client a name that the request claims within it. The groups take turns first, then,
 * at each turn of a group, its clients. A client that uses a hundred names therefore takes turns
 * only from its own group.
 *
 * The order of turns is a list of groups and, in each group, a list of clients. Groups and clients
 * without waiting requests are not in the list and are forgotten; a new one is appended at the end,
 * and one that has been served moves to the end. So no client starves, however many new ones
 * arrive.
 *
 * Items are embedded in the caller's structs; memory is allocated only per waiting client and
 * group. Finding them costs a comparison per waiting group and per waiting client of the group.
 * Pure. */
#ifndef QN_MODELS_FAIR_QUEUE_H
#define QN_MODELS_FAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct qn_fair_client;
struct qn_fair_node;

struct qn_fair_item {
    struct qn_fair_client *client;      /* NULL: the item is not in a queue */
    struct qn_fair_item *before, *next; /* neighbours among the same client's items */
    struct qn_fair_item *older, *newer; /* neighbours among all items */
    uint64_t ticket;
};

struct qn_fair_line { /* a list in the order of turns */
    struct qn_fair_node *first, *last;
};

struct qn_fair_queue { /* all zero: empty */
    struct qn_fair_line groups;
    struct qn_fair_item *oldest, *newest;
    size_t n;
};

/* Appends the item, which the caller owns and does not move while it waits; the names are copied.
 * Each ticket is greater than those before it. */
void qn_fair_add(struct qn_fair_queue *q, struct qn_fair_item *x, uint64_t ticket,
                 const char *group, const char *client);

/* The group of a waiting item. Lent until the item is served or removed. */
const char *qn_fair_group(const struct qn_fair_item *x);

/* The item whose turn it is, among those with a ticket smaller than `below`; NULL: there is
 * none. */
struct qn_fair_item *qn_fair_next(const struct qn_fair_queue *q, uint64_t below);

/* Removes the item as served: its client and its group move to the end of their lists. */
void qn_fair_serve(struct qn_fair_queue *q, struct qn_fair_item *x);

/* Removes the item without serving it: the order of turns stays as it is. */
void qn_fair_leave(struct qn_fair_queue *q, struct qn_fair_item *x);

/* The number of items that are served before it if none is added or removed. */
size_t qn_fair_ahead(const struct qn_fair_queue *q, const struct qn_fair_item *x);

#endif
