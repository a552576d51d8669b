/* Batching on a real network, for tests/golden/test_batching.py.
 *
 *   batch_probe MODEL MIXES SEED CACHE LIMIT   random mixes of requests that join, leave, fork into
 *                                              choices, pause, and take each other's pages; then
 * each alone, and what differs
 *
 * The answers must be the same tokens; their log-probabilities may differ by LIMIT. Where they part
 * all the same, the two tokens' log-probabilities must lie within that limit of each other
 * (greedy), or it counts as a draw on the border (sampled). Prints figures as JSON; exit status 0,
 * or 1 with a message, or 77 where this machine lacks the instructions that QUINCE_ISA asks for. */
#include "base/buf.h"
#include "base/json.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/device.h"
#include "engine/ops.h"
#include "engine/weights.h"
#include "llm/lm.h"
#include "llm/scheduler/batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT = 160,
    POOL = 288, /* tokens: less than two contexts for up to eight answers */
    CHUNK = 96,
    CLIENTS = 10,
    JOINS = 12, /* requests of a mix */
    SAID_MAX = 48,
    CHOICES = 3,
    EXIT_SKIP = 77
};

struct said {
    int n;
    int32_t id[SAID_MAX];
    double own[SAID_MAX];        /* log-probability of the token */
    int32_t top_id[SAID_MAX][2]; /* the two likeliest */
    double top[SAID_MAX][2];
};

struct client {
    bool there, full, ended, failed;
    int32_t prompt[CONTEXT];
    size_t n_prompt;
    int64_t choices, max_tokens;
    double temperature;
    uint64_t seed;
    struct said said[CHOICES];
};

struct figures {
    long answers, tokens, parted_greedy, parted_sampled;
    double moved;
    struct qn_batch_stats sum;
};

static struct qn_lm lm;
static struct figures total;
static double limit;

static const char *id_text(void *ctx, int32_t id, size_t *len)
{
    static char text[16];
    (void)ctx;
    *len = (size_t)snprintf(text, sizeof text, "%d ", (int)id);
    return text;
}

static bool never(void *ctx, int32_t id)
{
    (void)ctx;
    (void)id;
    return false;
}

static void note_tokens(struct said *s, const char *json)
{
    struct qn_json *doc;
    if (qn_json_parse(json, strlen(json), &doc, NULL))
        abort();
    struct qn_jref root = qn_json_root(doc), it, v, top;
    for (bool more = qn_json_first(&root, &it); more && s->n < SAID_MAX; more = qn_json_next(&it)) {
        v = qn_json_get(&it, "id");
        s->id[s->n] = (int32_t)qn_json_raw_f64(&v);
        v = qn_json_get(&it, "logprob");
        s->own[s->n] = qn_json_raw_f64(&v);
        v = qn_json_get(&it, "top");
        int k = 0;
        for (bool next = qn_json_first(&v, &top); next && k < 2; next = qn_json_next(&top), k++) {
            struct qn_jref x = qn_json_get(&top, "id");
            s->top_id[s->n][k] = (int32_t)qn_json_raw_f64(&x);
            x = qn_json_get(&top, "logprob");
            s->top[s->n][k] = qn_json_raw_f64(&x);
        }
        s->n++;
    }
    qn_json_free(doc);
}

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct client *c = ctx;
    if (ev->kind == QN_EV_TEXT && ev->logprobs)
        note_tokens(&c->said[ev->index], ev->logprobs);
    c->failed |= ev->kind == QN_EV_ERROR;
    c->ended |= ev->kind == QN_EV_END || ev->kind == QN_EV_ERROR;
}

static bool is_full(void *ctx)
{
    return ((struct client *)ctx)->full;
}

