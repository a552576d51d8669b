/* Batching when pages run short: waiting, giving way, sharing, forgetting the older half; and
 * random mixes of everything, after which every page has come back. */
#include "fake_net.h"

#include "base/rand.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/speculate.h"

/* None, and some that differ in the adapters or in one scale alone. */
enum { MIXES = 3 };
static const struct qn_mix mixes[MIXES + 1] = {
    [1] = {1, {{0, 1}}}, [2] = {1, {{0, 0.5f}}}, [3] = {2, {{0, 1}, {1, 2}}}};

static void a_dry_pool_makes_requests_wait(void **state)
{
    (void)state;
    /* Room for one whole context: two answers of 40 + 20 tokens do not fit side by side. */
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = CONTEXT}, CONTEXT / PAGE + 1);
    struct client c[3];
    int32_t prompt[3][40];
    for (int i = 0; i < 3; i++) {
        fill(prompt[i], 40, 13 * i);
        struct qn_batch_request r = request(&c[i], prompt[i], 40, 20);
        assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    }
    run_out(b);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(qn_buf_cstr(&c[i].text[0]), expected(prompt[i], 40, 20));
        client_deinit(&c[i]);
    }
    assert_int_equal(qn_batch_stats(b)->preempted, 0);
    assert_int_equal(net.computed, 3 * (40 + 19));
    batch_done(b);
}

static void the_youngest_gives_way_and_loses_nothing(void **state)
{
    (void)state;
    /* Prompts of 8 fit easily; answers of 50 tokens do not. */
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = CONTEXT}, CONTEXT / PAGE + 10);
    struct client c[3];
    int32_t prompt[3][8];
    for (int i = 0; i < 3; i++) {
        fill(prompt[i], 8, 17 * i);
        struct qn_batch_request r = request(&c[i], prompt[i], 8, 50);
        r.sampling.temperature = i == 1 ? 30 : 0;
        r.sampling.seed = 7;
        assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    }
    run_out(b);
    assert_true(qn_batch_stats(b)->preempted > 0);
    assert_string_equal(qn_buf_cstr(&c[0].text[0]), expected(prompt[0], 8, 50));
    assert_string_equal(qn_buf_cstr(&c[2].text[0]), expected(prompt[2], 8, 50));
    for (int i = 0; i < 3; i++)
        assert_int_equal(c[i].usage.usage.output, 50);
    struct client alone;
    struct qn_batch_request r = request(&alone, prompt[1], 8, 50);
    r.sampling.temperature = 30;
    r.sampling.seed = 7;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&alone.text[0]), qn_buf_cstr(&c[1].text[0]));
    client_deinit(&alone);
    for (int i = 0; i < 3; i++)
        client_deinit(&c[i]);
    batch_done(b);
}

static void who_is_not_read_gives_way(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = CONTEXT}, CONTEXT / PAGE + 1);
    struct client slow, quick;
    int32_t prompt[2][40];
    fill(prompt[0], 40, 3);
    fill(prompt[1], 40, 31);
    struct qn_batch_request r = request(&slow, prompt[0], 40, 20);
    qn_batch_add(b, &r, NULL);
    for (int i = 0; i < 4; i++)
        qn_batch_step(b);
    slow.full = true;
    r = request(&quick, prompt[1], 40, 20);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_string_equal(qn_buf_cstr(&quick.text[0]), expected(prompt[1], 40, 20));
    assert_int_equal(slow.ended, 0);
    slow.full = false;
    run_out(b);
    assert_string_equal(qn_buf_cstr(&slow.text[0]), expected(prompt[0], 40, 20));
    assert_int_equal(qn_batch_stats(b)->preempted, 1);
    client_deinit(&slow);
    client_deinit(&quick);
    batch_done(b);
}

static void the_tree_forgets_what_was_used_longest_ago(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 1, .context = CONTEXT}, 2 * CONTEXT / PAGE);
    int32_t prompt[4][32];
    struct client c;
    for (int i = 0; i < 4; i++)
        fill(prompt[i], 32, 19 * i);
    /* Three of 32 tokens are kept in 32 pages with room; a touch of the first makes the second the
     * oldest; the fourth, which needs 15 pages, takes from that one. */
    const int order[] = {0, 1, 2, 0, 3};
    for (int i = 0; i < 5; i++) {
        struct qn_batch_request r = request(&c, prompt[order[i]], 32, i == 4 ? 28 : 1);
        qn_batch_add(b, &r, NULL);
        run_out(b);
        client_deinit(&c);
    }
    assert_true(qn_batch_stats(b)->evicted > 0);
    const int cached[] = {31, 24, 31};
    const int check[] = {0, 1, 2};
    for (int i = 0; i < 3; i++) {
        struct qn_seq *src;
        int32_t known = qn_prefix_find(qn_batch_prefix(b), NULL, prompt[check[i]], 31, &src);
        if (check[i] == 1)
            assert_true(known < cached[i]);
        else
            assert_int_equal(known, cached[i]);
    }
    batch_done(b);
}

