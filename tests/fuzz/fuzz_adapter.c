/* Any bytes as an adapter's file beside a small mixture with a tied head: refused with a message,
 * or added and run through, at the prompt and after it. */
#include "base/buf.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 32, HEADS = 2, FF = 32, VOCAB = 16, EXPERTS = 2, TOKENS = 4, POOL = 64, PAGE = 4096 };
enum { VALUE_U32 = 4, VALUE_F32 = 6, VALUE_STRING = 8 };

/* ---- the model: what scripts/gguf makes of the preset, in as few lines ---- */

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

/* ---- the run ---- */

static struct qn_net *load(struct qn_device *dev, const void *file, size_t size,
                           struct qn_weights **w)
{
    struct qn_gguf *g;
    struct qn_net *net;
    const struct qn_kv_config cache = {POOL, QN_F16, QN_F16};
    if (qn_gguf_parse(file, size, &g, NULL) != QN_OK || qn_weights_from_gguf(w, g, NULL) != QN_OK ||
        qn_net_load(&net, *w, dev, 2 * TOKENS, NULL, NULL, NULL) != QN_OK ||
        qn_net_kv_init(net, &cache, NULL) != QN_OK)
        abort();
    return net;
}

static void run(struct qn_net *net, int32_t adapter)
{
    static float logits[TOKENS][VOCAB];
    const int32_t ids[TOKENS] = {0, VOCAB - 1, 3, 7};
    const struct qn_mix mix = {1, {{adapter, 0.5f}}};
    struct qn_seq *s[2];
    for (int i = 0; i < 2; i++)
        if (qn_seq_new(net, TOKENS + 1, &s[i], NULL) != QN_OK)
            abort();
    for (int at = 0; at < TOKENS; at += TOKENS - 1) { /* a prompt, then a token */
        struct qn_chunk c[2];
        for (int i = 0; i < 2; i++) {
            c[i] = (struct qn_chunk){.seq = s[i],
                                     .tokens = ids + at,
                                     .mix = i ? &mix : NULL,
                                     .n = at ? 1 : TOKENS - 1,
                                     .all_logits = i,
                                     .logits = i ? logits[0] : NULL};
            if (qn_seq_reserve(s[i], c[i].n, NULL) != QN_OK)
                abort();
        }
        qn_net_forward(net, c, 2);
    }
    qn_seq_free(s[0]);
    qn_seq_free(s[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qn_device *dev;
    static void *model;
    static size_t model_size;
    struct qn_error e = {0};
    struct qn_gguf *g;
    struct qn_weights *base, *w;
    int32_t index;
    if (!dev && qn_device_cpu_new(1, &dev, &e) != QN_OK)
        abort();
    if (!model)
        model = build(&model_size);
    void *file = aligned_alloc(PAGE, (size + PAGE) / PAGE * PAGE); /* as a mapped file would lie */
    memcpy(file, data, size);
    if (qn_gguf_parse(file, size, &g, &e) == QN_OK && qn_weights_from_gguf(&w, g, &e) == QN_OK) {
        struct qn_net *net = load(dev, model, model_size, &base);
        if (qn_net_adapter_add(net, w, &index, &e) == QN_OK)
            run(net, index);
        else if (!e.message[0])
            abort(); /* a refusal says why */
        qn_net_free(net);
        qn_weights_close(base);
    }
    free(file);
    return 0;
}
