/* Drives a network from the command line, for the golden tests.
 *
 *   net_probe logits MODEL IDS SINGLE OUT   logits of every token of IDS (1,2,3) as raw f32 in OUT;
 *                                           the last SINGLE tokens are fed one at a time
 *   net_probe choices MODEL IDS SINGLE OUT CHOICES   the same, and the experts that each token went
 *                                           to: of every mixture of every step, as int32, rows,
 *                                           experts of a row, and their numbers
 *   net_probe picture MODEL IDS FLOATS OUT  the same of IDS, whose middle third is embeddings out
 *                                           of the file FLOATS, lying in rows of PICTURE_WIDE
 *   net_probe hidden MODEL IDS OUT          hidden states of every token, of a net without a head
 *   net_probe parts MODEL IDS CUT OUT       logits of every token, the net cut before layer CUT
 * into two, each loaded by itself net_probe sequences MODEL               feeds the same text in
 * every way the interface allows and prints how far the logits move, as JSON net_probe rows MODEL
 * TOKENS             feeds so many tokens in one piece, in pieces, beside others, from a cache, and
 * prints how many logits differ from those of the one piece, as JSON
 *
 * Exit status: 0, 1 with a message, or 77 where this machine lacks the instructions that
 * QUINCE_ISA asks for. QN_PROBE_THREADS sets the threads (2). */
#include "base/buf.h"
#include "base/error.h"
#include "engine/device.h"
#include "engine/ops.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 1024, CHUNK = 128, ROWS_MAX = 1000, EXIT_SKIP = 77 };

struct probe {
    struct qn_device *dev;
    struct qn_weights *weights;
    struct qn_net *net;
    int vocab;
};

static int open_part(struct probe *p, const char *path, const struct qn_net_part *part)
{
    struct qn_error e = {0};
    const char *threads = getenv("QN_PROBE_THREADS");
    qn_err err = qn_device_cpu_new(threads ? atoi(threads) : 2, &p->dev, &e);
    if (err == QN_EUNSUPPORTED) {
        fprintf(stderr, "net_probe: %s\n", e.message);
        return EXIT_SKIP;
    }
    if (err == QN_OK)
        err = qn_weights_open(&p->weights, path, &e);
    if (err == QN_OK)
        err = qn_net_load(&p->net, p->weights, p->dev,
                          &(struct qn_net_options){.max_chunk = ROWS_MAX, .part = *part}, &e);
    if (err == QN_OK)
        err = qn_net_kv_init(p->net, &(struct qn_kv_config){8 * CONTEXT, QN_F16, QN_F16}, &e);
    if (err != QN_OK) {
        fprintf(stderr, "net_probe: %s\n", e.message);
        return 1;
    }
    p->vocab = qn_net_info(p->net)->vocab;
    return 0;
}

static int open_probe(struct probe *p, const char *path)
{
    return open_part(p, path, &(struct qn_net_part){0});
}

static void close_probe(struct probe *p)
{
    qn_net_free(p->net);
    qn_weights_close(p->weights);
    qn_device_free(p->dev);
}

static struct qn_seq *new_seq(struct probe *p)
{
    struct qn_error e = {0};
    struct qn_seq *s;
    if (qn_seq_new(p->net, CONTEXT, &s, &e) != QN_OK) {
        fprintf(stderr, "net_probe: %s\n", e.message);
        exit(1);
    }
    return s;
}

static void reserve(struct qn_seq *s, int n)
{
    struct qn_error e = {0};
    if (qn_seq_reserve(s, n, &e) != QN_OK) {
        fprintf(stderr, "net_probe: %s\n", e.message);
        exit(1);
    }
}

/* Feeds n tokens in chunks of `step`; out [n, vocab]. */
static void feed(struct probe *p, struct qn_seq *s, const int32_t *ids, int n, int step, float *out)
{
    for (int i = 0; i < n; i += step) {
        struct qn_chunk c = {.seq = s,
                             .tokens = ids + i,
                             .n = i + step <= n ? step : n - i,
                             .all_rows = true,
                             .logits = out ? out + (size_t)i * (size_t)p->vocab : NULL};
        reserve(s, c.n);
        qn_net_forward(p->net, &c, 1);
    }
}

