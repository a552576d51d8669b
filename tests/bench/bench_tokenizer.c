/* Speed of a tokenizer, JSON on stdout:
 *
 *   bench_tokenizer VOCABULARY.gguf TEXT...      e.g. bench_tokenizer model.gguf README.md
 * docs/adding.md
 *
 * The texts, repeated to 16 MiB, in MB/s of processor time (the best of several runs), and once in
 * short pieces as prompts are; then texts made to be hard, of 1 MiB and of 2, in seconds: twice the
 * text should take about twice the time. */
#include "base/buf.h"
#include "base/path.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, LONG = 16 << 20, SHORT = 2000, HARD = 1 << 20 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(qn_err err, const struct qn_error *e)
{
    if (err) {
        fprintf(stderr, "bench_tokenizer: %s\n", e->message);
        exit(1);
    }
}

/* Seconds for the text in pieces of so many bytes; *tokens: how many they gave. */
static double seconds(const struct qn_tokenizer *t, const char *text, size_t n, size_t piece,
                      size_t *tokens)
{
    struct qn_tokens out = {0};
    struct qn_error e = {0};
    *tokens = 0;
    double start = now_s();
    for (size_t at = 0; at < n; at += piece) {
        out.n = 0;
        check(qn_tokenize(t, text + at, n - at < piece ? n - at : piece, QN_TOK_SPECIAL, SIZE_MAX,
                          &out, &e),
              &e);
        *tokens += out.n;
    }
    double s = now_s() - start;
    qn_tokens_deinit(&out);
    return s;
}

static double best_mb_s(const struct qn_tokenizer *t, const char *text, size_t n, size_t piece,
                        size_t *tokens)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double s = seconds(t, text, n, piece, tokens);
        best = s < best ? s : best;
    }
    return (double)n / best / 1e6;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *unit;
    } hard[] = {{"spaces", " "},
                {"one_letter", "a"},
                {"one_word", "lorem"},
                {"marks", "\xcc\x81"},
                {"newlines", "\n"},
                {"digits", "1234567890"},
                {"symbols", "=-"},
                {"han", "\xe4\xb8\xad\xe6\x96\x87"},
                {"capitals", "A\xe4\xb8\xad"},
                {"bytes", "\xff"}};
    if (argc < 3) {
        fprintf(stderr, "usage: bench_tokenizer VOCABULARY.gguf TEXT...\n");
        return 2;
    }
    struct qn_gguf *g;
    struct qn_tokenizer *t;
    struct qn_error e = {0};
    check(qn_gguf_open(argv[1], &g, &e), &e);
    double start = now_s();
    check(qn_tokenizer_new(g, &t, &e), &e);
    printf("{\"load_s\": %.3f", now_s() - start);
    struct qn_buf text;
    qn_buf_init(&text, 64 << 20);
    for (int i = 2; i < argc; i++) {
        check(qn_file_read(argv[i], &text, &e), &e);
    }
    size_t unit = text.len, tokens;
    if (unit == 0 || unit > LONG) {
        fprintf(stderr, "bench_tokenizer: texts of 1 byte to 16 MiB, please\n");
        return 2;
    }
    while (text.len < LONG) {
        size_t n = LONG - text.len < unit ? LONG - text.len : unit;
        struct qn_buf copy;
        qn_buf_init(&copy, unit);
        check(qn_buf_add(&copy, text.data, n), &e);
        check(qn_buf_add(&text, copy.data, n), &e);
        qn_buf_deinit(&copy);
    }
    double mb_s = best_mb_s(t, text.data, text.len, SIZE_MAX / 2, &tokens);
    printf(", \"mb_s\": %.1f, \"bytes_per_token\": %.2f", mb_s, (double)text.len / (double)tokens);
    printf(", \"short_mb_s\": %.1f", best_mb_s(t, text.data, 1 << 20, SHORT, &tokens));
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        size_t n = strlen(hard[i].unit);
        for (size_t at = 0; at < 2 * HARD; at++) {
            text.data[at] = hard[i].unit[at % n];
        }
        double once = seconds(t, text.data, HARD, SIZE_MAX / 2, &tokens);
        double twice = seconds(t, text.data, 2 * HARD, SIZE_MAX / 2, &tokens);
        printf(", \"%s_s\": [%.3f, %.3f]", hard[i].name, once, twice);
    }
    printf("}\n");
    qn_buf_deinit(&text);
    qn_tokenizer_free(t);
    qn_gguf_close(g);
    return 0;
}
