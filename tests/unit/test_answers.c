/* catalog/answers.c: what is kept is found again, alone and as the conversation it belongs to, also
 * after a restart; the least recently used go first when there is too much. */
#include "catalog_dir.h"

#include "base/buf.h"
#include "catalog/answers.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct qn_answers_of of_a = {"key:a", false};

static void keep(struct qn_catalog *c, const char *id, const char *previous)
{
    char input[64], body[64];
    snprintf(input, sizeof input, "[\"%s\"]", id);
    snprintf(body, sizeof body, "{\"id\":\"%s\"}", id);
    qn_catalog_keep_answer(
        c, qn_answer_to_keep("key:a", &(struct qn_answer_row){id, previous, input, body}));
}

/* The ids that were found, "a b|c": behind the bar the single ones. */
static void note(void *ctx, const struct qn_answers_found *f)
{
    struct qn_buf *out = ctx;
    qn_buf_clear(out);
    if (f->e)
        qn_buf_fmt(out, "error %d", f->e->code);
    for (size_t i = 0; i < f->n; i++) {
        char input[64], body[64];
        snprintf(input, sizeof input, "[\"%s\"]", f->rows[i].id);
        snprintf(body, sizeof body, "{\"id\":\"%s\"}", f->rows[i].id);
        assert_string_equal(f->rows[i].input, input);
        assert_string_equal(f->rows[i].body, body);
        qn_buf_fmt(out, "%s%s", i == 0 ? "" : i == f->n_chain ? "|" : " ", f->rows[i].id);
    }
}

static void expect(struct qn_catalog *c, const char *chain, const char *id, const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    qn_catalog_find_answers(c, &of_a, chain, &id, id ? 1 : 0, note, &out);
    qn_catalog_flush(c);
    assert_string_equal(qn_buf_cstr(&out), expected);
    qn_buf_deinit(&out);
}

static void note_error(void *ctx, const struct qn_error *e)
{
    *(qn_err *)ctx = e ? e->code : QN_OK;
}

static void conversations(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    keep(c, "a", "");
    keep(c, "b", "a");
    keep(c, "c", "b");
    keep(c, "x", "");
    expect(c, "c", NULL, "a b c");
    expect(c, "a", "x", "a|x");
    expect(c, NULL, "b", "b");
    expect(c, "nobody", "x", "x");
    expect(c, "nobody", "nobody", "");
    qn_catalog_close(c);

    c = open_catalog();
    expect(c, "c", NULL, "a b c");
    qn_err code = QN_EINTERNAL;
    qn_catalog_drop_answer(c, &of_a, "b", note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_OK);
    qn_catalog_drop_answer(c, &of_a, "b", note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_ENOTFOUND);
    expect(c, "c", NULL, ""); /* a link is missing */
    expect(c, NULL, "c", "c");
    keep(c, "loop", "loop"); /* no program writes this, but a file may say it */
    expect(c, "loop", NULL, "error 6");
    qn_catalog_close(c);
}

static void the_least_used_go_first(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    char id[16];
    for (int i = 0; i < QN_ANSWERS_MAX; i++) {
        snprintf(id, sizeof id, "%d", i);
        keep(c, id, i == 1 ? "0" : "");
    }
    expect(c, "1", NULL, "0 1"); /* both are of use again */
    keep(c, "new", "");
    keep(c, "newer", "");
    expect(c, NULL, "2", "");
    expect(c, NULL, "3", "");
    expect(c, NULL, "4", "4");
    expect(c, "1", "new", "0 1|new");
    qn_catalog_close(c);

    /* The same by their size: all but the last two would be too much. */
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char sql[256];
    snprintf(sql, sizeof sql,
             "PRAGMA foreign_keys = ON; DELETE FROM answer WHERE id NOT IN ('0', '1', 'new');"
             "UPDATE answer_use SET bytes = %d",
             QN_ANSWERS_BYTES_MAX / 3 + 1);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    c = open_catalog();
    expect(c, NULL, "0", "0");
    keep(c, "last", "");
    expect(c, NULL, "1", "");
    expect(c, NULL, "0", "0");
    expect(c, NULL, "new", "new");
    expect(c, NULL, "last", "last");
    qn_catalog_close(c);
}

