/* Real vocabularies against the ids that the reference tokenizer gives (QUINCE_TEST_DATA), and
 * small vocabularies written here for the rules about special tokens, bytes and hostile metadata.
 */
#include "base/buf.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "text/detokenize.h"
#include "text/tokenizer.h"

#include "gguf_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char separator[] = "\n__ggml_vocab_test__\n";

static struct qn_tokenizer *load(const char *name)
{
    const char *dir = getenv("QUINCE_TEST_DATA");
    if (dir == NULL || *dir == '\0') {
        skip();
    }
    char path[512];
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf", dir, name);
    struct qn_gguf *g;
    struct qn_tokenizer *t = NULL;
    struct qn_error e = {0};
    if (qn_gguf_open(path, &g, &e) != QN_OK || qn_tokenizer_new(g, &t, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    qn_gguf_close(g);
    return t;
}

static void read_file(const char *name, const char *suffix, struct qn_buf *out)
{
    char path[512];
    struct qn_error e = {0};
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf.%s", getenv("QUINCE_TEST_DATA"), name,
             suffix);
    qn_buf_init(out, 1 << 20);
    if (qn_file_read(path, out, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
}

static void real_vocabulary(void **state)
{
    const char *name = *state;
    struct qn_tokenizer *t = load(name);
    struct qn_buf texts, ids;
    read_file(name, "inp", &texts);
    read_file(name, "out", &ids);
    char *text = qn_buf_cstr(&texts), *line = qn_buf_cstr(&ids);
    int count = 0;
    for (char *end; (end = strstr(text, separator)) != NULL; text = end + strlen(separator)) {
        struct qn_tokens out = {0};
        struct qn_error e = {0};
        assert_int_equal(qn_tokenize(t, text, (size_t)(end - text), 0, 1 << 16, &out, &e), QN_OK);
        char *line_end = strchr(line, '\n');
        if (line_end == NULL) {
            line_end = line + strlen(line);
        }
        size_t n = 0;
        for (char *p = line; p < line_end; n++) {
            long expected = strtol(p, &p, 10);
            if (n >= out.n || out.v[n] != expected) {
                fail_msg("%s text %d (%.*s): token %zu is %d, expected %ld", name, count,
                         (int)(end - text), text, n, n < out.n ? out.v[n] : -1, expected);
            }
            while (p < line_end && *p == ' ') {
                p++;
            }
        }
        assert_int_equal(out.n, n);
        qn_tokens_deinit(&out);
        line = line_end + (*line_end == '\n');
        count++;
    }
    assert_true(count >= 40);
    qn_buf_deinit(&texts);
    qn_buf_deinit(&ids);
    qn_tokenizer_free(t);
}

/* A vocabulary of its own for each rule: tokens by hand, kinds by a letter each:
 * n normal, u unknown, c control, d user-defined, b byte. */
struct entry {
    const char *text;
    char kind;
    float score;
};

static const char *byte_char(int byte)
{
    static char text[8];
    bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    uint32_t cp = (uint32_t)byte;
    if (!printable) {
        cp = 256;
        for (int b = 0; b < byte; b++) {
            cp += !((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174);
        }
    }
    text[qn_utf8_encode(cp, text)] = '\0';
    return text;
}

static void add_tokens(struct gguf_file *f, const struct entry *entries, size_t n, bool bytes)
{
    size_t count = n + (bytes ? 256 : 0);
    gguf_array(f, "tokenizer.ggml.tokens", QN_GGUF_STRING, count);
    for (size_t i = 0; i < n; i++) {
        gguf_text(f, entries[i].text, strlen(entries[i].text));
    }
    for (int b = 0; bytes && b < 256; b++) {
        gguf_text(f, byte_char(b), strlen(byte_char(b)));
    }
    gguf_array(f, "tokenizer.ggml.token_type", QN_GGUF_I32, count);
    for (size_t i = 0; i < count; i++) {
        static const char kinds[] = "?nucd?b";
        int32_t kind = i < n ? (int32_t)(strchr(kinds, entries[i].kind) - kinds) : 1;
        gguf_raw(f, &kind, sizeof kind);
    }
    gguf_array(f, "tokenizer.ggml.scores", QN_GGUF_F32, count);
    for (size_t i = 0; i < count; i++) {
        float score = i < n ? entries[i].score : 0;
        gguf_raw(f, &score, sizeof score);
    }
}

static void add_merges(struct gguf_file *f, const char *const *merges, size_t n)
{
    gguf_array(f, "tokenizer.ggml.merges", QN_GGUF_STRING, n);
    for (size_t i = 0; i < n; i++) {
        gguf_text(f, merges[i], strlen(merges[i]));
    }
}

static struct qn_tokenizer *finish(struct gguf_file *f)
{
    struct qn_gguf *g;
    struct qn_tokenizer *t = NULL;
    struct qn_error e = {0};
    gguf_end(f);
    assert_int_equal(qn_gguf_parse(f->b.data, f->b.len, &g, &e), QN_OK);
    if (qn_tokenizer_new(g, &t, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    qn_gguf_close(g);
    qn_buf_deinit(&f->b); /* the tokenizer must not need the file any more */
    return t;
}

static void refused(struct gguf_file *f, qn_err code, const char *message)
{
    struct qn_gguf *g;
    struct qn_tokenizer *t = NULL;
    struct qn_error e = {0};
    gguf_end(f);
    assert_int_equal(qn_gguf_parse(f->b.data, f->b.len, &g, &e), QN_OK);
    qn_err err = qn_tokenizer_new(g, &t, &e);
    if (err != code || strstr(e.message, message) == NULL) {
        fail_msg("got %s \"%s\", expected %s \"%s\"", qn_err_name(err), e.message,
                 qn_err_name(code), message);
    }
    qn_gguf_close(g);
    qn_buf_deinit(&f->b);
}

static void expect(const struct qn_tokenizer *t, const char *text, unsigned flags,
                   const char *expected)
{
    struct qn_tokens out = {0};
    struct qn_error e = {0};
    if (qn_tokenize(t, text, strlen(text), flags, 1000, &out, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    char got[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < out.n; i++) {
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%d", i ? " " : "", out.v[i]);
    }
    if (strcmp(got, expected) != 0) {
        fail_msg("\"%s\": got %s, expected %s", text, got, expected);
    }
    qn_tokens_deinit(&out);
}

/* Ids 0 to 11, then the bytes: byte b is 12 + b. */
static const struct entry bpe_tokens[] = {
    {"he", 'n', 0},         {"ll", 'n', 0},     {"hell", 'n', 0},    {"hello", 'n', 0},
    {"<|im_end|>", 'c', 0}, {"<tool>", 'd', 0}, {"<tool>s", 'd', 0}, {"aa", 'n', 0},
    {"bc", 'n', 0},         {"ab", 'n', 0},     {"xyz", 'n', 0},     {"<|stop|>", 'c', 0}};
static const char *const bpe_merges[] = {"h e", "l l", "he ll", "hell o", "a a", "b c", "a b"};

static void begin_bpe(struct gguf_file *f, const char *pre)
{
    gguf_begin(f);
    gguf_str(f, "tokenizer.ggml.model", "gpt2");
    gguf_str(f, "tokenizer.ggml.pre", pre);
    add_tokens(f, bpe_tokens, sizeof bpe_tokens / sizeof bpe_tokens[0], true);
    add_merges(f, bpe_merges, sizeof bpe_merges / sizeof bpe_merges[0]);
}

static void bpe_rules(void **state)
{
    (void)state;
    struct gguf_file f;
    begin_bpe(&f, "qwen2");
    gguf_u32(&f, "tokenizer.ggml.bos_token_id", 11);
    gguf_u32(&f, "tokenizer.ggml.eos_token_id", 11);
    struct qn_tokenizer *t = finish(&f);
    assert_int_equal(qn_tokenizer_size(t), 12 + 256);
    expect(t, "", 0, "");
    expect(t, "hello", 0, "3");
    expect(t, "hel", 0, "0 120");       /* he, l */
    expect(t, "aaa", 0, "7 109");       /* of equal ranks the left pair first */
    expect(t, "abc", 0, "109 8");       /* "b c" has the lower rank */
    expect(t, "xyz", 0, "132 133 134"); /* a token that no merge makes */
    /* Special tokens: control ones only on request, user-defined always, the longest wins. */
    expect(t, "<|im_end|>", QN_TOK_SPECIAL, "4");
    expect(t, "<|im_end|>", 0, "72 136 117 121 107 113 122 112 136 74");
    expect(t, "a<tool>b", 0, "109 5 110");
    expect(t, "<tool>sb<tool>", 0, "6 110 5");
    expect(t, "aa<|im_end|>aa", QN_TOK_SPECIAL, "7 4 7");
    expect(t, "<tool", QN_TOK_SPECIAL, "72 128 123 123 120");
    /* Without a key or a family that asks for it there is no BOS. */
    expect(t, "aa", QN_TOK_BOS_EOS, "7");
    assert_false(qn_tokenizer_adds_bos(t));
    assert_false(qn_tokenizer_space_prefix(t));
    assert_int_equal(qn_token_bos(t), 11);
    assert_int_equal(qn_token_eos(t), 11);
    /* Ends: the eos key, and a well-known control token. */
    assert_true(qn_token_is_end(t, 11));
    assert_true(qn_token_is_end(t, 4));
    assert_false(qn_token_is_end(t, 5));
    assert_false(qn_token_is_end(t, -1));
    assert_false(qn_token_is_end(t, 268));
    assert_true(qn_token_is_control(t, 4));
    assert_false(qn_token_is_control(t, 5));
    assert_false(qn_token_is_control(t, 100000));
    size_t n;
    assert_memory_equal(qn_token_bytes(t, 4, &n), "<|im_end|>", 10);
    assert_int_equal(n, 10);
    assert_memory_equal(qn_token_bytes(t, 12 + 0xe4, &n), "\xe4", 1);
    assert_int_equal(n, 1);
    assert_memory_equal(qn_token_bytes(t, 12, &n), "", 1);
    assert_int_equal(n, 1);
    (void)qn_token_bytes(t, 268, &n);
    assert_int_equal(n, 0);
    (void)qn_token_bytes(t, -1, &n);
    assert_int_equal(n, 0);
    /* Bytes that are no UTF-8 become U+FFFD. */
    expect(t, "\xff", 0, "251 203 201");
    /* The limit counts what is already there, and a refused text leaves nothing behind. */
    struct qn_tokens out = {0};
    struct qn_error e = {0};
    qn_tokens_push(&out, 1);
    assert_int_equal(qn_tokenize(t, "aaaa", 4, 0, 3, &out, &e), QN_OK);
    assert_int_equal(qn_tokenize(t, "a", 1, 0, 3, &out, &e), QN_ELIMIT);
    assert_string_equal(e.message, "the text has more than 3 tokens");
    assert_int_equal(out.n, 3);
    qn_tokens_deinit(&out);
    qn_tokenizer_free(t);
    qn_tokenizer_free(NULL);
}

static void bpe_families_and_flags(void **state)
{
    (void)state;
    struct gguf_file f;
    begin_bpe(&f, "llama-bpe");
    gguf_u32(&f, "tokenizer.ggml.bos_token_id", 11);
    gguf_u32(&f, "tokenizer.ggml.eot_token_id", 10);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "xyz", 0, "10"); /* the whole word is a token: merges are not asked */
    expect(t, "aa", QN_TOK_BOS_EOS, "11 7");
    assert_true(qn_token_is_end(t, 10));
    assert_int_equal(qn_token_eos(t), -1);
    assert_false(qn_token_is_end(t, 11));
    qn_tokenizer_free(t);

    begin_bpe(&f, "llama-bpe");
    gguf_u32(&f, "tokenizer.ggml.bos_token_id", 11);
    gguf_u32(&f, "tokenizer.ggml.eos_token_id", 4);
    gguf_bool(&f, "tokenizer.ggml.add_bos_token", false);
    gguf_bool(&f, "tokenizer.ggml.add_eos_token", true);
    t = finish(&f);
    expect(t, "aa", QN_TOK_BOS_EOS, "7 4");
    qn_tokenizer_free(t);

    begin_bpe(&f, "llama-bpe"); /* wants BOS, but names none */
    t = finish(&f);
    expect(t, "aa", QN_TOK_BOS_EOS, "7");
    assert_false(qn_tokenizer_adds_bos(t));
    qn_tokenizer_free(t);

    begin_bpe(&f, "qwen2"); /* -1 in an unsigned field */
    gguf_u32(&f, "tokenizer.ggml.bos_token_id", UINT32_MAX);
    t = finish(&f);
    assert_int_equal(qn_token_bos(t), -1);
    qn_tokenizer_free(t);
}

static void merges_never_make_control_tokens(void **state)
{
    (void)state;
    static const struct entry tokens[] = {{"sx", 'n', 0}, {"sxy", 'c', 0}};
    static const char *const merges[] = {"s x", "sx y"};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gpt2");
    gguf_str(&f, "tokenizer.ggml.pre", "llama-bpe");
    add_tokens(&f, tokens, 2, true);
    add_merges(&f, merges, 2);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "sxy", 0, "0 123"); /* neither by merges nor as a whole word */
    expect(t, "sxy", QN_TOK_SPECIAL, "1");
    qn_tokenizer_free(t);
}

static const struct entry spm_tokens[] = {{"<unk>", 'u', 0},
                                          {"<s>", 'c', 0},
                                          {"</s>", 'c', 0},
                                          {"<0xC3>", 'b', 0},
                                          {"<0xA9>", 'b', 0},
                                          {"\xe2\x96\x81", 'n', -9},
                                          {"a", 'n', -10},
                                          {"b", 'n', -11},
                                          {"\xe2\x96\x81"
                                           "a",
                                           'n', -1},
                                          {"ab", 'n', -2},
                                          {"\xe2\x96\x81"
                                           "ab",
                                           'n', -3},
                                          {"<sep>", 'd', 0},
                                          {"s>", 'n', -4},
                                          {"<", 'n', -5},
                                          {"s", 'n', -6},
                                          {">", 'n', -7},
                                          {"<0x0A>", 'b', 0},
                                          {"\xe2\x96\x81\xe2\x96\x81", 'n', -8}};

static void begin_spm(struct gguf_file *f)
{
    gguf_begin(f);
    gguf_str(f, "tokenizer.ggml.model", "llama");
    add_tokens(f, spm_tokens, sizeof spm_tokens / sizeof spm_tokens[0], false);
}

/* As in starcoder's files: the token for what is unknown is the one that ends a text. */
static void an_end_token_is_never_the_unknown_one(void **state)
{
    static const struct entry tokens[] = {
        {"<|endoftext|>", 'c', 0}, {"<unk>", 'u', 0}, {"a", 'n', 0}, {"b", 'n', 0}};
    static const char *const expected[] = {"2 3", "2 1 3"};
    (void)state;
    for (uint32_t unknown = 0; unknown < 2; unknown++) {
        struct gguf_file f;
        gguf_begin(&f);
        gguf_str(&f, "tokenizer.ggml.model", "gpt2");
        gguf_str(&f, "tokenizer.ggml.pre", "starcoder");
        add_tokens(&f, tokens, sizeof tokens / sizeof tokens[0], false);
        add_merges(&f, NULL, 0);
        gguf_u32(&f, "tokenizer.ggml.bos_token_id", 0);
        gguf_u32(&f, "tokenizer.ggml.eos_token_id", 0);
        gguf_u32(&f, "tokenizer.ggml.unknown_token_id", unknown);
        struct qn_tokenizer *t = finish(&f);
        expect(t, "axb", 0, expected[unknown]); /* x has no token */
        qn_tokenizer_free(t);
    }
}

static void spm_rules(void **state)
{
    (void)state;
    struct gguf_file f;
    begin_spm(&f);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "", 0, "");
    expect(t, "", QN_TOK_BOS_EOS, "1");
    expect(t, "ab", 0, "10"); /* " a" first, then " ab" */
    expect(t, "ab", QN_TOK_BOS_EOS, "1 10");
    expect(t, "ba ab", 0, "5 7 6 10");
    expect(t, "a  ab", 0, "8 5 10");   /* " a" beats "  " */
    expect(t, "\xc3\xa9", 0, "5 3 4"); /* byte fallback */
    expect(t, "\xc3\xaa", 0, "5 3 0"); /* a byte without a token: unknown */
    expect(t, "a\n", 0, "8 16");
    expect(t,
           "\xe2\x96\x81"
           "a",
           0, "5 8");               /* a written "▁" is a space */
    expect(t, "<s>", 0, "5 13 12"); /* plain text never becomes BOS */
    expect(t, "<s>", QN_TOK_SPECIAL, "1");
    expect(t, "a<sep>a", 0, "8 11 8"); /* a prefix space after a special token too */
    expect(t, "a</s> a", QN_TOK_SPECIAL, "8 2 5 8");
    assert_true(qn_tokenizer_space_prefix(t));
    assert_true(qn_token_is_end(t, 2));
    assert_int_equal(qn_token_bos(t), 1);
    size_t n;
    assert_memory_equal(qn_token_bytes(t, 10, &n), " ab", 3);
    assert_int_equal(n, 3);
    assert_memory_equal(qn_token_bytes(t, 3, &n), "\xc3", 1);
    assert_int_equal(n, 1);
    qn_tokenizer_free(t);

    begin_spm(&f);
    gguf_bool(&f, "tokenizer.ggml.add_space_prefix", false);
    gguf_bool(&f, "tokenizer.ggml.add_bos_token", false);
    gguf_bool(&f, "tokenizer.ggml.add_eos_token", true);
    t = finish(&f);
    expect(t, "ab a", QN_TOK_BOS_EOS, "9 8 2");
    qn_tokenizer_free(t);

    begin_spm(&f); /* Phi-3 drops white space after its special tokens, but not after <s> */
    gguf_str(&f, "general.name", "My Phi-3 mini");
    t = finish(&f);
    expect(t, "a</s> \n a<s> a", QN_TOK_SPECIAL, "8 2 8 1 5 8");
    qn_tokenizer_free(t);
}

/* BPE over characters: spaces are "\u2581", what has no token becomes its bytes. */
static void raw_bpe_rules(void **state)
{
    (void)state;
    static const struct entry tokens[] = {{"<bos>", 'c', 0},
                                          {"\xe2\x96\x81", 'n', 0},
                                          {"a", 'n', 0},
                                          {"b", 'n', 0},
                                          {"\xe2\x96\x81"
                                           "a",
                                           'n', 0},
                                          {"ab", 'n', 0},
                                          {"\n", 'n', 0},
                                          {"\n\n", 'n', 0},
                                          {"<0xC3>", 'b', 0},
                                          {"<0xA9>", 'b', 0},
                                          {"\xe4\xb8\x80", 'n', 0},
                                          {"\xe4\xb8\x80"
                                           "a",
                                           'n', 0}};
    static const char *const merges[] = {"a b", "\xe2\x96\x81 a", "\xe4\xb8\x80 a"};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gemma4");
    gguf_u32(&f, "tokenizer.ggml.bos_token_id", 0);
    gguf_bool(&f, "tokenizer.ggml.add_bos_token", false);
    add_tokens(&f, tokens, sizeof tokens / sizeof tokens[0], false);
    add_merges(&f, merges, 3);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "a a", 0, "2 4"); /* no space in front of the text */
    expect(t, " ab", 0, "1 5"); /* "a b" comes first */
    expect(t,
           "\xe4\xb8\x80"
           "a",
           0, "11");
    expect(t, "\xc3\xa9", 0, "8 9");
    expect(t, "a\n\nb", 0, "2 7 3"); /* a token of line feeds needs no merge */
    expect(t, "\n\n\n", 0, "6 6 6");
    expect(t, "b", QN_TOK_BOS_EOS, "0 3"); /* this family means BOS even where its file says no */
    assert_false(qn_tokenizer_space_prefix(t));
    size_t n;
    assert_memory_equal(qn_token_bytes(t, 4, &n), " a", 2);
    qn_tokenizer_free(t);
}

static const struct entry unigram_tokens[] = {{"<pad>", 'c', 0},
                                              {"</s>", 'c', 0},
                                              {"<unk>", 'u', 0},
                                              {"\xe2\x96\x81", 'n', -2},
                                              {"a", 'n', -3},
                                              {"b", 'n', -3},
                                              {"ab", 'n', -5},
                                              {"\xe2\x96\x81"
                                               "a",
                                               'n', -4},
                                              {"<m>", 'd', 0}};

/* A map of "A" to "a" and of "\xc2\xa0" to a space, laid out by hand: node 0 leads with offset 256
 * to 256 ^ byte; a leaf's own offset leads to where its text is. */
static void add_map(struct gguf_file *f, uint32_t leaf, const char *texts, size_t texts_n)
{
    enum { NODES = 1024 };
    uint32_t node[NODES] = {0};
    node[0] = 256u << 10;
    node[256 ^ 'A'] = 'A' | 1u << 8 | (512u ^ 256u ^ 'A') << 10; /* to node 512 */
    node[512] = leaf;
    node[256 ^ 0xc2] = 0xc2 | (768u ^ 256u ^ 0xc2) << 10; /* children at 768 ^ byte */
    node[768 ^ 0xa0] = 0xa0 | 1u << 8 | (1000u ^ 768u ^ 0xa0) << 10;
    node[1000] = 1u << 31 | 2;
    uint32_t bytes = sizeof node;
    gguf_array(f, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, 4 + sizeof node + texts_n);
    gguf_raw(f, &bytes, 4);
    gguf_raw(f, node, sizeof node);
    gguf_raw(f, texts, texts_n);
}

static void begin_unigram(struct gguf_file *f)
{
    gguf_begin(f);
    gguf_str(f, "tokenizer.ggml.model", "t5");
    add_tokens(f, unigram_tokens, sizeof unigram_tokens / sizeof unigram_tokens[0], false);
}

static void unigram_rules(void **state)
{
    (void)state;
    struct gguf_file f;
    begin_unigram(&f);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "", 0, "");
    expect(t, "ab", 0, "6"); /* -5 beats -3 - 3 */
    expect(t, "aab", 0, "4 6");
    expect(t, " ab", 0, "3 6");    /* -2 - 5 and -4 - 3 are equal: what was found first stays */
    expect(t, " aa", 0, "7 4");    /* -4 - 3 beats -2 - 3 - 3 */
    expect(t, "axyb", 0, "4 2 5"); /* unknown characters in a row are one */
    expect(t, "x x", 0, "2 3 2");
    expect(t, "a<m>b", 0, "4 8 5");
    expect(t, "b", QN_TOK_BOS_EOS, "5 1");
    expect(t, "Aa", 0, "2 4"); /* no map */
    assert_false(qn_tokenizer_space_prefix(t));
    qn_tokenizer_free(t);

    begin_unigram(&f);
    gguf_bool(&f, "tokenizer.ggml.add_space_prefix", true);
    gguf_bool(&f, "tokenizer.ggml.remove_extra_whitespaces", true);
    add_map(&f, 1u << 31 | 0, "a\0 ", 4);
    t = finish(&f);
    expect(t, "AB", 0, "7 2");
    expect(t, "  a  b ", 0, "7 3 5");
    expect(t,
           "b\xc2\xa0"
           "b",
           0, "3 5 3 5");
    assert_true(qn_tokenizer_space_prefix(t));
    qn_tokenizer_free(t);

    begin_unigram(&f);
    gguf_bool(&f, "tokenizer.ggml.add_space_prefix", true);
    t = finish(&f);
    expect(t, "a  b", 0, "7 3 3 5");
    qn_tokenizer_free(t);

    begin_unigram(&f); /* a text that begins outside the map is no text */
    add_map(&f, 1u << 31 | 4, "a\0 ", 4);
    t = finish(&f);
    expect(t, "Aa", 0, "2 4");
    qn_tokenizer_free(t);
    begin_unigram(&f); /* a text that does not end */
    add_map(&f, 1u << 31 | 0, "a\0 b", 4);
    refused(&f, QN_EFORMAT, "precompiled_charsmap is broken");
    begin_unigram(&f);
    gguf_array(&f, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, 3);
    gguf_raw(&f, "abc", 3);
    refused(&f, QN_EFORMAT, "precompiled_charsmap is broken");
    begin_unigram(&f);
    gguf_array(&f, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, 8);
    gguf_raw(&f, "\xff\xff\xff\xff\0\0\0", 8);
    refused(&f, QN_EFORMAT, "precompiled_charsmap is broken");
    begin_unigram(&f);
    gguf_array(&f, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U32, 1);
    gguf_raw(&f, &(uint32_t){0}, 4);
    refused(&f, QN_EFORMAT, "expected an array of bytes");
    static const struct entry endless[] = {{"a", 'n', INFINITY}};
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "t5");
    add_tokens(&f, endless, 1, false);
    refused(&f, QN_EFORMAT, "its score is not a number");
}

static void rwkv_rules(void **state)
{
    (void)state;
    static const struct entry tokens[] = {{"<s>", 'c', 0},  {"a", 'n', 0},     {"ab", 'n', 0},
                                          {"\\n", 'n', 0},  {"\\xe4", 'n', 0}, {"\\\\'", 'n', 0},
                                          {"abcd", 'n', 0}, {"<s", 'n', 0}};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "rwkv");
    add_tokens(&f, tokens, sizeof tokens / sizeof tokens[0], false);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "abcabcda\n", 0,
           "2 2"
           " 1 3"[0]
               ? "2 6 1 3"
               : "");
    expect(t, "\xe4\xb8\x80", 0, "4");
    expect(t, "\\'a", 0, "5 1");
    expect(t, "<s>", 0, "7");
    expect(t, "<s>", QN_TOK_SPECIAL, "0");
    size_t n;
    assert_memory_equal(qn_token_bytes(t, 3, &n), "\n", 1);
    assert_int_equal(n, 1);
    qn_tokenizer_free(t);
}

