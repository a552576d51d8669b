/* Finding, comparing, copying and printing of single settings, see settings.h. */
#include "settings/settings_private.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

const char *qn_settings_layer_name(enum qn_settings_layer layer)
{
    static const char *const names[QN_LAYERS] = {"default", "config.json", "environment", "flag",
                                                 "request"};
    return names[layer];
}

bool qn_setting_at(size_t i, struct qn_setting *out)
{
    const struct qn_setting_row *r = qn_setting_row(i);
    if (r)
        *out = (struct qn_setting){.name = r->name,
                                   .live = (r->scope & QN_SETTING_LIVE) != 0,
                                   .by_hand = !(r->scope & QN_SETTING_FILE_KEY) ||
                                              (r->scope & QN_SETTING_BY_HAND)};
    return r != NULL;
}

static bool same_name(const char *row, const char *given)
{
    while (*row && (*row == *given || (*row == '-' && (*given == '_' || *given == '.'))))
        row++, given++;
    return !*row && !*given;
}

bool qn_setting_find(const char *name, size_t *i)
{
    const struct qn_setting_row *r;
    for (*i = 0; (r = qn_setting_row(*i)); (*i)++)
        if (same_name(r->name, name))
            return true;
    return false;
}

static char *text_at(const struct qn_settings *s, const struct qn_setting_row *r)
{
    char *text;
    memcpy(&text, (const char *)s + r->offset, sizeof text);
    return text;
}

static size_t bytes_of(const struct qn_setting_row *r)
{
    return r->kind == QN_SETTING_NUMBER  ? sizeof(int64_t)
           : r->kind == QN_SETTING_TRUTH ? sizeof(bool)
                                         : sizeof(char *);
}

bool qn_setting_same(const struct qn_settings *a, const struct qn_settings *b, size_t i)
{
    const struct qn_setting_row *r = qn_setting_row(i);
    if (r->kind == QN_SETTING_TEXT)
        return qn_str_eq(text_at(a, r), text_at(b, r));
    return !memcmp((const char *)a + r->offset, (const char *)b + r->offset, bytes_of(r));
}

void qn_setting_copy(struct qn_settings *to, const struct qn_settings *from, size_t i)
{
    const struct qn_setting_row *r = qn_setting_row(i);
    to->from[i] = from->from[i];
    if (r->kind != QN_SETTING_TEXT) {
        memcpy((char *)to + r->offset, (const char *)from + r->offset, bytes_of(r));
        return;
    }
    char *old = text_at(to, r), *text = text_at(from, r);
    text = text ? qn_xstrdup(text) : NULL;
    memcpy((char *)to + r->offset, &text, sizeof text);
    free(old);
}

void qn_setting_print(const struct qn_settings *s, size_t i, struct qn_jw *w)
{
    const struct qn_setting_row *r = qn_setting_row(i);
    int64_t number;
    bool truth;
    switch (r->kind) {
    case QN_SETTING_TEXT:
        qn_setting_write(r, text_at(s, r) ? text_at(s, r) : "", w);
        break;
    case QN_SETTING_NUMBER:
        memcpy(&number, (const char *)s + r->offset, sizeof number);
        qn_jw_i64(w, number);
        break;
    case QN_SETTING_TRUTH:
        memcpy(&truth, (const char *)s + r->offset, sizeof truth);
        qn_jw_bool(w, truth);
        break;
    }
}

/* ---- quinced --help ---- */

enum { HELP_WIDTH = 80, HELP_INDENT = 6, HELP_WORDS_MAX = 4096 };

/* Appends words in lines of HELP_WIDTH columns, indented by HELP_INDENT. */
static void put_wrapped(struct qn_buf *out, const char *words)
{
    size_t column = HELP_WIDTH;
    while (*words) {
        size_t n = strcspn(words, " ");
        bool fits = column + 1 + n < HELP_WIDTH;
        if (fits)
            qn_buf_char(out, ' ');
        else
            qn_buf_fmt(out, "\n%*s", HELP_INDENT, "");
        qn_buf_add(out, words, n);
        column = (fits ? column + 1 : HELP_INDENT) + n;
        words += n + strspn(words + n, " ");
    }
}

void qn_settings_help(struct qn_buf *out)
{
    const struct qn_setting_row *r;
    qn_buf_str(out,
               "quinced: the quince server. Usage: quinced [--NAME VALUE]...\n\n"
               "Each setting can also be given in the environment or, except data-dir, as a key\n"
               "of config.json in the data folder. A flag overrides the environment, which\n"
               "overrides the file.\n\n");
    for (size_t i = 0; (r = qn_setting_row(i)); i++) {
        char env[QN_SETTING_ENV_MAX];
        struct qn_buf words;
        qn_setting_env_name(r, env);
        qn_buf_init(&words, HELP_WORDS_MAX);
        qn_buf_str(&words, r->help);
        if (*r->preset)
            qn_buf_fmt(&words, " (default: %s)", r->preset);
        qn_buf_fmt(out, "  --%s%s%s", r->name, r->value ? " " : "", r->value ? r->value : "");
        put_wrapped(out, qn_buf_cstr(&words));
        qn_buf_fmt(out, "\n%*s%s\n", HELP_INDENT, "", env);
        qn_buf_deinit(&words);
    }
    qn_buf_str(out, "  --help, -h\n      print this and exit\n"
                    "  --version\n      print the version and exit\n");
}
