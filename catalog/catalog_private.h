/* For the files of catalog/ that use the catalog's thread besides catalog.c. */
#ifndef QN_CATALOG_CATALOG_PRIVATE_H
#define QN_CATALOG_CATALOG_PRIVATE_H

#include "catalog/catalog.h"
#include "database/database.h"

/* Queues a task after everything requested before. work(db, ctx) runs on the catalog's thread and
 * MUST NOT change models. after(ctx) is then called on the catalog user's thread and frees ctx. */
void qn_catalog_task(struct qn_catalog *c, void (*work)(struct qn_database *db, void *ctx),
                     void (*after)(void *ctx), void *ctx);

#endif
