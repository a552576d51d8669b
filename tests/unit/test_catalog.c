/* The catalog: what is written is there after closing, by name, in order; damaged, newer and busy
 * files are refused with advice and left alone. */
#include "catalog_dir.h"

#include "base/buf.h"
#include "base/path.h"
#include "catalog/catalog.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The owner's thread of these tests: callbacks arrive on the catalog's thread and are counted. */
struct owner {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int done;
    qn_err last;
};

static struct owner owner = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void on_done(void *ctx, const struct qn_error *e)
{
    struct owner *o = ctx;
    pthread_mutex_lock(&o->mutex);
    o->done++;
    o->last = e ? e->code : QN_OK;
    pthread_cond_signal(&o->cond);
    pthread_mutex_unlock(&o->mutex);
}

static qn_err wait_done(int count)
{
    pthread_mutex_lock(&owner.mutex);
    while (owner.done < count)
        pthread_cond_wait(&owner.cond, &owner.mutex);
    qn_err err = owner.last;
    pthread_mutex_unlock(&owner.mutex);
    return err;
}

static int setup(void **state)
{
    owner.done = 0;
    return make_dir(state);
}

static struct qn_model_row sample(const char *name, const char *const *files, size_t n)
{
    return (struct qn_model_row){.name = name,
                                 .type = "llm",
                                 .recipe = "llamacpp",
                                 .checkpoint = files[0],
                                 .files = files,
                                 .n_files = n,
                                 .size_bytes = 7000000000,
                                 .labels = "[\"chat\"]",
                                 .details = "{\"architecture\":\"llama\"}",
                                 .created_s = 1700000000};
}

static void rows_outlive_the_program(void **state)
{
    (void)state;
    static const char *const files[] = {"/m/a-1.gguf", "/m/a-2.gguf"};
    struct qn_catalog *c = open_catalog();
    struct qn_model_row row = sample("user.b", files, 2);
    qn_catalog_put(c, &row, on_done, &owner);
    row = sample("Alpha", files, 1);
    row.facts = "no JSON";
    qn_catalog_put(c, &row, on_done, &owner);
    assert_int_equal(wait_done(2), QN_OK);
    qn_catalog_set_options(c, "user.b", "{\"context\":512}", on_done, &owner);
    qn_catalog_touch(c, "user.b", 1800000000);
    assert_int_equal(wait_done(3), QN_OK);
    qn_catalog_set_digest(c, "user.b", "abc", "7:1", "{\"template\":\"x\"}", on_done, &owner);
    assert_int_equal(wait_done(4), QN_OK);
    /* A row written again keeps what belongs to the user: options, first day, last use. */
    row = sample("user.b", files, 1);
    row.created_s = 1;
    row.size_bytes = 5;
    row.base = "Alpha";
    row.preset = "{\"system\":\"s\"}";
    row.facts = "{\"template\":\"y\",\"capabilities\":[\"chat\"]}";
    row.modified_s = 1700000001;
    qn_catalog_put(c, &row, on_done, &owner);
    assert_int_equal(wait_done(5), QN_OK);
    qn_catalog_touch(c, "user.b", 1900000000); /* waits lazily: closing must not lose it */
    qn_catalog_close(c);

    c = open_catalog();
    struct qn_snapshot *s = qn_catalog_snapshot(c);
    assert_int_equal(qn_snapshot_count(s), 2);
    assert_string_equal(qn_snapshot_at(s, 0)->name, "Alpha");
    const struct qn_model_row *b = qn_snapshot_find(s, "user.b");
    assert_non_null(b);
    assert_int_equal(b->n_files, 1);
    assert_string_equal(b->files[0], "/m/a-1.gguf");
    assert_int_equal(b->size_bytes, 5);
    assert_int_equal(b->created_s, 1700000000);
    assert_int_equal(b->last_use_s, 1900000000);
    assert_string_equal(b->options, "{\"context\":512}");
    assert_string_equal(b->digest, "abc");
    assert_string_equal(b->digest_of, "7:1");
    assert_string_equal(b->facts, "{\"template\":\"y\",\"capabilities\":[\"chat\"]}");
    assert_string_equal(b->capabilities, "[\"chat\"]");
    assert_string_equal(b->base, "Alpha");
    assert_string_equal(b->preset, "{\"system\":\"s\"}");
    assert_int_equal(b->modified_s, 1700000001);
    assert_string_equal(qn_snapshot_find(s, "Alpha")->preset, "{}");
    assert_string_equal(qn_snapshot_find(s, "Alpha")->capabilities, "[]");
    assert_null(qn_snapshot_find(s, "USER.B"));
    /* A snapshot does not change under its reader. */
    qn_catalog_remove(c, "user.b", on_done, &owner);
    assert_int_equal(wait_done(6), QN_OK);
    assert_string_equal(qn_snapshot_find(s, "user.b")->files[0], "/m/a-1.gguf");
    qn_snapshot_unref(s);
    s = qn_catalog_snapshot(c);
    assert_null(qn_snapshot_find(s, "user.b"));
    qn_snapshot_unref(s);
    qn_catalog_remove(c, "user.b", on_done, &owner);
    assert_int_equal(wait_done(7), QN_ENOTFOUND);
    qn_catalog_close(c);
}

