/* One row per name that GGUF files use in tokenizer.ggml.pre. A family has one or several steps.
 * Each step is applied to every piece that the previous steps made: its matches become pieces, and
 * so does the text between them. A lookahead does not see past the end of its piece. Source:
 * tokenizer.json of the models; the names and the order of steps: llama.cpp's converter. llama.cpp
 * simplifies some expressions: in those of GPT-4o's kind it does not treat marks as letters and
 * recognises capitals only in ASCII; in Kimi's and Youtu's it recognises no capitals. The rules
 * here split text as in training. */
#include "text/pretokenize.h"

#include "text/cut.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* ---- Word rules */

enum {
    LETTERS = QN_CHS_LETTER,
    MARKED = QN_CHS_LETTER | QN_CHS_MARK,
    SYMBOLS = QN_CHS_ANY & ~(QN_CHS_WHITE | QN_CHS_LETTER | QN_CHS_NUMBER),
    PUNCTUATION = 1 << QN_CH_PUNCT | 1 << QN_CH_SYMBOL
};

static const struct qn_word_rule gpt2_rule = {.contraction = QN_CONTRACTION_LOWER,
                                              .letters = QN_LETTERS_SPACED,
                                              .letter = LETTERS,
                                              .digits = QN_DIGITS_SPACED,
                                              .symbol = SYMBOLS,
                                              .tail = "",
                                              .space = QN_SPACE_PLAIN};

/* Llama 3's expression, and the many expressions that differ from it in one part. */
#define LLAMA3                                                                                     \
    .contraction = QN_CONTRACTION_ANY, .letters = QN_LETTERS_PREFIXED, .letter = LETTERS,          \
    .symbol = SYMBOLS, .tail = "\r\n"
static const struct qn_word_rule llama3_rule = {LLAMA3, .digits = 3};
static const struct qn_word_rule qwen2_rule = {LLAMA3, .digits = 1};
static const struct qn_word_rule minicpm5_rule = {LLAMA3, .digits = QN_DIGITS_ALL};
static const struct qn_word_rule jais2_rule = {LLAMA3, .digits = 3, .space = QN_SPACE_CASCADE};
static const struct qn_word_rule qwen35_rule = {.contraction = QN_CONTRACTION_ANY,
                                                .letters = QN_LETTERS_PREFIXED,
                                                .letter = MARKED,
                                                .digits = 1,
                                                .symbol = SYMBOLS & ~QN_CHS_MARK,
                                                .tail = "\r\n"};
static const struct qn_word_rule seed_coder_rule = {.contraction = QN_CONTRACTION_ANY,
                                                    .letters = QN_LETTERS_PREFIXED,
                                                    .letter = LETTERS,
                                                    .digits = 1,
                                                    .symbol = SYMBOLS,
                                                    .tail = ""};
static const struct qn_word_rule ufakzeka_rule = {.letters = QN_LETTERS_PREFIXED,
                                                  .letter = LETTERS,
                                                  .digits = 1,
                                                  .symbol = SYMBOLS,
                                                  .tail = "\r\n"};
static const struct qn_word_rule exaone_moe_rule = {.contraction = QN_CONTRACTION_ANY,
                                                    .letters = QN_LETTERS_PHRASE,
                                                    .digits = 1,
                                                    .symbol = SYMBOLS,
                                                    .tail = "\r\n/",
                                                    .tail_max = 1};

/* In GPT-4o's expression the capitals of a word come first. */
#define CASED .letters = QN_LETTERS_CASED, .symbol = SYMBOLS
static const struct qn_word_rule gpt4o_rule = {CASED, .contraction = QN_CONTRACTION_SUFFIX,
                                               .digits = 3, .tail = "\r\n/"};
static const struct qn_word_rule youtu_rule = {CASED, .contraction = QN_CONTRACTION_SUFFIX,
                                               .digits = 1, .tail = "\r\n/"};
static const struct qn_word_rule tekken_rule = {CASED, .digits = 1, .tail = "\r\n/"};
static const struct qn_word_rule kimi_rule = {CASED, .contraction = QN_CONTRACTION_SUFFIX,
                                              .han_apart = true, .digits = 3, .tail = "\r\n"};

static const struct qn_word_rule deepseek_rule = {
    .letters = QN_LETTERS_CODE, .letter = MARKED, .symbol = PUNCTUATION, .tail = "\r\n"};
static const struct qn_word_rule spark_rule = {.letters = QN_LETTERS_CODE,
                                               .letter = MARKED,
                                               .symbol = PUNCTUATION,
                                               .tail = "",
                                               .line_alone = true,
                                               .space = QN_SPACE_PLAIN};