static void ends_of_parts_are_no_ends(void **state)
{
    (void)state;
    static const struct entry tokens[] = {
        {"<|end|>", 'c', 0}, {"<|return|>", 'c', 0}, {"<|call|>", 'c', 0}, {"[EOT]", 'd', 0}};
    for (size_t n = 2; n <= 4; n++) {
        struct gguf_file f;
        gguf_begin(&f);
        gguf_str(&f, "tokenizer.ggml.model", "rwkv");
        add_tokens(&f, tokens, n, false);
        struct qn_tokenizer *t = finish(&f);
        assert_int_equal(qn_token_is_end(t, 0), n == 2);
        assert_true(qn_token_is_end(t, 1));
        assert_int_equal(qn_token_is_end(t, 3), n == 4);
        qn_tokenizer_free(t);
    }
}

/* Texts that would be expensive if anything looked back or ahead without end: each is as much work
 * as it is long, or this test does not end before its time limit. */
static void hard_texts_end(void **state)
{
    (void)state;
    static const char *const units[] = {" ",  "a", "lorem",         "\xcc\x81",
                                        "\n", "1", "A\xe4\xb8\xad", "\xff"};
    enum { N = 1 << 17 };
    static const char *const models[] = {"gpt2", "t5", "llama", "rwkv"};
    char *text = malloc(N + 8);
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct gguf_file f;
        if (m == 0) {
            begin_bpe(&f, "llama-bpe");
        } else {
            gguf_begin(&f);
            gguf_str(&f, "tokenizer.ggml.model", models[m]);
            add_tokens(&f, m == 2 ? spm_tokens : unigram_tokens, 9, false);
        }
        struct qn_tokenizer *t = finish(&f);
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            struct qn_tokens out = {0};
            struct qn_error e = {0};
            size_t n = 0;
            while (n < N) {
                n += (size_t)snprintf(text + n, 8, "%s", units[u]);
            }
            assert_int_equal(qn_tokenize(t, text, n, 0, SIZE_MAX, &out, &e), QN_OK);
            qn_tokens_deinit(&out);
        }
        qn_tokenizer_free(t);
    }
    free(text);
}

