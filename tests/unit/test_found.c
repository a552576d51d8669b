/* The search for models over folders that hold more than is kept of them: it ends, says so, and
 * takes nothing from other folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "registry/found.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
enum { LONG_NAME = 240 };

static char dir[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-found-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

/* A path of about n bytes below dir, malloc'ed, which exists. */
static char *long_folder(size_t n)
{
    char name[LONG_NAME + 1], *path = qn_xstrdup(dir);
    memset(name, 'd', LONG_NAME);
    name[LONG_NAME] = '\0';
    while (strlen(path) + LONG_NAME + 1 < n) {
        char *below = qn_path_join(path, name);
        free(path);
        path = below;
    }
    assert_int_equal(qn_mkdirs(path, 0700, NULL), QN_OK);
    return path;
}

/* Empty files whose names begin with this, each LONG_NAME bytes long. */
static void fill(const char *folder, const char *begins, size_t n)
{
    char name[LONG_NAME + 1], number[24];
    const size_t digits = LONG_NAME - strlen(begins) - strlen(".gguf");
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at >= 0);
    for (size_t i = 0; i < n; i++) {
        const size_t len = (size_t)snprintf(number, sizeof number, "%zu", i);
        memset(name, '0', LONG_NAME);
        memcpy(name, begins, strlen(begins));
        memcpy(name + strlen(begins) + digits - len, number, len);
        memcpy(name + LONG_NAME - strlen(".gguf"), ".gguf", sizeof ".gguf");
        int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    close(at);
}

static struct qn_found *scan(const char *cache, const char *folders)
{
    static const char *const env[] = {NULL};
    atomic_bool stop;
    struct qn_found *found;
    struct qn_error e = {0};
    struct qn_store *store = qn_store_new(cache, cache);
    atomic_init(&stop, false);
    const struct qn_found_places places = {.env = env, .store = store, .folders = folders};
    if (qn_found_scan(&places, &stop, &found, &e))
        fail_msg("%s", e.message);
    qn_store_free(store);
    return found;
}

/* 75000 paths of 3800 bytes: 285 MB. */
static void a_folder_of_very_many_long_paths(void **state)
{
    (void)state;
    char *folder = long_folder(3600), *cache = qn_path_join(dir, "cache");
    fill(folder, "mmproj-", 75000);
    qn_found_free(scan(cache, folder));
    free(folder);
    free(cache);
}

/* 15000 files, each with its path in the snapshot and its whole one: 90 MB. */
static void a_snapshot_of_very_many_long_paths(void **state)
{
    (void)state;
    struct qn_repo *repo;
    char *cache = long_folder(2700), name[LONG_NAME + 1], *folder;
    memset(name, 's', LONG_NAME);
    name[LONG_NAME] = '\0';
    folder = qn_path_join(cache, "models--owner--repo/snapshots/" COMMIT);
    for (int i = 0; i < 3; i++) {
        char *below = qn_path_join(folder, name);
        free(folder);
        folder = below;
    }
    assert_int_equal(qn_mkdirs(folder, 0700, NULL), QN_OK);
    fill(folder, "mmproj-", 15000);
    struct qn_store *store = qn_store_new(cache, cache);
    assert_int_equal(qn_store_cached(store, QN_HUB_HF, "owner/repo", "", 0, &repo, NULL), QN_OK);
    assert_true(repo->n > 1000);
    qn_repo_free(repo);
    qn_store_free(store);
    free(folder);
    free(cache);
}

static bool has(const struct qn_found *found, const char *path)
{
    for (size_t i = 0; i < found->n; i++)
        if (!strcmp(found->v[i].files[0], path))
            return true;
    return false;
}

/* dir/full and dir/other, which holds one model; the cache is not there. */
static struct qn_found *scan_both(void)
{
    char folders[200], *cache = qn_path_join(dir, "cache"), *other = qn_path_join(dir, "other");
    snprintf(folders, sizeof folders, "%s/full:%s", dir, other);
    assert_int_equal(qn_mkdirs(other, 0700, NULL), QN_OK);
    fill(other, "other", 1);
    struct qn_found *found = scan(cache, folders);
    free(other);
    free(cache);
    return found;
}

static bool finds_the_other(const struct qn_found *found)
{
    char path[LONG_NAME + 100];
    snprintf(path, sizeof path, "%s/other/other%0*d.gguf", dir, LONG_NAME - 10, 0);
    return has(found, path);
}

