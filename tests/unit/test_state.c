/* States of recurrent layers, without a network: what a state holds is a sum over the tokens so
 * far, so every length has one value, however a sequence got there: in chunks, in company, cut
 * back, forked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rand.h"
#include "nets/decoder/decoder.h"
#include "nets/decoder/seq.h"

enum { SEQS = 3, LONGEST = 4000 };

static struct qn_net net;
static struct qn_decoder_layer layers[2];
static struct qn_seq seqs[SEQS];
static struct qn_span spans[SEQS], pieces[SEQS];
static struct qn_tensor states[SEQS];
static struct qn_seq *in_batch[SEQS];
static float text[SEQS][LONGEST]; /* what each sequence has seen */
static struct qn_rng rng;

static int below(int n)
{
    return (int)(qn_rng_u64(&rng) % (uint64_t)n);
}

static int set_up(void **state)
{
    struct qn_error e;
    (void)state;
    qn_rng_init(&rng, 5);
    net = (struct qn_net){.spans = {spans}, .state_spans = pieces, .states = states};
    net.seqs = in_batch;
    layers[0].state = (struct qn_layer_state){.inputs = {1, 3}, .matrices = {2, 5, 7}};
    layers[1].state = (struct qn_layer_state){.matrices = {1, 1, 1}};
    if (qn_device_cpu_new(1, &net.dev, &e) || qn_state_lay_out(layers, 2, &net.state_bytes, &e) ||
        qn_mem_new(net.dev, net.state_bytes, &net.state_zero, &e))
        return 1;
    for (int i = 0; i < SEQS; i++) {
        seqs[i] = (struct qn_seq){.net = &net};
        if (qn_state_init(&seqs[i].state, &net, &e))
            return 1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < SEQS; i++)
        qn_state_deinit(&seqs[i].state);
    qn_mem_free(net.state_zero);
    qn_device_free(net.dev);
    return 0;
}

static float *floats(const struct qn_tensor *t)
{
    return (float *)(void *)((char *)t->mem->host + t->offset);
}

/* The "layer": inputs keep the last token, matrices the sum of all. rows: every row's token. */
static void run(const struct qn_decoder_layer *layer, enum qn_state_part part, int n,
                const float *rows)
{
    const struct qn_step_rows b = {.spans = n};
    struct qn_state_pass p = {.layer = layer, .part = part};
    while (qn_state_next(&net, &b, &p))
        for (int i = 0; i < p.n; i++)
            for (int64_t f = 0; f < qn_tensor_elements(&p.states[i]); f++)
                for (int t = 0; t < p.spans[i].n; t++) {
                    float token = rows[p.spans[i].row + t], *to = &floats(&p.states[i])[f];
                    *to = part == QN_STATE_INPUTS ? token : *to + token;
                }
}

static void check(int i)
{
    float sum = 0, last = seqs[i].len ? text[i][seqs[i].len - 1] : 0;
    for (int t = 0; t < seqs[i].len; t++)
        sum += text[i][t];
    const char *base = seqs[i].state.now->host;
    for (int l = 0; l < 2; l++) {
        const struct qn_layer_state *s = &layers[l].state;
        const float *inputs = (const float *)(const void *)(base + s->at[QN_STATE_INPUTS]);
        const float *matrices = (const float *)(const void *)(base + s->at[QN_STATE_MATRICES]);
        for (int64_t f = 0; f < s->inputs[0] * s->inputs[1]; f++)
            assert_true(inputs[f] == last);
        for (int64_t f = 0; f < s->matrices[0] * s->matrices[1] * s->matrices[2]; f++)
            assert_true(matrices[f] == sum);
    }
    assert_true(seqs[i].state.n_kept <= QN_STATE_KEPT);
}