static void join(struct qn_batch *b, struct client *c, int64_t choices, uint64_t seed)
{
    struct qn_batch_request r = {
        .key = c,
        .out = {c, on_event, is_full},
        .n_prompt = c->n_prompt,
        .prompt = qn_xmalloc(c->n_prompt * sizeof *r.prompt),
        .sampling = {.temperature = c->temperature,
                     .top_p = 1,
                     .repeat_penalty = 1,
                     .repeat_last_n = -1,
                     .seed = seed},
        .choices = choices,
        .max_tokens = c->max_tokens,
        .logprobs = 2,
    };
    memcpy(r.prompt, c->prompt, c->n_prompt * sizeof *r.prompt);
    if (qn_batch_add(b, &r, NULL))
        abort();
}

static struct qn_batch *batch(int seqs, bool speculate)
{
    struct qn_batch_model model = qn_lm_model(&lm, CHUNK);
    model.token_bytes = id_text;
    model.token_is_control = model.token_is_end = never;
    struct qn_batch_config config = {.seqs = seqs, .context = CONTEXT, .speculate = speculate};
    struct qn_error e = {0};
    struct qn_batch *b;
    if (qn_batch_new(&model, &config, &b, &e)) {
        fprintf(stderr, "batch_probe: %s\n", e.message);
        exit(1);
    }
    return b;
}

/* Ends the batch; every page must be back. */
static void done_with(struct qn_batch *b)
{
    int64_t free_pages, all;
    qn_batch_free(b);
    qn_net_kv_pages(lm.net, &free_pages, &all);
    if (free_pages != all) {
        fprintf(stderr, "batch_probe: %lld of %lld pages have not come back\n",
                (long long)(all - free_pages), (long long)all);
        exit(1);
    }
}

static int below(struct qn_rng *rng, int n)
{
    return (int)(qn_rng_u64(rng) % (uint64_t)n);
}

/* Families of prompts that share their beginnings to different depths. */
static void make_prompt(struct client *c, struct qn_rng *rng)
{
    int32_t vocab = qn_net_info(lm.net)->vocab;
    struct qn_rng family;
    qn_rng_init(&family, (uint64_t)below(rng, 4));
    c->n_prompt = (size_t)(1 + below(rng, CONTEXT - 1));
    size_t branch = (size_t)below(rng, CONTEXT);
    for (size_t i = 0; i < c->n_prompt; i++)
        c->prompt[i] = (int32_t)below(i < branch ? &family : rng, vocab);
    c->choices = below(rng, 4) ? 1 : 1 + below(rng, CHOICES);
    c->max_tokens = 1 + below(rng, SAID_MAX);
    c->temperature = below(rng, 2) ? 0 : 0.8;
    c->seed = qn_rng_u64(rng);
    memset(c->said, 0, sizeof c->said);
    c->there = true;
    c->ended = c->failed = c->full = false;
}

/* Compares one answer with what it is alone. */
static void compare(const struct client *c, int64_t choice, const struct said *alone)
{
    const struct said *crowd = &c->said[choice];
    total.answers++;
    for (int i = 0; i < alone->n && i < crowd->n; i++) {
        total.tokens++;
        if (alone->id[i] == crowd->id[i]) {
            double moved = fabs(alone->own[i] - crowd->own[i]);
            total.moved = moved > total.moved ? moved : total.moved;
            continue;
        }
        bool tie =
            alone->top_id[i][1] == crowd->id[i] && alone->top[i][0] - alone->top[i][1] <= 2 * limit;
        if (c->temperature > 0)
            total.parted_sampled++;
        else if (tie)
            total.parted_greedy++;
        else {
            fprintf(stderr, "batch_probe: token %d of an answer is %d alone and %d in a crowd\n", i,
                    (int)alone->id[i], (int)crowd->id[i]);
            exit(1);
        }
        return;
    }
    if (alone->n != crowd->n) {
        fprintf(stderr, "batch_probe: %d tokens alone, %d in a crowd\n", alone->n, crowd->n);
        exit(1);
    }
}

static void check_alone(const struct client *c)
{
    for (int64_t i = 0; i < c->choices; i++) {
        static struct client alone;
        alone = *c;
        alone.ended = false;
        memset(alone.said, 0, sizeof alone.said);
        struct qn_batch *b = batch(1, false);
        join(b, &alone, 1, c->seed + (uint64_t)i);
        while (qn_batch_step(b))
            ;
        done_with(b);
        compare(c, i, &alone.said[0]);
    }
}

