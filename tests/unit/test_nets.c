/* Loading networks from good and hostile files, and the rules of sequences. The arithmetic is
 * judged by tests/golden; here a tiny llama is built in memory and spoilt in one place at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 8, HEADS = 2, KV = 4, FF = 12, VOCAB = 10, TYPE_F32 = 0, TYPE_Q8_1 = 9 };
enum { VALUE_U32 = 4, VALUE_F32 = 6, VALUE_STRING = 8 };

/* ---- a GGUF file in memory ---- */

struct file {
    struct qn_buf meta, table, data, whole;
    uint64_t n_meta, n_tensors;
};

/* One way to spoil the file; zero-initialised: none. */
struct change {
    const char *drop; /* a key or a tensor left out */
    const char *key;  /* a key whose value becomes number, real or text */
    uint32_t number;
    float real;
    const char *text;
    const char *tensor; /* a tensor, there or new, with another shape or type */
    uint64_t ne[2];
    uint32_t type;
    qn_err want;
    const char *says; /* part of the message */
};

static void u32(struct qn_buf *b, uint32_t v)
{
    qn_buf_add(b, &v, sizeof v);
}

static void u64(struct qn_buf *b, uint64_t v)
{
    qn_buf_add(b, &v, sizeof v);
}

static void text(struct qn_buf *b, const char *s)
{
    u64(b, strlen(s));
    qn_buf_str(b, s);
}

