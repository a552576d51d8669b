/* Speculation: the pure decisions, and that guesses change nothing but the number of steps. */
#include "fake_net.h"

#include "llm/scheduler/draft.h"
#include "llm/scheduler/speculate.h"

/* ---- prompt lookup ---- */

static void the_longest_repetition_is_found(void **state)
{
    (void)state;
    /* "5 6 7" occurs twice before: after 1 2 with 8 9 behind it, and after 3 4 with 10 11. The end
     * is 3 4 5 6 7: the longer match wins although the other is later. */
    const int32_t tokens[] = {3, 4, 5, 6, 7, 10, 11, 1, 2, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7};
    int32_t out[4];
    assert_int_equal(qn_spec_lookup(tokens, 19, 2, out), 2);
    assert_int_equal(out[0], 10);
    assert_int_equal(out[1], 11);
    /* Of equally long ones the latest. */
    const int32_t twice[] = {1, 2, 3, 9, 1, 2, 4, 9, 1, 2};
    assert_int_equal(qn_spec_lookup(twice, 10, 4, out), 4);
    assert_int_equal(out[0], 4);
    assert_int_equal(out[3], 2);
    /* No more than there is behind it; nothing where less than two tokens repeat. */
    assert_int_equal(qn_spec_lookup(tokens, 19, 100, (int32_t[100]){0}), 14);
    const int32_t one[] = {1, 2, 3, 4, 3};
    assert_int_equal(qn_spec_lookup(one, 5, 4, out), 0);
    assert_int_equal(qn_spec_lookup(one, 1, 4, out), 0);
    /* A period: what follows overlaps the end itself. */
    const int32_t period[] = {7, 8, 7, 8, 7, 8};
    assert_int_equal(qn_spec_lookup(period, 6, 4, out), 2);
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 8);
}

/* ---- what pays ---- */

static struct qn_spec_cost cost_of(double base, double row)
{
    struct qn_spec_cost c = {0};
    for (int i = 0; i < 200; i++) {
        int32_t rows = 1 + i % 5;
        qn_spec_cost_note(&c, rows, base + row * rows);
    }
    return c;
}

static void the_cost_of_a_row_is_learned(void **state)
{
    (void)state;
    struct qn_spec_cost c = cost_of(10, 0.5);
    assert_float_equal(c.row_ms, 0.5, 1e-6);
    c = cost_of(1, 4);
    assert_float_equal(c.row_ms, 4, 1e-6);
}

static void guesses_are_made_where_they_pay(void **state)
{
    (void)state;
    /* Rows that cost nearly nothing: as many as allowed, while guesses come true. */
    struct qn_spec_cost cheap = cost_of(10, 0.01), dear = cost_of(0.1, 10);
    struct qn_spec_luck luck = {0};
    for (int i = 0; i < 20; i++)
        qn_spec_note(&luck, 4, 4);
    assert_int_equal(qn_spec_worth(&luck, &cheap, 1, 0, 8), 8);
    /* One row costs as much as one token: never. */
    assert_int_equal(qn_spec_worth(&luck, &dear, 1, 0, 8), 0);
    /* At 10 + 2·rows ms and a chance of one half, by hand: a token costs 12 ms alone, a row with
     * its margin 2.2 ms; 0.5 and 0.25 of 12 are more than that, 0.125 is not. */
    struct qn_spec_cost middle = cost_of(10, 2);
    struct qn_spec_luck half = {.tried = 1000, .right = 500};
    assert_int_equal(qn_spec_worth(&half, &middle, 1, 0, 8), 2);
    /* A draft that costs 2 ms a guess leaves one; one of 5 ms none. */
    assert_int_equal(qn_spec_worth(&half, &middle, 1, 2, 8), 1);
    half = (struct qn_spec_luck){.tried = 1000, .right = 500};
    assert_int_equal(qn_spec_worth(&half, &middle, 1, 5, 8), 0);
    /* Eight answers share a step of 26 ms: a token costs 3.25 ms, and half of that is too little.
     */
    half = (struct qn_spec_luck){.tried = 1000, .right = 500};
    assert_int_equal(qn_spec_worth(&half, &middle, 8, 0, 8), 0);
}

static void what_does_not_pay_stops_and_is_tried_again(void **state)
{
    (void)state;
    struct qn_spec_cost c = cost_of(10, 3);
    struct qn_spec_luck luck = {0};
    int tries = 0, gap = 0, longest = 0;
    for (int token = 0; token < 4000; token++) {
        int32_t n = qn_spec_worth(&luck, &c, 1, 0, 4);
        tries += n > 0;
        gap = n > 0 ? 0 : gap + 1;
        longest = gap > longest ? gap : longest;
        qn_spec_note(&luck, n, 0);
        qn_spec_pass(&luck, 1);
    }
    assert_in_range(tries, 4, 60);
    assert_in_range(longest, QN_SPEC_PAUSE_MAX / 2, QN_SPEC_PAUSE_MAX + 1);
    /* The text changes: now they come true, and soon it guesses all the time. */
    tries = 0;
    for (int token = 0; token < QN_SPEC_PAUSE_MAX + 200; token++) {
        int32_t n = qn_spec_worth(&luck, &c, 1, 0, 4);
        tries += n > 0;
        qn_spec_note(&luck, n, n);
        qn_spec_pass(&luck, n + 1);
    }
    assert_in_range(tries, 100, 100000);
}

/* ---- in the batch ---- */

enum { SAID = 50 };

struct run {
    char text[1024], logprobs[64 * 1024];
    int forwards;
    enum qn_finish finish;
    struct qn_batch_stats stats;
};