static void add_stats(const struct qn_batch_stats *s)
{
    total.sum.steps += s->steps;
    total.sum.computed += s->computed;
    total.sum.cached += s->cached;
    total.sum.preempted += s->preempted;
    total.sum.evicted += s->evicted;
    total.sum.guessed += s->guessed;
    total.sum.right += s->right;
}

static void mix(uint64_t seed)
{
    static struct client clients[CLIENTS], ended[JOINS];
    struct qn_rng rng;
    qn_rng_init(&rng, seed);
    memset(clients, 0, sizeof clients);
    struct qn_batch *b = batch(1 + below(&rng, 8), below(&rng, 2));
    int left = JOINS, n_ended = 0;
    bool anyone = true;
    while (left > 0 || anyone) {
        struct client *c = &clients[below(&rng, CLIENTS)];
        int what = below(&rng, 12);
        if (!c->there && left > 0 && what < 6) {
            make_prompt(c, &rng);
            join(b, c, c->choices, c->seed);
            left--;
        } else if (c->there && what == 6) {
            qn_batch_cancel(b, c);
            c->there = false;
        } else if (c->there && what == 7) {
            c->full = !c->full;
        }
        bool more = qn_batch_step(b);
        anyone = false;
        for (int i = 0; i < CLIENTS; i++) {
            c = &clients[i];
            if (!more)
                c->full = false;
            if (c->there && c->ended) {
                if (c->failed) {
                    fprintf(stderr, "batch_probe: a request failed\n");
                    exit(1);
                }
                ended[n_ended++] = *c;
                c->there = false;
            }
            anyone |= c->there;
        }
    }
    add_stats(qn_batch_stats(b));
    done_with(b);
    for (int i = 0; i < n_ended; i++)
        check_alone(&ended[i]);
}

static enum qn_dtype cache_of(const char *name)
{
    return qn_str_eq(name, "f32") ? QN_F32 : qn_str_eq(name, "q8_0") ? QN_Q8_0 : QN_F16;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "batch_probe MODEL MIXES SEED CACHE LIMIT\n");
        return 1;
    }
    struct qn_error e = {0};
    struct qn_device *dev = NULL;
    qn_err err = qn_device_cpu_new(2, &dev, &e);
    if (err == QN_EUNSUPPORTED) {
        fprintf(stderr, "batch_probe: %s\n", e.message);
        return EXIT_SKIP;
    }
    if (!err)
        err = qn_weights_open(&lm.weights, argv[1], &e);
    if (!err)
        err =
            qn_net_load(&lm.net, lm.weights, dev, &(struct qn_net_options){.max_chunk = CHUNK}, &e);
    struct qn_kv_config cache = {.tokens = POOL, .k = cache_of(argv[4]), .v = cache_of(argv[4])};
    if (!err)
        err = qn_net_kv_init(lm.net, &cache, &e);
    if (err) {
        fprintf(stderr, "batch_probe: %s\n", e.message);
        return 1;
    }
    limit = atof(argv[5]);
    for (int i = 0; i < atoi(argv[2]); i++)
        mix((uint64_t)(atoi(argv[3]) + i));
    printf("{\"answers\":%ld,\"tokens\":%ld,\"moved\":%.3g,\"parted_greedy\":%ld,"
           "\"parted_sampled\":%ld,\"steps\":%lld,\"computed\":%lld,\"cached\":%lld,"
           "\"preempted\":%lld,\"evicted\":%lld,\"guessed\":%lld,\"right\":%lld}\n",
           total.answers, total.tokens, total.moved, total.parted_greedy, total.parted_sampled,
           (long long)total.sum.steps, (long long)total.sum.computed, (long long)total.sum.cached,
           (long long)total.sum.preempted, (long long)total.sum.evicted,
           (long long)total.sum.guessed, (long long)total.sum.right);
    qn_lm_close(&lm);
    qn_device_free(dev);
    return 0;
}
