/* Sequences that forgot tokens from their middle, and sequences that went to disk and came back,
 * for tests/golden/test_sequences.py.
 *
 *   seq_probe shift MODEL CACHE        of a net with one layer: keys there depend on a token and
 * its place alone, so a shifted sequence equals a fresh one of the tokens that are left seq_probe
 * stored MODEL CACHE FILE  a prefix tree saved, restored in another net, and gone on from; then the
 * file damaged in every way: nothing of it may be used
 *
 * Prints how far logits moved, over their spread, as JSON. Exit status 0, or 1 with a message. */
#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/device.h"
#include "engine/ops.h"
#include "engine/weights.h"
#include "llm/lm.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/prefix_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 256, CHUNK = 64, POOL = 2048, LAST = 16 };

struct probe {
    struct qn_lm lm;
    struct qn_batch_model model;
    int vocab;
};

static void die(const char *what)
{
    fprintf(stderr, "seq_probe: %s\n", what);
    exit(1);
}

static struct probe open_probe(struct qn_device *dev, const char *path, const char *cache)
{
    struct probe p = {0};
    struct qn_error e = {0};
    enum qn_dtype type = qn_str_eq(cache, "f32")    ? QN_F32
                         : qn_str_eq(cache, "q8_0") ? QN_Q8_0
                                                    : QN_F16;
    const struct qn_kv_config config = {.tokens = POOL, .k = type, .v = type};
    if (qn_weights_open(&p.lm.weights, path, &e) ||
        qn_net_load(&p.lm.net, p.lm.weights, dev, &(struct qn_net_options){.max_chunk = CHUNK},
                    &e) ||
        qn_net_kv_init(p.lm.net, &config, &e))
        die(e.message);
    p.vocab = qn_net_info(p.lm.net)->vocab;
    return p;
}

static struct qn_seq *seq_new(struct probe *p)
{
    struct qn_seq *s;
    if (qn_seq_new(p->lm.net, CONTEXT, &s, NULL))
        die("no sequence");
    return s;
}

/* Feeds n tokens; out [n, vocab] or NULL. */
static void feed(struct probe *p, struct qn_seq *s, const int32_t *ids, int n, float *out)
{
    for (int i = 0; i < n; i += CHUNK) {
        struct qn_chunk c = {.seq = s,
                             .tokens = ids + i,
                             .n = n - i < CHUNK ? n - i : CHUNK,
                             .all_rows = true,
                             .logits = out ? out + (size_t)i * (size_t)p->vocab : NULL};
        if (qn_seq_reserve(s, c.n, NULL))
            die("no pages");
        qn_net_forward(p->lm.net, &c, 1);
    }
}

static double moved(const float *want, const float *got, size_t n)
{
    double sum = 0, square = 0, difference = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)got[i] - (double)want[i];
        sum += (double)want[i];
        square += (double)want[i] * (double)want[i];
        difference += d * d;
    }
    double mean = sum / (double)n;
    return sqrt(difference / (double)n) / sqrt(square / (double)n - mean * mean);
}

static void text(const struct probe *p, int32_t *ids, int n, int salt)
{
    for (int i = 0; i < n; i++)
        ids[i] = (i * (29 + 2 * salt) + 7 * salt + 3) % p->vocab;
}

static void check_pages(const struct probe *p, const char *when)
{
    int64_t free_pages, total;
    qn_net_kv_pages(p->lm.net, &free_pages, &total);
    if (free_pages != total)
        die(when);
}

static void shift(struct probe *p)
{
    enum { A = 64, B = 96, C = 40 };
    int32_t ids[A + B + C + LAST], left[A + C];
    text(p, ids, A + B + C + LAST, 1);
    memcpy(left, ids, A * sizeof *ids);
    memcpy(left + A, ids + A + B, C * sizeof *ids);
    size_t n = (size_t)LAST * (size_t)p->vocab;
    float *want = qn_xcalloc(n, sizeof *want), *got = qn_xcalloc(n, sizeof *got);
    struct qn_seq *s = seq_new(p), *fresh = seq_new(p), *other = seq_new(p);
    feed(p, fresh, left, A + C, NULL);
    feed(p, fresh, ids + A + B + C, LAST, want);
    feed(p, s, ids, A + B + C, NULL);
    /* Another sequence shares all its pages and must not feel it. */
    if (qn_seq_fork(other, s, A + B + C, NULL))
        die("no fork");
    struct qn_error e = {0};
    if (qn_seq_shift(s, A, B, &e))
        die(e.message);
    if (qn_seq_len(s) != A + C)
        die("a shifted sequence has another length");
    feed(p, s, ids + A + B + C, LAST, got);
    printf("{\"shifted\":%.3g", moved(want, got, n));
    feed(p, other, ids + A + B + C, LAST, got);
    qn_seq_truncate(fresh, 0);
    feed(p, fresh, ids, A + B + C, NULL);
    feed(p, fresh, ids + A + B + C, LAST, want);
    printf(",\"other\":%.3g}\n", moved(want, got, n));
    if (qn_seq_shift(other, 1, 32, NULL) != QN_EINVAL)
        die("a shift of no whole pages was not refused");
    qn_seq_free(s);
    qn_seq_free(fresh);
    qn_seq_free(other);
    free(want);
    free(got);
    check_pages(p, "pages have not come back after a shift");
}

enum { TEXTS = 4, SHARED = 70, LENGTH = 150 };