static bool is(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

static void put_u32(struct file *f, const struct change *c, const char *key, uint32_t v)
{
    if (is(c->drop, key))
        return;
    f->n_meta++;
    text(&f->meta, key);
    if (is(c->key, key) && c->text) {
        u32(&f->meta, VALUE_STRING);
        text(&f->meta, c->text);
        return;
    }
    u32(&f->meta, VALUE_U32);
    u32(&f->meta, is(c->key, key) ? c->number : v);
}

static void put_f32(struct file *f, const struct change *c, const char *key, float v)
{
    if (is(c->drop, key))
        return;
    f->n_meta++;
    text(&f->meta, key);
    u32(&f->meta, VALUE_F32);
    v = is(c->key, key) ? c->real : v;
    qn_buf_add(&f->meta, &v, sizeof v);
}

static void put_str(struct file *f, const struct change *c, const char *key, const char *v)
{
    if (is(c->drop, key))
        return;
    f->n_meta++;
    text(&f->meta, key);
    u32(&f->meta, VALUE_STRING);
    text(&f->meta, is(c->key, key) ? c->text : v);
}

/* ne as in the file: the innermost first; ne1 0: a vector. Values are small and not all alike. */
static void put_tensor(struct file *f, const struct change *c, const char *name, uint64_t ne0,
                       uint64_t ne1)
{
    uint32_t type = TYPE_F32;
    uint64_t count = ne0 * (ne1 ? ne1 : 1);
    if (is(c->drop, name))
        return;
    if (is(c->tensor, name)) {
        type = c->type;
        ne0 = c->ne[0] ? c->ne[0] : ne0;
        ne1 = c->ne[0] ? c->ne[1] : ne1;
    }
    f->n_tensors++;
    text(&f->table, name);
    u32(&f->table, ne1 ? 2 : 1);
    u64(&f->table, ne0);
    if (ne1)
        u64(&f->table, ne1);
    u32(&f->table, type);
    u64(&f->table, f->data.len);
    for (uint64_t i = 0; i < count; i++) {
        float v = (ne1 ? 0.0f : 1.0f) + (float)((i * 7 + f->n_tensors) % 11) / 20 - 0.25f;
        qn_buf_add(&f->data, &v, sizeof v);
    }
    while (f->data.len % 32)
        qn_buf_char(&f->data, 0);
}

static void build(struct file *f, const struct change *c)
{
    struct qn_buf *all[] = {&f->meta, &f->table, &f->data, &f->whole};
    *f = (struct file){0};
    for (int i = 0; i < 4; i++)
        qn_buf_init(all[i], 1 << 20);
    put_str(f, c, "general.architecture", "llama");
    put_u32(f, c, "llama.block_count", 1);
    put_u32(f, c, "llama.embedding_length", DIM);
    put_u32(f, c, "llama.feed_forward_length", FF);
    put_u32(f, c, "llama.context_length", 64);
    put_u32(f, c, "llama.attention.head_count", HEADS);
    put_u32(f, c, "llama.attention.head_count_kv", 1);
    put_f32(f, c, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    put_f32(f, c, "llama.rope.freq_base", 1e4f);
    static const char *const optional[] = {
        "llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count",
        "llama.expert_count", "llama.rope.scaling.type"};
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (is(c->key, optional[i]))
            put_u32(f, c, optional[i], 0);
    if (is(c->key, "llama.rope.scaling.factor")) {
        put_str(f, c, "llama.rope.scaling.type", "linear");
        put_f32(f, c, "llama.rope.scaling.factor", 0);
    }
    put_tensor(f, c, "token_embd.weight", DIM, VOCAB);
    put_tensor(f, c, "output_norm.weight", DIM, 0);
    put_tensor(f, c, "blk.0.attn_norm.weight", DIM, 0);
    put_tensor(f, c, "blk.0.attn_q.weight", DIM, DIM);
    put_tensor(f, c, "blk.0.attn_k.weight", DIM, KV);
    put_tensor(f, c, "blk.0.attn_v.weight", DIM, KV);
    put_tensor(f, c, "blk.0.attn_output.weight", DIM, DIM);
    put_tensor(f, c, "blk.0.ffn_norm.weight", DIM, 0);
    put_tensor(f, c, "blk.0.ffn_gate.weight", DIM, FF);
    put_tensor(f, c, "blk.0.ffn_up.weight", DIM, FF);
    put_tensor(f, c, "blk.0.ffn_down.weight", FF, DIM);
    static const char *const extra[] = {"blk.0.ffn_gate_exps.weight", "blk.1.attn_norm.weight",
                                        "rope_freqs.weight", "blk.0.attn_q_norm.weight"};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        if (is(c->tensor, extra[i]))
            put_tensor(f, c, extra[i], c->ne[0], c->ne[1]);

    qn_buf_add(&f->whole, "GGUF", 4);
    u32(&f->whole, 3);
    u64(&f->whole, f->n_tensors);
    u64(&f->whole, f->n_meta);
    qn_buf_add(&f->whole, f->meta.data, f->meta.len);
    qn_buf_add(&f->whole, f->table.data, f->table.len);
    while (f->whole.len % 32)
        qn_buf_char(&f->whole, 0);
    qn_buf_add(&f->whole, f->data.data, f->data.len);
}

static void drop(struct file *f)
{
    qn_buf_deinit(&f->meta);
    qn_buf_deinit(&f->table);
    qn_buf_deinit(&f->data);
    qn_buf_deinit(&f->whole);
}

/* ---- loading ---- */

struct loaded {
    struct file file;
    struct qn_device *dev;
    struct qn_weights *w;
    struct qn_net *net;
};

static qn_err load_as(struct loaded *l, const struct change *c, const struct qn_stretch *stretch,
                      qn_net_progress progress, void *ctx, struct qn_error *e)
{
    struct qn_gguf *g;
    *l = (struct loaded){0};
    build(&l->file, c);
    assert_int_equal(qn_device_cpu_new(1, &l->dev, e), QN_OK);
    qn_err err = qn_gguf_parse(l->file.whole.data, l->file.whole.len, &g, e);
    if (err == QN_OK)
        err = qn_weights_from_gguf(&l->w, g, e);
    if (err == QN_OK)
        err =
            qn_net_load(&l->net, l->w, l->dev,
                        &(struct qn_net_options){
                            .max_chunk = 16, .stretch = stretch, .progress = progress, .ctx = ctx},
                        e);
    return err;
}

static qn_err load(struct loaded *l, const struct change *c, qn_net_progress progress, void *ctx,
                   struct qn_error *e)
{
    return load_as(l, c, NULL, progress, ctx, e);
}

static void unload(struct loaded *l)
{
    qn_net_free(l->net);
    qn_weights_close(l->w);
    qn_device_free(l->dev);
    drop(&l->file);
}

static void load_good(struct loaded *l)
{
    struct qn_error e = {0};
    if (load(l, &(struct change){0}, NULL, NULL, &e) != QN_OK)
        fail_msg("%s", e.message);
}

static void test_good_file(void **state)
{
    (void)state;
    struct loaded l;
    load_good(&l);
    const struct qn_net_info *info = qn_net_info(l.net);
    assert_string_equal(info->architecture, "llama");
    assert_int_equal(info->vocab, VOCAB);
    assert_int_equal(info->layers, 1);
    assert_int_equal(info->context_train, 64);
    assert_int_equal(info->kv_token_bytes, 2 * KV * 2);
    assert_int_equal(info->parameters,
                     VOCAB * DIM + 3 * DIM + 2 * DIM * DIM + 2 * DIM * KV + 3 * DIM * FF);
    unload(&l);
}

static const struct change spoilt[] = {
    {.key = "general.architecture",
     .text = "mamba",
     .want = QN_EUNSUPPORTED,
     .says = "architecture \"mamba\" is not supported; this version runs llama, "},
    {.drop = "general.architecture", .want = QN_ENOTFOUND, .says = "general.architecture"},
    {.drop = "llama.block_count", .want = QN_ENOTFOUND, .says = "llama.block_count"},
    {.key = "llama.block_count", .number = 0, .want = QN_EFORMAT, .says = "llama.block_count is 0"},
    {.key = "llama.block_count",
     .number = 4000000000u,
     .want = QN_EFORMAT,
     .says = "llama.block_count is 4000000000"},
    {.key = "llama.block_count", .number = 2, .want = QN_ENOTFOUND, .says = "blk.1."},
    {.key = "llama.block_count", .text = "one", .want = QN_EFORMAT, .says = "llama.block_count"},
    {.key = "llama.embedding_length", .number = 0, .want = QN_EFORMAT, .says = "embedding_length"},
    {.key = "llama.embedding_length",
     .number = 16,
     .want = QN_EFORMAT,
     .says = "token_embd.weight"},
    {.key = "llama.embedding_length",
     .number = 9,
     .want = QN_EFORMAT,
     .says = "2 attention heads do not divide a width of 9"},
    {.key = "llama.feed_forward_length", .number = 24, .want = QN_EFORMAT, .says = "ffn_gate"},
    {.key = "llama.feed_forward_length",
     .number = 0xffffffffu,
     .want = QN_EFORMAT,
     .says = "feed_forward_length"},
    {.key = "llama.context_length", .number = 0, .want = QN_EFORMAT, .says = "context_length"},
    {.key = "llama.attention.head_count", .number = 0, .want = QN_EFORMAT, .says = "head_count"},
    {.key = "llama.attention.head_count", .number = 3, .want = QN_EFORMAT, .says = "divide"},
    {.key = "llama.attention.head_count_kv",
     .number = 0,
     .want = QN_EFORMAT,
     .says = "head_count_kv"},
    {.key = "llama.attention.head_count_kv",
     .number = 3,
     .want = QN_EFORMAT,
     .says = "head_count_kv"},
    {.key = "llama.attention.head_count_kv", .number = 2, .want = QN_EFORMAT, .says = "attn_k"},
    {.key = "llama.attention.key_length", .number = 0, .want = QN_EFORMAT, .says = "key_length"},
    {.key = "llama.attention.key_length",
     .number = 1 << 30,
     .want = QN_EFORMAT,
     .says = "key_length"},
    {.key = "llama.attention.key_length", .number = 8, .want = QN_EFORMAT, .says = "attn_q"},
    {.key = "llama.attention.value_length",
     .number = 2,
     .want = QN_EUNSUPPORTED,
     .says = "values 2 wide beside keys 4 wide"},
    {.key = "llama.rope.dimension_count", .number = 3, .want = QN_EFORMAT, .says = "not even"},
    {.key = "llama.rope.dimension_count",
     .number = 6,
     .want = QN_EFORMAT,
     .says = "dimension_count"},
    {.key = "llama.rope.freq_base", .real = -1, .want = QN_EFORMAT, .says = "freq_base"},
    {.key = "llama.rope.freq_base", .real = INFINITY, .want = QN_EFORMAT, .says = "freq_base"},
    {.key = "llama.attention.layer_norm_rms_epsilon",
     .real = NAN,
     .want = QN_EFORMAT,
     .says = "epsilon"},
    {.key = "llama.rope.scaling.type",
     .text = "dynamic",
     .want = QN_EUNSUPPORTED,
     .says = "rotary scaling \"dynamic\""},
    {.key = "llama.rope.scaling.factor", .real = 0, .want = QN_EFORMAT, .says = "scaling.factor"},
    {.key = "llama.expert_count",
     .number = 8,
     .want = QN_ENOTFOUND,
     .says = "llama.expert_used_count"},
    {.key = "llama.expert_count",
     .number = 1 << 20,
     .want = QN_EFORMAT,
     .says = "llama.expert_count"},
    {.drop = "token_embd.weight", .want = QN_ENOTFOUND, .says = "token_embd.weight"},
    {.drop = "output_norm.weight", .want = QN_ENOTFOUND, .says = "output_norm.weight"},
    {.drop = "blk.0.ffn_down.weight", .want = QN_ENOTFOUND, .says = "blk.0.ffn_down.weight"},
    {.tensor = "blk.0.ffn_down.weight",
     .ne = {DIM, FF},
     .want = QN_EFORMAT,
     .says = "blk.0.ffn_down.weight"},
    {.tensor = "blk.0.ffn_norm.weight",
     .ne = {DIM, 1},
     .want = QN_EFORMAT,
     .says = "blk.0.ffn_norm.weight"},
    {.tensor = "token_embd.weight",
     .ne = {DIM, (uint64_t)1 << 40},
     .want = QN_EFORMAT,
     .says = "token_embd.weight"},
    {.tensor = "token_embd.weight",
     .ne = {DIM * VOCAB, 0},
     .want = QN_EFORMAT,
     .says = "token_embd.weight"},
    {.tensor = "blk.0.attn_q.weight",
     .ne = {DIM, DIM},
     .type = TYPE_Q8_1,
     .want = QN_EUNSUPPORTED,
     .says = "Q8_1"},
    {.tensor = "blk.0.attn_q.weight",
     .ne = {DIM, DIM},
     .type = 12,
     .want = QN_EFORMAT,
     .says = "blk.0.attn_q.weight"}, /* Q4_K has blocks of 256 */
    {.tensor = "blk.0.attn_q.weight",
     .ne = {DIM, DIM},
     .type = 26,
     .want = QN_EUNSUPPORTED,
     .says = "I32"}, /* I32 */
    {.tensor = "blk.0.ffn_gate_exps.weight",
     .ne = {DIM, FF},
     .want = QN_EUNSUPPORTED,
     .says = "blk.0.ffn_gate_exps.weight"},
    {.tensor = "blk.0.attn_q_norm.weight",
     .ne = {4, 0},
     .want = QN_EUNSUPPORTED,
     .says = "blk.0.attn_q_norm.weight"},
    {.tensor = "blk.1.attn_norm.weight",
     .ne = {DIM, 0},
     .want = QN_EUNSUPPORTED,
     .says = "blk.1.attn_norm.weight"},
    {.tensor = "rope_freqs.weight", .ne = {3, 0}, .want = QN_EFORMAT, .says = "rope_freqs.weight"},
};

static void test_spoilt_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        struct loaded l;
        struct qn_error e = {0};
        qn_err got = load(&l, &spoilt[i], NULL, NULL, &e);
        if (got != spoilt[i].want || !strstr(e.message, spoilt[i].says))
            fail_msg("case %zu: %s \"%s\", expected %s with \"%s\"", i, qn_err_name(got), e.message,
                     qn_err_name(spoilt[i].want), spoilt[i].says);
        assert_null(l.net);
        unload(&l);
    }
}