/* ---- Sets of characters */

#define SET(name, kinds, ...)                                                                      \
    static const uint32_t name##_ranges[][2] = {__VA_ARGS__};                                      \
    static const struct qn_charset name = {kinds, name##_ranges,                                   \
                                           sizeof name##_ranges / sizeof name##_ranges[0]}

static const struct qn_charset numbers = {QN_CHS_NUMBER, NULL, 0};
static const struct qn_charset digits = {1 << QN_CH_DIGIT, NULL, 0};
static const struct qn_charset letters = {LETTERS, NULL, 0};
static const struct qn_charset punctuation = {1 << QN_CH_PUNCT, NULL, 0};
static const struct qn_charset lines = {1 << QN_CH_NEWLINE, NULL, 0};
static const struct qn_charset visible = {QN_CHS_ANY & ~QN_CHS_WHITE, NULL, 0};
SET(line_feed, 0, {'\n', '\n'});
SET(falcon_marks, 1 << QN_CH_PUNCT, {'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'}, {'`', '`'},
    {'|', '|'}, {'~', '~'});
SET(default_marks, 1 << QN_CH_PUNCT, {'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'}, {'|', '|'},
    {'~', '~'});
SET(chameleon_marks, 1 << QN_CH_PUNCT, {'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'});
SET(cjk, 0, {0x3040, 0x30ff}, {0x4e00, 0x9fa5});
SET(cjk_syllables, 0, {0x800, 0x9fa5}, {0xac00, 0xd7ff});
SET(hangul, 0, {0x3131, 0x318e}, {0xac00, 0xd7a3});
SET(bopomofo, 0, {0x3105, 0x312f});
SET(youtu_marks, 0, {0x2014, 0x2014}, {0x2018, 0x2019}, {0x201c, 0x201d}, {0x2026, 0x2026},
    {0x3001, 0x303f}, {0xfe30, 0xfe4f}, {0xff01, 0xff01}, {0xff0c, 0xff0c}, {0xff1a, 0xff1b});
/* Thai, Lao, Khmer, Myanmar and the scripts of China, Japan and Korea, which are written without
 * spaces. */
SET(afmoe_asian, 0, {0xe00, 0xeff}, {0x1000, 0x109f}, {0x1100, 0x11ff}, {0x1780, 0x17ff},
    {0x2f00, 0x2fdf}, {0x3040, 0x30ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa9e0, 0xa9ff},
    {0xaa60, 0xaa7f}, {0xac00, 0xd7af}, {0xf900, 0xfaff}, {0xff65, 0xff9f});
/* "[^(\s|.,!?…。，、।۔،)]": the ranges of characters that are not listed. */
SET(bloom_words, 0, {0x00, 0x08}, {0x0e, 0x1f}, {0x22, 0x27}, {0x2a, 0x2b}, {0x2d, 0x2d},
    {0x2f, 0x3e}, {0x40, 0x7b}, {0x7d, 0x84}, {0x86, 0x9f}, {0xa1, 0x60b}, {0x60d, 0x6d3},
    {0x6d5, 0x963}, {0x965, 0x167f}, {0x1681, 0x1fff}, {0x200b, 0x2025}, {0x2027, 0x2027},
    {0x202a, 0x202e}, {0x2030, 0x205e}, {0x2060, 0x2fff}, {0x3003, 0xff0b}, {0xff0d, 0x10ffff});
/* DeepSeek-LLM's letters: the alphabets with upper and lower case, as listed in its
 * tokenizer.json. */
SET(deepseek_letters, 0, {0x41, 0x5a}, {0x61, 0x7a}, {0xb5, 0xb5}, {0xc0, 0xd6}, {0xd8, 0xf6},
    {0xf8, 0x1ba}, {0x1bc, 0x1bf}, {0x1c4, 0x293}, {0x295, 0x2af}, {0x370, 0x373}, {0x376, 0x376},
    {0x377, 0x377}, {0x37b, 0x37d}, {0x37f, 0x37f}, {0x386, 0x386}, {0x388, 0x38a}, {0x38c, 0x38c},
    {0x38e, 0x3a1}, {0x3a3, 0x3f5}, {0x3f7, 0x481}, {0x48a, 0x52f}, {0x531, 0x556},
    {0x10a0, 0x10c5}, {0x13a0, 0x13f5}, {0x13f8, 0x13fd}, {0x1c90, 0x1cba}, {0x1cbd, 0x1cbf},
    {0x1d00, 0x1d2b}, {0x1d6b, 0x1d77}, {0x1d79, 0x1d9a}, {0x1e00, 0x1f15}, {0x1f18, 0x1f1d},
    {0x1f20, 0x1f45}, {0x1f48, 0x1f4d}, {0x1f50, 0x1f57}, {0x1f59, 0x1f59}, {0x1f5b, 0x1f5b},
    {0x1f5d, 0x1f5d}, {0x1f5f, 0x1f7d}, {0x1f80, 0x1fb4}, {0x1fb6, 0x1fbc}, {0x1fbe, 0x1fbe},
    {0x1fc2, 0x1fc4}, {0x1fc6, 0x1fcc}, {0x1fd0, 0x1fd3}, {0x1fd6, 0x1fdb}, {0x1fe0, 0x1fec},
    {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ffc}, {0x2102, 0x2102}, {0x2107, 0x2107}, {0x210a, 0x2113},
    {0x2115, 0x2115}, {0x2119, 0x211d}, {0x2124, 0x2124}, {0x2126, 0x2126}, {0x2128, 0x2128},
    {0x212a, 0x212d}, {0x212f, 0x2134}, {0x2139, 0x2139}, {0x213c, 0x213f}, {0x2145, 0x2149},
    {0x214e, 0x214e}, {0x2183, 0x2183}, {0x2184, 0x2184}, {0x2c00, 0x2c7b}, {0x2c7e, 0x2ce4},
    {0x2ceb, 0x2cee}, {0x2cf2, 0x2cf2}, {0x2cf3, 0x2cf3}, {0xa640, 0xa66d}, {0xa680, 0xa69b},
    {0xa722, 0xa76f}, {0xa771, 0xa787}, {0xa78b, 0xa78e}, {0xab70, 0xabbf}, {0xfb00, 0xfb06},
    {0xfb13, 0xfb17}, {0xff21, 0xff3a}, {0xff41, 0xff5a}, {0x10400, 0x1044f}, {0x104b0, 0x104d3},
    {0x104d8, 0x104fb}, {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df},
    {0x1e900, 0x1e943});
SET(deepseek_marks, 0, {'!', '/'}, {':', '~'}, {0x2018, 0x201f}, {0x3000, 0x3002}, {0xff01, 0xff0f},
    {0xff1a, 0xff5e});

/* ---- Families: the steps of each */

#define WORDS(name)                                                                                \
    {                                                                                              \
        .kind = QN_CUT_WORDS, .rule = &(name)                                                      \
    }
#define RUNS(name, most)                                                                           \
    {                                                                                              \
        .kind = QN_CUT_RUNS, .set = &(name), .max = (most)                                         \
    }
#define SPACED(name)                                                                               \
    {                                                                                              \
        .kind = QN_CUT_SPACED, .set = &(name)                                                      \
    }
#define BLANK(name)                                                                                \
    {                                                                                              \
        .kind = QN_CUT_BLANK, .set = &(name)                                                       \
    }
#define RIGHT(which, name)                                                                         \
    {                                                                                              \
        .kind = QN_CUT_RIGHT##which, .set = &(name)                                                \
    }
#define CUT(which)                                                                                 \
    {                                                                                              \
        .kind = QN_CUT_##which                                                                     \
    }

static const struct qn_cut gpt2[] = {WORDS(gpt2_rule), CUT(END)};
static const struct qn_cut digits_gpt2[] = {RUNS(numbers, 1), WORDS(gpt2_rule), CUT(END)};
static const struct qn_cut llama3[] = {WORDS(llama3_rule), CUT(END)};
static const struct qn_cut jais2[] = {WORDS(jais2_rule), CUT(END)};
static const struct qn_cut qwen2[] = {WORDS(qwen2_rule), CUT(END)};
static const struct qn_cut qwen35[] = {WORDS(qwen35_rule), CUT(END)};
static const struct qn_cut minicpm5[] = {RUNS(numbers, 3), WORDS(minicpm5_rule), CUT(END)};
static const struct qn_cut seed_coder[] = {WORDS(seed_coder_rule), CUT(END)};
static const struct qn_cut ufakzeka[] = {WORDS(ufakzeka_rule), CUT(END)};
static const struct qn_cut exaone_moe[] = {WORDS(exaone_moe_rule), CUT(END)};
static const struct qn_cut gpt4o[] = {WORDS(gpt4o_rule), CUT(END)};
static const struct qn_cut tekken[] = {WORDS(tekken_rule), CUT(END)};
static const struct qn_cut kimi[] = {WORDS(kimi_rule), CUT(END)};
static const struct qn_cut tiny_aya[] = {RIGHT(_WORD, digits), WORDS(gpt4o_rule), CUT(END)};
static const struct qn_cut youtu[] = {RUNS(hangul, 0), RUNS(youtu_marks, 0), RUNS(bopomofo, 0),
                                      RUNS(cjk, 0),    WORDS(youtu_rule),    CUT(END)};
static const struct qn_cut plain[] = {RUNS(default_marks, 0), WORDS(gpt2_rule), RUNS(numbers, 0),
                                      CUT(THREES), CUT(END)};
static const struct qn_cut falcon[] = {RUNS(falcon_marks, 0), WORDS(gpt2_rule), CUT(THREES),
                                       CUT(END)};
static const struct qn_cut chameleon[] = {CUT(LITERALS),    CUT(INDENT),
                                          RUNS(numbers, 1), RUNS(chameleon_marks, 1),
                                          WORDS(gpt2_rule), CUT(END)};
static const struct qn_cut bloom[] = {BLANK(bloom_words), CUT(END)};
static const struct qn_cut viking[] = {BLANK(bloom_words), RUNS(numbers, 1), CUT(END)};
static const struct qn_cut deepseek_llm[] = {
    RUNS(lines, 1), SPACED(deepseek_letters), SPACED(deepseek_marks),
    CUT(TRAILING),  RUNS(cjk_syllables, 0),   RUNS(numbers, 0),
    CUT(END)};
static const struct qn_cut deepseek_coder[] = {RUNS(lines, 1),      SPACED(letters),
                                               SPACED(punctuation), RUNS(cjk_syllables, 0),
                                               RUNS(numbers, 1),    CUT(END)};
static const struct qn_cut deepseek_v3[] = {RUNS(numbers, 3), RUNS(cjk, 0), WORDS(deepseek_rule),
                                            CUT(END)};
static const struct qn_cut spark[] = {RUNS(numbers, 3), RUNS(cjk, 0), WORDS(spark_rule),
                                      RUNS(numbers, 1), CUT(END)};
static const struct qn_cut afmoe[] = {RIGHT(, numbers), RUNS(afmoe_asian, 0), WORDS(deepseek_rule),
                                      CUT(END)};
static const struct qn_cut superbpe[] = {RUNS(numbers, 0), RIGHT(_INSIDE, digits), CUT(END)};
static const struct qn_cut laguna[] = {RUNS(line_feed, 0), WORDS(qwen2_rule), CUT(END)};
static const struct qn_cut gemma4[] = {RUNS(line_feed, 0), CUT(END)};
static const struct qn_cut whitespace[] = {RUNS(visible, 0), CUT(END)};

/* ---- Names */

enum {
    WHOLE = QN_PRE_WHOLE_TOKENS,
    BOS = QN_PRE_ADDS_BOS,
    RAW = QN_PRE_RAW_TEXT,
    LINES = QN_PRE_WHOLE_LINES
};

struct qn_pretokenizer {
    const char *name;
    const struct qn_cut *steps;
    unsigned flags;
};

static const struct qn_pretokenizer table[] = {
    {"default", plain, 0},
    {"gpt-2", gpt2, 0},
    {"phi-2", gpt2, 0},
    {"mpt", gpt2, 0},
    {"olmo", gpt2, 0},
    {"jais", gpt2, 0},
    {"trillion", gpt2, 0},
    {"granite-docling", gpt2, 0},
    {"jina-es", gpt2, 0},
    {"jina-de", gpt2, 0},
    {"jina-v1-en", gpt2, 0},
    {"jina-v2-es", gpt2, 0},
    {"jina-v2-de", gpt2, 0},
    {"jina-v2-code", gpt2, 0},
    {"roberta-bpe", gpt2, 0},
    {"modern-bert", gpt2, 0},
    {"gigachat", gpt2, 0},
    {"a.x-4.0", gpt2, 0},
    {"mellum", gpt2, 0},
    {"exaone4", gpt2, 0},
    {"llama3", llama3, WHOLE | BOS},
    {"llama-v3", llama3, WHOLE | BOS},
    {"llama-bpe", llama3, WHOLE | BOS},
    {"falcon3", llama3, WHOLE | BOS},
    {"falcon-h1", llama3, WHOLE | BOS},
    {"pixtral", llama3, WHOLE | BOS},
    {"midm-2.0", llama3, WHOLE | BOS},
    {"lfm2", llama3, WHOLE | BOS},
    {"jina-v5-nano", llama3, WHOLE | BOS},
    {"dbrx", llama3, 0},
    {"smaug-bpe", llama3, 0},
    {"glm4", llama3, 0},
    {"chatglm-bpe", llama3, 0},
    {"jais-2", jais2, 0},
    {"minicpm5", minicpm5, WHOLE},
    {"qwen2", qwen2, 0},
    {"deepseek-r1-qwen", qwen2, 0},
    {"f2llmv2", qwen2, 0},
    {"stablelm2", qwen2, 0},
    {"hunyuan", qwen2, 0},
    {"megrez", qwen2, 0},
    {"solar-open", qwen2, 0},
    {"grok-2", qwen2, 0},
    {"kormo", qwen2, 0},
    {"bailingmoe", qwen2, 0},
    {"bailingmoe2", qwen2, 0},
    {"llada-moe", qwen2, 0},
    {"qwen35", qwen35, 0},
    {"ufakzeka", ufakzeka, 0},
    {"laguna", laguna, 0},
    {"seed-coder", seed_coder, 0},
    {"exaone-moe", exaone_moe, 0},
    {"deepseek-llm", deepseek_llm, 0},
    {"deepseek-coder", deepseek_coder, 0},
    {"deepseek-v3", deepseek_v3, 0},
    {"hunyuan-dense", deepseek_v3, 0},
    {"joyai-llm", deepseek_v3, 0},
    {"hy_v4", deepseek_v3, 0},
    {"spark2_5", spark, 0},
    {"afmoe", afmoe, 0},
    {"smollm", digits_gpt2, 0},
    {"starcoder", digits_gpt2, 0},
    {"refact", digits_gpt2, 0},
    {"command-r", digits_gpt2, 0},
    {"codeshell", digits_gpt2, 0},
    {"exaone", digits_gpt2, 0},
    {"minerva-7b", digits_gpt2, 0},
    {"mellum2", digits_gpt2, 0},
    {"falcon", falcon, 0},
    {"chameleon", chameleon, BOS},
    {"tekken", tekken, WHOLE | BOS},
    {"gpt-4o", gpt4o, 0},
    {"llama4", gpt4o, 0},
    {"kanana2", gpt4o, 0},
    {"talkie", gpt4o, 0},
    {"minimax-m2", gpt4o, 0},
    {"granite-embed-multi-97m", gpt4o, WHOLE},
    {"tiny_aya", tiny_aya, 0},
    {"cohere2moe", tiny_aya, 0},
    {"kimi-k2", kimi, 0},
    {"youtu", youtu, WHOLE},
    {"superbpe", superbpe, 0},
    {"bloom", bloom, 0},
    {"poro-chat", bloom, 0},
    {"gpt3-finnish", bloom, 0},
    {"viking", viking, 0},
    {"gemma4", gemma4, RAW | LINES | BOS},
    {"granite-embed-multi-311m", gemma4, RAW | LINES | BOS},
    {"sarvam-moe", gemma4, RAW},
    {"whitespace", whitespace, RAW},
};

qn_err qn_pretokenizer_find(const char *name, size_t len, const struct qn_pretokenizer **out,
                            struct qn_error *e)
{
    qn_unicode_init();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0) {
            *out = &table[i];
            return QN_OK;
        }
    }
    return qn_fail(e, QN_EUNSUPPORTED,
                   "this version does not know the pre-tokenizer \"%.*s\" (tokenizer.ggml.pre); "
                   "use a newer quince, or another conversion of the model",
                   len < 80 ? (int)len : 80, name);
}

unsigned qn_pretokenizer_flags(const struct qn_pretokenizer *p)
{
    return p->flags;
}

void qn_pieces_deinit(struct qn_text_pieces *p)
{
    free(p->end);
    *p = (struct qn_text_pieces){.n = 0};
}

void qn_pieces_grow(struct qn_text_pieces *p)
{
    p->cap = p->cap == 0 ? 64 : 2 * p->cap;
    p->end = qn_xrealloc(p->end, p->cap * sizeof *p->end);
}

void qn_pretokenize(const struct qn_pretokenizer *p, const char *text, size_t len,
                    struct qn_text_pieces *out)
{
    out->n = 0;
    if (len == 0) {
        return;
    }
    struct qn_text_pieces before = {0};
    qn_cut(p->steps, text, 0, len, out);
    for (const struct qn_cut *step = p->steps + 1; step->kind != QN_CUT_END; step++) {
        struct qn_text_pieces swap = before;
        before = *out;
        *out = swap;
        out->n = 0;
        size_t from = 0;
        for (size_t k = 0; k < before.n; k++) {
            qn_cut(step, text, from, before.end[k], out);
            from = before.end[k];
        }
    }
    qn_pieces_deinit(&before);
}
