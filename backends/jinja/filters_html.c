/* Filters for markup, links and JSON. */
#include "jinja/compare.h"
#include "jinja/filters.h"
#include "jinja/html.h"
#include "jinja/iter.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"

#include <ctype.h>
#include <stdio.h>

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow do_escape(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    return qn_tval_escape(run, self, out);
}

static enum qn_tflow do_forceescape(ARGS)
{
    struct qn_tval text;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_str(run, self, &text));
    return qn_tval_escape(run, &text, out);
}

static enum qn_tflow do_safe(ARGS)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_soft_str(run, self, out));
    out->kind = QN_T_MARKUP;
    return QN_T_OK;
}

static enum qn_tflow do_striptags(ARGS)
{
    struct qn_tval text;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_tval_str(run, self, &text));
    return qn_thtml_striptags(run, &text, out);
}

static enum qn_tflow put_quoted(struct qn_trun *run, const struct qn_tval *v, bool query)
{
    struct qn_tval text;
    QN_T_TRY(qn_tval_str(run, v, &text));
    QN_T_TRY(qn_trun_walked(run, text.n));
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];
        char code[4] = {(char)c, '\0'};
        bool plain = c < 128 && (isalnum(c) || strchr("_.-~", c) || (c == '/' && !query));
        if (query && c == ' ')
            code[0] = '+';
        else if (!plain || c == 0)
            snprintf(code, sizeof code, "%%%02X", c);
        QN_T_TRY(qn_trun_puts(run, code));
    }
    return QN_T_OK;
}

static enum qn_tflow put_query(struct qn_trun *run, const struct qn_tval *self)
{
    struct qn_tval items = *self, pair;
    struct qn_tcursor c;
    bool more = false;
    if (self->type == QN_T_DICT)
        items = (struct qn_tval){.type = QN_T_VIEW, .kind = QN_T_ITEMS, .dict = self->dict};
    QN_T_TRY(qn_titer_begin(run, &items, &c));
    QN_T_TRY(qn_titer_next(run, &c, &pair, &more));
    for (bool first = true; more; first = false) {
        struct qn_tlist *parts = NULL;
        QN_T_TRY(qn_titer_list(run, &pair, &parts));
        if (parts->n != 2)
            return qn_trun_fail(run, "expected pairs, found %zu values", parts->n);
        if (!first)
            QN_T_TRY(qn_trun_puts(run, "&"));
        QN_T_TRY(put_quoted(run, &parts->items[0], true));
        QN_T_TRY(qn_trun_puts(run, "="));
        QN_T_TRY(put_quoted(run, &parts->items[1], true));
        QN_T_TRY(qn_titer_next(run, &c, &pair, &more));
    }
    return QN_T_OK;
}

static enum qn_tflow do_urlencode(ARGS)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    if (self->type == QN_T_STRING || !qn_tval_iterable(self))
        QN_T_TRY(put_quoted(run, self, false));
    else
        QN_T_TRY(put_query(run, self));
    return qn_trun_take(run, mark, out);
}

static enum qn_tflow put_attribute(struct qn_trun *run, const struct qn_tmember *m, bool first)
{
    struct qn_tval key, v;
    if (m->key.type != QN_T_STRING)
        return qn_trun_fail(run, "expected string or bytes-like object");
    for (size_t i = 0; i < m->key.n; i++)
        if (strchr(" \t\n\r\f\v/>=", m->key.s[i]))
            return qn_trun_fail(run, "Invalid character in attribute name");
    QN_T_TRY(qn_tval_escape(run, &m->key, &key));
    QN_T_TRY(qn_tval_escape(run, &m->val, &v));
    if (!first)
        QN_T_TRY(qn_trun_puts(run, " "));
    QN_T_TRY(qn_trun_putv(run, &key));
    QN_T_TRY(qn_trun_puts(run, "=\""));
    QN_T_TRY(qn_trun_putv(run, &v));
    return qn_trun_puts(run, "\"");
}