static void the_same_beginning_is_awaited(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = 2 * CONTEXT}, POOL);
    enum { LONG = 2 * CONTEXT - 20 };
    int32_t prompt[LONG + 4];
    fill(prompt, LONG, 3);
    struct client c[4];
    for (int i = 0; i < 4; i++) {
        prompt[LONG] = 10 + i;
        struct qn_batch_request r = request(&c[i], prompt, LONG + 1, 3);
        qn_batch_add(b, &r, NULL);
    }
    run_out(b);
    assert_int_equal(net.computed, LONG + 4 + 4 * 2); /* once, and each one's own token */
    for (int i = 0; i < 4; i++) {
        prompt[LONG] = 10 + i;
        assert_string_equal(qn_buf_cstr(&c[i].text[0]), expected(prompt, LONG + 1, 3));
        assert_int_equal(c[i].usage.usage.cached, i ? LONG : 0);
        client_deinit(&c[i]);
    }
    batch_done(b);
}

static void a_request_that_never_fits_is_told(void **state)
{
    (void)state;
    struct qn_batch_config config = {.seqs = 1, .context = CONTEXT};
    memset(&net, 0, sizeof net);
    net.total = CONTEXT / PAGE - 1;
    struct qn_batch *b;
    struct qn_error e = {0};
    assert_int_equal(qn_batch_new(&model, &config, &b, &e), QN_ENOMEM);
    assert_non_null(strstr(e.message, "60 tokens"));
}

static void snapshots_are_the_only_places_to_go_on_from(void **state)
{
    (void)state;
    struct qn_batch *b = batch_new(4);
    net.snapshots = 16;
    int32_t prompt[40];
    fill(prompt, 40, 3);
    struct client c;
    struct qn_batch_request r = request(&c, prompt, 30, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    client_deinit(&c);
    prompt[27] = 90;
    r = request(&c, prompt, 40, 4);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.cached, 16);
    assert_string_equal(qn_buf_cstr(&c.text[0]), expected(prompt, 40, 4));
    client_deinit(&c);
    batch_done(b);
}

/* Behind a window nothing is known but what was kept on the way. */
static void marks_on_the_way_are_shared(void **state)
{
    (void)state;
    struct qn_batch_model windowed = model;
    windowed.step = 16;
    for (int marks = 0; marks < 2; marks++) {
        memset(&net, 0, sizeof net);
        net.total = POOL;
        net.window = 6;
        windowed.step = marks ? 16 : 0;
        struct qn_batch_config config = {.seqs = 2, .context = CONTEXT};
        struct qn_batch *b;
        assert_int_equal(qn_batch_new(&windowed, &config, &b, NULL), QN_OK);
        int32_t prompt[60];
        fill(prompt, 60, 3);
        /* 44 tokens in common: two marks of 16. Then ends within the window of 52 tokens. */
        const int n[] = {50, 60, 50, 56}, changed[] = {0, 44, 0, 50};
        const int cached[] = {0, 32, 49, 50};
        for (int i = 0; i < 4; i++) {
            struct client c;
            int32_t own[60];
            memcpy(own, prompt, sizeof own);
            for (int k = changed[i]; changed[i] && k < n[i]; k++)
                own[k] = 2 + (prompt[k] + 40) % (VOCAB - 2);
            struct qn_batch_request r = request(&c, own, (size_t)n[i], 3);
            qn_batch_add(b, &r, NULL);
            run_out(b);
            assert_string_equal(qn_buf_cstr(&c.text[0]), expected(own, (size_t)n[i], 3));
            if (marks)
                assert_int_equal(c.usage.usage.cached, cached[i]);
            else if (i == 1)
                assert_int_equal(c.usage.usage.cached, 0);
            client_deinit(&c);
        }
        batch_done(b);
    }
}