/* Texts that share their beginning; the last one does not. */
static void tree_text(const struct probe *p, int32_t *ids, int which)
{
    text(p, ids, LENGTH, 0);
    if (which == TEXTS - 1)
        text(p, ids, LENGTH, 9);
    else
        text(p, ids + SHARED, LENGTH - SHARED, which + 1);
}

/* Two owners, between which nothing is shared. */
static struct qn_prefix_space owner_of(int which)
{
    return (struct qn_prefix_space){.owner = 1 + (uint64_t)which % 2};
}

static int64_t restore(struct probe *p, struct qn_prefix *t, const char *file, uint64_t key,
                       qn_err *err)
{
    int64_t tokens;
    *err = qn_prefix_restore(t, &p->model, CONTEXT, key, file, &tokens, NULL);
    return tokens;
}

/* Every damage must be found: one byte changed anywhere, and the file cut anywhere. */
static void damage(struct probe *p, const char *file, uint64_t key)
{
    struct qn_buf all;
    qn_err err;
    qn_buf_init(&all, (size_t)1 << 30);
    if (qn_file_read(file, &all, NULL))
        die("the file cannot be read");
    for (int i = 0; i < 60; i++) {
        size_t at = i < 40 ? (size_t)i : all.len / 20 * (size_t)(i - 40);
        struct qn_prefix *t = qn_prefix_new(&p->model, 0);
        all.data[at] ^= 0x10;
        qn_file_write_atomic(file, all.data, all.len, 0600, NULL);
        restore(p, t, file, key, &err);
        if (err != QN_EFORMAT)
            die("a changed byte was not found");
        all.data[at] ^= 0x10;
        qn_file_write_atomic(file, all.data, at, 0600, NULL);
        restore(p, t, file, key, &err);
        if (err != QN_EFORMAT)
            die("a file that is cut off was not found");
        qn_prefix_free(t);
        check_pages(p, "pages have not come back from a damaged file");
    }
    qn_file_write_atomic(file, all.data, all.len, 0600, NULL);
    qn_buf_deinit(&all);
}

static void stored(struct probe *p, struct probe *other, const char *file)
{
    int32_t ids[LENGTH];
    qn_err err;
    size_t n = (size_t)LAST * (size_t)p->vocab;
    float *want = qn_xcalloc(n, sizeof *want), *got = qn_xcalloc(n, sizeof *got);
    struct qn_prefix *t = qn_prefix_new(&p->model, 0);
    for (int i = 0; i < TEXTS; i++) {
        struct qn_seq *s = seq_new(p);
        tree_text(p, ids, i);
        feed(p, s, ids, LENGTH - LAST, NULL);
        struct qn_prefix_space in = owner_of(i);
        qn_prefix_add(t, &in, ids, LENGTH - LAST, s);
    }
    struct qn_error e = {0};
    if (qn_prefix_save(t, &p->model, 77, file, &e))
        die(e.message);
    int64_t tokens = qn_prefix_tokens(t);
    qn_prefix_free(t);
    check_pages(p, "pages have not come back from the tree");
    /* Another model's file. */
    t = qn_prefix_new(&other->model, 0);
    if (restore(other, t, file, 78, &err) != 0 || err != QN_EFORMAT)
        die("another model's file was used");
    restore(other, t, file, 77, &err);
    if (err)
        die("the file was not used");
    if (qn_prefix_tokens(t) != tokens)
        die("the tree came back smaller or larger");
    double most = 0;
    for (int i = 0; i < TEXTS; i++) {
        struct qn_seq *src, *s = seq_new(other), *fresh = seq_new(p);
        tree_text(p, ids, i);
        struct qn_prefix_space in = owner_of(i), other_in = owner_of(i + 1);
        if (qn_prefix_find(t, &other_in, ids, LENGTH - LAST, &src) >= LENGTH - LAST ||
            qn_prefix_find(t, NULL, ids, LENGTH - LAST, &src) != 0)
            die("a text is shared with another owner");
        if (qn_prefix_find(t, &in, ids, LENGTH - LAST, &src) != LENGTH - LAST ||
            qn_seq_fork(s, src, LENGTH - LAST, NULL))
            die("a text is missing in the restored tree");
        feed(other, s, ids + LENGTH - LAST, LAST, got);
        feed(p, fresh, ids, LENGTH - LAST, NULL);
        feed(p, fresh, ids + LENGTH - LAST, LAST, want);
        double far = moved(want, got, n);
        most = far > most ? far : most;
        qn_seq_free(s);
        qn_seq_free(fresh);
    }
    qn_prefix_free(t);
    check_pages(other, "pages have not come back from the restored tree");
    damage(other, file, 77);
    printf("{\"stored\":%.3g,\"tokens\":%lld}\n", most, (long long)tokens);
    free(want);
    free(got);
}

int main(int argc, char **argv)
{
    struct qn_error e = {0};
    struct qn_device *dev = NULL;
    if (argc < 4)
        die("shift MODEL CACHE | stored MODEL CACHE FILE");
    if (qn_device_cpu_new(2, &dev, &e))
        die(e.message);
    struct probe p = open_probe(dev, argv[2], argv[3]);
    p.model = qn_lm_model(&p.lm, CHUNK);
    if (qn_str_eq(argv[1], "shift")) {
        shift(&p);
    } else if (argc == 5) {
        struct probe other = open_probe(dev, argv[2], argv[3]);
        other.model = qn_lm_model(&other.lm, CHUNK);
        stored(&p, &other, argv[4]);
        qn_lm_close(&other.lm);
    }
    qn_lm_close(&p.lm);
    qn_device_free(dev);
    return 0;
}
