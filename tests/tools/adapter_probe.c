/* Drives a network with adapters from the command line, for the golden tests.
 *
 *   adapter_probe MODEL ADAPTERS IDS SINGLE OUT MIX...
 *
 * ADAPTERS are files (a.gguf,b.gguf). Each MIX is a sequence of the tokens IDS (1,2,3) that goes
 * through some of them: "0:0.5,1:1" names adapters by number with a scale each, "" none. All
 * sequences run together, in chunks of different sizes, the last SINGLE tokens one at a time; OUT
 * gets the logits of all tokens of all of them as raw f32. Then the same once more with the logits
 * of few rows asked for; how far those are from the first ones is printed as JSON.
 *
 * Exit status: 0, 1 with a message, or 77 where this machine lacks the instructions that QUINCE_ISA
 * asks for. */
#include "base/buf.h"
#include "base/error.h"
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 256, CHUNK = 64, MIXES = 8, EXIT_SKIP = 77 };

struct probe {
    struct qn_device *dev;
    struct qn_weights *weights;
    struct qn_net *net;
    size_t vocab;
    int32_t ids[CONTEXT];
    int n, single, mixes;
    struct qn_mix mix[MIXES];
};

static qn_err add_adapters(struct probe *p, const char *files, struct qn_error *e)
{
    char list[4096];
    snprintf(list, sizeof list, "%s", files);
    qn_err err = QN_OK;
    for (char *save, *path = strtok_r(list, ",", &save); path && !err;
         path = strtok_r(NULL, ",", &save)) {
        struct qn_weights *w;
        int32_t index;
        err = qn_weights_open(&w, path, e);
        if (!err)
            err = qn_net_adapter_add(p->net, w, &index, e);
    }
    return err;
}

static int open_probe(struct probe *p, const char *path, const char *adapters)
{
    struct qn_error e = {0};
    qn_err err = qn_device_cpu_new(2, &p->dev, &e);
    int status = err == QN_EUNSUPPORTED ? EXIT_SKIP : 1;
    if (!err)
        err = qn_weights_open(&p->weights, path, &e);
    if (!err)
        err = qn_net_load(&p->net, p->weights, p->dev, &(struct qn_net_options){.max_chunk = CHUNK},
                          &e);
    if (!err)
        err = add_adapters(p, adapters, &e);
    if (!err)
        err = qn_net_kv_init(p->net, &(struct qn_kv_config){MIXES * CONTEXT, QN_F16, QN_F16}, &e);
    if (err) {
        fprintf(stderr, "adapter_probe: %s\n", e.message);
        return status;
    }
    p->vocab = (size_t)qn_net_info(p->net)->vocab;
    return 0;
}

static void read_mix(struct qn_mix *mix, const char *text)
{
    mix->n = 0;
    for (const char *s = text; *s; mix->n++) {
        char *end;
        mix->part[mix->n].adapter = (int32_t)strtol(s, &end, 10);
        mix->part[mix->n].scale = strtof(end + 1, &end);
        s = *end ? end + 1 : end;
    }
}

/* How many tokens sequence m takes in this round, and what their logits are asked for. */
static int piece(const struct probe *p, int m, int done, int round)
{
    static const int sizes[] = {5, 1, 7, 3, 6, 2};
    int left = p->n - p->single - done, want = sizes[(m + round) % 6];
    if (left <= 0)
        return done < p->n;
    return want < left ? want : left;
}

/* All sequences to their end. `few`: only some chunks' last rows are computed, and the greatest
 * difference from `out` comes back; else out [mixes, n, vocab] is filled. */
static double run(struct probe *p, float *out, bool few)
{
    struct qn_seq *seq[MIXES];
    int done[MIXES] = {0};
    float *last = qn_xcalloc(MIXES * p->vocab, sizeof *last);
    double moved = 0;
    for (int m = 0; m < p->mixes; m++)
        if (qn_seq_new(p->net, CONTEXT, &seq[m], NULL))
            exit(1);
    for (int round = 0;; round++) {
        struct qn_chunk c[MIXES];
        int whose[MIXES], n = 0;
        for (int m = 0; m < p->mixes; m++) {
            int take = piece(p, m, done[m], round);
            if (take == 0)
                continue;
            float *to = out + ((size_t)m * (size_t)p->n + (size_t)done[m]) * p->vocab;
            bool wanted = (m + round) % 3 != 0;
            c[n] = (struct qn_chunk){.seq = seq[m],
                                     .tokens = p->ids + done[m],
                                     .mix = p->mix[m].n ? &p->mix[m] : NULL,
                                     .n = take,
                                     .all_rows = !few,
                                     .logits = !few     ? to
                                               : wanted ? last + (size_t)m * p->vocab
                                                        : NULL};
            if (qn_seq_reserve(seq[m], take, NULL))
                exit(1);
            whose[n++] = m;
        }
        if (n == 0)
            break;
        qn_net_forward(p->net, c, (size_t)n);
        for (int i = 0; i < n; i++) {
            int m = whose[i];
            done[m] += c[i].n;
            const float *want = out + ((size_t)m * (size_t)p->n + (size_t)done[m] - 1) * p->vocab;
            for (size_t v = 0; few && c[i].logits && v < p->vocab; v++)
                moved = fmax(moved, fabs((double)c[i].logits[v] - (double)want[v]));
        }
    }
    for (int m = 0; m < p->mixes; m++)
        qn_seq_free(seq[m]);
    free(last);
    return moved;
}

static int compute(struct probe *p, const char *path)
{
    const size_t n = (size_t)p->mixes * (size_t)p->n * p->vocab;
    float *out = qn_xcalloc(n, sizeof *out);
    run(p, out, false);
    printf("{\"few\":%.3g}\n", run(p, out, true));
    FILE *f = fopen(path, "wb");
    int bad = !f || fwrite(out, sizeof *out, n, f) != n;
    if (f && fclose(f))
        bad = 1;
    if (bad)
        fprintf(stderr, "adapter_probe: cannot write %s\n", path);
    free(out);
    return bad;
}

int main(int argc, char **argv)
{
    struct probe p = {0};
    if (argc < 7 || argc > 6 + MIXES) {
        fprintf(stderr, "usage: adapter_probe MODEL ADAPTERS IDS SINGLE OUT MIX...\n");
        return 2;
    }
    for (const char *s = argv[3]; *s && p.n < CONTEXT; p.n++) {
        char *end;
        p.ids[p.n] = (int32_t)strtol(s, &end, 10);
        s = *end ? end + 1 : end;
    }
    p.single = atoi(argv[4]);
    for (; p.mixes < argc - 6; p.mixes++)
        read_mix(&p.mix[p.mixes], argv[6 + p.mixes]);
    int status = open_probe(&p, argv[1], argv[2]);
    if (status == 0)
        status = compute(&p, argv[5]);
    qn_net_free(p.net);
    qn_weights_close(p.weights);
    qn_device_free(p.dev);
    return status;
}