/* Bytes that this process has written to anything. */
static long long written(void)
{
    long long n = -1;
    char line[128];
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "wchar: %lld", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

static void keep_large(struct qn_catalog *c, const char *id, const char *previous, size_t n)
{
    char *input = malloc(n + 3);
    memset(input, ' ', n);
    strcpy(input + n, "[]");
    qn_catalog_keep_answer(
        c, qn_answer_to_keep("key:a", &(struct qn_answer_row){id, previous, input, "{}"}));
    free(input);
}

static void note_size(void *ctx, const struct qn_answers_found *f)
{
    size_t *n = ctx;
    *n = f->e ? 0 : 1;
    for (size_t i = 0; i < f->n; i++)
        *n += strlen(f->rows[i].input);
}

/* To be of use costs an answer a few bytes on the disk, however long it is. */
static void count(void *ctx, const struct qn_answers_found *f)
{
    *(size_t *)ctx = f->n;
}

static size_t found_by(struct qn_catalog *c, const struct qn_answers_of *of, const char *chain,
                       const char *id)
{
    size_t n = 0;
    qn_catalog_find_answers(c, of, chain, &id, id ? 1 : 0, count, &n);
    qn_catalog_flush(c);
    return n;
}

static void each_owner_finds_its_own(void **state)
{
    (void)state;
    static const struct qn_answers_of of_b = {"key:b", false}, of_admin = {"key:b", true};
    struct qn_catalog *c = open_catalog();
    keep(c, "x", "");
    keep(c, "y", "x");
    assert_int_equal(found_by(c, &of_b, "y", "x"), 0);
    qn_err code = QN_OK;
    qn_catalog_drop_answer(c, &of_b, "x", note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_ENOTFOUND);
    /* Going on from another owner's answer does not make its conversation one's own. */
    qn_catalog_keep_answer(
        c,
        qn_answer_to_keep("key:b", &(struct qn_answer_row){"z", "y", "[\"z\"]", "{\"id\":\"z\"}"}));
    assert_int_equal(found_by(c, &of_b, "z", NULL), 0);
    assert_int_equal(found_by(c, &of_b, NULL, "z"), 1);
    assert_int_equal(found_by(c, &of_admin, NULL, "x"), 0);
    expect(c, "y", NULL, "x y");
    qn_catalog_close(c);

    sqlite3 *db; /* as an earlier version has kept it */
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE answer_use SET owner = '' WHERE id = 'x'", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    c = open_catalog();
    assert_int_equal(found_by(c, &of_a, NULL, "x"), 0);
    assert_int_equal(found_by(c, &of_b, NULL, "x"), 0);
    assert_int_equal(found_by(c, &of_admin, NULL, "x"), 1);
    qn_catalog_drop_answer(c, &of_admin, "x", note_error, &code);
    qn_catalog_flush(c);
    assert_int_equal(code, QN_OK);
    qn_catalog_close(c);
}

/* Two that were there first stay, however many another owner keeps, by number and by size. */
static void a_flood_costs_its_own_owner(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    char id[16];
    keep(c, "first", "");
    keep(c, "second", "first");
    for (int i = 0; i < QN_ANSWERS_MAX + 10; i++) {
        snprintf(id, sizeof id, "%d", i);
        qn_catalog_keep_answer(
            c, qn_answer_to_keep("user:1", &(struct qn_answer_row){id, "", "[]", "{}"}));
    }
    expect(c, "second", NULL, "first second");
    static const struct qn_answers_of flood = {"user:1", false};
    static const struct {
        int number;
        bool there;
    } rows[] = {{11, false}, {12, true}, {QN_ANSWERS_MAX + 9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(id, sizeof id, "%d", rows[i].number);
        assert_int_equal(found_by(c, &flood, NULL, id), rows[i].there);
    }
    qn_catalog_close(c);

    sqlite3 *db;
    char sql[256];
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "UPDATE answer_use SET bytes = CASE id WHEN '12' THEN %d WHEN 'first' THEN %d"
             " ELSE 0 END",
             QN_ANSWERS_BYTES_MAX / 2 + 100, QN_ANSWERS_BYTES_MAX / 2);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    c = open_catalog();
    keep(c, "third", "");
    expect(c, NULL, "first", "first");
    expect(c, NULL, "third", "third");
    assert_int_equal(found_by(c, &flood, NULL, "12"), 0);
    qn_catalog_close(c);
}

static void use_is_noted_apart_from_the_text(void **state)
{
    (void)state;
    const size_t large = 8 * 1024 * 1024;
    struct qn_catalog *c = open_catalog();
    size_t found = 0;
    keep_large(c, "large", "", large);
    qn_catalog_flush(c);
    long long before = written();
    assert_true(before > 0);
    qn_catalog_find_answers(c, &of_a, "large", NULL, 0, note_size, &found);
    qn_catalog_flush(c);
    assert_int_equal(found, large + 3);
    assert_true(written() - before < (long long)large / 4);
    qn_catalog_close(c);
}

/* What one request goes on from has a limit of its own. */
static void a_long_conversation_is_refused(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    size_t found = 1;
    keep_large(c, "a", "", QN_ANSWER_BYTES_MAX - 100);
    keep_large(c, "b", "a", QN_ANSWER_BYTES_MAX - 100);
    keep_large(c, "c", "b", 1000);
    qn_catalog_find_answers(c, &of_a, "b", NULL, 0, note_size, &found);
    qn_catalog_flush(c);
    assert_true(found > 1);
    qn_catalog_find_answers(c, &of_a, "c", NULL, 0, note_size, &found);
    qn_catalog_flush(c);
    assert_int_equal(found, 0);
    qn_catalog_close(c);
}

static void too_long_a_one_is_not_kept(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    char *body = malloc((size_t)QN_ANSWER_BYTES_MAX + 1);
    memset(body, 'x', QN_ANSWER_BYTES_MAX);
    body[QN_ANSWER_BYTES_MAX] = '\0';
    qn_catalog_keep_answer(
        c, qn_answer_to_keep("key:a", &(struct qn_answer_row){"a", "", "[]", body}));
    expect(c, NULL, "a", "");
    free(body);
    qn_catalog_close(c);
}

/* Ids come from clients, whose bodies may be larger than all answers together. */
static void no_id_is_too_long_to_be_asked_for(void **state)
{
    (void)state;
    struct qn_catalog *c = open_catalog();
    size_t n = (size_t)QN_ANSWERS_BYTES_MAX + 1;
    char *id = malloc(n + 1);
    memset(id, 'x', n);
    id[n] = '\0';
    keep(c, "a", "");
    expect(c, id, "a", "a");
    expect(c, "a", id, "a");
    free(id);
    qn_catalog_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(conversations, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(the_least_used_go_first, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(each_owner_finds_its_own, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_flood_costs_its_own_owner, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(use_is_noted_apart_from_the_text, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_long_conversation_is_refused, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(too_long_a_one_is_not_kept, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(no_id_is_too_long_to_be_asked_for, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
