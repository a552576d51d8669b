/* Context shift: removes whole pages of tokens from the middle of a sequence and rotates the keys
 * of the tokens after them to their new positions. Two rotations in sequence are one by the sum of
 * their angles, so nothing is recomputed; the influence that the removed tokens had on the
 * remaining ones stays. Source: RoFormer, arXiv:2104.09864, eq. 34. */
#include "nets/decoder/seq.h"

#include "base/buf.h"
#include "nets/decoder/decoder.h"

#include <stdlib.h>

/* How a layer's keys are rotated: the elements of a head from `first` on, by the net's rotation
 * `rope`. */
struct turn {
    int32_t rope; /* -1: not rotated */
    int32_t first;
};

static struct turn turn_of(const struct qn_decoder_layer *layer)
{
    if (layer->mixer == &qn_block_mla)
        return (struct turn){0, layer->mla.latent};
    return (struct turn){layer->attention.rope, 0};
}

/* Scratch memory to rotate the keys of one page, and the angles. */
struct bench {
    struct qn_mem *mem; /* begins with the keys: [QN_KV_PAGE, kv_heads, k_dim] f32 */
    struct qn_tensor angles[QN_NET_ROPES_MAX]; /* [QN_KV_PAGE, 2, n/2] */
};

static int64_t widest_keys(const struct qn_net *net)
{
    int64_t most = 1;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        int64_t keys = (int64_t)net->layer[i].cache.kv_heads * net->layer[i].cache.k_dim;
        most = keys > most ? keys : most;
    }
    return most * QN_KV_PAGE;
}

static qn_err bench_new(const struct qn_seq *s, int32_t back, struct bench *b, struct qn_error *e)
{
    struct qn_net *net = s->net;
    size_t bytes = qn_scratch_need(QN_F32, widest_keys(net)) + qn_scratch_need(QN_I32, QN_KV_PAGE);
    for (int32_t i = 0; i < net->ropes; i++)
        bytes += qn_scratch_need(QN_F32, net->rope[i].freq.shape[0] * 2 * QN_KV_PAGE);
    qn_err err = qn_mem_new(net->dev, bytes, &b->mem, e);
    if (err != QN_OK)
        return err;
    size_t at = qn_scratch_need(QN_F32, widest_keys(net));
    const int64_t rows = QN_KV_PAGE;
    struct qn_tensor pos = qn_tensor_make(QN_I32, 1, &rows, b->mem, at);
    int32_t positions[QN_KV_PAGE];
    for (int i = 0; i < QN_KV_PAGE; i++)
        positions[i] = -back;
    qn_write(net->dev, &pos, positions);
    at += qn_scratch_need(QN_I32, QN_KV_PAGE);
    for (int32_t i = 0; i < net->ropes; i++) {
        const struct qn_rope *r = &net->rope[i];
        const int64_t half = r->freq.shape[0], shape[] = {QN_KV_PAGE, 2, half};
        bool far = r->near > 0 && s->context > r->near;
        b->angles[i] = qn_tensor_make(QN_F32, 3, shape, b->mem, at);
        at += qn_scratch_need(QN_F32, half * 2 * QN_KV_PAGE);
        /* scale 1, because the stored keys include the rotation's scale already */
        qn_rope_table(net->dev, &b->angles[i], &pos, far ? &r->far : &r->freq, 1.0f);
    }
    return QN_OK;
}

/* Rotates the keys of one layer in one page of the cache. */
static void turn_page(struct qn_net *net, const struct qn_kv_layer *kv, const struct turn *turn,
                      struct bench *b, int32_t page, enum qn_rope_pairs pairs)
{
    const struct qn_dtype_info *type = qn_dtype(kv->k_type);
    const int64_t shape[] = {QN_KV_PAGE, kv->kv_heads, kv->k_dim};
    struct qn_tensor keys = qn_tensor_make(QN_F32, 3, shape, b->mem, 0);
    float *floats = b->mem->host;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t h = 0; h < kv->kv_heads; h++) {
            char *rows = (char *)kv->mem->host + (size_t)page * kv->page_bytes + kv->k_offset +
                         (size_t)h * kv->head_bytes;
            for (int32_t t = 0; t < QN_KV_PAGE; t++) {
                float *row = floats + ((int64_t)t * kv->kv_heads + h) * kv->k_dim;
                if (pass == 0)
                    type->dequant(row, rows + (size_t)t * kv->k_row, kv->k_dim);
                else
                    type->quant(rows + (size_t)t * kv->k_row, row, kv->k_dim);
            }
        }
        if (pass == 0) {
            const struct qn_tensor *angles = &b->angles[turn->rope];
            struct qn_tensor turning =
                qn_tensor_slice(&keys, 2, turn->first, kv->k_dim - turn->first);
            qn_rope(net->dev, &turning, angles, pairs);
        }
    }
}

qn_err qn_seq_shift(struct qn_seq *s, int32_t from, int32_t n, struct qn_error *e)
{
    struct qn_net *net = s->net;
    struct bench b = {0};
    if (from < 0 || n < 1 || n > s->len - from || from % QN_KV_PAGE || n % QN_KV_PAGE)
        return qn_fail(e, QN_EINVAL, "tokens %d to %d of %d are not whole pages of %d", (int)from,
                       (int)(from + n), (int)s->len, QN_KV_PAGE);
    if (net->state_bytes)
        return qn_fail(e, QN_EUNSUPPORTED, "a recurrent state cannot drop single tokens");
    if (net->arch->qk_norm == QN_QK_NORM_HEAD_LATE)
        return qn_fail(e, QN_EUNSUPPORTED,
                       "keys that are normalised after their rotation cannot be rotated again");
    int32_t first = from / QN_KV_PAGE, pages = n / QN_KV_PAGE;
    qn_err err = bench_new(s, n, &b, e);
    if (err == QN_OK)
        err = qn_kv_table_own(&s->table, first + pages, e);
    if (err != QN_OK) {
        qn_mem_free(b.mem);
        return err;
    }
    qn_kv_table_cut_out(&s->table, first, pages);
    s->len -= n;
    for (int32_t i = 0; i < net->shape.layers; i++) {
        const struct turn turn = turn_of(&net->layer[i]);
        if (net->layer[i].cache.kv_heads == 0 || turn.rope < 0)
            continue;
        enum qn_kv_group g = qn_kv_group_of(net->kv, i);
        for (int32_t p = first; p < s->table.n; p++)
            if (p >= s->table.first[g])
                turn_page(net, qn_kv_layer_at(net->kv, i), &turn, &b, s->table.page[g][p],
                          net->arch->pairs);
    }
    qn_mem_free(b.mem);
    return QN_OK;
}
