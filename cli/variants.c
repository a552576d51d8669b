/* See variants.h. */
#include "cli/variants.h"

#include "base/buf.h"
#include "base/str.h"
#include "cli/screen.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { CELL_MAX = 512 };

static const double overhead = 1.1, fixed_bytes = 256e6, machine_share = 0.8;

double qn_fit_needs(double size_bytes)
{
    return size_bytes * overhead + fixed_bytes;
}

enum qn_variant_fit qn_fit_judge(double size_bytes, double memory_bytes)
{
    if (size_bytes <= 0 || memory_bytes <= 0)
        return QN_FIT_UNKNOWN;
    double needs = qn_fit_needs(size_bytes);
    return needs <= memory_bytes * machine_share ? QN_FIT_GOOD
           : needs <= memory_bytes               ? QN_FIT_TIGHT
                                                 : QN_FIT_NOT;
}

const char *qn_fit_word(enum qn_variant_fit fit)
{
    static const char *const words[] = {[QN_FIT_UNKNOWN] = "",
                                        [QN_FIT_GOOD] = "fits",
                                        [QN_FIT_TIGHT] = "tight",
                                        [QN_FIT_NOT] = "too large"};
    return words[fit];
}

/* Whether a is preferred to b, which precedes it in the server's order. */
static bool better(const struct qn_offer *a, const struct qn_offer *b)
{
    if (b->fit == QN_FIT_GOOD || b->fit == QN_FIT_UNKNOWN)
        return false;
    if (a->fit == QN_FIT_GOOD)
        return true;
    return a->size_bytes > 0 && a->size_bytes < b->size_bytes;
}

static enum qn_variant_fit judge(const struct qn_jref *variant, double size_bytes,
                                 double memory_bytes)
{
    enum qn_variant_fit own = qn_fit_judge(size_bytes, memory_bytes);
    struct qn_jref fits = qn_json_get(variant, "fits");
    if (qn_json_type(&fits) != QN_JSON_BOOL)
        return own;
    if (!qn_json_raw_bool(&fits))
        return QN_FIT_NOT;
    return own == QN_FIT_TIGHT || own == QN_FIT_NOT ? QN_FIT_TIGHT : QN_FIT_GOOD;
}

void qn_variants_read(struct qn_variants_view *out, const struct qn_jref *reply,
                      double memory_bytes)
{
    struct qn_jref list = qn_json_get(reply, "variants"), it;
    *out = (struct qn_variants_view){0};
    out->v = qn_xcalloc(QN_VARIANTS_MAX, sizeof *out->v);
    for (bool more = qn_json_first(&list, &it); more && out->n < QN_VARIANTS_MAX;
         more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), size = qn_json_get(&it, "size_bytes");
        struct qn_jref files = qn_json_get(&it, "files");
        struct qn_offer *o = &out->v[out->n];
        *o = (struct qn_offer){qn_json_raw_str(&name), qn_json_raw_f64(&size),
                               qn_json_count(&files), QN_FIT_UNKNOWN};
        o->fit = judge(&it, o->size_bytes, memory_bytes);
        if (out->n && better(o, &out->v[out->preferred]))
            out->preferred = out->n;
        out->n++;
    }
}

void qn_variants_deinit(struct qn_variants_view *view)
{
    free(view->v);
    *view = (struct qn_variants_view){0};
}

const struct qn_offer *qn_variants_find(const struct qn_variants_view *view, const char *name)
{
    for (size_t i = 0; i < view->n; i++)
        if (qn_str_ieq(view->v[i].name, name))
            return &view->v[i];
    return NULL;
}

static bool is_number(const char *s)
{
    size_t n = 0;
    while (s[n] >= '0' && s[n] <= '9')
        n++;
    return n && !s[n];
}

enum qn_chosen qn_variants_answer(const struct qn_variants_view *view, const char *answer,
                                  size_t *index)
{
    int64_t number;
    const struct qn_offer *named = qn_variants_find(view, answer);
    *index = view->preferred;
    if (!answer[0])
        return QN_CHOSEN_ONE;
    if (named) {
        *index = (size_t)(named - view->v);
        return QN_CHOSEN_ONE;
    }
    if (qn_str_ieq(answer, "q") || qn_str_ieq(answer, "quit"))
        return QN_CHOSEN_NONE;
    if (qn_str_ieq(answer, "a") || qn_str_ieq(answer, "all"))
        return QN_CHOSEN_ALL;
    if (!is_number(answer))
        return QN_CHOSEN_NAME;
    if (!qn_parse_i64(answer, &number) || number < 1 || (size_t)number > view->n)
        return QN_CHOSEN_NONSENSE;
    *index = (size_t)number - 1;
    return QN_CHOSEN_ONE;
}

void qn_variants_print(const struct qn_variants_view *view, bool all)
{
    size_t rows = all || view->n <= QN_VARIANTS_SHOWN ? view->n : QN_VARIANTS_SHOWN;
    size_t hidden = 0;
    static const char *const titles[] = {"     Variant", "Size", "Memory", ""};
    struct qn_table *t = qn_table_new(4, titles);
    for (size_t i = 0; i < view->n; i++) {
        const struct qn_offer *o = &view->v[i];
        if (i >= rows && i != view->preferred) {
            hidden++;
            continue;
        }
        char name[CELL_MAX], bytes[16] = "-", note[64] = "";
        snprintf(name, sizeof name, "%3zu  %s", i + 1, o->name);
        if (o->size_bytes > 0)
            qn_human_bytes(o->size_bytes, bytes);
        if (o->files > 1)
            snprintf(note, sizeof note, "in %zu files", o->files);
        if (i == view->preferred)
            snprintf(note, sizeof note, "<- recommended");
        const char *cells[] = {name, bytes, qn_fit_word(o->fit), note};
        qn_table_row(t, cells);
    }
    struct qn_buf text;
    qn_buf_init(&text, SIZE_MAX - 1);
    qn_table_write(t, qn_screen_width(stderr), &text);
    fwrite(qn_buf_cstr(&text), 1, text.len, stderr);
    if (hidden)
        fprintf(stderr, "     and %zu more: type a to show all\n", hidden);
    qn_buf_deinit(&text);
    qn_table_free(t);
}
