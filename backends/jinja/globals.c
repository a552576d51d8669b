/* See globals.h. */
#include "jinja/globals.h"

#include "jinja/compiled.h"
#include "jinja/filters.h"
#include "jinja/methods.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include <stdlib.h>
#include <time.h>

enum { RANGE_MAX = 100000, TIME_TEXT_MAX = 4096 };

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

static enum qn_tflow call_range(ARGS)
{
    struct qn_tval v[3];
    struct qn_trange *r = NULL;
    (void)self;
    QN_T_TRY(qn_trun_args(run, args, "/start /stop /step", 1, v));
    QN_T_TRY(qn_trun_alloc(run, sizeof *r, &r));
    r->step = 1;
    QN_T_TRY(qn_tval_index(run, &v[0], v[1].type == QN_T_MISSING ? &r->stop : &r->start));
    if (v[1].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[1], &r->stop));
    if (v[2].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[2], &r->step));
    if (r->step == 0)
        return qn_trun_fail(run, "range() arg 3 must not be zero");
    if (r->step == INT64_MIN)
        r->step++;
    uint64_t width = 0, step = (uint64_t)(r->step < 0 ? -r->step : r->step);
    if (r->step > 0 && r->stop > r->start)
        width = (uint64_t)r->stop - (uint64_t)r->start;
    else if (r->step < 0 && r->stop < r->start)
        width = (uint64_t)r->start - (uint64_t)r->stop;
    uint64_t n = width ? (width - 1) / step + 1 : 0;
    if (n > RANGE_MAX)
        return qn_trun_fail(
            run, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", RANGE_MAX);
    r->n = (size_t)n;
    *out = (struct qn_tval){.type = QN_T_RANGE, .range = r};
    return QN_T_OK;
}

static enum qn_tflow call_dict(ARGS)
{
    struct qn_tdict *dict = NULL;
    (void)self;
    QN_T_TRY(qn_tdict_new(run, 0, &dict));
    if (args->n > 1)
        return qn_trun_fail(run, "dict expected at most 1 argument, got %zu", args->n);
    if (args->n == 1)
        QN_T_TRY(qn_tdict_update(run, dict, &args->v[0]));
    for (size_t i = 0; args->named && i < args->named->n; i++)
        QN_T_TRY(
            qn_tdict_set(run, dict, &args->named->members[i].key, &args->named->members[i].val));
    *out = qn_tval_dict(dict);
    return QN_T_OK;
}

static enum qn_tflow call_namespace(ARGS)
{
    QN_T_TRY(call_dict(run, self, args, out));
    out->type = QN_T_NAMESPACE;
    return QN_T_OK;
}

static enum qn_tflow call_cycler(ARGS)
{
    struct qn_tcycler *c = NULL;
    (void)self;
    if (args->n == 0 || (args->named && args->named->n > 0))
        return qn_trun_fail(run, "at least one item has to be provided");
    QN_T_TRY(qn_trun_alloc(run, sizeof *c, &c));
    QN_T_TRY(qn_tlist_new(run, args->n, &c->items));
    for (size_t i = 0; i < args->n; i++)
        QN_T_TRY(qn_tlist_push(run, c->items, &args->v[i]));
    *out = (struct qn_tval){.type = QN_T_CYCLER, .cycler = c};
    return QN_T_OK;
}

static enum qn_tflow call_joiner(ARGS)
{
    struct qn_tjoiner *j = NULL;
    struct qn_tval sep;
    (void)self;
    QN_T_TRY(qn_trun_args(run, args, "sep", 0, &sep));
    QN_T_TRY(qn_trun_alloc(run, sizeof *j, &j));
    j->sep = sep.type == QN_T_MISSING ? qn_tval_cstr(", ") : sep;
    *out = (struct qn_tval){.type = QN_T_JOINER, .joiner = j};
    return QN_T_OK;
}

/* lipsum(): jinja2 returns random words; here the words are fixed, because templates do not depend
 * on them. */
static enum qn_tflow call_lipsum(ARGS)
{
    static const char text[] = "Lorem ipsum dolor sit amet, consectetur adipiscing elit.";
    struct qn_tval v[4];
    int64_t n;
    bool html = true;
    size_t mark = run->out.len;
    (void)self;
    QN_T_TRY(qn_trun_args(run, args, "n html min max", 0, v));
    QN_T_TRY(qn_tval_index_or(run, &v[0], 5, &n));
    if (v[1].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_truth(run, &v[1], &html));
    for (int64_t i = 0; i < n; i++) {
        QN_T_TRY(qn_trun_puts(run, i == 0 ? "" : html ? "\n" : "\n\n"));
        QN_T_TRY(qn_trun_puts(run, html ? "<p>" : ""));
        QN_T_TRY(qn_trun_puts(run, text));
        QN_T_TRY(qn_trun_puts(run, html ? "</p>" : ""));
        QN_T_TRY(qn_trun_charge(run, 8));
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = html ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow call_raise(ARGS)
{
    struct qn_tval v, text;
    (void)self;
    (void)out;
    QN_T_TRY(qn_trun_args(run, args, "message", 1, &v));
    QN_T_TRY(qn_tval_str(run, &v, &text));
    run->code = qn_fail(run->e, QN_EINVAL, "%.*s", text.n > 100000 ? 100000 : (int)text.n, text.s);
    return QN_T_FAIL;
}

static enum qn_tflow call_strftime(ARGS)
{
    struct qn_tval v;
    char text[TIME_TEXT_MAX];
    time_t now = (time_t)(run->wall_ms / 1000);
    struct tm local;
    (void)self;
    QN_T_TRY(qn_trun_args(run, args, "format", 1, &v));
    QN_T_TRY(qn_tval_need_string(run, &v));
    if (v.n >= TIME_TEXT_MAX / 16 || memchr(v.s, '\0', v.n))
        return qn_trun_fail(run, "strftime_now: a format of more than %d bytes",
                            TIME_TEXT_MAX / 16);
    char format[TIME_TEXT_MAX / 16];
    memcpy(format, v.s, v.n);
    format[v.n] = '\0';
    localtime_r(&now, &local);
    return qn_trun_copy(run, text, v.n ? strftime(text, sizeof text, format, &local) : 0, out);
}

enum qn_tflow qn_tglobals_bind(struct qn_trun *run)
{
    static const struct {
        const char *name;
        qn_tcall call;
        bool is_class;
    } globals[] = {
        {"range", call_range, false},           {"dict", call_dict, true},
        {"namespace", call_namespace, true},    {"cycler", call_cycler, true},
        {"joiner", call_joiner, true},          {"lipsum", call_lipsum, false},
        {"raise_exception", call_raise, false}, {"strftime_now", call_strftime, false},
    };
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        uint32_t symbol = qn_tsymbol_find(run->t, globals[i].name, strlen(globals[i].name));
        struct qn_tfunc *fn = NULL;
        if (symbol == QN_TSYMBOL_NONE)
            continue;
        QN_T_TRY(qn_trun_alloc(run, sizeof *fn, &fn));
        *fn = (struct qn_tfunc){
            .name = globals[i].name, .call = globals[i].call, .is_class = globals[i].is_class};
        run->context[symbol] = (struct qn_tval){.type = QN_T_FUNCTION, .fn = fn};
    }
    return QN_T_OK;
}