static bool stop_at_once(void *ctx, double fraction)
{
    *(double *)ctx = fraction;
    return false;
}

static void test_progress_stops(void **state)
{
    (void)state;
    struct loaded l;
    struct qn_error e = {0};
    double seen = 0;
    assert_int_equal(load(&l, &(struct change){0}, stop_at_once, &seen, &e), QN_ECANCELLED);
    assert_true(seen > 0 && seen <= 1);
    unload(&l);
}

/* ---- sequences ---- */

static void load_with_cache(struct loaded *l)
{
    load_good(l);
    assert_int_equal(qn_net_kv_init(l->net, &(struct qn_kv_config){1 << 20, QN_F16, QN_F16}, NULL),
                     QN_OK);
}

static void forward(struct qn_net *net, struct qn_chunk *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(qn_seq_reserve(chunks[i].seq, chunks[i].n, NULL), QN_OK);
    qn_net_forward(net, chunks, n);
}

static void test_only_wanted_logits_are_written(void **state)
{
    (void)state;
    struct loaded l;
    struct qn_seq *a, *b;
    load_with_cache(&l);
    assert_int_equal(qn_seq_new(l.net, 16, &a, NULL), QN_OK);
    assert_int_equal(qn_seq_new(l.net, 16, &b, NULL), QN_OK);
    const int32_t ids[] = {1, 9, 0, 4, 4};
    float all[5 * VOCAB], last[VOCAB + 1];
    last[VOCAB] = 42;
    struct qn_chunk whole = {.seq = a, .tokens = ids, .n = 5, .all_rows = true, .logits = all};
    forward(l.net, &whole, 1);
    assert_int_equal(qn_seq_len(a), 5);
    struct qn_chunk silent = {.seq = b, .tokens = ids, .n = 3};
    forward(l.net, &silent, 1);
    struct qn_chunk rest = {.seq = b, .tokens = ids + 3, .n = 2, .logits = last};
    forward(l.net, &rest, 1);
    assert_int_equal(qn_seq_len(b), 5);
    for (int i = 0; i < VOCAB; i++)
        assert_true(fabsf(last[i] - all[4 * VOCAB + i]) < 1e-5f);
    assert_true(last[VOCAB] == 42);
    qn_net_forward(l.net, NULL, 0);

    /* all, none and the last of three texts in one batch */
    struct qn_seq *c;
    assert_int_equal(qn_seq_new(l.net, 16, &c, NULL), QN_OK);
    qn_seq_truncate(a, 0);
    qn_seq_truncate(b, 0);
    float two[2 * VOCAB];
    struct qn_chunk three[] = {
        {.seq = a, .tokens = ids + 3, .n = 2},
        {.seq = b, .tokens = ids, .n = 2, .all_rows = true, .logits = two},
        {.seq = c, .tokens = ids, .n = 5, .logits = last},
    };
    forward(l.net, three, 3);
    assert_int_equal(qn_seq_len(a), 2);
    for (int i = 0; i < VOCAB; i++) {
        assert_true(fabsf(two[i] - all[i]) < 1e-5f);
        assert_true(fabsf(two[VOCAB + i] - all[VOCAB + i]) < 1e-5f);
        assert_true(fabsf(last[i] - all[4 * VOCAB + i]) < 1e-5f);
    }
    qn_seq_free(c);
    qn_seq_free(a);
    qn_seq_free(b);
    unload(&l);
}