/* ---- logits ---- */

static int read_ids(const char *list, int32_t ids[CONTEXT])
{
    int n = 0;
    for (const char *s = list; *s && n < CONTEXT; n++) {
        char *end;
        ids[n] = (int32_t)strtol(s, &end, 10);
        s = *end ? end + 1 : end;
    }
    return n;
}

static int write_floats(const char *path, const float *x, size_t n)
{
    FILE *f = fopen(path, "wb");
    int bad = !f || fwrite(x, sizeof *x, n, f) != n;
    if (f && fclose(f))
        bad = 1;
    if (bad)
        fprintf(stderr, "net_probe: cannot write %s\n", path);
    return bad;
}

static int logits(struct probe *p, const char *list, int single, const char *path)
{
    int32_t ids[CONTEXT];
    int n = read_ids(list, ids);
    float *out = qn_xcalloc((size_t)n * (size_t)p->vocab, sizeof *out);
    struct qn_seq *s = new_seq(p);
    feed(p, s, ids, n - single, CHUNK, out);
    feed(p, s, ids + n - single, single, 1, out + (size_t)(n - single) * (size_t)p->vocab);
    qn_seq_free(s);
    int bad = write_floats(path, out, (size_t)n * (size_t)p->vocab);
    free(out);
    return bad;
}

/* ---- choices of experts ---- */

/* The device's own operations, and the file that what choose_experts chose is written to. */
static struct {
    const struct qn_ops *ops;
    FILE *to;
} watched;

static void watch_choice(struct qn_device *dev, struct qn_tensor *ids, struct qn_tensor *weights,
                         const struct qn_tensor *logits, const struct qn_expert_route *route)
{
    const int32_t size[2] = {(int32_t)ids->shape[0], (int32_t)ids->shape[1]};
    const size_t n = (size_t)size[0] * (size_t)size[1];
    watched.ops->choose_experts(dev, ids, weights, logits, route);
    int32_t *chosen = qn_xcalloc(n, sizeof *chosen);
    if (qn_read(dev, chosen, ids) != QN_OK || fwrite(size, sizeof size, 1, watched.to) != 1 ||
        fwrite(chosen, sizeof *chosen, n, watched.to) != n) {
        fprintf(stderr, "net_probe: the choices cannot be written\n");
        exit(1);
    }
    free(chosen);
}

static int choices(struct probe *p, const char *list, int single, const char *out, const char *path)
{
    struct qn_ops ops = *p->dev->ops;
    watched.ops = p->dev->ops;
    watched.to = fopen(path, "wb");
    if (!watched.to) {
        fprintf(stderr, "net_probe: cannot write %s\n", path);
        return 1;
    }
    ops.choose_experts = watch_choice;
    p->dev->ops = &ops;
    int bad = logits(p, list, single, out);
    p->dev->ops = watched.ops;
    return fclose(watched.to) ? 1 : bad;
}

/* ---- parts of a network ---- */

/* Feeds the n tokens, or the hidden states of the part before, in uneven pieces. */
static void feed_part(struct probe *p, const int32_t *ids, const float *in, int n, float *hidden,
                      float *logits)
{
    const size_t dim = (size_t)qn_net_info(p->net)->hidden_dim, vocab = (size_t)p->vocab;
    struct qn_seq *s = new_seq(p);
    for (int at = 0, step = 1; at < n; at += step, step = step % 9 + 3) {
        struct qn_chunk c = {.seq = s,
                             .tokens = ids + at,
                             .embeddings = in ? in + (size_t)at * dim : NULL,
                             .n = step = at + step <= n ? step : n - at,
                             .all_rows = true,
                             .hidden = hidden ? hidden + (size_t)at * dim : NULL,
                             .logits = logits ? logits + (size_t)at * vocab : NULL};
        reserve(s, c.n);
        qn_net_forward(p->net, &c, 1);
    }
    qn_seq_free(s);
}

