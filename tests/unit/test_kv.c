/* Pages of the cache: shared, copied when written, given back behind windows;
 * and that after any sequence of such steps every page comes back. Contents are
 * written and read here directly, so that no network is needed: each token
 * leaves a mark of whose it is. */
#include "engine/ops.h"
#include "nets/decoder/kv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 4, DIM = 32, WINDOW = 40, SEQS = 6, CONTEXT = 400, PAGES = 24 };

static const struct qn_kv_shape shapes[LAYERS] = {
    {.kv_heads = 2, .k_dim = DIM, .v_dim = DIM},
    {.kv_heads = 1, .k_dim = DIM, .v_dim = DIM, .window = WINDOW},
    {0}, /* keeps nothing */
    {.kv_heads = 1, .k_dim = 2 * DIM, .v_dim = DIM, .v_in_k = true},
};

static struct qn_device *dev;
static struct qn_kv *kv;

/* A sequence as the test knows it: the marks of its tokens. */
struct known {
    struct qn_kv_table table;
    int32_t len;
    float mark[CONTEXT];
};

static int setup(void **state)
{
    const struct qn_kv_config config = {PAGES * QN_KV_PAGE, QN_F32, QN_F32};
    (void)state;
    assert_int_equal(qn_device_cpu_new(1, &dev, NULL), QN_OK);
    assert_int_equal(qn_kv_new(dev, shapes, LAYERS, &config, &kv, NULL), QN_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_kv_free(kv);
    qn_device_free(dev);
    return 0;
}

static float *key(const struct known *s, int32_t layer, int32_t head, int32_t t)
{
    const struct qn_kv_layer *l = qn_kv_layer_at(kv, layer);
    int32_t page = s->table.page[qn_kv_group_of(kv, layer)][t / QN_KV_PAGE];
    assert_true(page >= 0 && page < PAGES);
    return (float *)(void *)((char *)l->mem->host + (size_t)page * l->page_bytes + l->k_offset +
                             (size_t)head * l->head_bytes + (size_t)(t % QN_KV_PAGE) * l->k_row);
}

/* n tokens with marks from `mark` on; false when the pool has too few pages. */
static bool append(struct known *s, int32_t n, float mark)
{
    struct qn_error e = {0};
    qn_err err = qn_kv_table_reserve(&s->table, s->len, n, &e);
    if (err == QN_EBUSY) {
        assert_non_null(strstr(e.message, "pages"));
        return false;
    }
    assert_int_equal(err, QN_OK);
    for (int32_t t = s->len; t < s->len + n; t++) {
        s->mark[t] = mark + (float)t;
        for (int32_t i = 0; i < LAYERS; i++)
            for (int32_t h = 0; h < shapes[i].kv_heads; h++)
                key(s, i, h, t)[0] = s->mark[t] + (float)(i * 16 + h);
    }
    s->len += n;
    qn_kv_table_slide(&s->table, s->len);
    return true;
}

/* Everything the next token would see is what was written. */
static void check(const struct known *s)
{
    for (int32_t t = 0; t < s->len; t++)
        for (int32_t i = 0; i < LAYERS; i++) {
            if (shapes[i].window && t < s->len - shapes[i].window + 1)
                continue;
            for (int32_t h = 0; h < shapes[i].kv_heads; h++)
                assert_true(key(s, i, h, t)[0] == s->mark[t] + (float)(i * 16 + h));
        }
}

static int64_t free_pages(void)
{
    int64_t left, total;
    qn_kv_pages(kv, &left, &total);
    assert_int_equal(total, PAGES);
    return left;
}

static void fork_of(struct known *to, const struct known *from, int32_t len)
{
    qn_kv_table_share(&to->table, &from->table, len);
    to->len = len;
    memcpy(to->mark, from->mark, (size_t)len * sizeof *to->mark);
}

static void cut(struct known *s, int32_t len)
{
    s->len = qn_kv_table_whole_at(&s->table, len) ? len : 0;
    qn_kv_table_cut(&s->table, s->len);
}

static void test_forks_share_pages_until_they_write(void **state)
{
    static struct known a, b;
    (void)state;
    qn_kv_table_init(&a.table, kv, CONTEXT);
    qn_kv_table_init(&b.table, kv, CONTEXT);
    assert_int_equal(free_pages(), PAGES);
    assert_true(append(&a, 80, 1000)); /* three pages, the last half full */
    assert_int_equal(free_pages(), PAGES - 3);
    fork_of(&b, &a, 70);
    assert_int_equal(free_pages(), PAGES - 3);
    assert_true(append(&b, 1, 5000)); /* its third page becomes its own */
    assert_int_equal(free_pages(), PAGES - 4);
    assert_true(append(&a, 1, 1000)); /* not shared any more: no copy */
    assert_int_equal(free_pages(), PAGES - 4);
    check(&a);
    check(&b);
    qn_kv_table_deinit(&a.table);
    assert_int_equal(free_pages(), PAGES - 3);
    check(&b);
    qn_kv_table_deinit(&b.table);
    assert_int_equal(free_pages(), PAGES);
}

static void test_reserve_is_all_or_nothing(void **state)
{
    static struct known a;
    (void)state;
    qn_kv_table_init(&a.table, kv, CONTEXT * 10);
    a.len = 0;
    assert_int_equal(qn_kv_table_reserve(&a.table, 0, PAGES * QN_KV_PAGE + 1, NULL), QN_EBUSY);
    assert_int_equal(free_pages(), PAGES);
    assert_int_equal(qn_kv_table_reserve(&a.table, 0, PAGES * QN_KV_PAGE, NULL), QN_OK);
    assert_int_equal(free_pages(), 0);
    assert_int_equal(qn_kv_table_reserve(&a.table, 0, PAGES * QN_KV_PAGE, NULL), QN_OK);
    qn_kv_table_cut(&a.table, 0);
    assert_int_equal(free_pages(), PAGES);
    qn_kv_table_deinit(&a.table);
}

static void test_windows_give_back_what_they_left(void **state)
{
    static struct known a;
    const int32_t *page;
    (void)state;
    qn_kv_table_init(&a.table, kv, CONTEXT);
    a.len = 0;
    page = a.table.page[QN_KV_WINDOW];
    for (int i = 0; i < 200; i++)
        assert_true(append(&a, 1, 1000));
    check(&a);
    /* the token at 200 sees 161 and later; 64 tokens may be taken back: from 97
     * on, in page 3 */
    assert_int_equal(page[2], -1);
    assert_true(page[3] >= 0);
    assert_true(qn_kv_table_whole_at(&a.table, 200 - QN_KV_WINDOW_SLACK));
    assert_false(qn_kv_table_whole_at(&a.table, 100));
    assert_true(qn_kv_table_whole_at(&a.table, 0));
    cut(&a, 200 - QN_KV_WINDOW_SLACK);
    assert_int_equal(a.len, 136);
    check(&a);
    assert_true(append(&a, 30, 3000));
    check(&a);
    cut(&a, 20); /* left the window: all of it must be computed again */
    assert_int_equal(a.len, 0);
    assert_int_equal(free_pages(), PAGES);
    assert_true(append(&a, 50, 4000));
    check(&a);
    qn_kv_table_deinit(&a.table);
    assert_int_equal(free_pages(), PAGES);
}

static void test_every_page_comes_back(void **state)
{
    static struct known seq[SEQS];
    uint32_t seed = 7;
    (void)state;
    for (int i = 0; i < SEQS; i++) {
        seq[i] = (struct known){.len = 0};
        qn_kv_table_init(&seq[i].table, kv, CONTEXT);
    }
    for (int step = 0; step < 3000; step++) {
        seed = seed * 1664525 + 1013904223;
        struct known *s = &seq[(seed >> 8) % SEQS], *other = &seq[(seed >> 12) % SEQS];
        int32_t n = (int32_t)(seed >> 16) % 60 + 1;
        switch ((seed >> 28) % 5) {
        case 0:
            cut(s, s->len > n ? s->len - n : 0);
            break;
        case 1:
            if (s != other && qn_kv_table_whole_at(&other->table, other->len * n / 60))
                fork_of(s, other, other->len * n / 60);
            break;
        case 2:
            if (seed & 0x80)
                cut(s, 0);
            break;
        default:
            if (s->len + n <= CONTEXT && !append(s, n, (float)(step * 1000)))
                cut(other, 0); /* evicted */
        }
        if (step % 10 == 0)
            for (int i = 0; i < SEQS; i++)
                check(&seq[i]);
    }
    for (int i = 0; i < SEQS; i++)
        qn_kv_table_deinit(&seq[i].table);
    assert_int_equal(free_pages(), PAGES);
    assert_true(qn_kv_bytes_touched(kv) > 0);
}

static void test_bytes_of_a_sequence(void **state)
{
    (void)state;
    /* F16: 2 heads of 32 + 32, the window's 32 + 32, and 64 once: 2·(128 + 64) of
     * full layers */
    const int64_t full = 2 * QN_KV_PAGE * (2 * 64 + 64), windowed = 2 * QN_KV_PAGE * 64;
    assert_int_equal(qn_kv_seq_bytes(shapes, LAYERS, QN_F16, QN_F16, 32, 8), full + windowed);
    assert_int_equal(qn_kv_seq_bytes(shapes, LAYERS, QN_F16, QN_F16, 3200, 8),
                     100 * full + 5 * windowed); /* 40 + 64 + 8 + 32 tokens at most */
}

static void test_impossible_caches(void **state)
{
    struct qn_kv *other;
    struct qn_error e = {0};
    const struct qn_kv_shape odd = {.kv_heads = 1, .k_dim = 40, .v_dim = 40};
    (void)state;
    assert_int_equal(
        qn_kv_new(dev, shapes, LAYERS, &(struct qn_kv_config){64, QN_Q4_K, QN_F16}, &other, &e),
        QN_EINVAL);
    assert_non_null(strstr(e.message, "Q4_K"));
    assert_int_equal(
        qn_kv_new(dev, &odd, 1, &(struct qn_kv_config){64, QN_F16, QN_Q8_0}, &other, &e),
        QN_EINVAL);
    assert_non_null(strstr(e.message, "blocks of 32"));
    assert_int_equal(qn_kv_new(dev, &odd, 1, &(struct qn_kv_config){0, QN_F16, QN_F16}, &other, &e),
                     QN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forks_share_pages_until_they_write),
        cmocka_unit_test(test_reserve_is_all_or_nothing),
        cmocka_unit_test(test_windows_give_back_what_they_left),
        cmocka_unit_test(test_every_page_comes_back),
        cmocka_unit_test(test_bytes_of_a_sequence),
        cmocka_unit_test(test_impossible_caches),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
