/* See args.h. */
#include "cli/args.h"

#include "base/near.h"
#include "base/str.h"

#include <string.h>

/* Recognises "--name value" and "--name=value". Returns the number of arguments used: 0 if argv[i]
 * is not this option, -1 if its value is missing. */
static int take(const char *name, bool wants_value, int argc, char **argv, int i,
                const char **value)
{
    size_t n = strlen(name);
    if (strncmp(argv[i], name, n) != 0)
        return 0;
    if (argv[i][n] == '=' && wants_value) {
        *value = argv[i] + n + 1;
        return 1;
    }
    if (argv[i][n] != '\0')
        return 0;
    if (!wants_value) {
        *value = "";
        return 1;
    }
    if (i + 1 >= argc)
        return -1;
    *value = argv[i + 1];
    return 2;
}

static int take_global(struct qn_globals *g, int argc, char **argv, int i)
{
    const struct {
        const char *name;
        const char **value; /* an option with a value, or */
        bool *flag;
    } options[] = {
        {"--host", &g->host, NULL},       {"--port", &g->port, NULL},
        {"--api-key", &g->api_key, NULL}, {"--json", NULL, &g->json},
        {"--help", NULL, &g->help},       {"-h", NULL, &g->help},
        {"--version", NULL, &g->version},
    };
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        const char *v = NULL;
        int n = take(options[o].name, options[o].value != NULL, argc, argv, i, &v);
        if (n == 0)
            continue;
        if (options[o].value)
            *options[o].value = v;
        else
            *options[o].flag = true;
        return n;
    }
    return 0;
}

/* c: the command whose options are also candidates for the suggested spelling; NULL: the command is
 * not known yet. */
static qn_err unknown(const char *word, const struct qn_cli_command *c, struct qn_error *e)
{
    static const char *const globals[] = {"--host", "--port", "--api-key",
                                          "--json", "--help", "--version"};
    struct qn_near near = qn_near_begin(word);
    for (const struct qn_cli_option *o = c ? c->options : NULL; o && o->name; o++)
        qn_near_offer(&near, o->name, o->name);
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        qn_near_offer(&near, globals[i], globals[i]);
    return qn_fail(e, QN_EINVAL,
                   "unknown option '%.100s'%s%s%s: `quince help%s%s` lists the options; arguments "
                   "after -- are not options",
                   word, near.found ? "; did you mean " : "", near.found ? near.found : "",
                   near.found ? "?" : "", c ? " " : "", c ? c->name : "");
}

qn_err qn_args_globals(struct qn_globals *g, int argc, char **argv, int *i, struct qn_error *e)
{
    for (*i = 1; *i < argc && argv[*i][0] == '-';) {
        int n = take_global(g, argc, argv, *i);
        if (n < 0)
            return qn_fail(e, QN_EINVAL, "%s needs a value", argv[*i]);
        if (n == 0)
            return unknown(argv[*i], NULL, e);
        *i += n;
    }
    return QN_OK;
}

/* Like take_global, for the command's own options. The caller has checked that a->given has
 * room. */
static int take_own(const struct qn_cli_command *c, int argc, char **argv, int i,
                    struct qn_cli_args *a)
{
    for (int o = 0; c->options && c->options[o].name; o++) {
        struct qn_cli_given g = {.option = o};
        int n = take(c->options[o].name, c->options[o].value != NULL, argc, argv, i, &g.value);
        if (n > 0 && c->options[o].second) {
            if (i + n >= argc)
                return -1;
            g.second = argv[i + n++];
        }
        if (n > 0) {
            a->values[o] = g.value;
            a->given[a->n_given++] = g;
        }
        if (n)
            return n;
    }
    return 0;
}

static qn_err needs_value(const struct qn_cli_command *c, const char *word, struct qn_error *e)
{
    for (const struct qn_cli_option *o = c->options; o && o->name; o++)
        if (o->second && qn_str_eq(o->name, word))
            return qn_fail(e, QN_EINVAL, "%s needs two values: %s %s", word, o->value, o->second);
    return qn_fail(e, QN_EINVAL, "%s needs a value", word);
}

qn_err qn_args_sort(const struct qn_cli_command *c, struct qn_globals *g, int argc, char **argv,
                    struct qn_cli_args *a, struct qn_error *e)
{
    bool words_only = false;
    *a = (struct qn_cli_args){.rest = argv};
    if (c->raw)
        return QN_OK;
    for (int i = 0; i < argc;) {
        if (!words_only && qn_str_eq(argv[i], "--")) {
            words_only = true;
            i++;
        } else if (!words_only && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (a->n_given == QN_CLI_GIVEN_MAX)
                return qn_fail(e, QN_EINVAL, "more than %d options", QN_CLI_GIVEN_MAX);
            int n = take_global(g, argc, argv, i);
            if (n == 0)
                n = take_own(c, argc, argv, i, a);
            if (n < 0)
                return needs_value(c, argv[i], e);
            if (n == 0)
                return unknown(argv[i], c, e);
            i += n;
        } else if (a->n_words == c->max_words) {
            return qn_fail(e, QN_EINVAL, "unexpected argument '%.100s'%s", argv[i],
                           c->max_words ? " (put several words in quotes)" : "");
        } else {
            a->words[a->n_words++] = argv[i++];
        }
    }
    if (a->n_words < c->min_words && !g->help)
        return qn_fail(e, QN_EINVAL, "usage: quince %s", c->usage);
    return QN_OK;
}
