/* One row per name that GGUF files use in tokenizer.ggml.pre. A family has one or several
 * expressions; each is applied to what the ones before it left: its matches become pieces, and so
 * does the text between them. A look-ahead sees no further than the piece it works on.
 * Source: tokenizer.json of the models; the names: llama.cpp's converter. */
#include "nets/pretokenize.h"

#include "base/buf.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>
#include <string.h>

enum {
    STEPS_MAX = 10 * 1000 * 1000, /* of one match, in PCRE2's count */
    HEAP_MAX_KIB = 64 * 1024,     /* of one match */
    PATTERNS_MAX = 6
};

/* Parts that families share. */
#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SYMBOLS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define LLAMA3 CONTRACTION "|" WORD "|\\p{N}{1,3}|" SYMBOLS "|" SPACES
#define QWEN2 CONTRACTION "|" WORD "|\\p{N}|" SYMBOLS "|" SPACES
/* Words whose capitals stand in front, as in GPT-4o's tokenizer. */
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define CASED(suffix)                                                                              \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER  \
    "*" suffix
#define CASED_REST " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
#define CJK_SYLLABLES "[\\x{4e00}-\\x{9fa5}\\x{0800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+"
#define DEEPSEEK_V3                                                                                \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"                                       \
    "[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES
#define BLOOM " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{0964}\\x{06d4}\\x{060c})]+"
/* DeepSeek-LLM's letters: the cased alphabets, as its tokenizer.json lists them. */
#define DEEPSEEK_LETTERS                                                                           \
    "A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}"                 \
    "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}"         \
    "\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}"                  \
    "\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}"                       \
    "\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}"                 \
    "\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}"                 \
    "\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}"        \
    "\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}"         \
    "\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}"                 \
    "\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}"                  \
    "\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}\\x{2126}\\x{2128}"                   \
    "\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}"        \
    "\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}"         \
    "\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}"                  \
    "\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}"                 \
    "\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}"               \
    "\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}"         \
    "\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}"

static const char *const gpt2[] = {GPT2, NULL};
static const char *const llama3[] = {LLAMA3, NULL};
static const char *const qwen2[] = {QWEN2, NULL};
static const char *const qwen35[] = {CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                                                 " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES,
                                     NULL};
static const char *const digits_gpt2[] = {"\\p{N}", GPT2, NULL};
static const char *const plain[] = {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]",
                                    NULL};
static const char *const falcon[] = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]", NULL};
/* The look-behind keeps runs of spaces inside a line from being tried at each of their places. */
static const char *const deepseek_llm[] = {
    "[\\r\\n]",
    "\\s?[" DEEPSEEK_LETTERS "]+",
    "\\s?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+",
    "(?<!\\s)\\s+$",
    CJK_SYLLABLES,
    "\\p{N}+",
    NULL};
static const char *const deepseek_coder[] = {"[\\r\\n]",    "\\s?\\p{L}+", "\\s?\\p{P}+",
                                             CJK_SYLLABLES, "\\p{N}",      NULL};
static const char *const deepseek_v3[] = {
    "\\p{N}{1,3}", "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+", DEEPSEEK_V3,
    NULL};
static const char *const tekken[] = {CASED("") "|\\p{N}|" CASED_REST, NULL};
static const char *const gpt4o[] = {CASED(CONTRACTION "?") "|\\p{N}{1,3}|" CASED_REST, NULL};
static const char *const bloom[] = {BLOOM, NULL};
static const char *const viking[] = {BLOOM, "\\p{N}", NULL};
static const char *const bailing[] = {
    "'(?i:[sdmt]|ll|ve|re)|" WORD "|\\p{N}|" SYMBOLS "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+", NULL};