static int hidden(const char *model, const char *list, const char *path)
{
    int32_t ids[CONTEXT];
    const int n = read_ids(list, ids);
    struct probe p = {0};
    int status = open_part(&p, model, &(struct qn_net_part){.headless = true});
    if (status == 0) {
        size_t floats = (size_t)n * (size_t)qn_net_info(p.net)->hidden_dim;
        float *out = qn_xcalloc(floats, sizeof *out);
        feed_part(&p, ids, NULL, n, out, NULL);
        status = write_floats(path, out, floats);
        free(out);
    }
    close_probe(&p);
    return status;
}

static int parts(const char *model, const char *list, int at, const char *path)
{
    int32_t ids[CONTEXT];
    const int n = read_ids(list, ids);
    struct probe front = {0}, back = {0};
    int status = open_part(&front, model, &(struct qn_net_part){.end = at});
    if (status == 0)
        status = open_part(&back, model, &(struct qn_net_part){.first = at});
    if (status == 0) {
        size_t floats = (size_t)n * (size_t)back.vocab;
        float *between =
            qn_xcalloc((size_t)n * (size_t)qn_net_info(front.net)->hidden_dim, sizeof *between);
        float *out = qn_xcalloc(floats, sizeof *out);
        feed_part(&front, ids, NULL, n, between, NULL);
        feed_part(&back, ids, between, n, NULL, out);
        status = write_floats(path, out, floats);
        free(between);
        free(out);
    }
    close_probe(&front);
    close_probe(&back);
    return status;
}

/* ---- a picture between two texts ---- */

enum { PICTURE_WIDE = 4 };

/* Where token i of a text of n lies whose second third is a picture: the picture takes as many
 * steps of time as it is wide or high. */
static void locate(int32_t at[QN_ROPE_AXES], int i, int n)
{
    int third = n / 3, high = (third + PICTURE_WIDE - 1) / PICTURE_WIDE, in = i - third;
    int steps = high > PICTURE_WIDE ? high : PICTURE_WIDE;
    bool inside = in >= 0 && in < third;
    int line = in < third ? i : third + steps + in - third;
    at[0] = inside ? third : line;
    at[1] = inside ? third + in / PICTURE_WIDE : line;
    at[2] = inside ? third + in % PICTURE_WIDE : line;
    at[3] = 0;
}

static int picture(struct probe *p, const char *list, const char *floats, const char *path)
{
    int32_t ids[CONTEXT], at[CONTEXT][QN_ROPE_AXES];
    int n = read_ids(list, ids), third = n / 3;
    size_t width = (size_t)qn_net_info(p->net)->embedding_dim, vocab = (size_t)p->vocab;
    float *out = qn_xcalloc((size_t)n * vocab, sizeof *out);
    float *given = qn_xcalloc((size_t)third * width, sizeof *given);
    FILE *f = fopen(floats, "rb");
    int bad = !f || fread(given, sizeof *given, (size_t)third * width, f) != (size_t)third * width;
    if (f)
        fclose(f);
    for (int i = 0; i < n; i++)
        locate(at[i], i, n);
    struct qn_seq *s = new_seq(p);
    const int from[] = {0, third, 2 * third, n};
    for (int part = 0; part < 3 && !bad; part++) {
        int first = from[part], count = from[part + 1] - first;
        struct qn_chunk c = {.seq = s,
                             .tokens = ids + first,
                             .embeddings = part == 1 ? given : NULL,
                             .positions = at[first],
                             .n = count,
                             .all_rows = true,
                             .logits = out + (size_t)first * vocab};
        reserve(s, c.n);
        qn_net_forward(p->net, &c, 1);
    }
    qn_seq_free(s);
    bad = bad || write_floats(path, out, (size_t)n * vocab);
    free(given);
    free(out);
    return bad;
}

/* ---- sequences ---- */

enum { TEXT = 48 };

struct texts {
    int32_t a[TEXT], b[TEXT], c[TEXT];
    float *want, *got; /* logits of a, [TEXT, vocab] */
};

