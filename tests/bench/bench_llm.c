/* How fast a language model's network runs on this machine.
 *
 *   bench_llm [--limits] [--reps N] [--kept DIR] [--adapter FILE]... MODEL THREADS TEST...
 *
 *   pp512       a prompt of 512 tokens on an empty context
 *   tg32        32 tokens generated one after another, from an empty context
 *   tg32@2048   the same after 2048 tokens
 *   tg32x4      four sequences together, 32 tokens each
 *
 * One JSON object a line on stdout: first what loading took, then one for each test, in their
 * order. With --kept laid-out weights are kept in that folder, and the first run, which writes
 * them, ends when they are. That is the contract which llm.py --vs expects of any program
 * (docs/performance.md);
 * --limits adds what the machine can do at best and each test's share of it. Each test warms up and
 * is then the median of --reps runs. "others" is the number of processors that other programs kept
 * busy meanwhile. With adapters, sequence i of a test goes through the one in place i modulo their
 * number. The text is random ids; a network's speed does not depend on them. */
#include "limits.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REPS_MAX = 32, CHUNK = 512, PARALLEL_MAX = 16, ROOM = 16 };
enum { KV_TOKENS = 1 << 18 }; /* more than any test: what is not used costs nothing */

struct options {
    const char *model;
    const char *adapters[QN_ADAPTERS_MAX];
    int n_adapters;
    int threads, reps;
    bool limits;
    const char *kept;
    char **tests;
    int n_tests;
};

struct bench {
    struct options o;
    struct qn_device *dev;
    struct qn_weights *weights;
    struct qn_net *net;
    struct qn_mix mix[QN_ADAPTERS_MAX];
    int32_t ids[CHUNK];
    float *logits; /* [PARALLEL_MAX, vocab] */
    struct limits limits;
    double flop_token;     /* of the layers' matrices, for one token */
    double flop_attention; /* for one token per token it looks back on */
    double matrix_bytes;   /* read for one generated token */
    double kv_bytes;       /* of one token in the cache */
};

struct sample {
    double seconds, others;
    double processor; /* seconds of processor time of this process */
};

/* ---- clocks and counters ---- */

static double now_s(void)
{
    return (double)qn_now_us() * 1e-6;
}

static double own_cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Processor seconds that the whole machine has worked since it started. */
static double all_cpu_s(void)
{
    double v[8] = {0};
    FILE *f = fopen("/proc/stat", "r");
    if (f) {
        if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5,
                   v + 6, v + 7) != 8)
            memset(v, 0, sizeof v);
        fclose(f);
    }
    return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / (double)sysconf(_SC_CLK_TCK);
}

struct watch {
    double wall, own, all;
};

static struct watch watch_start(void)
{
    return (struct watch){now_s(), own_cpu_s(), all_cpu_s()};
}

static struct sample watch_stop(struct watch w)
{
    struct sample s;
    s.seconds = now_s() - w.wall;
    s.processor = own_cpu_s() - w.own;
    s.others = ((all_cpu_s() - w.all) - s.processor) / s.seconds;
    if (s.others < 0)
        s.others = 0;
    return s;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->seconds, y = ((const struct sample *)b)->seconds;
    return (x > y) - (x < y);
}

/* ---- work ---- */

static void need(qn_err err, const struct qn_error *e)
{
    if (err == QN_OK)
        return;
    fprintf(stderr, "bench_llm: %s\n", e->message);
    exit(1);
}

static struct qn_seq *new_seq(struct bench *b, int tokens)
{
    struct qn_error e = {0};
    struct qn_seq *s = NULL;
    need(qn_seq_new(b->net, tokens + ROOM, &s, &e), &e);
    return s;
}

static void reserve(struct qn_seq *s, int n)
{
    struct qn_error e = {0};
    need(qn_seq_reserve(s, n, &e), &e);
}

/* What sequence i goes through. */
static const struct qn_mix *mix_of(const struct bench *b, int i)
{
    return b->o.n_adapters ? &b->mix[i % b->o.n_adapters] : NULL;
}

/* Appends n tokens, with the last one's logits. */
static void prompt(struct bench *b, struct qn_seq *s, int n)
{
    for (int done = 0; done < n;) {
        int step = n - done < CHUNK ? n - done : CHUNK;
        struct qn_chunk c = {.seq = s, .tokens = b->ids, .mix = mix_of(b, 0), .n = step};
        done += step;
        c.logits = done == n ? b->logits : NULL;
        reserve(s, step);
        qn_net_forward(b->net, &c, 1);
    }
}

