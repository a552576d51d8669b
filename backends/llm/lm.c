/* See lm.h. */
#include "llm/lm.h"

#include "base/clock.h"
#include "engine/ops.h"
#include "engine/weights.h"

enum { WINDOW_STEP = 256 }; /* tokens */

void qn_lm_close(struct qn_lm *m)
{
    if (m->net)
        qn_net_free(m->net);
    qn_weights_close(m->weights);
}

static qn_err seq_new(void *ctx, int32_t context, struct qn_seq **out, struct qn_error *e)
{
    struct qn_lm *m = ctx;
    return qn_seq_new(m->net, context, out, e);
}

static void pages(void *ctx, int64_t *free_pages, int64_t *total)
{
    struct qn_lm *m = ctx;
    qn_net_kv_pages(m->net, free_pages, total);
}

static void forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    struct qn_lm *m = ctx;
    qn_net_forward(m->net, chunks, n);
}

static bool mend(void *ctx, bool now)
{
    struct qn_lm *m = ctx;
    return qn_weights_mend(m->weights, now);
}

static const char *token_bytes(void *ctx, int32_t id, size_t *len)
{
    struct qn_lm *m = ctx;
    return qn_token_bytes(m->tok, id, len);
}

/* Rows of the output matrix beyond the vocabulary (padding) count as control tokens. */
static bool token_is_control(void *ctx, int32_t id)
{
    struct qn_lm *m = ctx;
    return qn_token_is_control(m->tok, id);
}

static bool token_is_end(void *ctx, int32_t id)
{
    struct qn_lm *m = ctx;
    return qn_token_is_end(m->tok, id);
}

static bool token_is_mark(void *ctx, int32_t id)
{
    struct qn_lm *m = ctx;
    return m->marks && id < qn_tokenizer_size(m->tok) && m->marks[id];
}

struct qn_batch_model qn_lm_model(struct qn_lm *m, int max_chunk)
{
    const struct qn_net_info *info = qn_net_info(m->net);
    return (struct qn_batch_model){
        .ctx = m,
        .vocab = info->vocab,
        .page = QN_KV_PAGE,
        .max_chunk = max_chunk,
        .now_us = qn_now_us,
        .step = info->windows ? WINDOW_STEP : 0,
        .rewinds = info->state_bytes == 0,
        .seq_new = seq_new,
        .seq_free = qn_seq_free,
        .seq_len = qn_seq_len,
        .seq_reserve = qn_seq_reserve,
        .seq_truncate = qn_seq_truncate,
        .seq_forkable = qn_seq_forkable,
        .seq_fork = qn_seq_fork,
        .seq_shift = qn_seq_shift,
        .seq_save = qn_seq_save,
        .seq_restore = qn_seq_restore,
        .pages = pages,
        .forward = forward,
        .mend = mend,
        .token_bytes = token_bytes,
        .token_is_control = token_is_control,
        .token_is_end = token_is_end,
        .token_is_mark = token_is_mark,
    };
}
