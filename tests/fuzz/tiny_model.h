/* A small mixture with a tied head, made in memory: what scripts/gguf makes of the preset, in as
 * few lines. For the fuzz targets whose input needs a network beside it. */
#ifndef QN_TESTS_FUZZ_TINY_MODEL_H
#define QN_TESTS_FUZZ_TINY_MODEL_H

#include "base/buf.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 32, HEADS = 2, FF = 32, VOCAB = 16, EXPERTS = 2, PAGE = 4096 };
enum { VALUE_U32 = 4, VALUE_F32 = 6, VALUE_STRING = 8 };

struct model {
    struct qn_buf meta, table, data;
    uint64_t keys, tensors;
};

static void number(struct qn_buf *b, uint64_t v, size_t bytes)
{
    qn_buf_add(b, &v, bytes);
}

static void text(struct qn_buf *b, const char *s)
{
    number(b, strlen(s), 8);
    qn_buf_str(b, s);
}

static void put_u32(struct model *m, const char *key, uint32_t v)
{
    text(&m->meta, key);
    number(&m->meta, VALUE_U32, 4);
    number(&m->meta, v, 4);
    m->keys++;
}

/* Outermost first, zeros left out. */
static void put(struct model *m, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t shape[] = {a, b, c};
    uint32_t dims = c ? 3 : b ? 2 : 1;
    uint64_t n = 1;
    text(&m->table, name);
    number(&m->table, dims, 4);
    for (uint32_t i = dims; i-- > 0; n *= shape[i])
        number(&m->table, shape[i], 8);
    number(&m->table, 0, 4); /* F32 */
    number(&m->table, m->data.len, 8);
    for (uint64_t i = 0; i < n; i++) {
        float v = (float)((i * 37 + m->tensors) % 19) / 19 - 0.4f;
        qn_buf_add(&m->data, &v, sizeof v);
    }
    while (m->data.len % 32)
        qn_buf_char(&m->data, 0);
    m->tensors++;
}

static void put_layers(struct model *m)
{
    put(m, "blk.0.attn_norm.weight", DIM, 0, 0);
    put(m, "blk.0.attn_q.weight", DIM, DIM, 0);
    put(m, "blk.0.attn_k.weight", DIM / 2, DIM, 0);
    put(m, "blk.0.attn_v.weight", DIM / 2, DIM, 0);
    put(m, "blk.0.attn_output.weight", DIM, DIM, 0);
    put(m, "blk.0.ffn_norm.weight", DIM, 0, 0);
    put(m, "blk.0.ffn_gate_inp.weight", EXPERTS, DIM, 0);
    put(m, "blk.0.ffn_gate_exps.weight", EXPERTS, FF, DIM);
    put(m, "blk.0.ffn_up_exps.weight", EXPERTS, FF, DIM);
    put(m, "blk.0.ffn_down_exps.weight", EXPERTS, DIM, FF);
    put(m, "blk.1.attn_norm.weight", DIM, 0, 0);
    put(m, "blk.1.attn_qkv.weight", 2 * DIM, DIM, 0);
    put(m, "blk.1.attn_output.weight", DIM, DIM, 0);
    put(m, "blk.1.ffn_norm.weight", DIM, 0, 0);
    put(m, "blk.1.ffn_gate.weight", FF, DIM, 0);
    put(m, "blk.1.ffn_up.weight", FF, DIM, 0);
    put(m, "blk.1.ffn_down.weight", DIM, FF, 0);
}

/* The file as memory that stays. */
static void *build(size_t *size)
{
    static struct model m;
    struct qn_buf whole;
    qn_buf_init(&m.meta, 1 << 20);
    qn_buf_init(&m.table, 1 << 20);
    qn_buf_init(&m.data, 1 << 20);
    qn_buf_init(&whole, 1 << 20);
    text(&m.meta, "general.architecture");
    number(&m.meta, VALUE_STRING, 4);
    text(&m.meta, "llama");
    m.keys++;
    put_u32(&m, "llama.block_count", 2);
    put_u32(&m, "llama.context_length", 64);
    put_u32(&m, "llama.embedding_length", DIM);
    put_u32(&m, "llama.feed_forward_length", FF);
    put_u32(&m, "llama.attention.head_count", HEADS);
    put_u32(&m, "llama.attention.head_count_kv", HEADS / 2);
    put_u32(&m, "llama.expert_count", EXPERTS);
    put_u32(&m, "llama.expert_used_count", 1);
    put(&m, "token_embd.weight", VOCAB, DIM, 0);
    put(&m, "output_norm.weight", DIM, 0, 0);
    put_layers(&m);
    qn_buf_add(&whole, "GGUF\3\0\0\0", 8);
    number(&whole, m.tensors, 8);
    number(&whole, m.keys, 8);
    qn_buf_add(&whole, m.meta.data, m.meta.len);
    qn_buf_add(&whole, m.table.data, m.table.len);
    while (whole.len % 32)
        qn_buf_char(&whole, 0);
    qn_buf_add(&whole, m.data.data, m.data.len);
    *size = (whole.len + PAGE) / PAGE * PAGE;
    void *file = aligned_alloc(PAGE, *size);
    memset(file, 0, *size);
    memcpy(file, whole.data, whole.len);
    qn_buf_deinit(&whole);
    qn_buf_deinit(&m.meta);
    qn_buf_deinit(&m.table);
    qn_buf_deinit(&m.data);
    return file;
}

/* The network, loaded anew from the file that build() has made; *w goes after it. */
static struct qn_net *load(struct qn_device *dev, const void *file, size_t size,
                           struct qn_weights **w, int max_chunk, int64_t pool)
{
    struct qn_gguf *g;
    struct qn_net *net;
    const struct qn_kv_config cache = {pool, QN_F16, QN_F16};
    if (qn_gguf_parse(file, size, &g, NULL) != QN_OK || qn_weights_from_gguf(w, g, NULL) != QN_OK ||
        qn_net_load(&net, *w, dev, &(struct qn_net_options){.max_chunk = max_chunk}, NULL) !=
            QN_OK ||
        qn_net_kv_init(net, &cache, NULL) != QN_OK)
        abort();
    return net;
}

#endif