/* RMS of the difference of rows first .. TEXT over the spread of the wanted ones. */
static double moved(const struct probe *p, const struct texts *t, int first)
{
    double sum = 0, square = 0, difference = 0;
    size_t from = (size_t)first * (size_t)p->vocab, to = (size_t)TEXT * (size_t)p->vocab;
    for (size_t i = from; i < to; i++) {
        double d = (double)t->got[i] - (double)t->want[i];
        sum += (double)t->want[i];
        square += (double)t->want[i] * (double)t->want[i];
        difference += d * d;
    }
    double n = (double)(to - from), mean = sum / n;
    return sqrt(difference / n) / sqrt(square / n - mean * mean);
}

/* a in chunks of 7, as part of batches in which b and c run too. */
static void run_in_company(struct probe *p, struct texts *t)
{
    struct qn_seq *s[3] = {new_seq(p), new_seq(p), new_seq(p)};
    const int32_t *ids[3] = {t->b, t->a, t->c};
    float *last = qn_xcalloc((size_t)p->vocab, sizeof *last);
    for (int i = 0; i < TEXT; i += 7) {
        struct qn_chunk c[3];
        for (int j = 0; j < 3; j++)
            c[j] = (struct qn_chunk){
                .seq = s[j], .tokens = ids[j] + i, .n = i + 7 <= TEXT ? 7 : TEXT - i};
        c[1].all_rows = true;
        c[1].logits = t->got + (size_t)i * (size_t)p->vocab;
        c[2].logits = last;
        for (int j = 0; j < 3; j++)
            reserve(s[j], c[j].n);
        qn_net_forward(p->net, c, 3);
    }
    free(last);
    for (int j = 0; j < 3; j++)
        qn_seq_free(s[j]);
}

/* Half of a, then b, then back to half of a, or to what is left of it, and on. */
static void run_after_truncation(struct probe *p, struct texts *t)
{
    struct qn_seq *s = new_seq(p);
    feed(p, s, t->a, TEXT / 2, CHUNK, t->got);
    feed(p, s, t->b, TEXT, CHUNK, NULL);
    int left = qn_seq_truncate(s, TEXT / 2);
    feed(p, s, t->a + left, TEXT - left, CHUNK, t->got + (size_t)left * (size_t)p->vocab);
    qn_seq_free(s);
}

/* The first half of a out of another sequence's cache, into one that held b. A net with recurrent
 * layers can only be forked where its state is: there the other one has no more than that half. */
static void run_after_copy(struct probe *p, struct texts *t)
{
    struct qn_seq *from = new_seq(p), *to = new_seq(p);
    int other = qn_net_info(p->net)->state_bytes ? TEXT / 2 : TEXT;
    feed(p, from, t->a, other, CHUNK, t->got);
    feed(p, to, t->b, TEXT, CHUNK, NULL);
    if (qn_seq_fork(to, from, TEXT / 2, NULL) != QN_OK || qn_seq_len(to) != TEXT / 2)
        fprintf(stderr, "net_probe: a fork of %d tokens has %d\n", TEXT / 2, qn_seq_len(to));
    feed(p, to, t->a + TEXT / 2, TEXT / 2, CHUNK, t->got + (size_t)TEXT / 2 * (size_t)p->vocab);
    qn_seq_free(from);
    qn_seq_free(to);
}

/* A long text, and the same again from the copy of the state that its 256th token left: in the same
 * sequence, and in another that has forked there. The last TEXT tokens are compared. */
static void run_from_kept(struct probe *p, struct texts *t)
{
    enum { LONG = 320, KEPT = 256, SAME = LONG - TEXT };
    int32_t ids[LONG];
    for (int i = 0; i < LONG; i++)
        ids[i] = (i * 29 + 3) % p->vocab;
    struct qn_seq *s = new_seq(p), *to = new_seq(p);
    feed(p, s, ids, SAME, CHUNK, NULL);
    feed(p, s, ids + SAME, TEXT, CHUNK, t->want);
    if (qn_seq_truncate(s, LONG - 1) != KEPT)
        fprintf(stderr, "net_probe: cut to %d, not %d tokens\n", qn_seq_len(s), KEPT);
    feed(p, s, ids + KEPT, SAME - KEPT, 1, NULL);
    feed(p, s, ids + SAME, TEXT, CHUNK, t->got);
    printf(",\"from_kept\":%.3g", moved(p, t, 0));
    if (qn_seq_fork(to, s, KEPT, NULL) != QN_OK)
        fprintf(stderr, "net_probe: no fork of %d tokens\n", KEPT);
    qn_seq_free(s);
    feed(p, to, ids + qn_seq_len(to), SAME - qn_seq_len(to), CHUNK, NULL);
    feed(p, to, ids + SAME, TEXT, CHUNK, t->got);
    printf(",\"forked_kept\":%.3g", moved(p, t, 0));
    qn_seq_free(to);
}

