/* Filters over text. */
#include "jinja/filters.h"
#include "jinja/format.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"
#include "jinja/words.h"

#include "base/str.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow recase(struct qn_trun *run, const struct qn_tval *self,
                            const struct qn_targs *args, enum qn_ttext_case how,
                            struct qn_tval *out)
{
    struct qn_tval text;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    return qn_ttext_recase(run, &text, how, out);
}

static enum qn_tflow do_upper(ARGS)
{
    return recase(run, self, args, QN_TEXT_UPPER, out);
}

static enum qn_tflow do_lower(ARGS)
{
    return recase(run, self, args, QN_TEXT_LOWER, out);
}

static enum qn_tflow do_capitalize(ARGS)
{
    return recase(run, self, args, QN_TEXT_CAPITALIZE, out);
}

static bool begins_word(const char *s, size_t n)
{
    return strchr("-({[<", *s) || qn_ttext_skip(s, n);
}

/* Letters after white space, hyphens and opening brackets become upper case, all other letters
 * lower case. */
static enum qn_tflow do_title(ARGS)
{
    struct qn_tval text, part;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_str(run, self, &text));
    QN_T_TRY(qn_trun_walked(run, text.n));
    bool in_word = false;
    for (size_t at = 0; at < text.n;) {
        size_t n = qn_ttext_char(text.s + at, text.n - at), end = at + n;
        bool first = !begins_word(text.s + at, n) && !in_word;
        in_word = !begins_word(text.s + at, n);
        while (in_word && !first && end < text.n &&
               !begins_word(text.s + end, qn_ttext_char(text.s + end, text.n - end)))
            end += qn_ttext_char(text.s + end, text.n - end);
        struct qn_tval piece = qn_tval_string(text.s + at, end - at);
        QN_T_TRY(qn_ttext_recase(run, &piece, first ? QN_TEXT_UPPER : QN_TEXT_LOWER, &part));
        QN_T_TRY(qn_trun_putv(run, &part));
        at = end;
    }
    return qn_trun_take(run, mark, out);
}

static enum qn_tflow do_trim(ARGS)
{
    struct qn_tval text, set;
    QN_T_TRY(qn_trun_args(run, args, "chars", 0, &set));
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    bool none = qn_tval_is(&set, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE));
    if (!none)
        QN_T_TRY(qn_tval_need_string(run, &set));
    QN_T_TRY(qn_trun_walked(run, text.n / 8));
    *out = qn_ttext_strip(&text, none ? NULL : &set, true, true);
    return QN_T_OK;
}

static enum qn_tflow do_string(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    return qn_tval_soft_str(run, self, out);
}

static enum qn_tflow do_replace(ARGS)
{
    struct qn_tval text, v[3];
    int64_t max = -1;
    QN_T_TRY(qn_trun_args(run, args, "old new count", 2, v));
    QN_T_TRY(qn_tval_index_or(run, &v[2], -1, &max));
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    QN_T_TRY(qn_tval_soft_str(run, &v[0], &v[0]));
    QN_T_TRY(qn_tval_soft_str(run, &v[1], &v[1]));
    if (!run->autoescape) {
        text.kind = QN_T_PLAIN;
        return qn_ttext_replace(run, &text, &v[0], &v[1], max, out);
    }
    bool markup = text.kind == QN_T_MARKUP;
    if (v[0].kind == QN_T_MARKUP || (v[1].kind == QN_T_MARKUP && !markup))
        QN_T_TRY(qn_tval_escape(run, &text, &text));
    if (text.kind == QN_T_MARKUP) {
        QN_T_TRY(qn_tval_escape(run, &v[0], &v[0]));
        QN_T_TRY(qn_tval_escape(run, &v[1], &v[1]));
    }
    return qn_ttext_replace(run, &text, &v[0], &v[1], max, out);
}

static enum qn_tflow do_center(ARGS)
{
    struct qn_tval text, v;
    int64_t width = 80;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "width", 0, &v));
    if (v.type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v, &width));
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    QN_T_TRY(qn_ttext_put_centered(run, text.s, text.n, " ", 1, width));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = text.kind;
    return QN_T_OK;
}