static const char *const seed_coder[] = {
    CONTRACTION "|" WORD "|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES, NULL};

enum { IGNORE_MERGES = 1, ADD_BOS = 2 };

static const struct row {
    const char *name;
    const char *const *patterns;
    unsigned flags;
} table[] = {
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
    {"llama3", llama3, IGNORE_MERGES | ADD_BOS},
    {"llama-v3", llama3, IGNORE_MERGES | ADD_BOS},
    {"llama-bpe", llama3, IGNORE_MERGES | ADD_BOS},
    {"falcon3", llama3, IGNORE_MERGES | ADD_BOS},
    {"falcon-h1", llama3, IGNORE_MERGES | ADD_BOS},
    {"pixtral", llama3, IGNORE_MERGES | ADD_BOS},
    {"midm-2.0", llama3, IGNORE_MERGES | ADD_BOS},
    {"lfm2", llama3, IGNORE_MERGES | ADD_BOS},
    {"dbrx", llama3, 0},
    {"smaug-bpe", llama3, 0},
    {"glm4", llama3, 0},
    {"chatglm-bpe", llama3, 0},
    {"qwen2", qwen2, 0},
    {"deepseek-r1-qwen", qwen2, 0},
    {"stablelm2", qwen2, 0},
    {"hunyuan", qwen2, 0},
    {"megrez", qwen2, 0},
    {"solar-open", qwen2, 0},
    {"grok-2", qwen2, 0},
    {"kormo", qwen2, 0},
    {"qwen35", qwen35, 0},
    {"deepseek-llm", deepseek_llm, 0},
    {"deepseek-coder", deepseek_coder, 0},
    {"deepseek-v3", deepseek_v3, 0},
    {"hunyuan-dense", deepseek_v3, 0},
    {"joyai-llm", deepseek_v3, 0},
    {"smollm", digits_gpt2, 0},
    {"starcoder", digits_gpt2, 0},
    {"refact", digits_gpt2, 0},
    {"command-r", digits_gpt2, 0},
    {"codeshell", digits_gpt2, 0},
    {"exaone", digits_gpt2, 0},
    {"minerva-7b", digits_gpt2, 0},
    {"mellum2", digits_gpt2, 0},
    {"falcon", falcon, 0},
    {"tekken", tekken, IGNORE_MERGES | ADD_BOS},
    {"gpt-4o", gpt4o, 0},
    {"llama4", gpt4o, 0},
    {"kanana2", gpt4o, 0},
    {"minimax-m2", gpt4o, 0},
    {"bloom", bloom, 0},
    {"poro-chat", bloom, 0},
    {"gpt3-finnish", bloom, 0},
    {"viking", viking, 0},
    {"bailingmoe", bailing, 0},
    {"bailingmoe2", bailing, 0},
    {"llada-moe", bailing, 0},
    {"seed-coder", seed_coder, 0},
};

struct qn_pretokenizer {
    const struct row *row;
    pcre2_match_context *limits;
    pcre2_code *code[PATTERNS_MAX];
    size_t n;
};

static const struct row *find_row(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

qn_err qn_pretokenizer_new(const char *name, size_t len, struct qn_pretokenizer **out,
                           struct qn_error *e)
{
    const struct row *row = find_row(name, len);
    if (row == NULL) {
        return qn_fail(e, QN_EUNSUPPORTED,
                       "this version does not know the pre-tokenizer \"%.*s\" (tokenizer.ggml.pre)",
                       len < 80 ? (int)len : 80, name);
    }
    struct qn_pretokenizer *p = qn_xcalloc(1, sizeof *p);
    p->row = row;
    p->limits = pcre2_match_context_create(NULL);
    if (p->limits == NULL) {
        qn_pretokenizer_free(p);
        return qn_fail(e, QN_ENOMEM, "no memory for the pre-tokenizer");
    }
    pcre2_set_match_limit(p->limits, STEPS_MAX);
    pcre2_set_heap_limit(p->limits, HEAP_MAX_KIB);
    for (; row->patterns[p->n] != NULL; p->n++) {
        int code;
        PCRE2_SIZE at;
        p->code[p->n] =
            pcre2_compile((PCRE2_SPTR)row->patterns[p->n], PCRE2_ZERO_TERMINATED,
                          PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &code, &at, NULL);
        if (p->code[p->n] == NULL) {
            PCRE2_UCHAR why[128];
            pcre2_get_error_message(code, why, sizeof why);
            qn_err err = qn_fail(e, QN_EINTERNAL, "pre-tokenizer %s: expression %zu at %zu: %s",
                                 row->name, p->n, (size_t)at, (const char *)why);
            qn_pretokenizer_free(p);
            return err;
        }
        /* Where the system forbids generated code this fails, and the interpreter does the work. */
        (void)pcre2_jit_compile(p->code[p->n], PCRE2_JIT_COMPLETE);
    }
    *out = p;
    return QN_OK;
}

void qn_pretokenizer_free(struct qn_pretokenizer *p)
{
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < PATTERNS_MAX; i++) {
        pcre2_code_free(p->code[i]);
    }
    pcre2_match_context_free(p->limits);
    free(p);
}

bool qn_pretokenizer_ignores_merges(const struct qn_pretokenizer *p)
{
    return (p->row->flags & IGNORE_MERGES) != 0;
}

bool qn_pretokenizer_adds_bos(const struct qn_pretokenizer *p)
{
    return (p->row->flags & ADD_BOS) != 0;
}

void qn_pieces_deinit(struct qn_pieces *p)
{
    free(p->end);
    *p = (struct qn_pieces){.n = 0};
}

static void add(struct qn_pieces *p, size_t end)
{
    if (p->n == p->cap) {
        p->cap = p->cap == 0 ? 64 : 2 * p->cap;
        p->end = qn_xrealloc(p->end, p->cap * sizeof *p->end);
    }
    p->end[p->n++] = (uint32_t)end;
}

/* Cuts text[from..to) at every match of one expression. */
static qn_err cut(const struct qn_pretokenizer *p, const pcre2_code *code, pcre2_match_data *match,
                  const char *text, size_t from, size_t to, struct qn_pieces *out,
                  struct qn_error *e)
{
    PCRE2_SPTR piece = (PCRE2_SPTR)text + from;
    size_t len = to - from;
    for (size_t at = 0; at < len;) {
        int rc = pcre2_match(code, piece, len, at, PCRE2_NO_UTF_CHECK, match, p->limits);
        if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
            rc = pcre2_match(code, piece, len, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match,
                             p->limits);
        }
        if (rc == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (rc < 0) {
            PCRE2_UCHAR why[128];
            pcre2_get_error_message(rc, why, sizeof why);
            return qn_fail(e, rc == PCRE2_ERROR_NOMEMORY ? QN_ENOMEM : QN_ELIMIT,
                           "the text cannot be cut into words (%s)", (const char *)why);
        }
        const PCRE2_SIZE *where = pcre2_get_ovector_pointer(match);
        if (where[1] <= where[0]) {
            break; /* no expression of the table matches nothing; never loop over it */
        }
        if (where[0] > at) {
            add(out, from + where[0]);
        }
        add(out, from + where[1]);
        at = where[1];
    }
    if (out->n == 0 || out->end[out->n - 1] < to) {
        add(out, to);
    }
    return QN_OK;
}

qn_err qn_pretokenize(const struct qn_pretokenizer *p, const char *text, size_t len,
                      struct qn_pieces *out, struct qn_error *e)
{
    out->n = 0;
    if (len == 0) {
        return QN_OK;
    }
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    if (match == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory for the pre-tokenizer");
    }
    struct qn_pieces before = {0};
    qn_err err = QN_OK;
    add(out, len);
    for (size_t i = 0; i < p->n && err == QN_OK; i++) {
        struct qn_pieces swap = before;
        before = *out;
        *out = swap;
        out->n = 0;
        size_t from = 0;
        for (size_t k = 0; k < before.n && err == QN_OK; k++) {
            err = cut(p, p->code[i], match, text, from, before.end[k], out, e);
            from = before.end[k];
        }
    }
    qn_pieces_deinit(&before);
    pcre2_match_data_free(match);
    return err;
}