static int sequences(struct probe *p)
{
    struct texts t;
    size_t n = (size_t)TEXT * (size_t)p->vocab;
    t.want = qn_xcalloc(n, sizeof *t.want);
    t.got = qn_xcalloc(n, sizeof *t.got);
    for (int i = 0; i < TEXT; i++) {
        t.a[i] = (i * 37 + 11) % p->vocab;
        t.b[i] = (i * 91 + 5) % p->vocab;
        t.c[i] = (i * 53 + 2) % p->vocab;
    }
    struct qn_seq *s = new_seq(p);
    feed(p, s, t.a, TEXT, CHUNK, t.want);
    qn_seq_truncate(s, 0);
    feed(p, s, t.a, TEXT, CHUNK, t.got);
    printf("{\"again\":%.3g", moved(p, &t, 0));
    qn_seq_truncate(s, 0);
    feed(p, s, t.a, TEXT, 5, t.got);
    printf(",\"chunked\":%.3g", moved(p, &t, 0));
    qn_seq_truncate(s, 0);
    feed(p, s, t.a, TEXT, 1, t.got);
    printf(",\"singly\":%.3g", moved(p, &t, 0));
    qn_seq_free(s);
    run_in_company(p, &t);
    printf(",\"in_company\":%.3g", moved(p, &t, 0));
    run_after_truncation(p, &t);
    printf(",\"truncated\":%.3g", moved(p, &t, 0));
    run_after_copy(p, &t);
    printf(",\"copied\":%.3g", moved(p, &t, 0));
    if (qn_net_info(p->net)->state_bytes)
        run_from_kept(p, &t);
    printf("}\n");
    free(t.want);
    free(t.got);
    return 0;
}

/* ---- rows ---- */

struct rows {
    struct probe *p;
    int32_t ids[ROWS_MAX];
    int n;
    float *want, *got; /* logits [n, vocab] */
};

/* Of how many logits the bits differ from those of one piece. */
static void print_differing(const struct rows *r, const char *way)
{
    size_t differing = 0, n = (size_t)r->n * (size_t)r->p->vocab;
    for (size_t i = 0; i < n; i++)
        differing += memcmp(&r->want[i], &r->got[i], sizeof *r->got) != 0;
    printf(",\"%s\":%zu", way, differing);
    memset(r->got, 0, n * sizeof *r->got);
}

/* Pieces of `step` tokens, the n-th beside n % 5 other sequences, which get 1, 2, .. tokens, and so
 * change in what batch the text's rows are and where. */
static void run_beside(const struct rows *r, int step)
{
    enum { OTHERS = 4 };
    struct qn_seq *s[OTHERS + 1];
    for (int i = 0; i <= OTHERS; i++)
        s[i] = new_seq(r->p);
    for (int at = 0, turn = 0; at < r->n; at += step, turn++) {
        struct qn_chunk c[OTHERS + 1];
        const int others = turn % (OTHERS + 1), own = others / 2;
        for (int i = 0; i <= others; i++) {
            c[i] = (struct qn_chunk){.seq = s[i == own  ? OTHERS
                                              : i < own ? i
                                                        : i - 1],
                                     .tokens = r->ids + turn % 7 + i,
                                     .n = 1 + (turn + i) % 5};
            if (i == own)
                c[i] = (struct qn_chunk){.seq = s[OTHERS],
                                         .tokens = r->ids + at,
                                         .n = at + step <= r->n ? step : r->n - at,
                                         .all_rows = true,
                                         .logits = r->got + (size_t)at * (size_t)r->p->vocab};
            reserve(c[i].seq, c[i].n);
        }
        qn_net_forward(r->p->net, c, others + 1);
    }
    for (int i = 0; i <= OTHERS; i++)
        qn_seq_free(s[i]);
}