static void a_full_context_forgets_its_older_half(void **state)
{
    (void)state;
    struct qn_batch *b = batch_of((struct qn_batch_config){.seqs = 2, .context = CONTEXT}, POOL);
    struct client c;
    int32_t prompt[60], tokens[CONTEXT + 1];
    fill(prompt, 60, 3);
    struct qn_batch_request r = request(&c, prompt, 60, 70);
    r.keep = 10;
    r.context_shift = true;
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.output, 70);
    /* By hand: when the 65th token comes, tokens 12 to 35 go: whole pages. */
    char want[1024] = "";
    int n = 60;
    memcpy(tokens, prompt, sizeof prompt);
    for (int i = 0; i < 70; i++) {
        int32_t id = next_of(tokens, n);
        sprintf(want + strlen(want), "%d.", (int)id);
        if (n == CONTEXT) {
            memmove(tokens + 12, tokens + 36, (CONTEXT - 36) * sizeof *tokens);
            n -= 24;
        }
        tokens[n++] = id;
    }
    assert_string_equal(qn_buf_cstr(&c.text[0]), want);
    client_deinit(&c);
    /* Of a text with a hole only the part before it may be shared. */
    assert_int_equal(qn_prefix_tokens(qn_batch_prefix(b)), 12);
    r = request(&c, prompt, 60, 1);
    qn_batch_add(b, &r, NULL);
    run_out(b);
    assert_int_equal(c.usage.usage.cached, 12);
    client_deinit(&c);
    /* A network that cannot: the answer ends at the context's end, as where no request asks for it.
     */
    for (int asked = 0; asked < 2; asked++) {
        net.no_shift = asked;
        r = request(&c, prompt, 60, 70);
        r.context_shift = asked;
        qn_batch_add(b, &r, NULL);
        run_out(b);
        assert_int_equal(c.usage.usage.output, 5);
        assert_int_equal(c.finish[0], QN_FINISH_LENGTH);
        client_deinit(&c);
    }
    batch_done(b);
}

static void adapters_share_nothing_with_others(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = CONTEXT, .speculate = true}, POOL);
    int32_t prompt[40];
    fill(prompt, 40, 3);
    for (int again = 0; again < 2; again++) {
        struct client c[MIXES + 1];
        for (int i = 0; i <= MIXES; i++) {
            struct qn_batch_request r = request(&c[i], prompt, 40, 12);
            r.mix = mixes[i];
            qn_batch_add(b, &r, NULL);
        }
        run_out(b);
        for (int i = 0; i <= MIXES; i++) {
            assert_string_equal(qn_buf_cstr(&c[i].text[0]),
                                expected_through(&mixes[i], prompt, 40, 12));
            assert_int_equal(c[i].usage.usage.cached, again ? 39 : 0);
            client_deinit(&c[i]);
        }
    }
    batch_done(b);
}

static void short_prompts_pass_long_ones(void **state)
{
    (void)state;
    struct qn_batch *b =
        batch_of((struct qn_batch_config){.seqs = 8, .context = 2 * CONTEXT}, POOL);
    net.step_us = 1;
    net.row_us = 30000; /* a piece is 16 tokens beside an answer, and a step aims at 6 */
    int32_t prompt[2 * CONTEXT];
    fill(prompt, 2 * CONTEXT, 3);
    struct client running, longer, shorter;
    struct qn_batch_request r = request(&running, prompt + 5, 3, 40);
    qn_batch_add(b, &r, NULL);
    qn_batch_step(b);
    r = request(&longer, prompt, 100, 2);
    qn_batch_add(b, &r, NULL);
    qn_batch_step(b);
    r = request(&shorter, prompt + 30, 8, 1);
    qn_batch_add(b, &r, NULL);
    qn_batch_step(b);
    assert_int_equal(shorter.ended, 1);
    assert_int_equal(longer.ended, 0);
    net.row_us = 0;
    run_out(b);
    assert_string_equal(qn_buf_cstr(&longer.text[0]), expected(prompt, 100, 2));
    client_deinit(&running);
    client_deinit(&longer);
    client_deinit(&shorter);
    batch_done(b);
}

/* ---- random mixes ---- */

enum { CLIENTS = 12, FAMILIES = 4 };

struct guest {
    struct client c;
    bool there;
    int32_t prompt[CONTEXT];
    int n, choices, max;
    struct qn_mix mix;
    double temperature;
    uint64_t seed;
};

static void seeded(struct qn_batch_request *r, const struct guest *g)
{
    r->choices = g->choices;
    r->mix = g->mix;
    r->sampling.temperature = g->temperature;
    r->sampling.seed = g->seed;
}

