/* See complete.h. The candidates follow from a command's usage: words in small letters are literal,
 * MODEL is a model's name. */
#include "cli/complete.h"

#include "base/str.h"
#include "cli/commands.h"

#include <stdbool.h>
#include <string.h>

static const struct qn_cli_option globals[] = {
    {"--host", "HOST", NULL, NULL},
    {"--port", "PORT", NULL, NULL},
    {"--api-key", "KEY", NULL, NULL},
    {"--json", NULL, NULL, NULL},
    {"--help", NULL, NULL, NULL},
    {"--version", NULL, NULL, NULL},
    {0},
};

static void offer(const char *candidate, size_t n, const char *prefix, struct qn_buf *out)
{
    size_t typed = strlen(prefix);
    if (typed <= n && strncmp(candidate, prefix, typed) == 0) {
        qn_buf_add(out, candidate, n);
        qn_buf_char(out, '\n');
    }
}

static void offer_options(const struct qn_cli_option *o, const char *prefix, struct qn_buf *out)
{
    for (; o && o->name; o++)
        offer(o->name, strlen(o->name), prefix, out);
}

static void offer_commands(const char *prefix, struct qn_buf *out)
{
    const struct qn_cli_command *c;
    for (size_t i = 0; (c = qn_commands_at(i)); i++)
        offer(c->name, strlen(c->name), prefix, out);
}

static const struct qn_cli_option *find_option(const struct qn_cli_option *o, const char *word)
{
    for (; o && o->name; o++)
        if (qn_str_eq(o->name, word))
            return o;
    return NULL;
}

/* How many words belong to this option and its values; 0: it is NULL. */
static int option_words(const struct qn_cli_option *o)
{
    return o ? 1 + (o->value != NULL) + (o->second != NULL) : 0;
}

/* Iterates over the words of a usage: yields "pause" of "downloads [pause|...]". */
static const char *next_word(const char *usage, size_t *n)
{
    usage += strspn(usage, " |[]");
    *n = strcspn(usage, " |[]");
    return *n ? usage : NULL;
}

static bool is_small(const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word[i] < 'a' || word[i] > 'z')
            return false;
    return n > 0;
}

/* Offers the actions of a command: the small words in its usage after its name. */
static bool offer_actions(const struct qn_cli_command *c, const char *prefix, struct qn_buf *out)
{
    size_t n;
    bool some = false;
    const char *w = next_word(c->usage, &n);
    for (w = next_word(w + n, &n); w; w = next_word(w + n, &n))
        if (is_small(w, n)) {
            offer(w, n, prefix, out);
            some = true;
        }
    return some;
}

enum qn_complete_names qn_complete(const char *const *words, int n, struct qn_buf *out)
{
    const char *last = words[n - 1];
    const struct qn_cli_command *c = NULL;
    int at = 0, plain = 0; /* plain: number of words after the command that are not options */
    while (at < n - 1) {
        const struct qn_cli_option *o = find_option(c ? c->options : NULL, words[at]);
        o = o ? o : find_option(globals, words[at]);
        int taken = option_words(o);
        if (taken && at + taken >= n) /* an option's value */
            return qn_str_eq(o->value, "MODEL") ? QN_COMPLETE_MODELS : QN_COMPLETE_NOTHING;
        if (!taken && c)
            plain++;
        else if (!taken && !(c = qn_commands_find(words[at])))
            return QN_COMPLETE_NOTHING;
        at += taken ? taken : 1;
    }
    if (last[0] == '-') {
        offer_options(c ? c->options : NULL, last, out);
        offer_options(globals, last, out);
        return QN_COMPLETE_NOTHING;
    }
    if (!c || qn_str_eq(c->name, "help")) {
        offer_commands(last, out);
        return QN_COMPLETE_NOTHING;
    }
    if (c->raw || plain >= c->max_words || (plain == 0 && offer_actions(c, last, out)))
        return QN_COMPLETE_NOTHING;
    if (!strstr(c->usage, "MODEL"))
        return QN_COMPLETE_NOTHING;
    return qn_str_eq(c->name, "pull") || qn_str_eq(c->name, "show") ? QN_COMPLETE_LIST
                                                                    : QN_COMPLETE_MODELS;
}
