/* The prefix tree by itself: what is found, what branches share, what goes first. Pages have four
 * tokens. */
#include "fake_net.h"

#include "llm/scheduler/prefix.h"

static struct qn_prefix *tree_new(int seqs_max)
{
    memset(&net, 0, sizeof net);
    net.total = POOL;
    return qn_prefix_new(&model, seqs_max);
}

static void tree_done(struct qn_prefix *p)
{
    qn_prefix_free(p);
    assert_int_equal(net.seqs, 0);
    assert_int_equal(pages_free(), net.total);
}

static struct qn_seq *seq_of(const int32_t *tokens, int32_t n)
{
    struct qn_seq *s;
    fake_seq_new(NULL, CONTEXT, &s, NULL);
    assert_int_equal(fake_reserve(s, n, NULL), QN_OK);
    for (int32_t i = 0; i < n; i++)
        append(fake_of(s), tokens[i]);
    return s;
}

static void add(struct qn_prefix *p, const int32_t *tokens, int32_t n)
{
    qn_prefix_add(p, NULL, tokens, n, seq_of(tokens, n));
}

/* What is found must really hold the tokens. */
static int32_t find(struct qn_prefix *p, const int32_t *tokens, int32_t n)
{
    struct qn_seq *src;
    int32_t found = qn_prefix_find(p, NULL, tokens, n, &src), held[LONGEST];
    if (found > 0) {
        assert_true(fake_len(src) >= found);
        text_of(fake_of(src), held);
        assert_memory_equal(held, tokens, (size_t)found * sizeof *tokens);
    }
    return found;
}

static void branch(int32_t *out, const int32_t *from, int at, int n, int32_t other)
{
    memcpy(out, from, (size_t)n * sizeof *out);
    for (int i = at; i < n; i++)
        out[i] = other + i;
}

static void branches_share_what_they_have_in_common(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    int32_t a[20], b[20], c[20], d[20];
    for (int i = 0; i < 20; i++)
        a[i] = i + 2;
    branch(b, a, 10, 20, 40);
    branch(c, a, 2, 20, 60);
    branch(d, a, 12, 20, 80);
    assert_int_equal(find(p, a, 20), 0);
    add(p, a, 20);
    assert_int_equal(qn_prefix_tokens(p), 20);
    assert_int_equal(find(p, b, 20), 10); /* in the middle of a page */
    add(p, b, 20); /* from the second page's end on its own: 8 + 12 + 12 tokens */
    assert_int_equal(qn_prefix_tokens(p), 32);
    add(p, c, 20); /* parts in the first page: nothing to share */
    assert_int_equal(qn_prefix_tokens(p), 52);
    assert_int_equal(find(p, d, 20), 12);
    add(p, d, 20); /* 8 + 4 + 8 + 12 + 20, and 8 of its own */
    assert_int_equal(qn_prefix_tokens(p), 60);
    const int32_t *all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(find(p, all[i], 20), 20);
        assert_int_equal(find(p, all[i], 7), 7);
    }
    /* The same again, and less: nothing changes. */
    add(p, a, 20);
    add(p, a, 9);
    assert_int_equal(qn_prefix_tokens(p), 60);
    tree_done(p);
}

static void a_conversation_grows_in_its_leaf(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    int32_t a[40];
    for (int i = 0; i < 40; i++)
        a[i] = i + 2;
    for (int n = 5; n <= 40; n += 7)
        add(p, a, n);
    assert_int_equal(net.seqs, 1);
    assert_int_equal(qn_prefix_tokens(p), 40);
    assert_int_equal(find(p, a, 40), 40);
    tree_done(p);
}

static void what_was_used_longest_ago_goes_from_its_end(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    int32_t a[20], b[20];
    for (int i = 0; i < 20; i++)
        a[i] = i + 2;
    branch(b, a, 8, 20, 40);
    add(p, a, 20);
    add(p, b, 20);
    find(p, a, 20); /* b is the older one now */
    assert_true(qn_prefix_evict(p, 2));
    assert_int_equal(find(p, b, 20), 12);
    find(p, a, 20);
    assert_true(qn_prefix_evict(p, 100)); /* no more than the leaf's own: a keeps the beginning */
    assert_int_equal(find(p, b, 20), 8);
    assert_int_equal(find(p, a, 20), 20);
    /* a alone: its tail, then what it shared with b, until nothing is left. */
    assert_true(qn_prefix_evict(p, 100));
    assert_int_equal(find(p, a, 20), 8);
    assert_true(qn_prefix_evict(p, 100));
    assert_int_equal(find(p, a, 20), 0);
    assert_false(qn_prefix_evict(p, 1));
    assert_int_equal(net.seqs, 0);
    tree_done(p);
}

static void no_more_sequences_than_allowed(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(2);
    int32_t a[12];
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 12; i++)
            a[i] = 2 + 13 * k + i;
        add(p, a, 12);
        assert_in_range(net.seqs, 1, 2);
    }
    assert_int_equal(find(p, a, 12), 12);
    tree_done(p);
}

