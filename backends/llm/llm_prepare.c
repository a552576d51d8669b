/* See llm_private.h. The work on a job before its first step: rendering the template, tokenizing,
 * compiling the grammar. The code that does each of these limits its amount. */
#include "llm/llm_private.h"

#include "llm/scheduler/keep.h"
#include "llm/toolcall/calls_force.h"

#include <stdlib.h>

enum { ENDING_MAX = 256 }; /* bytes, tokens */

static int64_t or_else(int64_t v, int64_t otherwise)
{
    return v == QN_UNSET ? otherwise : v;
}

/* Makes the tokens that are injected when the thinking budget is used up, which a client may say at
 * any time. If this fails, the budget is not enforced: the reply is still correct but uses more
 * tokens. */
static void make_ending(const struct llm *m, struct qn_batch_request *r)
{
    struct qn_buf text;
    qn_buf_init(&text, ENDING_MAX);
    if (qn_syntax_ending(&r->syntax, !r->tools && !r->constraint, &text) &&
        qn_tokenize(m->tok, qn_buf_cstr(&text), text.len, QN_TOK_SPECIAL, ENDING_MAX, &r->ending,
                    NULL))
        r->ending.n = 0;
    qn_buf_deinit(&text);
}

void qn_llm_discard(void *self, void *prepared)
{
    struct qn_llm_prepared *p = prepared;
    (void)self;
    qn_prompt_deinit(&p->prompt);
    qn_tools_free(p->r.tools);
    qn_tokens_deinit(&p->r.ending);
    qn_constraint_unref(p->r.constraint);
    free(p);
}

static qn_err prepare_chat(struct llm *m, const struct qn_job *job, struct qn_llm_prepared *p,
                           struct qn_error *e)
{
    const struct qn_chat *chat = &job->chat;
    struct qn_batch_request *r = &p->r;
    qn_err err = QN_OK;
    r->syntax = *qn_prompter_syntax(m->prompter);
    r->thinking = p->prompt.thinking;
    r->reasoning_in_text = chat->reasoning_in_text;
    r->single_call = chat->single_call;
    r->think_budget = or_else(chat->think_budget, -1);
    if (chat->tools && chat->tool_choice != QN_TOOLS_NONE)
        err = qn_tools_new(chat->tools, &r->tools, e);
    struct qn_forcing forcing = {.syntax = r->syntax,
                                 .tools = r->tools,
                                 .thinking = r->thinking,
                                 .may_think = chat->think != 0};
    return err ? err : qn_force(m->constrainer, job, &forcing, &r->constraint, e);
}

static void prepare_limits(struct llm *m, const struct qn_job *job, struct qn_llm_prepared *p)
{
    struct qn_batch_request *r = &p->r;
    make_ending(m, r);
    if (job->sampling.max_with_prompt && r->max_tokens > (int64_t)p->prompt.n)
        r->max_tokens -= (int64_t)p->prompt.n;
    r->want_tokens = job->want_tokens;
    r->prompt = p->prompt.tokens;
    r->n_prompt = p->prompt.n;
    r->keep = r->context_shift ? qn_prompt_keep(m->prompter, job, m->context, &p->prompt) : 0;
    r->echo_text = p->prompt.echo_text;
    r->echo_skip = p->prompt.echo_skip;
    r->stops.v = p->stops;
    for (size_t i = 0; i < job->sampling.stop.n && i < QN_JOB_STOPS_MAX; i++)
        p->stops[r->stops.n++] = job->sampling.stop.v[i];
    if (p->prompt.stop)
        p->stops[r->stops.n++] = p->prompt.stop;
}

qn_err qn_llm_prepare(void *self, const struct qn_job *job, void **prepared, struct qn_error *e)
{
    struct llm *m = self;
    if (!qn_constrainer_has_room(m->constrainer))
        return qn_fail(e, QN_EBUSY, "too many requests with grammars are waiting");
    struct qn_llm_prepared *p = qn_xcalloc(1, sizeof *p);
    p->r = (struct qn_batch_request){
        .key = job,
        .choices = or_else(job->sampling.n, 1),
        .max_tokens = or_else(job->sampling.max_tokens, -1),
        .logprobs = or_else(job->sampling.logprobs, -1),
        .think_budget = -1,
        .ignore_eos = job->sampling.ignore_eos,
        .no_reuse = job->sampling.no_reuse,
        .owner = job->owner_salt,
        .context_shift = or_else(job->sampling.context_shift, m->context_shift) != 0,
    };
    qn_err err = qn_sampler_resolve(&m->defaults, &job->sampling, qn_tokenizer_size(m->tok),
                                    &p->r.sampling, e);
    if (!err)
        err = qn_adapters_mix(&m->adapters, &job->sampling.lora, &p->r.mix, e);
    if (!err)
        err = qn_prompt_make(m->prompter, job, m->context, &p->prompt, e);
    if (!err && !job->count_only)
        err = job->task == QN_TASK_CHAT
                  ? prepare_chat(m, job, p, e)
                  : qn_constraint_of_job(m->constrainer, &job->constrain, &p->r.constraint, e);
    if (err) {
        qn_llm_discard(m, p);
        /* A limit exceeded by the request's content is QN_EINVAL; QN_ELIMIT stands for a request of
         * too many bytes. */
        return err == QN_ELIMIT ? e->code = QN_EINVAL : err;
    }
    prepare_limits(m, job, p);
    *prepared = p;
    return QN_OK;
}
