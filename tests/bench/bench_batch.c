/* What batching is worth on this machine, through the whole of it: requests in, tokens out.
 *
 *   bench_batch MODEL THREADS [CASE...]
 *
 *   x1 x4 x8 ..   so many requests of 64 tokens of their own, 48 answered each: tokens a second of
 * all system        a system prompt of 1,024 tokens and 32 of one's own: milliseconds to the first
 *                 token, the first time and with the system prompt known
 *   burst         eight such requests at once: to the first token, on average and at worst; and the
 *                 same with eight system prompts that differ
 *   repeat        an answer that repeats its prompt, without and with prompt lookup
 *   beside        the gaps between an answer's tokens while another's prompt is read
 *
 * One JSON object a line. Random ids: speed does not depend on them. */
#include "base/buf.h"
#include "base/clock.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "llm/lm.h"
#include "llm/scheduler/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT = 2048,
    CHUNK = 512,
    CLIENTS_MAX = 32,
    SYSTEM = 1024,
    OWN = 32,
    KV_TOKENS = 1 << 16,
    GAPS_MAX = 256
};

struct client {
    int64_t first_us, last_us, end_us;
    int tokens;
    double *gap_ms; /* [GAPS_MAX] between tokens, NULL: not wanted */
    int n_gaps;
};

static struct qn_lm lm;
static bool parrot; /* the network says what its prompt said, at the cost of a real one */
static const int32_t *script;
static int script_n;

static const char *id_text(void *ctx, int32_t id, size_t *len)
{
    (void)ctx;
    (void)id;
    *len = 1;
    return "x";
}

static bool never(void *ctx, int32_t id)
{
    (void)ctx;
    (void)id;
    return false;
}

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct client *c = ctx;
    if (ev->kind == QN_EV_TEXT) {
        int64_t now = qn_now_us();
        if (!c->first_us)
            c->first_us = now;
        else if (c->gap_ms && c->n_gaps < GAPS_MAX)
            c->gap_ms[c->n_gaps++] = (double)(now - c->last_us) / 1e3;
        c->last_us = now;
    }
    if (ev->kind == QN_EV_USAGE)
        c->tokens = (int)ev->usage.output;
    if (ev->kind == QN_EV_END)
        c->end_us = qn_now_us();
}

static bool is_full(void *ctx)
{
    (void)ctx;
    return false;
}

/* The real forward pass, whose logits then follow the script: position p says script[p + 1]. */
static void forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    struct qn_lm *m = ctx;
    size_t vocab = (size_t)qn_net_info(m->net)->vocab;
    int32_t past[CLIENTS_MAX];
    for (size_t i = 0; i < n && parrot; i++)
        past[i] = qn_seq_len(chunks[i].seq);
    qn_net_forward(m->net, chunks, n);
    for (size_t i = 0; i < n && parrot; i++)
        for (int32_t t = 0; t < chunks[i].n; t++) {
            if (!chunks[i].logits || (!chunks[i].all_rows && t + 1 < chunks[i].n))
                continue;
            float *row = chunks[i].logits + (chunks[i].all_rows ? (size_t)t * vocab : 0);
            row[script[(past[i] + t + 1) % script_n]] = 1e6f;
        }
}

static struct qn_batch *batch_new(bool speculate)
{
    struct qn_batch_model model = qn_lm_model(&lm, CHUNK);
    model.token_bytes = id_text;
    model.token_is_control = model.token_is_end = never;
    model.forward = forward;
    struct qn_batch_config config = {
        .seqs = CLIENTS_MAX, .context = CONTEXT, .speculate = speculate};
    struct qn_error e = {0};
    struct qn_batch *b;
    if (qn_batch_new(&model, &config, &b, &e)) {
        fprintf(stderr, "bench_batch: %s\n", e.message);
        exit(1);
    }
    return b;
}