/* The first half from another sequence's cache, the rest in one piece. */
static void run_warm(const struct rows *r)
{
    struct qn_seq *from = new_seq(r->p), *to = new_seq(r->p);
    const int half = r->n / 2 / QN_KV_PAGE * QN_KV_PAGE;
    feed(r->p, from, r->ids, half, 33, r->got);
    if (qn_seq_fork(to, from, half, NULL) != QN_OK || qn_seq_len(to) != half)
        fprintf(stderr, "net_probe: a fork of %d tokens has %d\n", half, qn_seq_len(to));
    feed(r->p, to, r->ids + half, r->n - half, ROWS_MAX,
         r->got + (size_t)half * (size_t)r->p->vocab);
    qn_seq_free(from);
    qn_seq_free(to);
}

static int rows(struct probe *p, int n)
{
    static const int pieces[] = {512, 61, 17, 1};
    struct rows r = {.p = p, .n = n < 1 ? 1 : n > ROWS_MAX ? ROWS_MAX : n};
    char way[32];
    r.want = qn_xcalloc((size_t)r.n * (size_t)p->vocab, sizeof *r.want);
    r.got = qn_xcalloc((size_t)r.n * (size_t)p->vocab, sizeof *r.got);
    for (int i = 0; i < r.n; i++)
        r.ids[i] = (i * 37 + i / 11 * 5 + 11) % p->vocab;
    struct qn_seq *s = new_seq(p);
    feed(p, s, r.ids, r.n, ROWS_MAX, r.want);
    printf("{\"logits\":%zu", (size_t)r.n * (size_t)p->vocab);
    for (int i = 0; i < 4; i++) {
        qn_seq_truncate(s, 0);
        feed(p, s, r.ids, r.n, pieces[i], r.got);
        snprintf(way, sizeof way, "pieces_of_%d", pieces[i]);
        print_differing(&r, way);
    }
    qn_seq_free(s);
    run_beside(&r, 13);
    print_differing(&r, "beside_others");
    run_warm(&r);
    print_differing(&r, "from_cache");
    printf("}\n");
    free(r.want);
    free(r.got);
    return 0;
}

int main(int argc, char **argv)
{
    bool one = argc == 6 && strcmp(argv[1], "logits") == 0;
    bool pictured = argc == 6 && strcmp(argv[1], "picture") == 0;
    bool chosen = argc == 7 && strcmp(argv[1], "choices") == 0;
    bool by_rows = argc == 4 && strcmp(argv[1], "rows") == 0;
    if (argc == 5 && strcmp(argv[1], "hidden") == 0)
        return hidden(argv[2], argv[3], argv[4]);
    if (argc == 6 && strcmp(argv[1], "parts") == 0)
        return parts(argv[2], argv[3], atoi(argv[4]), argv[5]);
    if (!one && !chosen && !pictured && !by_rows &&
        !(argc == 3 && strcmp(argv[1], "sequences") == 0)) {
        fprintf(
            stderr,
            "usage: net_probe logits MODEL IDS SINGLE OUT | choices MODEL IDS SINGLE OUT CHOICES"
            " | picture MODEL IDS FLOATS OUT"
            " | hidden MODEL IDS OUT | parts MODEL IDS CUT OUT | sequences MODEL"
            " | rows MODEL TOKENS\n");
        return 2;
    }
    struct probe p = {0};
    int status = open_probe(&p, argv[2]);
    if (status == 0)
        status = one        ? logits(&p, argv[3], atoi(argv[4]), argv[5])
                 : chosen   ? choices(&p, argv[3], atoi(argv[4]), argv[5], argv[6])
                 : pictured ? picture(&p, argv[3], argv[4], argv[5])
                 : by_rows  ? rows(&p, atoi(argv[3]))
                            : sequences(&p);
    close_probe(&p);
    return status;
}
