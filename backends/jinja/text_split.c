/* Splitting of texts; see text.h. */
#include "jinja/run.h"
#include "jinja/text.h"

struct splitter {
    struct qn_trun *run;
    const struct qn_tval *v;
    struct qn_tlist *out;
};

static enum qn_tflow piece(struct splitter *p, size_t from, size_t to)
{
    struct qn_tval v = qn_tval_string(p->v->s + from, to - from);
    v.kind = p->v->kind;
    QN_T_TRY(qn_trun_charge(p->run, 3));
    return qn_tlist_push(p->run, p->out, &v);
}

static enum qn_tflow split_spaces(struct splitter *p, int64_t max)
{
    const char *s = p->v->s;
    size_t n = p->v->n, at = qn_ttext_skip(s, n);
    for (int64_t done = 0; at < n; done++) {
        if (max >= 0 && done == max)
            return piece(p, at, n);
        size_t end = at;
        while (end < n && qn_ttext_skip(s + end, qn_ttext_char(s + end, n - end)) == 0)
            end += qn_ttext_char(s + end, n - end);
        QN_T_TRY(piece(p, at, end));
        at = end + qn_ttext_skip(s + end, n - end);
    }
    return QN_T_OK;
}

static enum qn_tflow rsplit_spaces(struct splitter *p, int64_t max)
{
    const char *s = p->v->s;
    size_t n = qn_ttext_rtrim(s, p->v->n);
    for (int64_t done = 0; n > 0; done++) {
        size_t start = n;
        if (max >= 0 && done == max)
            return piece(p, 0, n);
        while (start > 0) {
            size_t used = qn_ttext_last(s, start);
            if (qn_ttext_skip(s + start - used, used))
                break;
            start -= used;
        }
        QN_T_TRY(piece(p, start, n));
        n = qn_ttext_rtrim(s, start);
    }
    return QN_T_OK;
}

static enum qn_tflow split_at(struct splitter *p, const struct qn_tval *sep, int64_t max)
{
    const char *s = p->v->s;
    size_t n = p->v->n, at = 0;
    for (int64_t done = 0; max < 0 || done < max; done++) {
        size_t found = qn_ttext_find(s + at, n - at, sep->s, sep->n);
        if (found == SIZE_MAX)
            break;
        QN_T_TRY(piece(p, at, at + found));
        at += found + sep->n;
    }
    return piece(p, at, n);
}

static enum qn_tflow rsplit_at(struct splitter *p, const struct qn_tval *sep, int64_t max)
{
    const char *s = p->v->s;
    size_t n = p->v->n;
    for (int64_t done = 0; max < 0 || done < max; done++) {
        size_t found = qn_ttext_rfind(s, n, sep->s, sep->n);
        if (found == SIZE_MAX)
            break;
        QN_T_TRY(piece(p, found + sep->n, n));
        n = found;
    }
    return piece(p, 0, n);
}

static void turn(struct qn_tlist *list)
{
    for (size_t i = 0; i < list->n / 2; i++) {
        struct qn_tval v = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = v;
    }
}

enum qn_tflow qn_ttext_split(struct qn_trun *run, const struct qn_tval *v,
                             const struct qn_tval *sep, int64_t max, bool from_right,
                             struct qn_tlist **out)
{
    QN_T_TRY(qn_trun_walked(run, v->n));
    QN_T_TRY(qn_tlist_new(run, 0, out));
    struct splitter p = {.run = run, .v = v, .out = *out};
    if (sep && sep->n == 0)
        return qn_trun_fail(run, "empty separator");
    if (!from_right)
        return sep ? split_at(&p, sep, max) : split_spaces(&p, max);
    QN_T_TRY(sep ? rsplit_at(&p, sep, max) : rsplit_spaces(&p, max));
    turn(*out);
    return QN_T_OK;
}

enum qn_tflow qn_ttext_lines(struct qn_trun *run, const struct qn_tval *v, bool keep,
                             struct qn_tlist **out)
{
    QN_T_TRY(qn_trun_walked(run, v->n));
    QN_T_TRY(qn_tlist_new(run, 0, out));
    struct splitter p = {.run = run, .v = v, .out = *out};
    size_t start = 0, at = 0;
    while (at < v->n) {
        size_t end = qn_ttext_line_end(v->s + at, v->n - at);
        if (end) {
            QN_T_TRY(piece(&p, start, keep ? at + end : at));
            start = at + end;
        }
        at += end ? end : qn_ttext_char(v->s + at, v->n - at);
    }
    return start < v->n ? piece(&p, start, v->n) : QN_T_OK;
}
