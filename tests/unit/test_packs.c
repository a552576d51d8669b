/* The table of engines and the search for their programs: what counts as installed, and what does
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/path.h"
#include "base/str.h"
#include "registry/pack_note.h"
#include "registry/packs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SUM "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-packs-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static const char *at(const char *below)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, below);
    return path;
}

static void put(const char *below, const char *text, unsigned mode)
{
    char *folder = strdup(at(below));
    *strrchr(folder, '/') = '\0';
    assert_int_equal(qn_mkdirs(folder, 0755, NULL), QN_OK);
    assert_int_equal(qn_file_write_atomic(at(below), text, strlen(text), mode, NULL), QN_OK);
    free(folder);
}

static qn_err open_text(const char *table, bool prefer_system, struct qn_packs **out,
                        struct qn_error *e)
{
    put("packs.json", table, 0644);
    char path[256];
    snprintf(path, sizeof path, "relative:%s:%s", at("nothing"), at("path"));
    return qn_packs_open(&(struct qn_packs_config){.table = at("packs.json"),
                                                   .engines = at("engines"),
                                                   .path = path,
                                                   .prefer_system = prefer_system},
                         out, e);
}

/* A row of this machine's processor with the given members of its archive. */
static struct qn_packs *open_row(const char *archive, bool prefer_system)
{
    struct utsname machine;
    struct qn_packs *p;
    struct qn_error e = {0};
    char table[1024];
    uname(&machine);
    snprintf(table, sizeof table,
             "{\"packs\":{\"llamacpp:llama-server\":{\"version\":\"b2\",\"program\":"
             "\"llama-server\",\"digests\":\"https://api/{version}\",\"machines\":{\"%s\":{%s}}},"
             "\"llamacpp:vulkan\":{\"version\":\"b2\",\"program\":\"llama-server\",\"needs\":"
             "\"vulkan\",\"machines\":{}}}}",
             machine.machine, archive);
    if (open_text(table, prefer_system, &p, &e))
        fail_msg("%s", e.message);
    return p;
}

static void install(const char *version, const char *program)
{
    char below[256], text[256];
    snprintf(below, sizeof below, "engines/llamacpp/llama-server/%s/llama/llama-server", version);
    put(below, "#!/bin/sh\n", 0755);
    snprintf(below, sizeof below, "engines/llamacpp/llama-server/%s/" QN_PACK_NOTE, version);
    snprintf(text, sizeof text, "{\"program\":\"%s\"}", program);
    put(below, text, 0644);
}

static void test_rows(void **state)
{
    (void)state;
    struct qn_packs *p = open_row("\"url\":\"https://h/{version}/a-{version}.tar.gz\",\"sha256\":"
                                  "\"" SUM "\",\"size_bytes\":7,\"glibc\":\"2.35\"",
                                  false);
    assert_int_equal(qn_packs_count(p), 2);
    const struct qn_pack *pack = qn_packs_find(p, "llamacpp", "llama-server");
    assert_string_equal(pack->url, "https://h/b2/a-b2.tar.gz");
    assert_string_equal(pack->digest_url, "https://api/b2");
    assert_string_equal(pack->sha256, SUM);
    assert_string_equal(pack->glibc, "2.35");
    assert_int_equal(pack->size_bytes, 7);
    assert_null(qn_packs_find(p, "llamacpp", "vulkan")->url); /* not for this processor */
    assert_null(qn_packs_find(p, "llamacpp", "llama"));
    assert_int_equal(qn_packs_count(NULL), 0);
    qn_packs_close(p);
}

