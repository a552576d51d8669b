/* Loads the models of the setting `preload` one after the other when the server has started. One
 * that cannot be loaded, or only in another's place, is a line of the log. Loop thread only. */
#ifndef QN_ROUTER_PRELOAD_H
#define QN_ROUTER_PRELOAD_H

#include "router/inventory.h"

struct qn_preload;

/* names: with commas between; copied. NULL: there are none. */
struct qn_preload *qn_preload_start(struct qn_loop *l, struct qn_inventory *inv, const char *names);
void qn_preload_stop(struct qn_preload *p); /* what is being loaded goes on; NULL allowed */

#endif
