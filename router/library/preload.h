/* Loads the models of the setting `preload` one after the other when the server has started; those
 * that are not known yet when this disk has been searched. One that cannot be loaded, or only in
 * another's place, is a line of the log. Loop thread only. */
#ifndef QN_LIBRARY_PRELOAD_H
#define QN_LIBRARY_PRELOAD_H

struct qn_serving;
struct qn_inventory;
struct qn_discovery;

struct qn_preload;

/* names: with commas between; copied. NULL: there are none. The others outlive it. */
struct qn_preload *qn_preload_start(const struct qn_serving *serving,
                                    struct qn_inventory *inventory, struct qn_discovery *discovery,
                                    const char *names);
void qn_preload_stop(struct qn_preload *p); /* what is being loaded goes on; NULL allowed */
void qn_preload_free(struct qn_preload *p); /* after the loop; NULL allowed */

#endif
