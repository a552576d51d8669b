/* A file of SQLite: opening, migrations, statements. SQLite's WAL mode, synchronous NORMAL: a
 * committed transaction survives the end of the process; the last ones may be lost when the machine
 * loses power, which does not damage the file. Used by one thread at a time (db_thread.h). */
#ifndef QN_DATABASE_DATABASE_H
#define QN_DATABASE_DATABASE_H

#include "base/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* What distinguishes one file from another. Static. */
struct qn_database_kind {
    const char *name; /* "the catalog": in messages */
    const char *loss; /* what is lost, and what is not, when a damaged file is moved aside */
    /* Blocks of statements, each after a line "-- version N", for a file of version N - 1. */
    const char *schema;
    int64_t checked_bytes; /* a larger file is not checked completely when it is opened */
    int64_t bytes_max;     /* of the file; 0: no limit */
    bool trusted_schema;   /* its triggers may use virtual tables */
};

struct qn_database {
    sqlite3 *db;
    char *path;
    const struct qn_database_kind *kind;
};

/* Opens or creates the file with mode 0600, for this process only, checks and migrates it.
 * Blocking. QN_EBUSY: another process has it. QN_EFORMAT: it is damaged; the message says what to
 * do, and it stays as it is. QN_EUNSUPPORTED: its schema is newer than this program's. QN_EIO. */
qn_err qn_database_open(const char *path, const struct qn_database_kind *kind,
                        struct qn_database **out, struct qn_error *e);
void qn_database_close(struct qn_database *d); /* NULL allowed */

/* Reports the handle's last error; `doing` ends the message: "reading the catalog". */
qn_err qn_database_fail(struct qn_database *d, const char *doing, struct qn_error *e);
qn_err qn_database_exec(struct qn_database *d, const char *sql, struct qn_error *e);
qn_err qn_database_prepare(struct qn_database *d, sqlite3_stmt **s, const char *sql,
                           struct qn_error *e);
/* Binds a copy of the text; NULL: SQL's NULL. */
void qn_database_bind(sqlite3_stmt *s, int i, const char *text);
/* Runs a statement that returns no rows, and finalizes it. */
qn_err qn_database_finish(struct qn_database *d, sqlite3_stmt *s, struct qn_error *e);

/* A transaction: begin, changes, end, which commits it, or undoes it if err is not QN_OK or the
 * commit fails. end returns err, or the error of the commit. */
qn_err qn_database_begin(struct qn_database *d, struct qn_error *e);
qn_err qn_database_end(struct qn_database *d, qn_err err, struct qn_error *e);

/* Migrates the schema to the program's version (migrate.c). For qn_database_open. */
qn_err qn_database_migrate(struct qn_database *d, struct qn_error *e);

#endif
