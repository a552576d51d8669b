/* See facts.h. Capabilities are derived from the chat template and the vocabulary: a template that
 * uses `tools` supports tools, and one that mentions thinking belongs to a reasoning model. */
#include "inspect/facts.h"

#include "base/json.h"
#include "base/str.h"
#include "contract/capabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INFO_MAX = 256 * 1024 };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Words in templates that show capabilities of the model. */
static const char *const tool_words[] = {"tools", "functions"};
static const char *const thinking_words[] = {
    "enable_thinking",  "<think>", "</think>",    "reasoning_content",
    "reasoning_effort", "[THINK]", "<|channel|>", "thinking",
};
/* Keys and texts of the fill-in-the-middle token. */
static const char *const middle_keys[] = {"tokenizer.ggml.fim_mid_token_id",
                                          "tokenizer.ggml.middle_token_id"};
static const char *const middle_tokens[] = {
    "<|fim_middle|>",
    "<fim_middle>",
    "<fim-middle>",
    "<\xef\xbd\x9c"
    "fim\xe2\x96\x81"
    "end\xef\xbd\x9c>",
    "<MID>",
};

static bool holds(struct qn_gguf_str text, const char *word)
{
    return text.n > 0 && memmem(text.s, text.n, word, strlen(word)) != NULL;
}

static bool holds_one(struct qn_gguf_str text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (holds(text, words[i]))
            return true;
    return false;
}

static bool fills_in(const struct qn_gguf *g)
{
    enum qn_gguf_type type;
    size_t n;
    for (size_t i = 0; i < COUNT(middle_keys); i++)
        if (qn_gguf_has(g, middle_keys[i]))
            return true;
    if (qn_gguf_array(g, "tokenizer.ggml.tokens", &type, &n, NULL) || type != QN_GGUF_STRING)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct qn_gguf_str token = qn_gguf_array_str(g, "tokenizer.ggml.tokens", i);
        for (size_t k = 0; k < COUNT(middle_tokens); k++)
            if (token.n == strlen(middle_tokens[k]) &&
                memcmp(token.s, middle_tokens[k], token.n) == 0)
                return true;
    }
    return false;
}

/* Embedding and reranking models give their pooling type, with llama.cpp's values. */
static unsigned pooled(const struct qn_gguf *g, const char *architecture)
{
    enum { POOLING_RANK = 4 };
    char key[128];
    int64_t type;
    snprintf(key, sizeof key, "%s.pooling_type", architecture);
    if (!qn_gguf_has(g, key))
        return 0;
    bool ranks = qn_gguf_i64(g, key, 0, INT32_MAX, &type, NULL) == QN_OK && type == POOLING_RANK;
    return ranks ? QN_CAN_RERANK : QN_CAN_EMBED;
}

static unsigned capabilities_of(const struct qn_gguf *g, const struct qn_inspection *in,
                                struct qn_gguf_str chat)
{
    unsigned set = pooled(g, in->architecture);
    if (set)
        return set;
    set = QN_CAN_TALK;
    if (holds_one(chat, tool_words, COUNT(tool_words)))
        set |= QN_CAN_TOOLS;
    if (fills_in(g))
        set |= QN_CAN_INSERT;
    if (holds_one(chat, thinking_words, COUNT(thinking_words)))
        set |= QN_CAN_REASON;
    return set;
}

/* Writes a single-precision number in its shortest form. */
static void write_float(struct qn_jw *w, double v)
{
    char text[40];
    float f = (float)v;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtof(text, NULL) == f)
            break;
    }
    double shown = v;
    (void)qn_parse_f64(text, &shown); /* infinities and NaN are written as null */
    qn_jw_f64(w, shown);
}

/* True for a text that can be shown: within the limit, and without a NUL byte, which JSON readers
 * reject. */
static bool is_text(struct qn_gguf_str s, size_t most)
{
    return s.n <= most && !(s.n && memchr(s.s, 0, s.n));
}

static void write_value(struct qn_jw *w, const struct qn_gguf *g, const char *key)
{
    int64_t i;
    double f;
    bool b;
    struct qn_gguf_str s;
    switch (qn_gguf_kv_type(g, key)) {
    case QN_GGUF_ARRAY:
        qn_jw_knull(w, key);
        break;
    case QN_GGUF_STRING:
        if (qn_gguf_str(g, key, &s, NULL) == QN_OK && is_text(s, QN_FACTS_TEXT_MAX)) {
            qn_jw_key(w, key);
            qn_jw_strn(w, s.s, s.n);
        }
        break;
    case QN_GGUF_BOOL:
        if (qn_gguf_bool(g, key, &b, NULL) == QN_OK)
            qn_jw_kbool(w, key, b);
        break;
    case QN_GGUF_F32:
    case QN_GGUF_F64:
        if (qn_gguf_f64(g, key, &f, NULL) == QN_OK) {
            qn_jw_key(w, key);
            write_float(w, f);
        }
        break;
    default:
        if (qn_gguf_i64(g, key, INT64_MIN, INT64_MAX, &i, NULL) == QN_OK)
            qn_jw_ki64(w, key, i);
    }
}

static void write_info(struct qn_buf *out, const struct qn_gguf *g, const struct qn_inspection *in)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "general.parameter_count", in->parameters);
    for (size_t i = 0; i < qn_gguf_kv_count(g); i++) {
        struct qn_gguf_str name = qn_gguf_kv_key(g, i);
        char key[QN_FACTS_KEY_MAX + 1];
        if (name.n == 0 || name.n > QN_FACTS_KEY_MAX || memchr(name.s, 0, name.n) ||
            !qn_utf8_valid(name.s, name.n))
            continue;
        memcpy(key, name.s, name.n);
        key[name.n] = '\0';
        if (!qn_str_eq(key, "tokenizer.chat_template") &&
            !qn_str_eq(key, "general.parameter_count"))
            write_value(&w, g, key);
    }
    qn_jw_obj_end(&w);
}

static void write_text(struct qn_jw *w, const char *key, struct qn_gguf_str s, size_t most)
{
    if (s.n == 0 || !is_text(s, most))
        return;
    qn_jw_key(w, key);
    qn_jw_strn(w, s.s, s.n);
}

qn_err qn_inspect_facts(const struct qn_gguf *g, const struct qn_inspection *in, struct qn_buf *out,
                        struct qn_error *e)
{
    struct qn_gguf_str chat = {0}, license = {0};
    if (qn_gguf_str(g, "tokenizer.chat_template", &chat, NULL))
        chat = (struct qn_gguf_str){0};
    if (qn_gguf_str(g, "general.license", &license, NULL))
        license = (struct qn_gguf_str){0};
    struct qn_buf info;
    qn_buf_init(&info, INFO_MAX);
    write_info(&info, g, in);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    /* If all metadata together exceed INFO_MAX, the object has no "info". */
    if (!info.overflow) {
        qn_jw_key(&w, "info");
        qn_jw_raw(&w, info.data, info.len);
    }
    write_text(&w, "template", chat, QN_FACTS_TEMPLATE_MAX);
    write_text(&w, "license", license, QN_FACTS_LICENSE_MAX);
    qn_jw_key(&w, "capabilities");
    qn_capabilities_write(&w, capabilities_of(g, in, chat));
    qn_jw_obj_end(&w);
    qn_buf_deinit(&info);
    return out->overflow
               ? qn_fail(e, QN_ELIMIT, "its metadata have more than %d bytes", QN_FACTS_MAX)
               : QN_OK;
}
