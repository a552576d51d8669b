/* The catalog's SQLite handle: opening, migration, typed queries. Used only within catalog/, by one
 * thread at a time. Every function that changes the database does so in one transaction. */
#ifndef QN_CATALOG_DATABASE_H
#define QN_CATALOG_DATABASE_H

#include "base/error.h"
#include "catalog/catalog.h"

#include <stdint.h>

struct qn_database;

qn_err qn_database_open(const char *path, struct qn_database **out, struct qn_error *e);
void qn_database_close(struct qn_database *d); /* NULL allowed */

qn_err qn_database_put(struct qn_database *d, const struct qn_model_row *row, struct qn_error *e);
qn_err qn_database_remove(struct qn_database *d, const char *name, struct qn_error *e);
qn_err qn_database_set_options(struct qn_database *d, const char *name, const char *json,
                               struct qn_error *e);
/* Stores the row's digest, digest_of and, unless NULL, facts. */
qn_err qn_database_set_digest(struct qn_database *d, const struct qn_model_row *row,
                              struct qn_error *e);
/* model NULL: the alias is removed. */
qn_err qn_database_set_alias(struct qn_database *d, const char *name, const char *model,
                             struct qn_error *e);
qn_err qn_database_set_forgotten(struct qn_database *d, const char *path, bool forgotten,
                                 struct qn_error *e);
qn_err qn_database_touch(struct qn_database *d, const char *name, int64_t when_s,
                         struct qn_error *e);

/* Reads every row into a new snapshot with one reference. */
qn_err qn_database_snapshot(struct qn_database *d, struct qn_snapshot **out, struct qn_error *e);

/* The text of the schema, generated from schema.sql at build time. */
extern const char qn_catalog_schema[];

#endif