struct visited {
    int32_t first[8];
    int adapters[8];
    uint64_t owner[8];
    int n;
};

static bool visit(void *ctx, const struct qn_prefix_space *in, const int32_t *tokens, int32_t n,
                  struct qn_seq *seq)
{
    struct visited *v = ctx;
    assert_int_equal(fake_len(seq), n);
    v->adapters[v->n] = in->mix ? in->mix->n : 0;
    v->owner[v->n] = in->owner;
    v->first[v->n++] = tokens[0];
    return v->n < 2;
}

static void visits_begin_with_the_latest(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    for (int32_t k = 0; k < 3; k++)
        add(p, (int32_t[]){20 + k, 3, 4, 5, 6}, 5);
    find(p, (int32_t[]){21, 3}, 2);
    struct visited v = {.n = 0};
    qn_prefix_each(p, visit, &v);
    assert_int_equal(v.n, 2);
    assert_int_equal(v.first[0], 21);
    assert_int_equal(v.first[1], 22);
    tree_done(p);
}

static void each_mix_has_beginnings_of_its_own(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    struct qn_mix mix = {2, {{0, 1}, {3, 0.5f}}}, other = {2, {{0, 1}, {3, 0.25f}}}, empty = {0};
    struct qn_prefix_space in = {.mix = &mix}, near = {.mix = &other}, none = {.mix = &empty};
    struct qn_seq *src;
    int32_t a[20], b[20];
    for (int i = 0; i < 20; i++)
        a[i] = i + 2;
    branch(b, a, 10, 20, 40);
    qn_prefix_add(p, &in, a, 20, seq_of(a, 20));
    assert_int_equal(qn_prefix_find(p, NULL, a, 20, &src), 0);
    assert_int_equal(qn_prefix_find(p, &near, a, 20, &src), 0);
    assert_int_equal(qn_prefix_find(p, &none, a, 20, &src), 0);
    assert_int_equal(qn_prefix_find(p, &in, a, 20, &src), 20);
    add(p, a, 20);
    qn_prefix_add(p, &in, b, 20, seq_of(b, 20)); /* the upper part of a split is still the mix's */
    assert_int_equal(qn_prefix_tokens(p), 20 + 32);
    assert_int_equal(qn_prefix_find(p, &in, b, 20, &src), 20);
    assert_int_equal(find(p, b, 20), 10);
    qn_prefix_find(p, &in, a, 20, &src);
    struct visited v = {.n = 0};
    qn_prefix_each(p, visit, &v);
    assert_int_equal(v.adapters[0], 2);
    assert_int_equal(v.adapters[1], 0);
    mix.part[1].scale = 9; /* the tree keeps what was said then */
    assert_int_equal(qn_prefix_find(p, &in, a, 20, &src), 0);
    tree_done(p);
}

static void each_owner_has_beginnings_of_its_own(void **state)
{
    (void)state;
    struct qn_prefix *p = tree_new(0);
    struct qn_prefix_space anna = {.owner = 1}, bob = {.owner = UINT64_MAX};
    struct qn_seq *src;
    int32_t a[20], b[20];
    for (int i = 0; i < 20; i++)
        a[i] = i + 2;
    branch(b, a, 10, 20, 40);
    qn_prefix_add(p, &anna, a, 20, seq_of(a, 20));
    assert_int_equal(qn_prefix_find(p, NULL, a, 20, &src), 0);
    assert_int_equal(qn_prefix_find(p, &bob, a, 20, &src), 0);
    assert_null(src);
    assert_int_equal(qn_prefix_find(p, &anna, b, 20, &src), 10);
    qn_prefix_add(p, &anna, b, 20, seq_of(b, 20)); /* the upper part of a split is still hers */
    qn_prefix_add(p, &bob, b, 20, seq_of(b, 20));
    assert_int_equal(qn_prefix_tokens(p), 32 + 20);
    assert_int_equal(qn_prefix_find(p, &bob, a, 20, &src), 10);
    assert_int_equal(qn_prefix_find(p, NULL, b, 20, &src), 0);
    assert_int_equal(qn_prefix_find(p, &anna, a, 20, &src), 20);
    struct visited v = {.n = 0};
    qn_prefix_each(p, visit, &v);
    assert_int_equal(v.owner[0], 1);
    assert_int_equal(v.owner[1], UINT64_MAX);
    tree_done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_share_what_they_have_in_common),
        cmocka_unit_test(a_conversation_grows_in_its_leaf),
        cmocka_unit_test(what_was_used_longest_ago_goes_from_its_end),
        cmocka_unit_test(no_more_sequences_than_allowed),
        cmocka_unit_test(visits_begin_with_the_latest),
        cmocka_unit_test(each_mix_has_beginnings_of_its_own),
        cmocka_unit_test(each_owner_has_beginnings_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
