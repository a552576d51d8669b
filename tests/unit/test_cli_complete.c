/* Completion: what the table of commands has for each place of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/complete.h"

#include <string.h>

enum { WORDS_MAX = 8 };

/* The words of `line`; a blank at its end begins a new one. */
static void assert_complete(const char *line, enum qn_complete_names names, const char *expected)
{
    char text[128];
    const char *words[WORDS_MAX];
    int n = 0;
    struct qn_buf out;
    strcpy(text, line);
    for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
        words[n++] = w;
    if (n == 0 || line[strlen(line) - 1] == ' ')
        words[n++] = "";
    qn_buf_init(&out, 4096);
    enum qn_complete_names got = qn_complete(words, n, &out);
    if (strcmp(qn_buf_cstr(&out), expected) != 0 || got != names)
        fail_msg("'%s' gave %d and:\n%s", line, (int)got, qn_buf_cstr(&out));
    qn_buf_deinit(&out);
}

static void places(void **state)
{
    (void)state;
    assert_complete("lo", QN_COMPLETE_NOTHING, "load\nlogs\n");
    assert_complete("--host box lo", QN_COMPLETE_NOTHING, "load\nlogs\n");
    assert_complete("help un", QN_COMPLETE_NOTHING, "unload\nunpin\n");
    assert_complete("--ver", QN_COMPLETE_NOTHING, "--version\n");
    assert_complete(
        "logs --", QN_COMPLETE_NOTHING,
        "--follow\n--lines\n--level\n--host\n--port\n--api-key\n--json\n--help\n--version\n");
    assert_complete("pull --var", QN_COMPLETE_NOTHING, "--variant\n");
    assert_complete("downloads re", QN_COMPLETE_NOTHING, "resume\nremove\n");
    assert_complete("alias ", QN_COMPLETE_NOTHING, "add\nremove\nlist\n");
    assert_complete("completion z", QN_COMPLETE_NOTHING, "zsh\n");
    /* Names of models. */
    assert_complete("run ", QN_COMPLETE_MODELS, "");
    assert_complete("--json run --system x q", QN_COMPLETE_MODELS, "");
    assert_complete("delete a b", QN_COMPLETE_MODELS, "");
    assert_complete("pull Q", QN_COMPLETE_LIST, "");
    assert_complete("downloads pause ", QN_COMPLETE_MODELS, "");
    assert_complete("embed --model q", QN_COMPLETE_MODELS, "");
    /* Values of options, files, and unknown words. */
    assert_complete("transcribe ", QN_COMPLETE_NOTHING, "");
    assert_complete("run --system ", QN_COMPLETE_NOTHING, "");
    assert_complete("pull x --checkpoint main ", QN_COMPLETE_NOTHING, "");
    assert_complete("import ", QN_COMPLETE_NOTHING, "");
    assert_complete("show x ", QN_COMPLETE_NOTHING, "");
    assert_complete("serve --", QN_COMPLETE_NOTHING,
                    "--host\n--port\n--api-key\n--json\n--help\n--version\n");
    assert_complete("nonsense ", QN_COMPLETE_NOTHING, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
