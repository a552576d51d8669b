/* A data folder of a test's own, with a config.json that it may write. */
#ifndef QN_TEST_CONFIG_DIR_H
#define QN_TEST_CONFIG_DIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/quince-config-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char *path = qn_path_join(dir, "config.json");
    unlink(path);
    free(path);
    return rmdir(dir);
}

static void write_config(const char *text)
{
    char *path = qn_path_join(dir, "config.json");
    assert_int_equal(qn_file_write_atomic(path, text, strlen(text), 0600, NULL), QN_OK);
    free(path);
}

#endif
