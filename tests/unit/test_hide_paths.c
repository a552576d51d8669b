/* router/answers/hide_paths.c: files lose their folders, everything else stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/hide_paths.h"

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"open /home/anna/m.gguf: No such file", "open m.gguf: No such file"},
        {"/a/b", "b"},
        {"message=\"open '/a/b c/d'\" (/e/f)", "message=\"open 'b c/d'\" (f)"},
        {"path=/a/b/ x", "path= x"},
        {"load one first (POST /v1/load or /api/v1/load)",
         "load one first (POST /v1/load or /api/v1/load)"},
        {"GET /api/tags, /internal/config, /health", "GET /api/tags, /internal/config, /health"},
        {"owner/repo, 3/4, http://host/path, a / b //",
         "owner/repo, 3/4, http://host/path, a / b //"},
        {"/", "/"},
    };
    char out[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_hide_paths(rows[i].text, out, sizeof out);
        assert_string_equal(out, rows[i].shown);
    }
    qn_hide_paths("/a/bcdef", out, 4);
    assert_string_equal(out, "bcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