/* What it gets alone, in a batch of its own, must be what it got. */
static void check_guest(struct guest *g)
{
    static struct fake_net crowd;
    crowd = net;
    struct client alone;
    for (int i = 0; i < g->choices; i++) {
        memset(&net, 0, sizeof net);
        net.total = POOL;
        net.ends = crowd.ends;
        net.parrot = crowd.parrot;
        struct qn_batch_config config = {.seqs = 1, .context = CONTEXT};
        struct qn_batch *b;
        assert_int_equal(qn_batch_new(&model, &config, &b, NULL), QN_OK);
        struct qn_batch_request r = request(&alone, g->prompt, (size_t)g->n, g->max);
        seeded(&r, g);
        r.choices = 1;
        r.sampling.seed += (uint64_t)i;
        qn_batch_add(b, &r, NULL);
        run_out(b);
        assert_string_equal(qn_buf_cstr(&alone.text[0]), qn_buf_cstr(&g->c.text[i]));
        assert_int_equal(alone.finish[0], g->c.finish[i]);
        client_deinit(&alone);
        batch_done(b);
    }
    net = crowd;
}

static int below(struct qn_rng *rng, int n)
{
    return (int)(qn_rng_u64(rng) % (uint64_t)n);
}

static void arrive(struct qn_batch *b, struct guest *g, struct qn_rng *rng)
{
    /* Families share their beginnings, to different depths. */
    g->n = 1 + below(rng, CONTEXT);
    fill(g->prompt, (size_t)g->n, 23 * below(rng, FAMILIES));
    int branch = below(rng, CONTEXT);
    for (int i = branch; i < g->n; i++)
        g->prompt[i] = 2 + (g->prompt[i] + 7 * branch) % (VOCAB - 2);
    g->choices = below(rng, 4) ? 1 : 1 + below(rng, 4);
    g->max = 1 + below(rng, 40);
    g->temperature = below(rng, 2) ? 0 : 25;
    g->seed = (uint64_t)below(rng, 1000);
    g->mix = mixes[below(rng, MIXES + 1)];
    struct qn_batch_request r = request(&g->c, g->prompt, (size_t)g->n, g->max);
    seeded(&r, g);
    assert_int_equal(qn_batch_add(b, &r, NULL), QN_OK);
    g->there = true;
}

static void one_mix(uint64_t seed)
{
    struct qn_rng rng;
    qn_rng_init(&rng, seed);
    static struct guest guests[CLIENTS];
    memset(guests, 0, sizeof guests);
    struct qn_batch_config config = {
        .seqs = 1 + below(&rng, 8), .context = CONTEXT, .speculate = below(&rng, 2)};
    memset(&net, 0, sizeof net);
    net.total = CONTEXT / PAGE + 1 + below(&rng, 60);
    net.ends = below(&rng, 2);
    net.parrot = below(&rng, 3) == 0;
    net.snapshots = below(&rng, 4) ? 0 : 8;
    net.window = below(&rng, 3) || net.snapshots ? 0 : QN_SPEC_MAX;
    struct qn_batch_model kind = model;
    kind.step = net.window ? 16 : 0;
    struct qn_batch *b;
    assert_int_equal(qn_batch_new(&kind, &config, &b, NULL), QN_OK);
    int left = 30;
    for (;;) {
        struct guest *g = &guests[below(&rng, CLIENTS)];
        int what = below(&rng, 10);
        if (!g->there && left > 0 && what < 5) {
            left--;
            arrive(b, g, &rng);
        } else if (g->there && what == 5) {
            qn_batch_cancel(b, &g->c);
            client_deinit(&g->c);
            g->there = false;
        } else if (g->there && what == 6) {
            g->c.full = !g->c.full;
        }
        bool more = qn_batch_step(b), anyone = false;
        for (int i = 0; i < CLIENTS; i++) {
            g = &guests[i];
            if (g->there && g->c.ended) {
                assert_int_equal(g->c.error.code, QN_OK);
                check_guest(g);
                client_deinit(&g->c);
                g->there = false;
            }
            if (!more)
                g->c.full = false;
            anyone |= g->there;
        }
        if (!anyone && left == 0)
            break;
    }
    batch_done(b);
}

static void random_mixes_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        one_mix(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dry_pool_makes_requests_wait),
        cmocka_unit_test(the_youngest_gives_way_and_loses_nothing),
        cmocka_unit_test(who_is_not_read_gives_way),
        cmocka_unit_test(the_tree_forgets_what_was_used_longest_ago),
        cmocka_unit_test(the_same_beginning_is_awaited),
        cmocka_unit_test(a_request_that_never_fits_is_told),
        cmocka_unit_test(snapshots_are_the_only_places_to_go_on_from),
        cmocka_unit_test(marks_on_the_way_are_shared),
        cmocka_unit_test(a_full_context_forgets_its_older_half),
        cmocka_unit_test(adapters_share_nothing_with_others),
        cmocka_unit_test(short_prompts_pass_long_ones),
        cmocka_unit_test(random_mixes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
