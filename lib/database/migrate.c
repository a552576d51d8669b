/* Migration of the database. schema.sql is split at its "-- version N" lines. Each part with a
 * version above the database's user_version is executed in one transaction that also sets
 * user_version. After a failed migration the database is unchanged. */
#include "base/buf.h"
#include "database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char marker[] = "-- version ";

static qn_err read_version(struct qn_database *d, int *version, struct qn_error *e)
{
    sqlite3_stmt *s = NULL;
    qn_err err = QN_OK;
    if (sqlite3_prepare_v2(d->db, "PRAGMA user_version", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW)
        err = qn_database_fail(d, "reading the schema version", e);
    else
        *version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return err;
}

static qn_err run_block(struct qn_database *d, int version, const char *sql, size_t n,
                        struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, n + 256);
    qn_buf_str(&text, "BEGIN IMMEDIATE;");
    qn_buf_add(&text, sql, n);
    qn_buf_fmt(&text, ";PRAGMA user_version = %d; COMMIT;", version);
    qn_err err = qn_database_exec(d, qn_buf_cstr(&text), e);
    if (err && !sqlite3_get_autocommit(d->db))
        sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    qn_buf_deinit(&text);
    return err;
}

qn_err qn_database_migrate(struct qn_database *d, struct qn_error *e)
{
    const char *schema = d->kind->schema;
    int have = 0, newest = 0;
    qn_err err = read_version(d, &have, e);
    for (const char *p = strstr(schema, marker); p && !err; p = strstr(p, marker)) {
        char *end;
        int version = (int)strtol(p + strlen(marker), &end, 10);
        const char *next = strstr(end, marker);
        size_t n = next ? (size_t)(next - end) : strlen(end);
        newest = version;
        if (version > have)
            err = run_block(d, version, end, n, e);
        p = end;
    }
    if (!err && have > newest)
        err = qn_fail(e, QN_EUNSUPPORTED,
                      "%s was written by a newer quince (schema %d, this one knows %d): use that "
                      "version, or another --data-dir",
                      d->path, have, newest);
    return err;
}
