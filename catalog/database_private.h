/* Shared by database.c and migrate.c: the handle and the reporting of SQLite's errors. */
#ifndef QN_CATALOG_DATABASE_PRIVATE_H
#define QN_CATALOG_DATABASE_PRIVATE_H

#include "base/error.h"

#include <sqlite3.h>

struct qn_database {
    sqlite3 *db;
    char *path;
};

/* Reports the handle's last error; `doing` is the beginning of the message. */
qn_err qn_database_fail(struct qn_database *d, const char *doing, struct qn_error *e);
qn_err qn_database_exec(struct qn_database *d, const char *sql, struct qn_error *e);

/* Migrates the schema to this program's version. QN_EUNSUPPORTED when the database file has a newer
 * version. */
qn_err qn_database_migrate(struct qn_database *d, const char *schema, struct qn_error *e);

#endif