static void test_contexts(void **state)
{
    (void)state;
    struct loaded l;
    struct qn_seq *s, *small;
    struct qn_error e = {0};
    load_with_cache(&l);
    assert_int_equal(qn_seq_new(l.net, 0, &s, &e), QN_EINVAL);
    assert_int_equal(qn_seq_new(l.net, 1 << 30, &s, &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "1073741824 tokens"));
    assert_int_equal(qn_seq_new(l.net, 1 << 24, &s, &e), QN_OK); /* costs nothing until used */
    assert_int_equal(qn_seq_new(l.net, 2, &small, &e), QN_OK);
    const int32_t ids[] = {3, 1, 2};
    float far[VOCAB], near[VOCAB];
    struct qn_chunk c = {.seq = s, .tokens = ids, .n = 3};
    forward(l.net, &c, 1);
    assert_int_equal(qn_seq_fork(small, s, 1, NULL), QN_OK);
    assert_int_equal(qn_seq_len(small), 1);
    qn_seq_truncate(s, 1);
    c = (struct qn_chunk){.seq = s, .tokens = ids + 2, .n = 1, .logits = far};
    forward(l.net, &c, 1);
    c = (struct qn_chunk){.seq = small, .tokens = ids + 2, .n = 1, .logits = near};
    forward(l.net, &c, 1);
    assert_memory_equal(far, near, sizeof far);
    assert_int_equal(qn_seq_fork(small, s, 0, NULL), QN_OK);
    assert_int_equal(qn_seq_len(small), 0);
    qn_seq_free(small);
    qn_seq_free(s);
    unload(&l);
}

