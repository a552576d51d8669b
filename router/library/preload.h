/* Loads the models of the setting `preload` one after the other when the server has started. Models
 * that are not in the catalog yet are loaded after the folders of this machine have been searched
 * for models. A model is skipped, with a line in the log, if loading fails or would require
 * evicting another model. Loop thread only. */
#ifndef QN_LIBRARY_PRELOAD_H
#define QN_LIBRARY_PRELOAD_H

struct qn_serving;
struct qn_inventory;
struct qn_discovery;

struct qn_preload;

/* names: comma-separated; copied. NULL: none. The other arguments outlive it. */
struct qn_preload *qn_preload_start(const struct qn_serving *serving,
                                    struct qn_inventory *inventory, struct qn_discovery *discovery,
                                    const char *names);
void qn_preload_stop(struct qn_preload *p); /* a running load goes on; NULL allowed */
void qn_preload_free(struct qn_preload *p); /* call after the loop has been freed; NULL allowed */

#endif
