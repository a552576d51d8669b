/* router/http/watchers.c: how many streams one owner and all owners may have open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/watchers.h"

#include <stdio.h>
#include <string.h>

static struct qn_watchers all;
static struct qn_watcher watchers[QN_WATCHERS_MAX + 1];
static size_t n;

static int begin(void **state)
{
    (void)state;
    all = (struct qn_watchers){0};
    memset(watchers, 0, sizeof watchers);
    n = 0;
    return 0;
}

static qn_err add(const char *owner, struct qn_error *e)
{
    qn_err err = qn_watchers_add(&all, owner, "GET logs", &watchers[n], e);
    n += !err;
    return err;
}

static size_t fill(const char *owner)
{
    size_t before = n;
    while (add(owner, NULL) == QN_OK)
        ;
    return n - before;
}

static void of_one_owner(void **state)
{
    (void)state;
    struct qn_error e = {0};
    assert_int_equal(fill("a"), QN_WATCHERS_OWNER_MAX);
    assert_int_equal(add("a", &e), QN_EBUSY);
    assert_non_null(strstr(e.message, "64"));
    assert_non_null(strstr(e.message, "GET logs"));
    assert_int_equal(add("b", &e), QN_OK);
    qn_watchers_remove(&watchers[0]);
    assert_int_equal(add("a", &e), QN_OK);
    assert_int_equal(add("a", &e), QN_EBUSY);
    while (n)
        qn_watchers_remove(&watchers[--n]);
    assert_int_equal(all.n, 0);
    assert_null(all.first);
}

/* In any order, twice, and without having been added: no other one is affected. */
static void removal(void **state)
{
    (void)state;
    struct qn_watcher never = {0};
    fill("a");
    for (size_t i = 0; i < n; i += 2)
        qn_watchers_remove(&watchers[i]);
    for (size_t i = 0; i < n; i += 4)
        qn_watchers_remove(&watchers[i]);
    qn_watchers_remove(&never);
    assert_int_equal(all.n, QN_WATCHERS_OWNER_MAX / 2);
    assert_int_equal(fill("a"), QN_WATCHERS_OWNER_MAX / 2);
}

/* An owner gets no more than are left for all others. */
static void of_all_owners(void **state)
{
    (void)state;
    char owner[16];
    struct qn_error e = {0};
    for (int i = 0; i < 7; i++) {
        snprintf(owner, sizeof owner, "o%d", i);
        assert_int_equal(fill(owner), QN_WATCHERS_OWNER_MAX);
    }
    assert_int_equal(fill("h"), 32);
    assert_int_equal(fill("i"), 16);
    for (int i = 0; n < QN_WATCHERS_MAX; i++) {
        snprintf(owner, sizeof owner, "p%d", i);
        assert_int_equal(add(owner, &e), QN_OK);
    }
    assert_int_equal(add("last", &e), QN_EBUSY);
    assert_non_null(strstr(e.message, "512"));
    qn_watchers_remove(&watchers[0]);
    n--;
    watchers[0] = (struct qn_watcher){0};
    assert_int_equal(qn_watchers_add(&all, "last", "", &watchers[0], &e), QN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_one_owner, begin),
        cmocka_unit_test_setup(removal, begin),
        cmocka_unit_test_setup(of_all_owners, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