/* ---- another context than the file's ---- */

static void test_stretch_texts(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",         "linear", "linear:0.5", "yarn:4:",     "yarn:x",
        "spline:4", "none:2", "yarn:4:0",   "yarn:4:8:16", "linear:1e9"};
    struct qn_stretch s;
    struct qn_error e = {0};
    assert_int_equal(qn_stretch_parse("none", &s, &e), QN_OK);
    assert_int_equal(s.kind, QN_STRETCH_NONE);
    assert_int_equal(qn_stretch_parse("linear:2.5", &s, &e), QN_OK);
    assert_true(s.kind == QN_STRETCH_LINEAR && s.factor == 2.5f && s.original == 0);
    assert_int_equal(qn_stretch_parse("yarn:4:32768", &s, &e), QN_OK);
    assert_true(s.kind == QN_STRETCH_YARN && s.factor == 4 && s.original == 32768);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (qn_stretch_parse(wrong[i], &s, &e) != QN_EINVAL)
            fail_msg("\"%s\" was taken", wrong[i]);
}

/* Logits of three tokens of the file as changed and stretched. */
static void stretched_logits(const struct change *c, const struct qn_stretch *s, float *out,
                             int32_t *context)
{
    struct loaded l;
    struct qn_seq *seq;
    struct qn_error e = {0};
    const int32_t ids[] = {3, 1, 2};
    if (load_as(&l, c, s, NULL, NULL, &e) != QN_OK)
        fail_msg("%s", e.message);
    *context = qn_net_info(l.net)->context_train;
    assert_int_equal(qn_net_kv_init(l.net, &(struct qn_kv_config){32, QN_F32, QN_F32}, NULL),
                     QN_OK);
    assert_int_equal(qn_seq_new(l.net, 32, &seq, NULL), QN_OK);
    struct qn_chunk chunk = {.seq = seq, .tokens = ids, .n = 3, .logits = out};
    forward(l.net, &chunk, 1);
    qn_seq_free(seq);
    unload(&l);
}

static void test_stretch(void **state)
{
    (void)state;
    const struct change as_is = {0}, by_file = {.key = "llama.rope.scaling.factor", .real = 4};
    const struct qn_stretch four = {QN_STRETCH_LINEAR, 4, 0}, none = {QN_STRETCH_NONE, 1, 0};
    float plain[VOCAB], file[VOCAB], option[VOCAB], undone[VOCAB];
    int32_t context;
    stretched_logits(&as_is, NULL, plain, &context);
    assert_int_equal(context, 64);
    stretched_logits(&by_file, NULL, file, &context);
    stretched_logits(&as_is, &four, option, &context);
    assert_int_equal(context, 256);
    stretched_logits(&by_file, &none, undone, &context);
    assert_memory_equal(file, option, sizeof file);
    assert_memory_equal(plain, undone, sizeof plain);
    assert_memory_not_equal(plain, option, sizeof plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_spoilt_files),
        cmocka_unit_test(test_progress_stops),
        cmocka_unit_test(test_stretch_texts),
        cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_only_wanted_logits_are_written),
        cmocka_unit_test(test_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
