/* A command line sorted into options and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/args.h"
#include "cli/commands.h"

#include <string.h>

enum { WORDS_MAX = 12 };

/* Sorts "run a b"; the words live in `text`, which is cut at the blanks. */
static qn_err sort(char *text, const char **command, struct qn_globals *g, struct qn_cli_args *a,
                   struct qn_error *e)
{
    static char *argv[WORDS_MAX + 2];
    int argc = 0, i;
    argv[argc++] = text;
    for (char *w = strtok(text, " "); w && argc <= WORDS_MAX; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    *g = (struct qn_globals){0};
    *a = (struct qn_cli_args){0};
    qn_err err = qn_args_globals(g, argc, argv, &i, e);
    if (err || i == argc)
        return err;
    *command = argv[i];
    const struct qn_cli_command *c = qn_commands_find(argv[i]);
    assert_non_null(c);
    return qn_args_sort(c, g, argc - i - 1, argv + i + 1, a, e);
}

static void options_may_stand_anywhere(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--host box --json run m --system s p",
        "run --system=s m --host=box p --json",
        "run m p --json --system s --host box",
        "--json run --host box --system s -- m p",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[128];
        const char *command;
        struct qn_globals g;
        struct qn_cli_args a;
        strcpy(text, lines[i]);
        assert_int_equal(sort(text, &command, &g, &a, NULL), QN_OK);
        assert_string_equal(command, "run");
        assert_string_equal(g.host, "box");
        assert_true(g.json);
        assert_null(g.port);
        assert_int_equal(a.n_words, 2);
        assert_string_equal(a.words[0], "m");
        assert_string_equal(a.words[1], "p");
        assert_string_equal(a.values[0], "s");
        assert_null(a.values[1]);
    }
}

static void words_after_two_dashes_are_words(void **state)
{
    (void)state;
    char text[] = "run m -- --json";
    const char *command;
    struct qn_globals g;
    struct qn_cli_args a;
    assert_int_equal(sort(text, &command, &g, &a, NULL), QN_OK);
    assert_false(g.json);
    assert_string_equal(a.words[1], "--json");
}

static void serve_takes_its_words_as_they_are(void **state)
{
    (void)state;
    char text[] = "--port 9 serve --idle 5 --help x";
    const char *command;
    struct qn_globals g;
    struct qn_cli_args a;
    assert_int_equal(sort(text, &command, &g, &a, NULL), QN_OK);
    assert_string_equal(g.port, "9");
    assert_false(g.help);
    assert_string_equal(a.rest[0], "--idle");
    assert_string_equal(a.rest[3], "x");
    assert_null(a.rest[4]);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *part; /* of the message */
    } cases[] = {
        {"--prot 9 list", "--prot"},
        {"list --follow", "--follow"},
        {"run", "usage: quince run MODEL"},
        {"run m p q", "'q'"},
        {"status now", "'now'"},
        {"list --host", "--host needs a value"},
        {"--port", "--port needs a value"},
        {"run m --system", "--system needs a value"},
        {"logs --follow=yes", "--follow=yes"},
        {"--jsonx list", "--jsonx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        const char *command;
        struct qn_globals g;
        struct qn_cli_args a;
        struct qn_error e = {0};
        strcpy(text, cases[i].line);
        assert_int_equal(sort(text, &command, &g, &a, &e), QN_EINVAL);
        if (!strstr(e.message, cases[i].part))
            fail_msg("'%s' gave: %s", cases[i].line, e.message);
    }
}

static void help_excuses_missing_words(void **state)
{
    (void)state;
    char text[] = "run --help";
    const char *command;
    struct qn_globals g;
    struct qn_cli_args a;
    assert_int_equal(sort(text, &command, &g, &a, NULL), QN_OK);
    assert_true(g.help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_may_stand_anywhere),
        cmocka_unit_test(words_after_two_dashes_are_words),
        cmocka_unit_test(serve_takes_its_words_as_they_are),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(help_excuses_missing_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