/* A long text takes another way than its lines alone: words seen a moment ago are remembered. */
static void long_texts_are_like_short_ones(void **state)
{
    const char *name = *state;
    struct qn_tokenizer *t = load(name);
    struct qn_buf text;
    struct qn_tokens once = {0}, all = {0};
    struct qn_error e = {0};
    read_file(name, "inp", &text);
    size_t n = text.len;
    char *many = malloc(64 * (n + 1));
    assert_int_equal(qn_tokenize(t, text.data, n, 0, SIZE_MAX, &once, &e), QN_OK);
    size_t ids = once.n;
    for (int i = 0; i < 64; i++) {
        memcpy(many + (size_t)i * n, text.data, n);
    }
    assert_int_equal(qn_tokenize(t, many, 2 * n, 0, SIZE_MAX, &all, &e), QN_OK);
    size_t two = all.n; /* with how one copy joins the next */
    all.n = 0;
    assert_int_equal(qn_tokenize(t, many, 64 * n, 0, SIZE_MAX, &all, &e), QN_OK);
    assert_int_equal(all.n, ids + 63 * (two - ids));
    for (size_t i = 0; i + 10 < ids; i++) {
        assert_int_equal(all.v[i], once.v[i]);
    }
    for (size_t i = two; i < all.n; i++) {
        assert_int_equal(all.v[i], all.v[i - (two - ids)]);
    }
    free(many);
    qn_buf_deinit(&text);
    qn_tokens_deinit(&once);
    qn_tokens_deinit(&all);
    qn_tokenizer_free(t);
}

