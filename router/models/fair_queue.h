/* Who is next: a queue that is fair between clients. Each client's requests are served in the order
 * in which they came, and the clients that wait take turns: whoever sends a hundred requests at
 * once makes another client's single one wait for one of them at most.
 *
 * Clients belong to groups: a group is what the server knows for certain (a key, an address), a
 * client what is said within it. First the groups take turns, then, at each turn of a group, its
 * clients. So who calls himself a hundred names takes turns from nobody but himself.
 *
 * Turns go by lines, of groups and of a group's clients. One that has nothing waiting is in no line
 * and is not remembered; one that comes goes to the end of its line, and so does one that has been
 * served. So nobody is passed for ever, however many new clients come.
 *
 * Items are embedded in what waits; memory is taken per waiting client and group only. Finding them
 * costs a comparison per waiting group and per waiting client of the group. Pure. */
#ifndef QN_MODELS_FAIR_QUEUE_H
#define QN_MODELS_FAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct qn_fair_client;
struct qn_fair_node;

struct qn_fair_item {
    struct qn_fair_client *client;      /* NULL: it does not wait */
    struct qn_fair_item *before, *next; /* of the same client */
    struct qn_fair_item *older, *newer; /* of all */
    uint64_t ticket;
};

struct qn_fair_line { /* in the order of their turns */
    struct qn_fair_node *first, *last;
};

struct qn_fair_queue { /* all zero: empty */
    struct qn_fair_line groups;
    struct qn_fair_item *oldest, *newest;
    size_t n;
};

/* The item is the caller's and stays where it is; the names are copied. Tickets grow. */
void qn_fair_add(struct qn_fair_queue *q, struct qn_fair_item *x, uint64_t ticket,
                 const char *group, const char *client);

/* The group of one that waits. Lent until it is served or leaves. */
const char *qn_fair_group(const struct qn_fair_item *x);

/* Whose turn it is, among those with a smaller ticket than `below`; NULL: nobody's. */
struct qn_fair_item *qn_fair_next(const struct qn_fair_queue *q, uint64_t below);

/* It is served: its client's turn is over, and its group's. */
void qn_fair_serve(struct qn_fair_queue *q, struct qn_fair_item *x);

/* It leaves without having been served: nobody's turn changes. */
void qn_fair_leave(struct qn_fair_queue *q, struct qn_fair_item *x);

/* How many are served before it if nobody comes or leaves. */
size_t qn_fair_ahead(const struct qn_fair_queue *q, const struct qn_fair_item *x);

#endif
