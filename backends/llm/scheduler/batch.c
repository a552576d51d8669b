/* See batch.h. Adding, cancelling and removing requests, and the step. */
#include "llm/scheduler/batch_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

qn_err qn_batch_new(const struct qn_batch_model *model, const struct qn_batch_config *config,
                    struct qn_batch **out, struct qn_error *e)
{
    assert(config->seqs >= 1 && config->seqs <= QN_BATCH_SEQS_MAX && config->context >= 1 &&
           model->max_chunk >= config->seqs + QN_SPEC_MAX);
    int64_t free_pages, total;
    model->pages(model->ctx, &free_pages, &total);
    if (free_pages * model->page < config->context)
        return qn_fail(e, QN_ENOMEM,
                       "the cache has room for %lld tokens, which is less than the context of %d",
                       (long long)(free_pages * model->page), (int)config->context);
    struct qn_batch *b = qn_xcalloc(1, sizeof *b);
    b->m = *model;
    b->config = *config;
    b->prefix = qn_prefix_new(&b->m, config->kept);
    size_t vocab = (size_t)model->vocab, rows = (size_t)(QN_BATCH_LOGIT_ROWS + config->seqs);
    b->logits = qn_alloc_sized(rows * vocab, sizeof *b->logits, SIZE_MAX / 2);
    b->plain = qn_alloc_sized(vocab, sizeof *b->plain, SIZE_MAX / 2);
    b->top = qn_xcalloc(QN_JOB_TOP_LOGPROBS_MAX, sizeof *b->top);
    qn_sampler_work_init(&b->work, model->vocab, (size_t)config->context + 1);
    if (!b->logits || !b->plain) {
        qn_batch_free(b);
        return qn_fail(e, QN_ENOMEM, "no memory for the logits of %d sequences", config->seqs);
    }
    *out = b;
    return QN_OK;
}

void qn_batch_free(struct qn_batch *b)
{
    if (!b)
        return;
    while (b->gens)
        qn_gen_remove(b, b->gens);
    qn_prefix_free(b->prefix);
    free(b->logits);
    free(b->plain);
    free(b->top);
    qn_sampler_work_deinit(&b->work);
    free(b);
}

/* The first running answer at or after choice i of g. */
static struct answer *running_from(struct gen *g, int64_t i)
{
    for (; g; g = g->next, i = 0)
        for (; i < g->launched; i++)
            if (g->answers[i].state == ANSWER_RUNNING)
                return &g->answers[i];
    return NULL;
}

struct answer *qn_first_running(const struct qn_batch *b)
{
    return running_from(b->gens, 0);
}

struct answer *qn_next_running(const struct answer *a)
{
    return running_from(a->gen, a->index + 1);
}

bool qn_answer_active(const struct answer *a)
{
    return a->state == ANSWER_RUNNING && !a->gen->r.out.full(a->gen->r.out.ctx);
}

bool qn_wants_prompt_logprobs(const struct gen *g)
{
    return g->r.echo_text && g->r.logprobs >= 0;
}

bool qn_answer_wants_rows(const struct answer *a)
{
    return qn_wants_prompt_logprobs(a->gen) && !a->gen->prompt_known;
}

/* Removes the request; the sequences of its answers go to the prefix tree. */
void qn_gen_remove(struct qn_batch *b, struct gen *g)
{
    for (int64_t i = 0; i < g->launched; i++) {
        struct answer *a = &g->answers[i];
        if (a->state == ANSWER_RUNNING)
            qn_answer_retire(b, a);
        if (a->state != ANSWER_DONE)
            qn_output_deinit(&a->output);
        qn_constraint_end(&a->constraint);
        qn_tokens_deinit(&a->forced);
        free(a->tokens);
    }
    for (size_t i = 0; i < b->plan.n; i++)
        if (b->plan.pieces[i].answer && b->plan.pieces[i].answer->gen == g)
            b->plan.pieces[i].answer = NULL;
    struct gen **at = &b->gens;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    b->n_gens--;
    free(g->answers);
    free(g->r.prompt);
    free(g->r.echo_text);
    qn_tools_free(g->r.tools);
    qn_tokens_deinit(&g->r.ending);
    qn_constraint_unref(g->r.constraint);
    qn_buf_deinit(&g->echo_json);
    free(g);
}

bool qn_batch_has_room(const struct qn_batch *b)
{
    return b->n_gens < QN_BATCH_REQUESTS_MAX;
}

qn_err qn_batch_add(struct qn_batch *b, const struct qn_batch_request *r, struct qn_error *e)
{
    assert(r->n_prompt >= 1 && r->choices >= 1 && r->stops.n <= QN_JOB_STOPS_MAX + 1);
    if (r->n_prompt > (size_t)b->config.context)
        return qn_fail(
            e, QN_ECONTEXT,
            "the prompt has %zu tokens, but the model was loaded with a context of %d tokens: "
            "shorten the prompt, or load the model with a larger context",
            r->n_prompt, (int)b->config.context);
    if (!qn_batch_has_room(b))
        return qn_fail(e, QN_EBUSY, "%d requests are waiting for this model already", b->n_gens);
    struct gen *g = qn_xcalloc(1, sizeof *g);
    g->r = *r;
    g->r.stops = (struct qn_strings){g->stops, 0};
    for (size_t i = 0; i < r->stops.n; i++)
        if (r->stops.v[i][0])
            g->stops[g->r.stops.n++] = r->stops.v[i];
    g->parse = (struct qn_parse_config){.syntax = r->syntax,
                                        .tools = r->tools,
                                        .thinking = r->thinking,
                                        .reasoning_in_text = r->reasoning_in_text,
                                        .single_call = r->single_call};
    g->answers = qn_xcalloc((size_t)r->choices, sizeof *g->answers);
    for (int64_t i = 0; i < r->choices; i++)
        g->answers[i] = (struct answer){.gen = g, .index = i};
    g->start_us = g->progress_us = b->m.now_us();
    qn_buf_init(&g->echo_json, QN_BATCH_ECHO_MAX);
    struct gen **at = &b->gens;
    while (*at)
        at = &(*at)->next;
    *at = g;
    b->n_gens++;
    return QN_OK;
}

void qn_batch_cancel(struct qn_batch *b, const void *key)
{
    for (struct gen *g = b->gens; g; g = g->next) {
        if (g->r.key == key) {
            qn_gen_remove(b, g);
            return;
        }
    }
}

void qn_batch_end_reasoning(struct qn_batch *b, const void *key)
{
    for (struct gen *g = b->gens; g; g = g->next)
        if (g->r.key == key)
            g->r.think_budget = 0;
}

bool qn_batch_step(struct qn_batch *b)
{
    b->plan.n = 0;
    qn_batch_mend(b, false);
    qn_batch_admit(b);
    qn_batch_plan(b);
    struct plan *p = &b->plan;
    if (p->n == 0)
        return false;
    int64_t start = b->m.now_us();
    b->m.forward(b->m.ctx, p->chunks, p->n);
    b->stats.steps++;
    b->stats.computed += p->tokens;
    qn_batch_learn(b, (double)(b->m.now_us() - start) / 1000.0);
    for (size_t i = 0; i < p->n; i++)
        if (p->pieces[i].answer)
            qn_piece_settle(b, &p->chunks[i], &p->pieces[i]);
    return true;
}

struct qn_prefix *qn_batch_prefix(struct qn_batch *b)
{
    return b->prefix;
}

const struct qn_batch_stats *qn_batch_stats(const struct qn_batch *b)
{
    return &b->stats;
}