static void wordpiece_rules(void **state)
{
    (void)state;
    static const struct entry tokens[] = {{"[UNK]", 'u', 0},
                                          {"[CLS]", 'c', 0},
                                          {"[SEP]", 'c', 0},
                                          {"\xe2\x96\x81un", 'n', 0},
                                          {"able", 'n', 0},
                                          {"a", 'n', 0},
                                          {"\xe2\x96\x81!", 'n', 0},
                                          {"\xe2\x96\x81"
                                           "cafe",
                                           'n', 0},
                                          {"\xe2\x96\x81\xe4\xb8\x80", 'n', 0}};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "bert");
    gguf_u32(&f, "tokenizer.ggml.unknown_token_id", 0);
    gguf_u32(&f, "tokenizer.ggml.cls_token_id", 1);
    gguf_u32(&f, "tokenizer.ggml.seperator_token_id", 2);
    add_tokens(&f, tokens, sizeof tokens / sizeof tokens[0], false);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "Unable  UN!a", 0, "3 4 3 6 0");
    expect(t, "caf\xc3\xa9", 0, "7"); /* accents go */
    expect(t, "CAFE\xcc\x81", 0, "7");
    expect(t, "un\xe4\xb8\x80un", 0, "3 8 3"); /* each Chinese character is a word */
    expect(t, "unx", 0, "0");                  /* a word is unknown as a whole */
    expect(t,
           "un\xe2\x80\x8b"
           "able",
           0, "3 4"); /* a zero-width space is dropped */
    expect(t, "un", QN_TOK_BOS_EOS, "1 3 2");
    expect(t, "[SEP]un", QN_TOK_SPECIAL, "2 3");
    char text[256] = "un";
    memset(text + 2, 'a', 200);
    expect(t, text, 0, "0"); /* more than 100 characters */
    qn_tokenizer_free(t);
}