/* Some of the sequences, each with some tokens more. */
static void feed(void)
{
    static float rows[SEQS * 800];
    int n = 0, row = 0;
    for (int i = 0; i < SEQS; i++) {
        int more = 1 + below(below(2) ? 8 : 800);
        if (below(3) == 0 || seqs[i].len + more > LONGEST)
            continue;
        assert_int_equal(qn_state_reserve(&net, &seqs[i].state, seqs[i].len, more, NULL), QN_OK);
        in_batch[n] = &seqs[i];
        spans[n++] = (struct qn_span){.row = row, .n = more, .past = seqs[i].len};
        for (int t = 0; t < more; t++)
            rows[row++] = text[i][seqs[i].len + t] = (float)(1 + below(100));
    }
    for (int l = 0; l < 2; l++)
        for (int part = 0; part < QN_STATE_PARTS; part++)
            if (part == QN_STATE_MATRICES || l == 0)
                run(&layers[l], part, n, rows);
    for (int i = 0; i < n; i++)
        in_batch[i]->len += spans[i].n;
}

static void cut(int i)
{
    int want = below(seqs[i].len + 1);
    int32_t to = qn_state_reach(&seqs[i].state, seqs[i].len, want);
    assert_true(to <= want);
    assert_true(to == seqs[i].len || to % QN_STATE_STEP == 0);
    qn_state_cut(&net, &seqs[i].state, seqs[i].len, to);
    seqs[i].len = to;
}

static void fork_to(int i, int from)
{
    qn_state_cut(&net, &seqs[i].state, seqs[i].len, 0);
    seqs[i].len = 0;
    int32_t len = seqs[from].len;
    int32_t to = qn_state_reach(&seqs[from].state, len, below(2) ? len : below(len + 1));
    qn_state_share(&net, &seqs[i].state, &seqs[from].state, len, to);
    for (int t = 0; t < to; t++)
        text[i][t] = text[from][t];
    seqs[i].len = to;
}

static void test_any_way(void **state)
{
    (void)state;
    for (int round = 0; round < 3000; round++) {
        int i = below(SEQS);
        if (below(8) == 0)
            cut(i);
        else if (below(8) == 0)
            fork_to(i, (i + 1 + below(SEQS - 1)) % SEQS);
        else
            feed();
        for (int s = 0; s < SEQS; s++)
            check(s);
    }
}

/* The newest multiple of the step is always kept, and with it some of what lies before. */
static void test_what_is_kept(void **state)
{
    struct qn_state *s = &seqs[0].state;
    (void)state;
    assert_int_equal(qn_state_reserve(&net, s, 0, QN_STATE_STEP - 1, NULL), QN_OK);
    assert_int_equal(s->n_kept, 0);
    assert_int_equal(qn_state_reserve(&net, s, QN_STATE_STEP - 1, 1, NULL), QN_OK);
    assert_int_equal(s->n_kept, 1);
    assert_int_equal(qn_state_reserve(&net, s, QN_STATE_STEP - 1, 1, NULL), QN_OK); /* once */
    assert_int_equal(s->n_kept, 1);
    for (int len = QN_STATE_STEP; len < 40 * QN_STATE_STEP; len += 100) {
        assert_int_equal(qn_state_reserve(&net, s, len, 100, NULL), QN_OK);
        int32_t end = len + 100;
        assert_true(s->n_kept <= QN_STATE_KEPT);
        assert_int_equal(qn_state_reach(s, end, end - 1),
                         (end - 1) / QN_STATE_STEP * QN_STATE_STEP);
    }
    assert_int_equal(s->n_kept, QN_STATE_KEPT);
    assert_true(s->kept[0]->len < 30 * QN_STATE_STEP); /* not the last four alone */
    qn_state_cut(&net, s, 40 * QN_STATE_STEP, 0);
    assert_int_equal(s->n_kept, 0);
    assert_int_equal(qn_state_reserve(&net, s, 0, 100 * QN_STATE_STEP, NULL), QN_OK); /* at once */
    assert_int_equal(s->n_kept, QN_STATE_KEPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