static void ask(struct qn_batch *b, struct client *c, const int32_t *ids, size_t n, int64_t tokens)
{
    *c = (struct client){0};
    struct qn_batch_request r = {.key = c,
                                 .out = {c, on_event, is_full},
                                 .n_prompt = n,
                                 .prompt = qn_xmalloc(n * sizeof *ids),
                                 .sampling = {.top_p = 1, .repeat_penalty = 1, .repeat_last_n = -1},
                                 .choices = 1,
                                 .max_tokens = tokens,
                                 .logprobs = -1};
    memcpy(r.prompt, ids, n * sizeof *ids);
    if (qn_batch_add(b, &r, NULL))
        abort();
}

static void make_text(int32_t *ids, int n, int salt)
{
    int32_t vocab = qn_net_info(lm.net)->vocab;
    uint32_t x = 12345u + (uint32_t)salt * 7919u;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        ids[i] = (int32_t)(x >> 8) % (vocab < 1000 ? vocab : vocab - 500);
    }
}

static void finish(struct qn_batch *b)
{
    while (qn_batch_step(b))
        ;
}

static void many(int n)
{
    enum { PROMPT = 64, ANSWER = 48 };
    struct client c[CLIENTS_MAX];
    int32_t ids[PROMPT];
    struct qn_batch *b = batch_new(false);
    for (int i = 0; i < n; i++) {
        make_text(ids, PROMPT, i);
        ask(b, &c[i], ids, PROMPT, ANSWER);
    }
    int64_t start = qn_now_us();
    finish(b);
    int64_t first = 0, end = 0;
    for (int i = 0; i < n; i++) {
        first = c[i].first_us > first ? c[i].first_us : first;
        end = c[i].end_us > end ? c[i].end_us : end;
    }
    printf("{\"case\":\"x%d\",\"tokens_per_s\":%.1f,\"first_token_ms_worst\":%.0f}\n", n,
           n * (ANSWER - 1) * 1e6 / (double)(end - first), (double)(first - start) / 1e3);
    qn_batch_free(b);
}

static double first_token_ms(struct qn_batch *b, const int32_t *ids)
{
    struct client c;
    int64_t start = qn_now_us();
    ask(b, &c, ids, SYSTEM + OWN, 4);
    finish(b);
    return (double)(c.first_us - start) / 1e3;
}

static void system_prompt(void)
{
    int32_t ids[SYSTEM + OWN];
    struct qn_batch *b = batch_new(false);
    make_text(ids, SYSTEM, 1);
    double ms[4];
    for (int i = 0; i < 4; i++) {
        make_text(ids + SYSTEM, OWN, 10 + i);
        ms[i] = first_token_ms(b, ids);
    }
    printf("{\"case\":\"system\",\"first_ms\":%.0f,\"known_ms\":[%.0f,%.0f,%.0f]}\n", ms[0], ms[1],
           ms[2], ms[3]);
    qn_batch_free(b);
}

static void burst(bool shared)
{
    enum { N = 8 };
    struct client c[N];
    int32_t ids[SYSTEM + OWN];
    struct qn_batch *b = batch_new(false);
    int64_t start = qn_now_us();
    for (int i = 0; i < N; i++) {
        make_text(ids, SYSTEM, shared ? 1 : 100 + i);
        make_text(ids + SYSTEM, OWN, 10 + i);
        ask(b, &c[i], ids, SYSTEM + OWN, 4);
    }
    finish(b);
    double sum = 0, worst = 0;
    for (int i = 0; i < N; i++) {
        double ms = (double)(c[i].first_us - start) / 1e3;
        sum += ms;
        worst = ms > worst ? ms : worst;
    }
    printf("{\"case\":\"burst\",\"shared\":%s,\"first_token_ms\":%.0f,\"worst_ms\":%.0f}\n",
           shared ? "true" : "false", sum / N, worst);
    qn_batch_free(b);
}