static void refuses_broken_metadata(void **state)
{
    (void)state;
    struct gguf_file f;
    gguf_begin(&f);
    refused(&f, QN_ENOTFOUND, "tokenizer.ggml.model is missing");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "plamo2");
    refused(&f, QN_EUNSUPPORTED, "does not know the tokenizer \"plamo2\"");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "llama");
    refused(&f, QN_ENOTFOUND, "tokenizer.ggml.tokens is missing");
    begin_bpe(&f, "qwen9");
    refused(&f, QN_EUNSUPPORTED, "does not know the pre-tokenizer \"qwen9\"");
    begin_bpe(&f, "qwen2");
    gguf_u32(&f, "tokenizer.ggml.eos_token_id", 268);
    refused(&f, QN_EFORMAT, "tokenizer.ggml.eos_token_id: token 268 of a vocabulary of 268");
    begin_bpe(&f, "qwen2");
    gguf_str(&f, "tokenizer.ggml.add_bos_token", "yes");
    refused(&f, QN_EFORMAT, "tokenizer.ggml.add_bos_token: expected a bool");

    static const struct {
        const char *merge, *message;
    } merges[] = {
        {"ab", "two parts with a space"}, {" ab", "two parts with a space"},
        {"", "two parts with a space"},   {"a z", "is not a token"},
        {"a ", "is not a token"},         {"a \xe4\xb8\x80", "not in the byte-level alphabet"}};
    for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
        gguf_begin(&f);
        gguf_str(&f, "tokenizer.ggml.model", "gpt2");
        add_tokens(&f, bpe_tokens, 12, true);
        add_merges(&f, &merges[i].merge, 1);
        refused(&f, QN_EFORMAT, merges[i].message);
    }
    static const struct entry odd[] = {{"a", 'n', 0}, {"", 'n', 0}};
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "bert");
    add_tokens(&f, odd, 2, false);
    refused(&f, QN_EFORMAT, "needs an unknown token");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gpt2");
    add_tokens(&f, odd, 2, false);
    refused(&f, QN_ENOTFOUND, "tokenizer.ggml.merges is missing");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "llama");
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, 1);
    gguf_text(&f, "a", 1);
    refused(&f, QN_ENOTFOUND, "tokenizer.ggml.scores is missing");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "llama");
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, 2);
    gguf_text(&f, "a", 1), gguf_text(&f, "b", 1);
    gguf_array(&f, "tokenizer.ggml.scores", QN_GGUF_F32, 1);
    gguf_raw(&f, &(float){0}, 4);
    refused(&f, QN_EFORMAT, "tokenizer.ggml.scores: expected 2 32-bit floats");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "llama");
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_U32, 1);
    gguf_raw(&f, &(uint32_t){0}, 4);
    refused(&f, QN_EFORMAT, "tokenizer.ggml.tokens: expected an array of strings");
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gpt2");
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, 1);
    gguf_text(&f, "a", 1);
    gguf_array(&f, "tokenizer.ggml.token_type", QN_GGUF_I32, 1);
    gguf_raw(&f, &(int32_t){7}, 4);
    refused(&f, QN_EFORMAT, "token 0: unknown type 7");
}