static void test_wrong_tables(void **state)
{
    (void)state;
    static const struct {
        const char *row, *says;
    } cases[] = {
        {"\"a\":{}", "RECIPE:BACKEND"},
        {"\"a:../b\":{}", "RECIPE:BACKEND"},
        {"\"a:b\":{\"version\":\"../1\"}", "packs.a:b.version"},
        {"\"a:b\":{\"version\":\"1\",\"program\":\"x/y\"}", "packs.a:b.program"},
        {"\"a:b\":{\"version\":\"1\",\"program\":\"x\",\"needs\":\"luck\"}", "vulkan"},
        {"\"a:b\":{\"version\":\"1\",\"program\":\"x\"}", "machines"},
        {"\"a:b\":{\"version\":\"1\",\"program\":\"x\",\"digests\":\"file:///x\"}", "https"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_packs *p;
        struct qn_error e = {0};
        char table[512];
        snprintf(table, sizeof table, "{\"packs\":{%s}}", cases[i].row);
        assert_int_equal(open_text(table, false, &p, &e), QN_EINVAL);
        assert_null(p);
        assert_non_null(strstr(e.message, cases[i].says));
    }
    struct utsname machine;
    struct qn_packs *p;
    struct qn_error e = {0};
    char table[512];
    uname(&machine);
    snprintf(table, sizeof table,
             "{\"packs\":{\"a:b\":{\"version\":\"1\",\"program\":\"x\",\"machines\":{\"%s\":{"
             "\"url\":\"https://h/x\",\"sha256\":\"ABC\"}}}}}",
             machine.machine);
    assert_int_equal(open_text(table, false, &p, &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "SHA-256"));
}

static void test_program(void **state)
{
    (void)state;
    struct qn_packs *p = open_row("\"url\":\"https://h/x\"", false);
    struct qn_pack_program found;
    struct qn_error e = {0};
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, &e), QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "quince backends install llamacpp:llama-server"));
    assert_int_equal(qn_packs_program(p, "llamacpp", "nothing", &found, &e), QN_ENOTFOUND);

    /* A folder without its note, or whose program cannot be started, does not count. */
    put("engines/llamacpp/llama-server/b2/llama/llama-server", "#!/bin/sh\n", 0755);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_ENOTFOUND);
    install("b2", "llama/llama-server");
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_string_equal(found.path, at("engines/llamacpp/llama-server/b2/llama/llama-server"));
    assert_string_equal(found.folder, at("engines/llamacpp/llama-server/b2"));
    assert_string_equal(found.version, "b2");
    assert_false(found.outdated || found.system);
    qn_pack_program_deinit(&found);
    chmod(at("engines/llamacpp/llama-server/b2/llama/llama-server"), 0644);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_ENOTFOUND);

    /* An older version does until the update. */
    install("b1", "llama/llama-server");
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_string_equal(found.version, "b1");
    assert_true(found.outdated);
    qn_pack_program_deinit(&found);
    chmod(at("engines/llamacpp/llama-server/b2/llama/llama-server"), 0755);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_string_equal(found.version, "b2");
    assert_false(found.outdated);
    qn_pack_program_deinit(&found);
    qn_packs_close(p);
}

static void test_note_that_leads_out(void **state)
{
    (void)state;
    static const char *const wrong[] = {"../b1/llama/llama-server", "/bin/sh", "", "llama//x",
                                        "llama/../../x"};
    struct qn_packs *p = open_row("\"url\":\"https://h/x\"", false);
    struct qn_pack_program found;
    install("b1", "llama/llama-server");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        install("b2", wrong[i]);
        assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
        assert_string_equal(found.version, "b1");
        qn_pack_program_deinit(&found);
    }
    qn_packs_close(p);
}

static void test_path(void **state)
{
    (void)state;
    struct qn_pack_program found;
    struct qn_packs *p = open_row("\"url\":\"https://h/x\"", false);
    put("path/llama-server", "#!/bin/sh\n", 0755);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_string_equal(found.path, at("path/llama-server"));
    assert_string_equal(found.folder, at("path"));
    assert_string_equal(found.version, "");
    assert_true(found.system);
    qn_pack_program_deinit(&found);
    /* It is unknown whether it drives graphics processors. */
    assert_int_equal(qn_packs_program(p, "llamacpp", "vulkan", &found, NULL), QN_ENOTFOUND);
    install("b2", "llama/llama-server");
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_false(found.system);
    qn_pack_program_deinit(&found);
    qn_packs_close(p);
    p = open_row("\"url\":\"https://h/x\"", true);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_true(found.system);
    qn_pack_program_deinit(&found);
    chmod(at("path/llama-server"), 0644);
    assert_int_equal(qn_packs_program(p, "llamacpp", "llama-server", &found, NULL), QN_OK);
    assert_false(found.system);
    qn_pack_program_deinit(&found);
    qn_packs_close(p);
}

static void test_note(void **state)
{
    (void)state;
    struct qn_pack pack = {.recipe = "r", .backend = "b", .version = "1", .url = "https://h/x"};
    struct qn_pack_note note;
    assert_int_equal(qn_pack_note_write(dir, &pack, "bin/x", SUM, 12, NULL), QN_OK);
    assert_int_equal(qn_pack_note_read(dir, &note, NULL), QN_OK);
    assert_string_equal(note.program, "bin/x");
    put(QN_PACK_NOTE, "{\"program\":", 0644);
    assert_int_equal(qn_pack_note_read(dir, &note, NULL), QN_EFORMAT);
}

/* The list that quince ships. */
static void test_shipped(void **state)
{
    (void)state;
    struct qn_packs *p;
    struct qn_error e = {0};
    if (qn_packs_open(&(struct qn_packs_config){.table = "registry/packs.json", .engines = dir}, &p,
                      &e))
        fail_msg("%s", e.message);
    for (size_t i = 0; i < qn_packs_count(p); i++) {
        const struct qn_pack *pack = qn_packs_at(p, i);
        assert_true(*pack->sha256 || pack->digest_url);
        if (pack->url)
            assert_true(qn_str_starts(pack->url, "https://github.com/"));
    }
    qn_packs_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_program, setup, teardown),
        cmocka_unit_test_setup_teardown(test_note_that_leads_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_note, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shipped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
