/* How other files of this room work on the catalog's thread. */
#ifndef QN_CATALOG_CATALOG_PRIVATE_H
#define QN_CATALOG_CATALOG_PRIVATE_H

#include "catalog/catalog.h"
#include "catalog/database.h"

/* Queues a piece of work behind all that was asked for before. work(db, ctx) is called on the
 * catalog's thread; it MUST leave models alone. after(ctx) follows on the owner's thread and frees
 * ctx. */
void qn_catalog_task(struct qn_catalog *c, void (*work)(struct qn_database *db, void *ctx),
                     void (*after)(void *ctx), void *ctx);

#endif