/* As jinja2 does: appends a newline to the text, then writes the lines, indenting those after the
 * first. */
static enum qn_tflow do_indent(ARGS)
{
    struct qn_tval v[3], indention = qn_tval_cstr("    "), newline = qn_tval_cstr("\n"), text;
    struct qn_tlist *lines = NULL;
    bool first = false, blank = false;
    int64_t width = 4;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "width first blank", 0, v));
    QN_T_TRY(qn_tval_truth(run, &v[1], &first));
    QN_T_TRY(qn_tval_truth(run, &v[2], &blank));
    if (v[0].type == QN_T_STRING) {
        indention = v[0];
    } else if (v[0].type != QN_T_MISSING) {
        QN_T_TRY(qn_tval_index(run, &v[0], &width));
        QN_T_TRY(qn_trun_fill(run, " ", 1, width > 0 ? (size_t)width : 0));
        QN_T_TRY(qn_trun_take(run, mark, &indention));
    }
    QN_T_TRY(qn_tval_binary(run, QN_OP_ADD, self, &newline, &text));
    QN_T_TRY(qn_ttext_lines(run, &text, false, &lines));
    for (size_t i = 0; i < lines->n; i++) {
        if (i > 0)
            QN_T_TRY(qn_trun_putv(run, &newline));
        if (i == 0 ? first : blank || lines->items[i].n > 0)
            QN_T_TRY(qn_trun_putv(run, &indention));
        QN_T_TRY(qn_trun_putv(run, &lines->items[i]));
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = text.kind;
    return QN_T_OK;
}

static enum qn_tflow do_truncate(ARGS)
{
    struct qn_tval v[4];
    QN_T_TRY(qn_trun_args(run, args, "length killwords end leeway", 0, v));
    return qn_twords_truncate(run, self, v, out);
}

static enum qn_tflow do_wordwrap(ARGS)
{
    struct qn_tval v[4];
    QN_T_TRY(qn_trun_args(run, args, "width break_long_words wrapstring break_on_hyphens", 0, v));
    return qn_twords_wrap(run, self, v, out);
}

static enum qn_tflow do_wordcount(ARGS)
{
    struct qn_tval text;
    int64_t count = 0;
    bool in_word = false;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    QN_T_TRY(qn_trun_walked(run, text.n));
    for (size_t at = 0, n; at < text.n; at += n) {
        uint32_t cp;
        n = qn_utf8_decode(text.s + at, text.n - at, &cp);
        count += qn_tchar_word(cp) && !in_word;
        in_word = qn_tchar_word(cp);
    }
    *out = qn_tval_int(count);
    return QN_T_OK;
}

static enum qn_tflow do_format(ARGS)
{
    struct qn_tval text, v;
    struct qn_tlist list = {.items = args->v, .n = args->n, .cap = args->n};
    QN_T_TRY(qn_tval_soft_str(run, self, &text));
    bool named = args->named && args->named->n > 0;
    if (named && args->n > 0)
        return qn_trun_fail(run, "can't handle positional and keyword arguments at the same time");
    v = named ? qn_tval_dict(args->named) : qn_tval_tuple(&list);
    return qn_tformat_percent(run, &text, &v, out);
}

static enum qn_tflow do_pprint(ARGS)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_put_pretty(run, self));
    return qn_trun_take(run, mark, out);
}

const struct qn_tfilter qn_tfilters_text[] = {
    {"upper", do_upper},       {"lower", do_lower},       {"capitalize", do_capitalize},
    {"title", do_title},       {"trim", do_trim},         {"string", do_string},
    {"replace", do_replace},   {"center", do_center},     {"indent", do_indent},
    {"truncate", do_truncate}, {"wordwrap", do_wordwrap}, {"wordcount", do_wordcount},
    {"format", do_format},     {"pprint", do_pprint},     {NULL, NULL},
};