/* n tokens for each of k sequences, one step at a time. */
static void generate(struct bench *b, struct qn_seq **s, int k, int n)
{
    size_t vocab = (size_t)qn_net_info(b->net)->vocab;
    for (int i = 0; i < n; i++) {
        struct qn_chunk c[PARALLEL_MAX];
        for (int j = 0; j < k; j++)
            reserve(s[j], 1);
        for (int j = 0; j < k; j++)
            c[j] = (struct qn_chunk){.seq = s[j],
                                     .tokens = &b->ids[(i + j) % CHUNK],
                                     .mix = mix_of(b, j),
                                     .n = 1,
                                     .logits = b->logits + (size_t)j * vocab};
        qn_net_forward(b->net, c, (size_t)k);
    }
}

static struct sample median(struct sample *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_seconds);
    return v[n / 2];
}

struct test {
    const char *name;
    bool prompt;
    int n, depth, parallel;
};

static void print_test(const struct bench *b, const struct test *t, struct sample *v, double flop,
                       double bytes)
{
    struct sample m = median(v, b->o.reps);
    printf("{\"test\":\"%s\",\"tokens_s\":%.2f,\"processor_s\":%.4f,\"others\":%.2f", t->name,
           (double)t->n * t->parallel / m.seconds, m.processor, m.others);
    if (b->o.limits)
        printf(",\"share_of_fma\":%.3f,\"share_of_int8\":%.3f,\"share_of_read\":%.3f",
               flop / m.seconds * 1e-9 / b->limits.fma_gflop_s,
               flop / m.seconds * 1e-9 / b->limits.int8_gop_s,
               bytes / m.seconds * 1e-9 / b->limits.read_gb_s);
    printf("}\n");
    fflush(stdout);
}

static void bench_prompt(struct bench *b, const struct test *t)
{
    struct sample v[REPS_MAX];
    struct qn_seq *s = new_seq(b, t->n);
    prompt(b, s, t->n); /* warms up: all memory that it takes is there afterwards */
    for (int r = 0; r < b->o.reps; r++) {
        qn_seq_truncate(s, 0);
        struct watch w = watch_start();
        prompt(b, s, t->n);
        v[r] = watch_stop(w);
    }
    double flop = t->n * (b->flop_token + b->flop_attention * t->n / 2);
    print_test(b, t, v, flop, b->matrix_bytes * ((t->n + CHUNK - 1) / CHUNK));
    qn_seq_free(s);
}

static void bench_generate(struct bench *b, const struct test *t)
{
    struct sample v[REPS_MAX];
    struct qn_seq *s[PARALLEL_MAX];
    for (int j = 0; j < t->parallel; j++) {
        s[j] = new_seq(b, t->depth + t->n);
        if (t->depth)
            prompt(b, s[j], t->depth);
    }
    generate(b, s, t->parallel, t->n < 4 ? t->n : 4);
    for (int r = 0; r < b->o.reps; r++) {
        for (int j = 0; j < t->parallel; j++)
            qn_seq_truncate(s[j], t->depth);
        struct watch w = watch_start();
        generate(b, s, t->parallel, t->n);
        v[r] = watch_stop(w);
    }
    double seen = t->depth + t->n / 2.0;
    double flop = (double)t->n * t->parallel * (b->flop_token + b->flop_attention * seen);
    double bytes = t->n * (b->matrix_bytes + t->parallel * b->kv_bytes * seen);
    print_test(b, t, v, flop, bytes);
    for (int j = 0; j < t->parallel; j++)
        qn_seq_free(s[j]);
}

/* ---- the whole ---- */

/* 0 where the file does not say: a share then leaves out what it would have counted. */
static double metadata(const struct bench *b, const char *key)
{
    char full[128];
    uint32_t v = 0;
    struct qn_error e = {0};
    snprintf(full, sizeof full, "%s.%s", qn_net_info(b->net)->architecture, key);
    need(qn_weights_u32_opt(b->weights, full, &v, &e), &e);
    return v;
}

static void load_adapters(struct bench *b)
{
    struct qn_error e = {0};
    for (int i = 0; i < b->o.n_adapters; i++) {
        struct qn_weights *w;
        b->mix[i] = (struct qn_mix){1, {{0, 1}}};
        need(qn_weights_open(&w, b->o.adapters[i], &e), &e);
        need(qn_net_adapter_add(b->net, w, &b->mix[i].part[0].adapter, &e), &e);
    }
}

