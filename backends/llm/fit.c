/* See fit.h. */
#include "llm/fit.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

qn_err qn_llm_fit(const struct qn_fit_facts *f, struct qn_fit *out, struct qn_error *e)
{
    int64_t trained = f->trained > 0 ? f->trained : QN_LLM_CONTEXT_GUESS;
    int64_t token = f->token_bytes > 0 ? f->token_bytes : 1;
    int64_t most = f->free_bytes / 10 * 9 / token, share = f->free_bytes / 4 / token;
    int64_t context = least(f->asked > 0 ? f->asked : trained, QN_LLM_CONTEXT_MAX);
    context = least(context, trained);
    if (f->asked <= 0 && context > share)
        context = share > QN_LLM_CONTEXT_MIN ? share / QN_LLM_CONTEXT_MIN * QN_LLM_CONTEXT_MIN
                                             : least(QN_LLM_CONTEXT_MIN, trained);
    if (context > most)
        return qn_fail(e, QN_ENOMEM,
                       "a context of %lld tokens needs %lld MiB of memory for its cache, but only "
                       "%lld MiB are free: load the model with a smaller context or another "
                       "cache_type, or unload another model",
                       (long long)context, (long long)(context * token >> 20),
                       (long long)(f->free_bytes / 10 * 9 >> 20));
    int64_t slots = f->slots > 0 ? f->slots : QN_LLM_POOL_CONTEXTS;
    int64_t pool = least(slots * context, f->asked > 0 && f->slots > 0 ? most : share);
    *out = (struct qn_fit){.context = (int32_t)context, .pool = pool > context ? pool : context};
    out->seqs = f->slots > 0 ? (int)f->slots : QN_LLM_SEQS;
    if (f->state_bytes > 0) {
        int64_t states = least(f->free_bytes / 8 / f->state_bytes, QN_LLM_SEQS);
        out->kept = states > QN_LLM_KEPT_MIN ? (int)states : QN_LLM_KEPT_MIN;
        if (f->slots <= 0)
            out->seqs = states > 1 ? (int)states : 1;
    }
    return QN_OK;
}