static void run_once(struct run *out, struct qn_batch_config config, double temperature,
                     const char *stop)
{
    config.seqs = 4;
    config.context = CONTEXT;
    struct qn_batch *b = batch_of(config, POOL);
    net.parrot = true;
    net.step_us = 300; /* rows cost next to nothing: guessing pays */
    struct client c;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, SAID);
    r.sampling.temperature = temperature;
    r.sampling.seed = 11;
    r.sampling.frequency_penalty = temperature > 0 ? 1 : 0;
    r.logprobs = 2;
    if (stop)
        r.stops = (struct qn_strings){&stop, 1};
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    run_out(b);
    assert_int_equal(c.ended, 1);
    strcpy(out->text, qn_buf_cstr(&c.text[0]));
    strcpy(out->logprobs, qn_buf_cstr(&c.logprobs));
    out->forwards = net.forwards;
    out->finish = c.finish[0];
    out->stats = *qn_batch_stats(b);
    client_deinit(&c);
    batch_done(b);
}

static void guesses_change_nothing_but_the_steps(void **state)
{
    (void)state;
    static struct run plain, guessed;
    /* Greedy; sampled with penalties; sampled so wildly that most guesses fail; with a stop string
     * in the middle of a guess. */
    const double temperatures[] = {0, 4, 12, 0};
    for (int i = 0; i < 4; i++) {
        const char *stop = i == 3 ? "4.2" : NULL;
        run_once(&plain, (struct qn_batch_config){0}, temperatures[i], stop);
        run_once(&guessed, (struct qn_batch_config){.speculate = true}, temperatures[i], stop);
        assert_string_equal(plain.text, guessed.text);
        assert_string_equal(plain.logprobs, guessed.logprobs);
        assert_int_equal(plain.finish, guessed.finish);
        assert_int_equal(plain.stats.guessed, 0);
        assert_true(guessed.stats.right <= guessed.stats.guessed);
        if (i == 0) {
            assert_true(guessed.stats.right >= 20);
            assert_true(guessed.forwards < plain.forwards * 2 / 3);
        }
    }
}

static void a_net_that_cannot_go_back_is_not_guessed_for(void **state)
{
    (void)state;
    struct qn_batch_model recurrent = model;
    recurrent.rewinds = false;
    memset(&net, 0, sizeof net);
    net.total = POOL;
    net.parrot = true;
    struct qn_batch *b;
    struct qn_batch_config config = {.seqs = 1, .context = CONTEXT, .speculate = true};
    assert_int_equal(qn_batch_new(&recurrent, &config, &b, NULL), QN_OK);
    struct client c;
    int32_t prompt[8];
    fill(prompt, 8, 4);
    struct qn_batch_request r = request(&c, prompt, 8, SAID);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(qn_batch_stats(b)->guessed, 0);
    client_deinit(&c);
    batch_done(b);
}

/* ---- the draft model ---- */

/* Every third answer of the draft model is another token than the model's own. */
static void poor_forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    static int calls;
    fake_forward(ctx, chunks, n);
    for (size_t i = 0; i < n; i++)
        if (chunks[i].logits && ++calls % 3 == 0)
            chunks[i].logits[2 + calls % 50] = 30;
}

static void draft_text(struct run *out, double temperature, bool drafted, bool wrong)
{
    struct qn_batch_model small = model;
    small.max_chunk = QN_DRAFT_READ + QN_DRAFT_SEQS;
    struct qn_draft *d;
    memset(&net, 0, sizeof net);
    net.total = POOL;
    net.wide = true;
    if (wrong)
        small.forward = poor_forward;
    assert_int_equal(qn_draft_new(&small, VOCAB, CONTEXT, &d, NULL), QN_OK);
    struct qn_batch_config config = {.seqs = 4, .context = CONTEXT, .draft = drafted ? d : NULL};
    struct qn_batch *b;
    assert_int_equal(qn_batch_new(&model, &config, &b, NULL), QN_OK);
    net.step_us = 300;
    struct client c[2];
    int32_t prompt[2][8];
    for (int i = 0; i < 2; i++) {
        fill(prompt[i], 8, 4 + 20 * i);
        struct qn_batch_request r = request(&c[i], prompt[i], 8, SAID - 10 * i);
        r.sampling.temperature = temperature;
        r.sampling.seed = 11;
        qn_batch_add(b, &r, NULL);
    }
    run_out(b);
    strcpy(out->text, qn_buf_cstr(&c[0].text[0]));
    strcat(out->text, qn_buf_cstr(&c[1].text[0]));
    out->stats = *qn_batch_stats(b);
    for (int i = 0; i < 2; i++)
        client_deinit(&c[i]);
    qn_batch_free(b);
    qn_draft_free(d);
    assert_int_equal(net.seqs, 0);
    assert_int_equal(pages_free(), net.total);
}

static void a_draft_model_changes_nothing(void **state)
{
    (void)state;
    static struct run plain, drafted;
    for (int i = 0; i < 4; i++) {
        double temperature = i % 2 ? 6 : 0;
        draft_text(&plain, temperature, false, false);
        draft_text(&drafted, temperature, true, i >= 2);
        assert_string_equal(plain.text, drafted.text);
        assert_true(drafted.stats.guessed > 0);
        if (i == 0) /* the same network: every guess comes true */
            assert_int_equal(drafted.stats.right, drafted.stats.guessed);
        if (i == 2)
            assert_true(drafted.stats.right < drafted.stats.guessed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_repetition_is_found),
        cmocka_unit_test(the_cost_of_a_row_is_learned),
        cmocka_unit_test(guesses_are_made_where_they_pay),
        cmocka_unit_test(what_does_not_pay_stops_and_is_tried_again),
        cmocka_unit_test(guesses_change_nothing_but_the_steps),
        cmocka_unit_test(a_net_that_cannot_go_back_is_not_guessed_for),
        cmocka_unit_test(a_draft_model_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
