/* What constrained decoding costs per token, JSON on stdout:
 *
 *   bench_constrain VOCABULARY.gguf...
 *
 * The vocabularies' tokens are put together and filled up with pairs of them to 151,936, as many as
 * today's models have. Texts that conform are followed token by token (the longest that fits each
 * time): first as a new constraint, then again when its states are known. Times are of the mask
 * over all logits and of taking the token, in microseconds of processor time; compiling in
 * milliseconds. */
#include "base/buf.h"
#include "grammar/constrain.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKENS = 151936, LONGEST = 32, STEPS_MAX = 4096, PROSE = 40 };

struct token {
    const char *s;
    size_t n;
};

static struct token tokens[TOKENS];
static struct token sorted[TOKENS];
static int32_t n_tokens;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void check(qn_err err, const struct qn_error *e)
{
    if (err) {
        fprintf(stderr, "bench_constrain: %s\n", e->message);
        exit(1);
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int c = memcmp(x->s, y->s, n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static const char *token_bytes(void *ctx, int32_t id, size_t *len)
{
    (void)ctx;
    *len = tokens[id].n;
    return tokens[id].s;
}

static bool never(void *ctx, int32_t id)
{
    (void)ctx;
    (void)id;
    return false;
}

static bool is_end(void *ctx, int32_t id)
{
    (void)ctx;
    return id == TOKENS - 1;
}

static void unique(int32_t n)
{
    qsort(tokens, (size_t)n, sizeof *tokens, by_bytes);
    n_tokens = 0;
    for (int32_t i = 0; i < n; i++)
        if (n_tokens == 0 || by_bytes(&tokens[n_tokens - 1], &tokens[i]) != 0)
            tokens[n_tokens++] = tokens[i];
}

static void make_vocabulary(int files, char **names)
{
    int32_t n = 0;
    struct qn_error e = {0};
    for (int f = 0; f < files; f++) {
        struct qn_gguf *g;
        struct qn_tokenizer *t;
        check(qn_gguf_open(names[f], &g, &e), &e);
        check(qn_tokenizer_new(g, &t, &e), &e); /* lends the bytes until the end */
        for (int32_t id = 0; id < qn_tokenizer_size(t) && n < TOKENS; id++) {
            size_t len;
            const char *s = qn_token_bytes(t, id, &len);
            if (len > 0 && !qn_token_is_control(t, id))
                tokens[n++] = (struct token){s, len};
        }
        qn_gguf_close(g);
    }
    unique(n);
    int32_t from = n_tokens;
    unsigned long long seed = 1;
    while (from > 0 && n_tokens < TOKENS) {
        for (n = n_tokens; n < TOKENS; n++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            const struct token *a = &tokens[(seed >> 33) % (unsigned)from],
                               *b = &tokens[(seed >> 12) % (unsigned)from];
            char *s = qn_xmalloc(a->n + b->n);
            memcpy(s, a->s, a->n);
            memcpy(s + a->n, b->s, b->n);
            tokens[n] = (struct token){s, a->n + b->n};
        }
        unique(TOKENS);
    }
    memcpy(sorted, tokens, sizeof tokens);
    /* Ids in no order, as in a real vocabulary. */
    for (int32_t i = TOKENS - 1; i > 0; i--) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        int32_t k = (int32_t)((seed >> 33) % (unsigned)(i + 1));
        struct token t = tokens[i];
        tokens[i] = tokens[k];
        tokens[k] = t;
    }
}

/* Length of the longest token that the text begins with. */
static size_t longest(const char *text)
{
    size_t n = strlen(text);
    for (size_t len = n < LONGEST ? n : LONGEST; len > 1; len--) {
        struct token key = {text, len};
        if (bsearch(&key, sorted, TOKENS, sizeof *sorted, by_bytes))
            return len;
    }
    return 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void follow(struct qn_constraint *k, const char *text, const char *name)
{
    static float logits[TOKENS];
    static double us[STEPS_MAX];
    struct qn_constraint_state s = {0};
    double sum = 0;
    size_t n = 0;
    qn_constraint_begin(&s, k);
    while (*text && n < STEPS_MAX) {
        size_t len = longest(text);
        memset(logits, 0, sizeof logits);
        double start = now_us();
        bool good =
            qn_constraint_mask(&s, logits, TOKENS) && qn_constraint_accept_bytes(&s, text, len);
        us[n] = now_us() - start;
        sum += us[n++];
        if (!good) {
            fprintf(stderr, "bench_constrain: the text does not conform: %.40s\n", text);
            exit(1);
        }
        text += len;
    }
    qn_constraint_end(&s);
    qsort(us, n, sizeof *us, by_value);
    printf(", \"%s\": {\"tokens\": %zu, \"mean_us\": %.1f, \"median_us\": %.1f, \"p99_us\": %.1f, "
           "\"max_us\": %.1f}",
           name, n, sum / (double)n, us[n / 2], us[n * 99 / 100], us[n - 1]);
}

int main(int argc, char **argv)
{
    static const char words[] =
        "The quick brown fox, who has read a little, jumps over 12 lazy dogs; "
        "nobody \\\"minds\\\". ";
    static char prose[PROSE * sizeof words + 1], text[sizeof prose * 2];
    static const struct {
        const char *name, *schema, *text; /* %s in the text: prose */
    } runs[] = {
        {"long_string", "{\"type\":\"string\"}", "\"%s\""},
        {"counted_string", "{\"type\":\"string\",\"minLength\":1000,\"maxLength\":6000}", "\"%s\""},
        {"tool",
         "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"summary\":{"
         "\"type\":"
         "\"string\"},\"score\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},\"tags\":{"
         "\"type\":"
         "\"array\",\"items\":{\"type\":\"string\",\"maxLength\":40},\"maxItems\":8},\"when\":{"
         "\"type\":"
         "\"string\",\"format\":\"date-time\"}},\"required\":[\"title\",\"summary\",\"score\","
         "\"tags\","
         "\"when\"],\"additionalProperties\":false}",
         "{\n  \"title\": \"A day\",\n  \"summary\": \"%s\",\n  \"score\": 0.875,\n  \"tags\": "
         "[\"one\", "
         "\"two words\", \"\xc3\xa9t\xc3\xa9\"],\n  \"when\": \"2024-02-29T12:34:56Z\"\n}"},
        {"tree",
         "{\"$defs\":{\"n\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
         "\"children\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
         "n\"}}},\"required\":[\"name\","
         "\"children\"]}},\"$ref\":\"#/$defs/n\"}",
         "{\"name\":\"root\",\"children\":[{\"name\":\"left\",\"children\":[{\"name\":\"leaf\","
         "\"children\":[]},{\"name\":\"%s\",\"children\":[]}]},{\"name\":\"right\",\"children\":[]}"
         "]}"},
        {"any_json", "{\"type\":\"object\"}",
         "{\"a\": [1, 2.5, -3e9, true, null], \"b\": {\"c\": \"%s\"}, \"d\": [{\"x\": 1}, {\"x\": "
         "2}]}"},
        {"pattern",
         "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z ]{1,60}$\"}}",
         "[\"the quick brown fox\", \"jumps over the lazy dog\", \"and nobody minds that at "
         "all\"]"},
    };
    if (argc < 2) {
        fprintf(stderr, "usage: bench_constrain VOCABULARY.gguf...\n");
        return 2;
    }
    make_vocabulary(argc - 1, argv + 1);
    for (int i = 0; i < PROSE; i++)
        strcat(prose, words);
    const struct qn_constrain_vocab v = {NULL, TOKENS, token_bytes, never, is_end};
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_error e = {0};
    double start = now_us();
    check(qn_constraint_of_job(c, &(struct qn_constrain){.grammar = "root ::= \"x\""}, &k, &e), &e);
    printf("{\"tokens\": %d, \"tree_ms\": %.1f", TOKENS, (now_us() - start) / 1000);
    qn_constraint_unref(k);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const char *hole = strstr(runs[i].text, "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(hole ? hole - runs[i].text : 0), runs[i].text,
                 hole ? prose : "", hole ? hole + 2 : runs[i].text);
        start = now_us();
        check(qn_constraint_of_job(c, &(struct qn_constrain){.schema = runs[i].schema}, &k, &e),
              &e);
        printf(",\n \"%s\": {\"compile_ms\": %.2f", runs[i].name, (now_us() - start) / 1000);
        follow(k, text, "new");
        follow(k, text, "known");
        printf("}");
        qn_constraint_unref(k);
    }
    printf("}\n");
    qn_constrainer_free(c);
    return 0;
}