static enum qn_tflow do_xmlattr(ARGS)
{
    struct qn_tval autospace;
    bool space = true, first = true;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "autospace", 0, &autospace));
    if (autospace.type != QN_T_MISSING)
        QN_T_TRY(qn_tval_truth(run, &autospace, &space));
    if (self->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, self);
    if (self->type != QN_T_DICT)
        return qn_trun_fail(run, "'%s' object has no attribute 'items'", qn_tval_class(self));
    for (size_t i = 0; i < self->dict->n; i++) {
        const struct qn_tmember *m = &self->dict->members[i];
        if (qn_tval_is(&m->val, QN_T_BIT(QN_T_NONE) | QN_T_BIT(QN_T_UNDEFINED)))
            continue;
        if (first && space)
            QN_T_TRY(qn_trun_puts(run, " "));
        QN_T_TRY(put_attribute(run, m, first));
        first = false;
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = run->autoescape ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

/* Builds the rel attribute: the set of the given words, nofollow and noopener, sorted. */
static enum qn_tflow rel_words(struct qn_trun *run, const struct qn_tval *given, bool nofollow,
                               struct qn_tval *out)
{
    struct qn_tval text = qn_tval_cstr(""), space = qn_tval_cstr(" "), *keys = NULL;
    struct qn_tlist *words = NULL, *kept = NULL;
    bool truth = false;
    QN_T_TRY(qn_tval_truth(run, given, &truth));
    if (truth)
        QN_T_TRY(qn_tval_need_string(run, given));
    QN_T_TRY(qn_ttext_split(run, truth ? given : &text, NULL, -1, false, &words));
    struct qn_tval more[] = {qn_tval_cstr("noopener"), qn_tval_cstr("nofollow")};
    for (int i = 0; i < 1 + nofollow; i++)
        QN_T_TRY(qn_tlist_push(run, words, &more[i]));
    QN_T_TRY(qn_trun_alloc(run, words->n * sizeof *keys, &keys));
    memcpy(keys, words->items, words->n * sizeof *keys);
    QN_T_TRY(qn_tval_sort(run, words->items, keys, words->n, false));
    QN_T_TRY(qn_tlist_new(run, words->n, &kept));
    for (size_t i = 0; i < words->n; i++) {
        bool same = false;
        if (i > 0)
            QN_T_TRY(qn_tval_eq(run, &words->items[i - 1], &words->items[i], &same));
        if (!same)
            QN_T_TRY(qn_tlist_push(run, kept, &words->items[i]));
    }
    return qn_ttext_join(run, &space, kept, out);
}

/* A URL scheme: two or more letters, digits, dots, plus or minus signs, then a colon and up to two
 * slashes. */
static bool valid_scheme(const struct qn_tval *v)
{
    size_t n = v->n, slashes = 0;
    while (n > 0 && v->s[n - 1] == '/')
        n--, slashes++;
    if (slashes > 2 || n < 3 || v->s[--n] != ':')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)v->s[i]) && !strchr("_.+-", v->s[i]) &&
            (unsigned char)v->s[i] < 128)
            return false;
    return true;
}

static enum qn_tflow do_urlize(ARGS)
{
    struct qn_tval v[5];
    struct qn_thtml_links how = {0};
    bool nofollow = false;
    QN_T_TRY(qn_trun_args(run, args, "trim_url_limit nofollow target rel extra_schemes", 0, v));
    QN_T_TRY(qn_tval_index_or(run, &v[0], -1, &how.limit));
    QN_T_TRY(qn_tval_truth(run, &v[1], &nofollow));
    QN_T_TRY(rel_words(run, &v[3], nofollow, &how.rel));
    how.target = qn_tval_cstr("");
    if (!qn_tval_is(&v[2], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
        QN_T_TRY(qn_tval_soft_str(run, &v[2], &how.target));
    if (!qn_tval_is(&v[4], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
        QN_T_TRY(qn_titer_list(run, &v[4], &how.schemes));
    for (size_t i = 0; how.schemes && i < how.schemes->n; i++) {
        QN_T_TRY(qn_tval_need_string(run, &how.schemes->items[i]));
        if (!valid_scheme(&how.schemes->items[i]))
            return qn_trun_fail(run, "not a valid URI scheme prefix");
    }
    QN_T_TRY(qn_thtml_urlize(run, self, &how, out));
    out->kind = run->autoescape ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow json_separators(struct qn_trun *run, const struct qn_tval *v,
                                     struct qn_tjson *how)
{
    struct qn_tlist *pair = NULL;
    QN_T_TRY(qn_titer_list(run, v, &pair));
    if (pair->n != 2)
        return qn_trun_fail(run, "separators must be a pair, found %zu values", pair->n);
    how->item = pair->items[0];
    how->key = pair->items[1];
    QN_T_TRY(qn_tval_need_string(run, &how->item));
    return qn_tval_need_string(run, &how->key);
}

/* tojson as Transformers defines it: json.dumps with the arguments that it passes on. */
static enum qn_tflow do_tojson(ARGS)
{
    struct qn_tval v[4];
    struct qn_tjson how = {.item = qn_tval_cstr(", "), .key = qn_tval_cstr(": ")};
    int64_t width = 0;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "ensure_ascii indent separators sort_keys", 0, v));
    QN_T_TRY(qn_tval_truth(run, &v[0], &how.ensure_ascii));
    QN_T_TRY(qn_tval_truth(run, &v[3], &how.sort_keys));
    if (v[1].type == QN_T_STRING) {
        how.indented = true;
        how.indent = v[1];
    } else if (!qn_tval_is(&v[1], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE))) {
        QN_T_TRY(qn_tval_index(run, &v[1], &width));
        how.indented = true;
        QN_T_TRY(qn_trun_fill(run, " ", 1, width > 0 ? (size_t)width : 0));
        QN_T_TRY(qn_trun_take(run, mark, &how.indent));
    }
    if (how.indented)
        how.item = qn_tval_cstr(",");
    if (!qn_tval_is(&v[2], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
        QN_T_TRY(json_separators(run, &v[2], &how));
    QN_T_TRY(qn_tval_put_json(run, self, &how));
    return qn_trun_take(run, mark, out);
}

const struct qn_tfilter qn_tfilters_html[] = {
    {"escape", do_escape},           {"e", do_escape},
    {"forceescape", do_forceescape}, {"safe", do_safe},
    {"striptags", do_striptags},     {"urlencode", do_urlencode},
    {"xmlattr", do_xmlattr},         {"urlize", do_urlize},
    {"tojson", do_tojson},           {NULL, NULL},
};