static void what_a_hub_and_a_user_say_is_kept(void **state)
{
    (void)state;
    static const char *const files[] = {"/m/s/a.gguf", "/m/s/p.gguf"};
    static const char *const roles[] = {"main", "mmproj"};
    static const int64_t sizes[] = {7, 8};
    struct qn_catalog *c = open_catalog();
    struct qn_model_row row = sample("user.b", files, 2);
    qn_catalog_put(c, &row, NULL, NULL);
    row.name = "user.c";
    row.roles = roles;
    row.sizes = sizes;
    row.checkpoints = "{\"main\":\"o/r:Q8_0\"}";
    row.hub = "huggingface";
    row.revision = "main";
    row.commit = "0123";
    row.keeper = QN_KEEPER_QUINCE;
    row.extras = "{\"image_defaults\":{}}";
    qn_catalog_put(c, &row, NULL, NULL);
    qn_catalog_set_alias(c, "z", "user.b", NULL, NULL);
    qn_catalog_set_alias(c, "a", "user.b", NULL, NULL);
    qn_catalog_set_alias(c, "z", "user.c", NULL, NULL);
    qn_catalog_set_forgotten(c, "/x", true, NULL, NULL);
    qn_catalog_set_forgotten(c, "/x", true, NULL, NULL);
    qn_catalog_set_forgotten(c, "/y", true, NULL, NULL);
    qn_catalog_set_forgotten(c, "/y", false, on_done, &owner);
    assert_int_equal(wait_done(1), QN_OK);
    qn_catalog_close(c);
    c = open_catalog();
    struct qn_snapshot *s = qn_catalog_snapshot(c);
    const struct qn_model_row *b = qn_snapshot_find(s, "user.b"),
                              *r = qn_snapshot_find(s, "user.c");
    assert_string_equal(b->roles[1], "main");
    assert_int_equal(b->sizes[1], -1);
    assert_string_equal(b->checkpoints, "{}");
    assert_string_equal(b->hub, "");
    assert_string_equal(b->keeper, QN_KEEPER_USER);
    assert_string_equal(r->roles[1], "mmproj");
    assert_int_equal(r->sizes[1], 8);
    assert_string_equal(r->checkpoints, row.checkpoints);
    assert_string_equal(r->hub, "huggingface");
    assert_string_equal(r->revision, "main");
    assert_string_equal(r->commit, "0123");
    assert_string_equal(r->keeper, QN_KEEPER_QUINCE);
    assert_string_equal(r->extras, row.extras);
    assert_int_equal(qn_snapshot_alias_count(s), 2);
    assert_string_equal(qn_snapshot_alias_at(s, 0)->name, "a");
    assert_string_equal(qn_snapshot_alias(s, "z"), "user.c");
    assert_null(qn_snapshot_alias(s, "user.c"));
    assert_true(qn_snapshot_forgotten(s, "/x"));
    assert_false(qn_snapshot_forgotten(s, "/y"));
    qn_snapshot_unref(s);
    qn_catalog_set_alias(c, "z", NULL, on_done, &owner);
    assert_int_equal(wait_done(2), QN_OK);
    qn_catalog_set_alias(c, "z", NULL, on_done, &owner);
    assert_int_equal(wait_done(3), QN_ENOTFOUND);
    qn_catalog_close(c);
}

static void a_flush_waits_for_what_was_asked(void **state)
{
    (void)state;
    static const char *const files[] = {"/m/a.gguf"};
    struct qn_catalog *c = open_catalog();
    struct qn_model_row row = sample("x", files, 1);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        row.name = name;
        qn_catalog_put(c, &row, NULL, NULL);
        qn_catalog_flush(c);
        struct qn_snapshot *s = qn_catalog_snapshot(c);
        assert_non_null(qn_snapshot_find(s, name));
        qn_snapshot_unref(s);
    }
    qn_catalog_touch(c, "m3", 5); /* waits lazily, but not for a flush */
    qn_catalog_flush(c);
    struct qn_snapshot *s = qn_catalog_snapshot(c);
    assert_int_equal(qn_snapshot_find(s, "m3")->last_use_s, 5);
    qn_snapshot_unref(s);
    qn_catalog_close(c);
}