static void strange_tokens_do_no_harm(void **state)
{
    (void)state;
    /* Empty, doubled and undecodable tokens; the bytes are missing, so text without tokens goes. */
    static const struct entry odd[] = {{"", 'n', 0},  {"", 'c', 0},    {"a", 'n', 0},
                                       {"a", 'n', 0}, {"x y", 'n', 0}, {"\xe4\xb8\x80", 'n', 0},
                                       {"a", 'c', 0}, {"aa", 'c', 0}};
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "tokenizer.ggml.model", "gpt2");
    add_tokens(&f, odd, sizeof odd / sizeof odd[0], false);
    add_merges(&f, NULL, 0);
    struct qn_tokenizer *t = finish(&f);
    expect(t, "aab", 0, "2 2");
    expect(t, "aaab", QN_TOK_SPECIAL, "7 6");
    qn_tokenizer_free(t);
}

/* What goes in comes out again, for any Unicode text, pushed token by token. */
static void round_trips(void **state)
{
    const char *name = *state;
    struct qn_tokenizer *t = load(name);
    struct qn_rng rng;
    qn_rng_init(&rng, 11);
    for (int round = 0; round < 400; round++) {
        char text[512];
        size_t n = 0, chars = 1 + qn_rng_u64(&rng) % 100;
        while (chars-- > 0) {
            uint64_t r = qn_rng_u64(&rng);
            uint32_t limit = r % 4 == 0 ? 0x110000 : r % 4 == 1 ? 0x3000 : 0x7f;
            uint32_t cp = (uint32_t)(r >> 8) % limit;
            if ((cp >= 0xd800 && cp < 0xe000) || cp == 0x2581) {
                cp = ' ';
            }
            n += qn_utf8_encode(cp, text + n);
        }
        struct qn_tokens ids = {0};
        struct qn_error e = {0};
        struct qn_buf out;
        struct qn_detok d;
        qn_buf_init(&out, 4096);
        assert_int_equal(qn_tokenize(t, text, n, 0, 4096, &ids, &e), QN_OK);
        qn_detok_init(&d, t);
        for (size_t i = 0; i < ids.n; i++) {
            assert_int_equal(qn_detok_push(&d, ids.v[i], &out), QN_OK);
            assert_true(qn_utf8_valid(out.data ? out.data : "", out.len));
        }
        assert_int_equal(qn_detok_flush(&d, &out), QN_OK);
        assert_int_equal(out.len, n);
        assert_memory_equal(out.data, text, n);
        qn_buf_deinit(&out);
        qn_tokens_deinit(&ids);
    }
    qn_tokenizer_free(t);
}

