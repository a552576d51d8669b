/* Keeps the models that lie on this disk already in the catalog, as "extra.NAME": looks for them on
 * a worker at start and when asked, takes in what is new or has changed, and takes off the list
 * what is gone. Loop thread. */
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
    bool programs;          /* look into other programs' folders, too */
};

/* Begins at once. */
struct qn_discovery *qn_discovery_new(const struct qn_discovery_config *config);

/* Called once when everything that was there at the call has been looked at; not from within. */
typedef void (*qn_discovery_done)(void *ctx, size_t found);
void qn_discovery_again(struct qn_discovery *d, qn_discovery_done done, void *ctx); /* done MAY be
                                                                                       NULL */

/* Gives up what runs; before the loop is freed. */
void qn_discovery_stop(struct qn_discovery *d);
void qn_discovery_free(struct qn_discovery *d); /* after the loop; NULL allowed */

#endif