static void a_folder_of_too_many_models_takes_no_place_from_the_next(void **state)
{
    (void)state;
    char *full = qn_path_join(dir, "full"), path[200];
    assert_int_equal(qn_mkdirs(full, 0700, NULL), QN_OK);
    fill(full, "m", QN_FOUND_MAX + 1);
    struct qn_found *found = scan_both();
    assert_in_range(found->n, QN_FOUND_MAX / 3, QN_FOUND_MAX);
    assert_true(finds_the_other(found));
    /* Its models that were not looked at may be there; what is not in the other is not there. */
    snprintf(path, sizeof path, "%s/full/of/more.gguf", dir);
    assert_true(qn_found_unseen(found, path));
    snprintf(path, sizeof path, "%s/fuller/more.gguf", dir);
    assert_false(qn_found_unseen(found, path));
    snprintf(path, sizeof path, "%s/other/more.gguf", dir);
    assert_false(qn_found_unseen(found, path));
    qn_found_free(found);
    free(full);
}

/* Five links to the folder itself are 5^8 ways through it. */
static void links_that_lead_in_a_circle_are_followed_once(void **state)
{
    (void)state;
    char *full = qn_path_join(dir, "full"), path[200];
    assert_int_equal(qn_mkdirs(full, 0700, NULL), QN_OK);
    fill(full, "m", 3);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/round%d", full, i);
        assert_int_equal(symlink(i % 2 ? "." : "../full", path), 0);
    }
    struct qn_found *found = scan_both();
    assert_int_equal(found->n, 4);
    assert_true(finds_the_other(found));
    snprintf(path, sizeof path, "%s/gone.gguf", full);
    assert_false(qn_found_unseen(found, path));
    qn_found_free(found);
    free(full);
}

static void what_cannot_be_looked_at_may_be_there(void **state)
{
    (void)state;
    char *full = qn_path_join(dir, "full"), path[200];
    assert_int_equal(qn_mkdirs(full, 0700, NULL), QN_OK);
    fill(full, "m", 1);
    snprintf(path, sizeof path, "%s/disk", full);
    assert_int_equal(symlink("/no/such/disk", path), 0);
    struct qn_found *found = scan_both();
    assert_int_equal(found->n, 2);
    snprintf(path, sizeof path, "%s/disk/model.gguf", full);
    assert_true(qn_found_unseen(found, path));
    snprintf(path, sizeof path, "%s/model.gguf", full);
    assert_false(qn_found_unseen(found, path));
    snprintf(path, sizeof path, "%s/cache/models--a--b/model.gguf", dir); /* no such folder */
    assert_true(qn_found_unseen(found, path));
    qn_found_free(found);
    free(full);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The first parts of 40,000 split models whose second parts are missing, and one whole model. A
 * search that looks through all names for each part compares 3.2 billion of them. */
static void parts_of_split_models_are_not_found_by_looking_through_all_names(void **state)
{
    (void)state;
    enum { FIRST_PARTS = 40000, SECONDS = 20 };
    char *full = qn_path_join(dir, "full"), *cache = qn_path_join(dir, "cache"), name[64];
    const char *const whole[] = {"whole-00002-of-00002.gguf", "whole-00001-of-00002.gguf"};
    assert_int_equal(qn_mkdirs(full, 0700, NULL), QN_OK);
    int at = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at >= 0);
    for (size_t i = 0; i < FIRST_PARTS + sizeof whole / sizeof *whole; i++) {
        snprintf(name, sizeof name, "m%05zu-00001-of-00002.gguf", i);
        int fd = openat(at, i < FIRST_PARTS ? name : whole[i - FIRST_PARTS],
                        O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    close(at);
    double before = cpu_seconds();
    struct qn_found *found = scan(cache, full);
    double took = cpu_seconds() - before;
    assert_int_equal(found->n, 1);
    assert_int_equal(found->v[0].n_files, 2);
    assert_non_null(strstr(found->v[0].files[0], "whole-00001"));
    assert_non_null(strstr(found->v[0].files[1], "whole-00002"));
    if (took > SECONDS)
        fail_msg("the search took %.1f s of processor time", took);
    qn_found_free(found);
    free(full);
    free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_of_very_many_long_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(a_snapshot_of_very_many_long_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_of_too_many_models_takes_no_place_from_the_next,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(links_that_lead_in_a_circle_are_followed_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_looked_at_may_be_there, setup, teardown),
        cmocka_unit_test_setup_teardown(
            parts_of_split_models_are_not_found_by_looking_through_all_names, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