static void load(struct bench *b)
{
    struct qn_error e = {0};
    need(qn_device_cpu_new(b->o.threads, &b->dev, &e), &e);
    double start = now_s();
    need(qn_weights_open(&b->weights, b->o.model, &e), &e);
    if (b->o.kept)
        qn_weights_keep_in(b->weights, b->dev, b->o.kept, INT64_MAX, b->o.model);
    need(qn_net_load(&b->net, b->weights, b->dev, &(struct qn_net_options){.max_chunk = CHUNK}, &e),
         &e);
    load_adapters(b);
    need(qn_net_kv_init(b->net, &(struct qn_kv_config){KV_TOKENS, QN_F16, QN_F16}, &e), &e);
    double loaded = now_s();

    const struct qn_net_info *info = qn_net_info(b->net);
    b->logits = qn_xcalloc((size_t)PARALLEL_MAX * (size_t)info->vocab, sizeof *b->logits);
    for (int i = 0; i < CHUNK; i++)
        b->ids[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)info->vocab);
    struct qn_seq *s = new_seq(b, 1);
    prompt(b, s, 1);
    qn_seq_free(s);
    double first = now_s();

    double table = (double)info->vocab * metadata(b, "embedding_length");
    double ends = qn_weights_has(b->weights, "output.weight") ? 2 * table : table;
    b->flop_token = 2 * ((double)info->parameters - ends);
    b->flop_attention = 4.0 * info->layers * metadata(b, "attention.head_count") *
                        metadata(b, "attention.key_length");
    b->matrix_bytes = (double)qn_weights_prepared_bytes(b->weights);
    b->kv_bytes = (double)info->kv_token_bytes;
    printf("{\"device\":\"%s\",\"threads\":%d,\"file_mib\":%.1f,\"kv_token_bytes\":%lld,"
           "\"load_s\":%.3f,\"first_token_s\":%.3f",
           qn_device_name(b->dev), b->o.threads,
           (double)qn_gguf_file_bytes(qn_weights_gguf(b->weights)) / 1048576,
           (long long)info->kv_token_bytes, loaded - start, first - start);
    if (b->o.limits)
        printf(",\"read_gb_s\":%.1f,\"fma_gflop_s\":%.0f,\"int8_gop_s\":%.0f", b->limits.read_gb_s,
               b->limits.fma_gflop_s, b->limits.int8_gop_s);
    printf("}\n");
    fflush(stdout);
}

static void usage(void)
{
    fprintf(stderr, "usage: bench_llm [--limits] [--reps N] [--kept DIR] [--adapter FILE]... MODEL "
                    "THREADS TEST...\n"
                    "tests: pp512 tg32 tg32@2048 tg32x4\n");
    exit(2);
}

/* The number at *s, which moves past it. */
static int number(const char **s, int least, int most)
{
    char *end;
    long n = strtol(*s, &end, 10);
    if (end == *s || n < least || n > most)
        usage();
    *s = end;
    return (int)n;
}

static struct test test_of(const char *name)
{
    struct test t = {.name = name, .prompt = strncmp(name, "pp", 2) == 0, .parallel = 1};
    const char *s = name + 2;
    if (!t.prompt && strncmp(name, "tg", 2) != 0)
        usage();
    t.n = number(&s, 1, 1 << 20);
    if (!t.prompt && *s == '@') {
        s++;
        t.depth = number(&s, 0, 1 << 20);
    }
    if (!t.prompt && *s == 'x') {
        s++;
        t.parallel = number(&s, 1, PARALLEL_MAX);
    }
    if (*s)
        usage();
    return t;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.reps = 1};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--limits") == 0) {
            o.limits = true;
        } else if (strcmp(argv[i], "--reps") == 0 && value) {
            o.reps = number(&value, 1, REPS_MAX);
            i++;
        } else if (strcmp(argv[i], "--adapter") == 0 && value && o.n_adapters < QN_ADAPTERS_MAX) {
            o.adapters[o.n_adapters++] = value;
            i++;
        } else if (strcmp(argv[i], "--kept") == 0 && value) {
            o.kept = value;
            i++;
        } else {
            usage();
        }
    }
    if (argc - i < 2)
        usage();
    o.model = argv[i];
    const char *threads = argv[i + 1];
    o.threads = number(&threads, 1, 128);
    o.tests = argv + i + 2;
    o.n_tests = argc - i - 2;
    for (int t = 0; t < o.n_tests; t++)
        test_of(o.tests[t]); /* complains before anything is loaded */
    return o;
}

int main(int argc, char **argv)
{
    struct bench b = {.o = parse(argc, argv)};
    if (b.o.limits)
        b.limits = limits_measure(b.o.threads);
    load(&b);
    for (int i = 0; i < b.o.n_tests; i++) {
        struct test t = test_of(b.o.tests[i]);
        (t.prompt ? bench_prompt : bench_generate)(&b, &t);
    }
    qn_weights_keep(b.weights);
    qn_weights_keep_wait(b.weights);
    qn_net_free(b.net);
    qn_weights_close(b.weights);
    qn_device_free(b.dev);
    free(b.logits);
    return 0;
}