static void repeat(void)
{
    enum { PROMPT = 128, ANSWER = 120 };
    static int32_t text[PROMPT];
    make_text(text, PROMPT, 5);
    script = text;
    script_n = PROMPT;
    parrot = true;
    double rate[2];
    struct qn_batch_stats stats = {0};
    for (int on = 0; on < 2; on++) {
        struct client c;
        struct qn_batch *b = batch_new(on);
        ask(b, &c, text, PROMPT, ANSWER);
        finish(b);
        rate[on] = (c.tokens - 1) * 1e6 / (double)(c.end_us - c.first_us);
        stats = *qn_batch_stats(b);
        qn_batch_free(b);
    }
    parrot = false;
    printf("{\"case\":\"repeat\",\"tokens_per_s\":%.1f,\"with_lookup\":%.1f,\"guessed\":%lld,"
           "\"right\":%lld}\n",
           rate[0], rate[1], (long long)stats.guessed, (long long)stats.right);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n ? v[n / 2] : 0;
}

static void beside(void)
{
    enum { PROMPT = 1536, ALONE = 32, ANSWER = 200 };
    double gap_ms[GAPS_MAX];
    int32_t ids[PROMPT];
    struct client other, c;
    struct qn_batch *b = batch_new(false);
    make_text(ids, PROMPT, 1); /* alone: the batch then knows how fast it is */
    int64_t start = qn_now_us();
    ask(b, &other, ids, PROMPT, 1);
    finish(b);
    double alone_ms = (double)(other.first_us - start) / 1e3;
    make_text(ids, OWN, 2);
    ask(b, &c, ids, OWN, ANSWER);
    c.gap_ms = gap_ms;
    while (c.n_gaps < ALONE)
        qn_batch_step(b);
    make_text(ids, PROMPT, 3);
    start = qn_now_us();
    ask(b, &other, ids, PROMPT, 1);
    while (!other.end_us)
        qn_batch_step(b);
    int n = c.n_gaps - ALONE;
    double before = median(gap_ms, ALONE), meanwhile = median(gap_ms + ALONE, n);
    printf("{\"case\":\"beside\",\"gap_ms\":%.1f,\"gap_meanwhile_ms\":%.1f,\"worst_ms\":%.1f,"
           "\"gaps\":%d,\"first_token_ms\":%.0f,\"alone_ms\":%.0f}\n",
           before, meanwhile, n ? gap_ms[ALONE + n - 1] : 0.0, n,
           (double)(other.first_us - start) / 1e3, alone_ms);
    qn_batch_cancel(b, &c);
    finish(b);
    qn_batch_free(b);
}

static void run(const char *name)
{
    if (name[0] == 'x' && atoi(name + 1) >= 1 && atoi(name + 1) <= CLIENTS_MAX) {
        many(atoi(name + 1));
    } else if (!strcmp(name, "system")) {
        system_prompt();
    } else if (!strcmp(name, "burst")) {
        burst(true);
        burst(false);
    } else if (!strcmp(name, "repeat")) {
        repeat();
    } else if (!strcmp(name, "beside")) {
        beside();
    } else {
        fprintf(stderr, "bench_batch: no case %s\n", name);
        exit(1);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"x1", "x4", "x8", "system", "burst", "repeat", "beside"};
    struct qn_error e = {0};
    struct qn_device *dev = NULL;
    if (argc < 3) {
        fprintf(stderr, "bench_batch MODEL THREADS [CASE...]\n");
        return 1;
    }
    const struct qn_kv_config cache = {.tokens = KV_TOKENS, .k = QN_F16, .v = QN_F16};
    if (qn_device_cpu_new(atoi(argv[2]), &dev, &e) || qn_weights_open(&lm.weights, argv[1], &e) ||
        qn_net_load(&lm.net, lm.weights, dev, &(struct qn_net_options){.max_chunk = CHUNK}, &e) ||
        qn_net_kv_init(lm.net, &cache, &e)) {
        fprintf(stderr, "bench_batch: %s\n", e.message);
        return 1;
    }
    if (argc > 3)
        for (int i = 3; i < argc; i++)
            run(argv[i]);
    else
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            run(all[i]);
    qn_lm_close(&lm);
    qn_device_free(dev);
    return 0;
}
