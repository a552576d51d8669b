/* The catalog's rows in its database: typed queries. Private to this room; used on the database's
 * thread. Every function that changes the database does so in one transaction. */
#ifndef QN_CATALOG_ROWS_H
#define QN_CATALOG_ROWS_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "database/database.h"

#include <stdint.h>

qn_err qn_rows_put(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e);
qn_err qn_rows_remove(struct qn_database *d, const char *name, struct qn_error *e);
qn_err qn_rows_set_options(struct qn_database *d, const char *name, const char *json,
                           struct qn_error *e);
/* Stores the row's digest, digest_of and, unless NULL, facts. */
qn_err qn_rows_set_digest(struct qn_database *d, const struct qn_model_row *row,
                          struct qn_error *e);
/* model NULL: the alias is removed. */
qn_err qn_rows_set_alias(struct qn_database *d, const char *name, const char *model,
                         struct qn_error *e);
qn_err qn_rows_set_forgotten(struct qn_database *d, const char *path, bool forgotten,
                             struct qn_error *e);
qn_err qn_rows_touch(struct qn_database *d, const char *name, int64_t when_s, struct qn_error *e);

/* Reads every row into a new snapshot with one reference. */
qn_err qn_rows_snapshot(struct qn_database *d, struct qn_snapshot **out, struct qn_error *e);

/* The text of the schema, generated from schema.sql at build time. */
extern const char qn_catalog_schema[];

#endif
