/* A catalog in a folder of its own, for tests. */
#ifndef QN_TESTS_CATALOG_DIR_H
#define QN_TESTS_CATALOG_DIR_H

#include "catalog/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char dir[64], path[128];

/* Done callbacks run on the catalog's own thread. */
static inline void post_at_once(void *ctx, void (*fn)(void *), void *arg)
{
    (void)ctx;
    fn(arg);
}

static inline int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-catalog-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/catalog.db", dir);
    return 0;
}

static inline int remove_dir(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static inline struct qn_catalog *open_catalog(void)
{
    struct qn_catalog *c = NULL;
    struct qn_error e = {0};
    if (qn_catalog_open(path, post_at_once, NULL, &c, &e))
        fail_msg("%s", e.message);
    return c;
}

#endif
