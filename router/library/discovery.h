/* Discovery keeps the models that exist on this disk already in the catalog, as "extra.NAME": it
 * searches on a worker at start and on request, registers new and changed models, and removes those
 * whose files are gone. Loop thread. */
#ifndef QN_LIBRARY_DISCOVERY_H
#define QN_LIBRARY_DISCOVERY_H

#include <stdbool.h>

#include <stddef.h>

#define QN_EXTRA_PREFIX "extra."

struct qn_discovery;

struct qn_discovery_config {
    const struct qn_serving *serving; /* this and the next two outlive the loop */
    const struct qn_models *models;
    struct qn_store *store;
    const char *const *env; /* of the program; outlives the loop */
    const char *folders;    /* the setting extra-models-dir, MAY be NULL; outlives the loop */
    bool programs;          /* also search other programs' folders */
};

/* Starts the first search. */
struct qn_discovery *qn_discovery_new(const struct qn_discovery_config *config);

/* Called once, when a search that began after the call of qn_discovery_again has ended; never from
 * within that call. */
typedef void (*qn_discovery_done)(void *ctx, size_t found);
void qn_discovery_again(struct qn_discovery *d, qn_discovery_done done,
                        void *ctx); /* done MAY be NULL */

/* Cancels the running search; call before the loop is freed. */
void qn_discovery_stop(struct qn_discovery *d);
void qn_discovery_free(
    struct qn_discovery *d); /* call after the loop has been freed; NULL allowed */

#endif