static void a_second_server_is_turned_away(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    struct qn_catalog *other = NULL;
    struct qn_error e = {0};
    assert_int_equal(qn_catalog_open(path, post_at_once, NULL, &other, &e), QN_EBUSY);
    assert_non_null(strstr(e.message, "--data-dir"));
    qn_catalog_close(c);
    c = open_catalog();
    qn_catalog_close(c);
}

/* A database of the first version, as the program of that day wrote it. */
static void an_old_catalog_grows(void **state)
{
    (void)state;
    static const char first[] =
        "CREATE TABLE model (name TEXT PRIMARY KEY NOT NULL, type TEXT NOT NULL, recipe TEXT NOT "
        "NULL, checkpoint TEXT NOT NULL, size_bytes INTEGER NOT NULL, labels TEXT NOT NULL, "
        "details "
        "TEXT NOT NULL, options TEXT NOT NULL DEFAULT '{}', builtin INTEGER NOT NULL, suggested "
        "INTEGER NOT NULL, created_s INTEGER NOT NULL, last_use_s INTEGER NOT NULL DEFAULT 0) "
        "STRICT;"
        "CREATE TABLE file (model TEXT NOT NULL REFERENCES model(name) ON DELETE CASCADE, position "
        "INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (model, position)) STRICT;"
        "INSERT INTO model VALUES('user.old', 'llm', 'llamacpp', '/m', 5, '[]', '{}', "
        "'{\"ctx_size\":9}', 0, 0, 1700000000, 0);"
        "INSERT INTO file VALUES('user.old', 0, '/m'); PRAGMA user_version = 1;";
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, first, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct qn_catalog *c = open_catalog();
    struct qn_snapshot *s = qn_catalog_snapshot(c);
    const struct qn_model_row *row = qn_snapshot_find(s, "user.old");
    assert_non_null(row);
    assert_string_equal(row->options, "{\"ctx_size\":9}");
    assert_string_equal(row->preset, "{}");
    assert_string_equal(row->facts, "{}");
    assert_string_equal(row->capabilities, "[]");
    assert_string_equal(row->digest, "");
    assert_string_equal(row->base, "");
    assert_string_equal(row->keeper, QN_KEEPER_USER);
    assert_string_equal(row->roles[0], "main");
    qn_snapshot_unref(s);
    qn_catalog_close(c);
}

static void a_newer_schema_is_left_alone(void **state)
{
    (void)state;
    qn_catalog_close(open_catalog());
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct qn_catalog *c = NULL;
    struct qn_error e = {0};
    assert_int_equal(qn_catalog_open(path, post_at_once, NULL, &c, &e), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "newer"));
}

static void damage_is_reported_and_never_deleted(void **state)
{
    (void)state;
    static const char *const files[] = {"/m/a.gguf"};
    struct qn_catalog *c = open_catalog();
    struct qn_model_row row = sample("x", files, 1);
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        row.name = name;
        qn_catalog_put(c, &row, on_done, &owner);
    }
    assert_int_equal(wait_done(200), QN_OK);
    qn_catalog_close(c);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, 4096 + 100, SEEK_SET);
    for (int i = 0; i < 8000; i++)
        fputc(0x5A, f);
    fclose(f);
    struct qn_error e = {0};
    assert_int_equal(qn_catalog_open(path, post_at_once, NULL, &c, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, "move it aside"));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);

    f = fopen(path, "w");
    fputs("this is not a database, and it is longer than sixteen bytes", f);
    fclose(f);
    assert_int_equal(qn_catalog_open(path, post_at_once, NULL, &c, &e), QN_EFORMAT);
    assert_int_equal(qn_catalog_open("/nonexistent/catalog.db", post_at_once, NULL, &c, &e),
                     QN_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_outlive_the_program, setup, remove_dir),
        cmocka_unit_test_setup_teardown(what_a_hub_and_a_user_say_is_kept, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_flush_waits_for_what_was_asked, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_second_server_is_turned_away, setup, remove_dir),
        cmocka_unit_test_setup_teardown(an_old_catalog_grows, setup, remove_dir),
        cmocka_unit_test_setup_teardown(a_newer_schema_is_left_alone, setup, remove_dir),
        cmocka_unit_test_setup_teardown(damage_is_reported_and_never_deleted, setup, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
