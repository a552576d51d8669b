/* Any bytes as a vocabulary and as text. The input is a GGUF file, then 4 bytes "TEXT", then the
 * text; without a usable file a built-in vocabulary reads the input as text, so that both sides are
 * tried. What every tokenizer promises is checked: ids in range, whole characters from the way
 * back. */
#include "base/str.h"
#include "text/detokenize.h"
#include "text/pretokenize.h"
#include "text/tokenizer.h"

#include "../unit/gguf_file.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { TOKENS_MAX = 100000 };

/* tame: the vocabulary is ours, so that its unknown token is no control token either. */
static void try_text(const struct qn_tokenizer *t, bool tame, const char *text, size_t n,
                     unsigned flags)
{
    struct qn_tokens out = {0};
    struct qn_error e;
    struct qn_detok d;
    struct qn_buf back;
    qn_buf_init(&back, 64 << 20);
    qn_detok_init(&d, t);
    qn_err err = qn_tokenize(t, text, n, flags, TOKENS_MAX, &out, &e);
    if (err != QN_OK && err != QN_ELIMIT) {
        abort();
    }
    for (size_t i = 0; i < out.n; i++) {
        if (out.v[i] < 0 || out.v[i] >= qn_tokenizer_size(t) ||
            (tame && flags == 0 && qn_token_is_control(t, out.v[i]))) {
            abort();
        }
        if (qn_detok_push(&d, out.v[i], &back) != QN_OK) {
            abort();
        }
    }
    (void)qn_detok_flush(&d, &back);
    if (back.len > 0 && !qn_utf8_valid(back.data, back.len)) {
        abort();
    }
    qn_buf_deinit(&back);
    qn_tokens_deinit(&out);
}

/* A byte-level vocabulary of the printable bytes with a few merges. */
static struct qn_tokenizer *built_in(const char *pre)
{
    static const char *const extra[] = {"th", "the", "in", "<|im_end|>", "<|im_start|>", "<tool>"};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gpt2");
    gguf_str(&f, "tokenizer.ggml.pre", pre);
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, 94 + 6);
    for (char c = 33; c < 127; c++) {
        gguf_text(&f, &c, 1);
    }
    for (size_t i = 0; i < 6; i++) {
        gguf_text(&f, extra[i], strlen(extra[i]));
    }
    gguf_array(&f, "tokenizer.ggml.token_type", QN_GGUF_I32, 94 + 6);
    for (int32_t i = 0; i < 100; i++) {
        int32_t kind = i < 97 ? 1 : i < 99 ? 3 : 4;
        gguf_raw(&f, &kind, sizeof kind);
    }
    gguf_array(&f, "tokenizer.ggml.merges", QN_GGUF_STRING, 3);
    gguf_text(&f, "t h", 3), gguf_text(&f, "th e", 4), gguf_text(&f, "i n", 3);
    gguf_end(&f);
    struct qn_gguf *g;
    struct qn_tokenizer *t;
    if (qn_gguf_parse(f.b.data, f.b.len, &g, NULL) != QN_OK ||
        qn_tokenizer_new(g, &t, NULL) != QN_OK) {
        abort();
    }
    qn_gguf_close(g);
    qn_buf_deinit(&f.b);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = {
        "default",     "gpt-2",  "llama-bpe", "qwen2",      "qwen35",     "deepseek-llm",
        "tekken",      "gpt-4o", "smollm",    "falcon",     "bloom",      "deepseek-coder",
        "deepseek-v3", "viking", "jais-2",    "seed-coder", "exaone-moe", "chameleon",
        "spark2_5",    "afmoe",  "kimi-k2",   "youtu",      "superbpe",   "tiny_aya",
        "minicpm5",    "laguna", "ufakzeka",  "gemma4"};
    enum { NAMES = sizeof names / sizeof names[0] };
    static struct qn_tokenizer *known[NAMES];
    struct qn_gguf *g = NULL;
    struct qn_tokenizer *t = NULL;
    const uint8_t *text = memmem(data, n, "TEXT", 4);
    size_t file_n = text == NULL ? n : (size_t)(text - data);
    if (qn_gguf_parse(data, file_n, &g, NULL) == QN_OK) {
        (void)qn_tokenizer_new(g, &t, NULL);
        qn_gguf_close(g);
    }
    if (t != NULL) {
        const char *s = text == NULL ? "<a>b " : (const char *)text + 4;
        size_t s_n = text == NULL ? 5 : n - file_n - 4;
        try_text(t, false, s, s_n, 0);
        try_text(t, false, s, s_n, QN_TOK_SPECIAL | QN_TOK_BOS_EOS);
        qn_tokenizer_free(t);
        return 0;
    }
    if (n > 0) {
        size_t i = data[0] % NAMES;
        if (known[i] == NULL) {
            known[i] = built_in(names[i]);
        }
        try_text(known[i], true, (const char *)data + 1, n - 1, 0);
        try_text(known[i], true, (const char *)data + 1, n - 1, QN_TOK_SPECIAL);
    }
    return 0;
}
