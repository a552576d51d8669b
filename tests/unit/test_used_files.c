/* Whether a file belongs to a model, for one and for many at once. */
#include "catalog_dir.h"

#include "catalog/used_files.h"

#include <stdlib.h>

static struct qn_model_row row_of(const char *name, const char **files, const char **roles,
                                  size_t n)
{
    return (struct qn_model_row){.name = name,
                                 .recipe = "llamacpp",
                                 .type = "llm",
                                 .checkpoint = files[0],
                                 .files = files,
                                 .roles = roles,
                                 .n_files = n};
}

static void both_ways_agree(void **state)
{
    (void)state;
    struct qn_catalog *catalog;
    const char *roles[] = {"main", "shard", "other"};
    const char *one[] = {"/m/aa/x", "/m/a-/x", "/m/a/x"}, *two[] = {"/m/b", "/m/c/d/e"};
    assert_int_equal(qn_catalog_open(path, post_at_once, NULL, &catalog, NULL), QN_OK);
    struct qn_model_row rows[] = {row_of("one", one, roles, 3), row_of("two", two, roles, 2)};
    for (size_t i = 0; i < 2; i++)
        qn_catalog_put(catalog, &rows[i], NULL, NULL);
    qn_catalog_flush(catalog);
    struct qn_snapshot *snap = qn_catalog_snapshot(catalog);
    assert_int_equal(qn_snapshot_count(snap), 2);
    struct qn_used_files *used = qn_used_files_new(snap);
    static const char *const yes[] = {"/m/aa/x", "/m/a-/x", "/m/a/x", "/m/b", "/m/c/d/e"};
    static const char *const no[] = {"/m/a", "/m", "/m/c/d", "/m/bb", "", "/"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(qn_used_files_has(used, yes[i]) && qn_file_is_used(snap, yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(qn_used_files_has(used, no[i]) || qn_file_is_used(snap, no[i]));
    static const char *const above[] = {"/m", "/m/a", "/m/aa", "/m/a-", "/m/c", "/m/c/d"};
    static const char *const not_above[] = {"/m/b", "/m/a/x",   "/n", "/m/c/",
                                            "/m/d", "/m/c/d/e", "/l"};
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        assert_true(qn_used_files_below(used, above[i]));
    for (size_t i = 0; i < sizeof not_above / sizeof *not_above; i++)
        assert_false(qn_used_files_below(used, not_above[i]));
    qn_used_files_free(used);
    qn_snapshot_unref(snap);
    qn_catalog_close(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_ways_agree, make_dir, remove_dir)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