static void real_ends(void **state)
{
    (void)state;
    struct qn_tokenizer *t = load("phi-3");
    assert_true(qn_token_is_end(t, 32000));  /* <|endoftext|>, its eos */
    assert_true(qn_token_is_end(t, 32007));  /* <|end|> */
    assert_false(qn_token_is_end(t, 32001)); /* <|assistant|> */
    assert_int_equal(qn_token_bos(t), 1);
    assert_true(qn_tokenizer_adds_bos(t));
    expect(t, "<|user|>\nHello<|end|>\n", QN_TOK_SPECIAL, "32010 15043 32007");
    qn_tokenizer_free(t);
}

int main(void)
{
    static char bge[] = "bert-bge", coder[] = "deepseek-coder", gpt2[] = "gpt-2",
                spm[] = "llama-spm", phi3[] = "phi-3";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpe_rules),
        cmocka_unit_test(bpe_families_and_flags),
        cmocka_unit_test(merges_never_make_control_tokens),
        cmocka_unit_test(an_end_token_is_never_the_unknown_one),
        cmocka_unit_test(spm_rules),
        cmocka_unit_test(raw_bpe_rules),
        cmocka_unit_test(unigram_rules),
        cmocka_unit_test(rwkv_rules),
        cmocka_unit_test(ends_of_parts_are_no_ends),
        cmocka_unit_test(hard_texts_end),
        cmocka_unit_test(wordpiece_rules),
        cmocka_unit_test(refuses_broken_metadata),
        cmocka_unit_test(strange_tokens_do_no_harm),
        cmocka_unit_test_prestate(real_vocabulary, bge),
        cmocka_unit_test_prestate(real_vocabulary, coder),
        cmocka_unit_test_prestate(real_vocabulary, gpt2),
        cmocka_unit_test_prestate(real_vocabulary, spm),
        cmocka_unit_test_prestate(real_vocabulary, phi3),
        cmocka_unit_test_prestate(round_trips, coder),
        cmocka_unit_test_prestate(round_trips, gpt2),
        cmocka_unit_test_prestate(round_trips, spm),
        cmocka_unit_test_prestate(round_trips, phi3),
        cmocka_unit_test_prestate(long_texts_are_like_short_ones, gpt2),
        cmocka_unit_test_prestate(long_texts_are_like_short_ones, spm),
        cmocka_unit_test(real_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
