/* See template_run.h. */
#include "llm/template_run.h"

#include "llm/template.h"
#include "llm/template_compiled.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COPIED_PER_STEP = 64, WALKED_PER_STEP = 8 }; /* bytes */

static enum qn_tflow fail(struct qn_trun *run, qn_err code, const char *fmt, va_list ap)
{
    char text[QN_ERROR_MESSAGE_MAX];
    unsigned line, column;
    vsnprintf(text, sizeof(text), fmt, ap);
    qn_tsource_place(&run->t->source, run->at, &line, &column);
    run->code = qn_fail(run->e, code, "chat template, line %u, column %u: %s", line, column, text);
    return QN_T_FAIL;
}

enum qn_tflow qn_trun_fail(struct qn_trun *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum qn_tflow flow = fail(run, QN_EFORMAT, fmt, ap);
    va_end(ap);
    return flow;
}

enum qn_tflow qn_trun_limit(struct qn_trun *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum qn_tflow flow = fail(run, QN_ELIMIT, fmt, ap);
    va_end(ap);
    return flow;
}

enum qn_tflow qn_trun_charge(struct qn_trun *run, size_t n)
{
    if (n >= run->steps) {
        run->steps = 0;
        return qn_trun_limit(run, "rendering takes more than %d steps", QN_TEMPLATE_STEPS_MAX);
    }
    run->steps -= n;
    return QN_T_OK;
}

enum qn_tflow qn_trun_copied(struct qn_trun *run, size_t n)
{
    return qn_trun_charge(run, n / COPIED_PER_STEP);
}

enum qn_tflow qn_trun_walked(struct qn_trun *run, size_t n)
{
    return qn_trun_charge(run, n / WALKED_PER_STEP);
}

enum qn_tflow qn_trun_alloc(struct qn_trun *run, size_t n, void *out)
{
    void *p = qn_arena_try(run->arena, n);
    if (!p)
        return qn_trun_limit(run, "rendering takes more than %d MiB of memory",
                             QN_TEMPLATE_MEMORY_MAX / (1024 * 1024));
    memcpy(out, &p, sizeof(p));
    return QN_T_OK;
}

enum qn_tflow qn_trun_put(struct qn_trun *run, const char *s, size_t n)
{
    if (qn_buf_add(&run->out, s, n) || run->out.overflow)
        return qn_trun_limit(run, "the rendered text is longer than %d MiB",
                             QN_TEMPLATE_OUTPUT_MAX / (1024 * 1024));
    return qn_trun_copied(run, n);
}

enum qn_tflow qn_trun_puts(struct qn_trun *run, const char *s)
{
    return qn_trun_put(run, s, strlen(s));
}

enum qn_tflow qn_trun_fill(struct qn_trun *run, char c, double count)
{
    char block[256];
    memset(block, c, sizeof(block));
    while (count > 0) {
        size_t n = count < (double)sizeof(block) ? (size_t)count : sizeof(block);
        QN_T_TRY(qn_trun_put(run, block, n));
        count -= (double)n;
        if (n < sizeof(block))
            break;
    }
    return QN_T_OK;
}

void qn_trun_cut(struct qn_trun *run, size_t mark)
{
    run->out.len = mark;
}

enum qn_tflow qn_trun_take(struct qn_trun *run, size_t mark, struct qn_tval *out)
{
    if (run->out.overflow)
        return qn_trun_put(run, "", 0);
    size_t n = run->out.len - mark;
    char *s = NULL;
    QN_T_TRY(qn_trun_copied(run, n));
    if (n > 0) {
        QN_T_TRY(qn_trun_alloc(run, n, &s));
        memcpy(s, run->out.data + mark, n);
    }
    qn_trun_cut(run, mark);
    *out = qn_tval_string(s ? s : "", n);
    return QN_T_OK;
}

size_t qn_trun_enter(struct qn_trun *run)
{
    run->scope++;
    return run->covered_n;
}

void qn_trun_leave(struct qn_trun *run, size_t mark)
{
    while (run->covered_n > mark) {
        const struct qn_tcovered *c = &run->covered[--run->covered_n];
        run->bindings[c->symbol] = c->old;
    }
    run->scope--;
}

static void swap(struct qn_trun *run, struct qn_tcovered *c)
{
    struct qn_tbinding now = run->bindings[c->symbol];
    run->bindings[c->symbol] = c->old;
    c->old = now;
}

size_t qn_trun_rewind(struct qn_trun *run, size_t home)
{
    size_t top = run->covered_n;
    for (size_t i = top; i > home; i--)
        swap(run, &run->covered[i - 1]);
    return top;
}

void qn_trun_replay(struct qn_trun *run, size_t home, size_t top)
{
    for (size_t i = home; i < top; i++)
        swap(run, &run->covered[i]);
}

static enum qn_tflow remember(struct qn_trun *run, uint32_t symbol)
{
    if (run->covered_n == run->covered_cap) {
        size_t cap = run->covered_cap ? run->covered_cap * 2 : 64;
        struct qn_tcovered *covered = NULL;
        QN_T_TRY(qn_trun_alloc(run, cap * sizeof(*covered), &covered));
        if (run->covered_n > 0)
            memcpy(covered, run->covered, run->covered_n * sizeof(*covered));
        run->covered = covered;
        run->covered_cap = cap;
    }
    run->covered[run->covered_n++] =
        (struct qn_tcovered){.symbol = symbol, .old = run->bindings[symbol]};
    return QN_T_OK;
}

enum qn_tflow qn_trun_bind(struct qn_trun *run, uint32_t symbol, const struct qn_tval *v)
{
    struct qn_tbinding *b = &run->bindings[symbol];
    if (b->scope != run->scope)
        QN_T_TRY(remember(run, symbol));
    b->scope = run->scope;
    b->val = v->type == QN_T_ABSENT ? qn_tval_undefined() : *v;
    return QN_T_OK;
}

struct qn_tval qn_trun_lookup(const struct qn_trun *run, uint32_t symbol)
{
    const struct qn_tval *v = &run->bindings[symbol].val;
    return v->type == QN_T_ABSENT ? qn_tval_undefined() : *v;
}
