/* How fast a language model's network runs on this machine, and how much of the machine it uses.
 *
 *   bench_llm MODEL [--threads N] [--prompt 128,512] [--generate N] [--depth 0,1024] [--reps N]
 *
 * One JSON object on stdout. Speeds are medians of --reps runs. "others" is the number of
 * processors that other programs kept busy meanwhile: figures taken beside them mean little. The
 * text is random ids; a network's speed does not depend on them. */
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

enum { LIST_MAX = 8, REPS_MAX = 32, CHUNK = 512, PARALLEL = 4, ROOM = 16 };

struct options {
    const char *model;
    int threads, generate, reps;
    int prompt[LIST_MAX], prompts, depth[LIST_MAX], depths;
};

struct bench {
    struct options o;
    struct qn_device *dev;
    struct qn_weights *weights;
    struct qn_net *net;
    int32_t ids[CHUNK];
    float *logits; /* [PARALLEL, vocab] */
    struct limits limits;
    double flop_token;     /* of the layers' matrices, for one token */
    double flop_attention; /* for one token per token it looks back on */
    double matrix_bytes;   /* read for one generated token */
    double kv_bytes;       /* of one token in the cache */
    int printed;           /* tests so far */
};

struct sample {
    double seconds, others;
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

static double status_mib(const char *key)
{
    char line[256];
    double kib = 0;
    size_t n = strlen(key);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            kib = atof(line + n + 1);
    if (f)
        fclose(f);
    return kib / 1024;
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
    s.others = ((all_cpu_s() - w.all) - (own_cpu_s() - w.own)) / s.seconds;
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

/* Appends n tokens, with the last one's logits. */
static void prompt(struct bench *b, struct qn_seq *s, int n)
{
    for (int done = 0; done < n;) {
        int step = n - done < CHUNK ? n - done : CHUNK;
        struct qn_chunk c = {.seq = s, .tokens = b->ids, .n = step};
        done += step;
        c.logits = done == n ? b->logits : NULL;
        qn_net_forward(b->net, &c, 1);
    }
}

/* n tokens for each of k sequences, one step at a time. */
static void generate(struct bench *b, struct qn_seq **s, int k, int n)
{
    size_t vocab = (size_t)qn_net_info(b->net)->vocab;
    for (int i = 0; i < n; i++) {
        struct qn_chunk c[PARALLEL];
        for (int j = 0; j < k; j++)
            c[j] = (struct qn_chunk){.seq = s[j],
                                     .tokens = &b->ids[(i + j) % CHUNK],
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

static void print_test(struct bench *b, const char *name, int n, int depth, int parallel,
                       struct sample *v, double flop, double bytes)
{
    struct sample m = median(v, b->o.reps);
    double total = (double)n * parallel;
    printf("%s\n {\"test\":\"%s\",\"tokens\":%d,\"depth\":%d,\"parallel\":%d,\"tokens_s\":%.2f,"
           "\"slowest\":%.2f,\"fastest\":%.2f,\"others\":%.2f,\"gflop_s\":%.1f,\"gb_s\":%.2f,"
           "\"share_of_fma\":%.3f,\"share_of_int8\":%.3f,\"share_of_read\":%.3f}",
           b->printed++ ? "," : "", name, n, depth, parallel, total / m.seconds,
           total / v[b->o.reps - 1].seconds, total / v[0].seconds, m.others,
           flop / m.seconds * 1e-9, bytes / m.seconds * 1e-9,
           b->limits.fma_gflop_s > 0 ? flop / m.seconds * 1e-9 / b->limits.fma_gflop_s : 0.0,
           b->limits.int8_gop_s > 0 ? flop / m.seconds * 1e-9 / b->limits.int8_gop_s : 0.0,
           bytes / m.seconds * 1e-9 / b->limits.read_gb_s);
    fflush(stdout);
}

static void bench_prompt(struct bench *b, int n)
{
    struct sample v[REPS_MAX];
    struct qn_seq *s = new_seq(b, n);
    prompt(b, s, n < 32 ? n : 32); /* warms up */
    for (int r = 0; r < b->o.reps; r++) {
        qn_seq_truncate(s, 0);
        struct watch w = watch_start();
        prompt(b, s, n);
        v[r] = watch_stop(w);
    }
    double flop = n * (b->flop_token + b->flop_attention * n / 2);
    print_test(b, "prompt", n, 0, 1, v, flop, b->matrix_bytes * ((n + CHUNK - 1) / CHUNK));
    qn_seq_free(s);
}

static void bench_generate(struct bench *b, int depth, int parallel)
{
    struct sample v[REPS_MAX];
    struct qn_seq *s[PARALLEL];
    int n = b->o.generate;
    for (int j = 0; j < parallel; j++) {
        s[j] = new_seq(b, depth + n);
        if (depth)
            prompt(b, s[j], depth);
    }
    generate(b, s, parallel, n < 4 ? n : 4);
    for (int r = 0; r < b->o.reps; r++) {
        for (int j = 0; j < parallel; j++)
            qn_seq_truncate(s[j], depth);
        struct watch w = watch_start();
        generate(b, s, parallel, n);
        v[r] = watch_stop(w);
    }
    double seen = depth + n / 2.0;
    double flop = (double)n * parallel * (b->flop_token + b->flop_attention * seen);
    double bytes = n * (b->matrix_bytes + parallel * b->kv_bytes * seen);
    print_test(b, "generate", n, depth, parallel, v, flop, bytes);
    for (int j = 0; j < parallel; j++)
        qn_seq_free(s[j]);
}

/* ---- the whole ---- */

static double metadata(const struct bench *b, const char *key)
{
    char full[128];
    uint32_t v = 0;
    struct qn_error e = {0};
    snprintf(full, sizeof full, "%s.%s", qn_net_info(b->net)->architecture, key);
    need(qn_weights_u32(b->weights, full, &v, &e), &e);
    return v;
}

static void load(struct bench *b)
{
    struct qn_error e = {0};
    need(qn_device_cpu_new(b->o.threads, &b->dev, &e), &e);
    double start = now_s();
    need(qn_weights_open(&b->weights, b->o.model, &e), &e);
    need(qn_net_load(&b->net, b->weights, b->dev, CHUNK, NULL, NULL, &e), &e);
    double loaded = now_s();

    const struct qn_net_info *info = qn_net_info(b->net);
    b->logits = qn_xcalloc((size_t)PARALLEL * (size_t)info->vocab, sizeof *b->logits);
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
    printf(
        "{\"model\":\"%s\",\"device\":\"%s\",\"threads\":%d,\"architecture\":\"%s\","
        "\"parameters\":%lld,\"file_mib\":%.1f,\n"
        " \"load_s\":%.3f,\"first_token_s\":%.3f,\"loaded_rss_mib\":%.1f,\"kv_token_bytes\":%lld,"
        "\n",
        b->o.model, qn_device_name(b->dev), b->o.threads, info->architecture,
        (long long)info->parameters,
        (double)qn_gguf_file_bytes(qn_weights_gguf(b->weights)) / 1048576, loaded - start,
        first - start, status_mib("VmRSS"), (long long)info->kv_token_bytes);
}

static int list(const char *s, int *out)
{
    int n = 0;
    while (*s && n < LIST_MAX) {
        char *end;
        out[n++] = (int)strtol(s, &end, 10);
        s = *end ? end + 1 : end;
    }
    return n;
}

static void usage(void)
{
    fprintf(stderr, "usage: bench_llm MODEL [--threads N] [--prompt 128,512] [--generate N] "
                    "[--depth 0,1024] [--reps N]\n");
    exit(2);
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN),
                        .generate = 32,
                        .reps = 3,
                        .prompt = {128, 512},
                        .prompts = 2,
                        .depth = {0, 1024},
                        .depths = 2};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            o.model = argv[i];
            continue;
        }
        if (i + 1 == argc)
            usage();
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0)
            o.threads = atoi(value);
        else if (strcmp(argv[i], "--prompt") == 0)
            o.prompts = list(value, o.prompt);
        else if (strcmp(argv[i], "--generate") == 0)
            o.generate = atoi(value);
        else if (strcmp(argv[i], "--depth") == 0)
            o.depths = list(value, o.depth);
        else if (strcmp(argv[i], "--reps") == 0)
            o.reps = atoi(value);
        else
            usage();
        i++;
    }
    if (!o.model || o.threads < 1 || o.generate < 1 || o.reps < 1 || o.reps > REPS_MAX)
        usage();
    return o;
}

int main(int argc, char **argv)
{
    struct bench b = {.o = parse(argc, argv)};
    b.limits = limits_measure(b.o.threads);
    load(&b);
    printf(" \"limits\":{\"read_gb_s\":%.1f,\"fma_gflop_s\":%.0f,\"int8_gop_s\":%.0f},\n"
           " \"tests\":[",
           b.limits.read_gb_s, b.limits.fma_gflop_s, b.limits.int8_gop_s);
    for (int i = 0; i < b.o.prompts; i++)
        bench_prompt(&b, b.o.prompt[i]);
    for (int i = 0; i < b.o.depths; i++)
        bench_generate(&b, b.o.depth[i], 1);
    bench_generate(&b, 0, PARALLEL);
    printf("],\n \"peak_rss_mib\":%.1f}\n", status_mib("VmHWM"));
    qn_net_free(b.net);
    qn_weights_close(b.weights);
    qn_device_free(b.dev);
    free(b.logits);
    return 0;
}
