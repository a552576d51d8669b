/* A model's tokenizer as its file describes it: the kind of vocabulary, the special tokens, and the
 * tokens that are added before and after a text. Special tokens are removed from the text here;
 * pieces.h handles the rest. */
#include "text/tokenizer.h"

#include "text/pieces.h"
#include "text/special.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name) "tokenizer.ggml." name

struct qn_tokenizer {
    struct qn_vocab vocab;
    struct qn_special special; /* control, user-defined and unknown tokens */
    struct qn_special user;    /* user-defined tokens, which are recognised in any text */
    struct qn_bpe bpe;
    struct qn_spm spm;
    struct qn_wordpiece wordpiece;
    struct qn_unigram unigram;
    struct qn_rwkv rwkv;
    int32_t bos, eos, unknown, separator; /* -1: none */
    bool adds_bos, adds_eos, adds_separator, space_prefix;
};

/* Written forms of control tokens that end generation even if no metadata key says so. */
static const char *const end_texts[] = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|endoftext|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<|end_of_text|>",
    "</s>",
    "<end_of_turn>",
    "<turn|>",
    "<|tool_response>",
    "<eos>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "[e~[",
    "<|end_of_turn|>",
    "<end_of_utterance>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<|fim_repo|>",
    "<fim-repo>",
    "<reponame>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<\xef\xbd\x9c\x65nd\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>", /* DeepSeek; \x65 is e */
};

/* If both tokens of `with` are end tokens, `token` ends only a part of the reply: in OpenAI's and
 * Solar's channels <|end|> closes one message, and Gemma 4 does not use </s>. */
static const struct {
    const char *token;
    const char *with[2];
} part_ends[] = {{"<|end|>", {"<|return|>", "<|call|>"}},
                 {"<|end|>", {"<|flush|>", "<|calls|>"}},
                 {"</s>", {"<|tool_response>", "<|tool_response>"}}};

/* Rules for white space next to special tokens, which GGUF files do not contain. White space after
 * an RSTRIP token, and before an LSTRIP token, is dropped. */
static const struct strip_rule {
    const char *key;   /* the metadata key whose lower-cased value is searched ... */
    const char *part;  /* ... for this text */
    const char *token; /* NULL: every special token */
    uint8_t flag;
    bool set;
} strip_rules[] = {
    {"general.name", "phi-3", NULL, QN_TOKEN_RSTRIP, true},
    {"general.name", "phi3", NULL, QN_TOKEN_RSTRIP, true},
    {"general.name", "phi-3", "</s>", QN_TOKEN_RSTRIP, true},
    {"general.name", "phi3", "</s>", QN_TOKEN_RSTRIP, true},
    {"general.name", "phi-3", "<unk>", QN_TOKEN_RSTRIP, false},
    {"general.name", "phi3", "<unk>", QN_TOKEN_RSTRIP, false},
    {"general.name", "phi-3", "<s>", QN_TOKEN_RSTRIP, false},
    {"general.name", "phi3", "<s>", QN_TOKEN_RSTRIP, false},
    {"general.name", "phi-3", "<|endoftext|>", QN_TOKEN_RSTRIP, false},
    {"general.name", "phi3", "<|endoftext|>", QN_TOKEN_RSTRIP, false},
    {KEY("pre"), "jina-v2", "<mask>", QN_TOKEN_LSTRIP, true},
    {KEY("pre"), "modern-bert", "[MASK]", QN_TOKEN_LSTRIP, true},
};

void qn_tokens_push(struct qn_tokens *t, int32_t id)
{
    if (t->n == t->cap) {
        t->cap = t->cap == 0 ? 64 : 2 * t->cap;
        t->v = qn_xrealloc(t->v, t->cap * sizeof *t->v);
    }
    t->v[t->n++] = id;
}

void qn_tokens_deinit(struct qn_tokens *t)
{
    free(t->v);
    *t = (struct qn_tokens){.n = 0};
}

/* Reads a token id from the metadata. Without the key the id is `otherwise`, or -1 when that is out
 * of range. */
static qn_err read_id(const struct qn_tokenizer *t, const struct qn_gguf *g, const char *key,
                      int32_t otherwise, int32_t *out, struct qn_error *e)
{
    int64_t id = otherwise < t->vocab.n ? otherwise : -1;
    if (qn_gguf_has(g, key)) {
        qn_err err = qn_gguf_i64(g, key, -1, UINT32_MAX, &id, e);
        if (err != QN_OK) {
            return err;
        }
        if (id == UINT32_MAX) { /* -1 in an unsigned field */
            id = -1;
        }
        if (id >= t->vocab.n) {
            return qn_fail(e, QN_EFORMAT, "metadata %s: token %lld of a vocabulary of %d", key,
                           (long long)id, t->vocab.n);
        }
    }
    *out = (int32_t)id;
    return QN_OK;
}

static qn_err read_flag(const struct qn_gguf *g, const char *key, bool *flag, struct qn_error *e)
{
    return qn_gguf_has(g, key) ? qn_gguf_bool(g, key, flag, e) : QN_OK;
}

static bool token_is(const struct qn_token *t, const char *text)
{
    return t->n == strlen(text) && memcmp(t->s, text, t->n) == 0;
}

static void mark_end(struct qn_tokenizer *t, int32_t id)
{
    if (id >= 0) {
        t->vocab.token[id].flags |= QN_TOKEN_END;
    }
}

/* The end token with this written form, or -1. */
static int32_t end_named(const struct qn_tokenizer *t, const char *text)
{
    for (int32_t id = 0; id < t->vocab.n; id++) {
        const struct qn_token *token = &t->vocab.token[id];
        if ((token->flags & QN_TOKEN_END) != 0 && token_is(token, text)) {
            return id;
        }
    }
    return -1;
}

static qn_err read_ends(struct qn_tokenizer *t, const struct qn_gguf *g, struct qn_error *e)
{
    static const char *const keys[] = {KEY("eot_token_id"), KEY("eom_token_id"),
                                       KEY("fim_pad_token_id"), KEY("fim_rep_token_id"),
                                       KEY("fim_sep_token_id")};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int32_t id = -1;
        qn_err err = read_id(t, g, keys[i], -1, &id, e);
        if (err != QN_OK) {
            return err;
        }
        mark_end(t, id);
    }
    for (int32_t id = 0; id < t->vocab.n; id++) {
        const struct qn_token *token = &t->vocab.token[id];
        for (size_t i = 0; (token->kind == QN_TOKEN_CONTROL || token->kind == QN_TOKEN_USER) &&
                           i < sizeof end_texts / sizeof end_texts[0];
             i++) {
            if (token_is(token, end_texts[i])) {
                mark_end(t, id);
            }
        }
    }
    for (size_t i = 0; i < sizeof part_ends / sizeof part_ends[0]; i++) {
        int32_t id = end_named(t, part_ends[i].token);
        if (id >= 0 && end_named(t, part_ends[i].with[0]) >= 0 &&
            end_named(t, part_ends[i].with[1]) >= 0) {
            t->vocab.token[id].flags &= (uint8_t)~QN_TOKEN_END;
        }
    }
    mark_end(t, t->eos); /* an end token regardless of its written form */
    return QN_OK;
}

/* Whether the metadata string at key contains part, ignoring ASCII case. */
static bool metadata_has(const struct qn_gguf *g, const char *key, const char *part)
{
    struct qn_gguf_str s;
    size_t n = strlen(part);
    if (qn_gguf_str(g, key, &s, NULL) != QN_OK) {
        return false;
    }
    for (size_t i = 0; i + n <= s.n; i++) {
        size_t k = 0;
        while (k < n && tolower((unsigned char)s.s[i + k]) == part[k]) {
            k++;
        }
        if (k == n) {
            return true;
        }
    }
    return false;
}

static void apply_strip_rules(struct qn_tokenizer *t, const struct qn_gguf *g)
{
    for (size_t i = 0; i < sizeof strip_rules / sizeof strip_rules[0]; i++) {
        const struct strip_rule *r = &strip_rules[i];
        if (!metadata_has(g, r->key, r->part)) {
            continue;
        }
        for (int32_t id = 0; id < t->vocab.n; id++) {
            struct qn_token *token = &t->vocab.token[id];
            bool special = token->kind == QN_TOKEN_CONTROL || token->kind == QN_TOKEN_USER ||
                           token->kind == QN_TOKEN_UNKNOWN;
            if (r->token == NULL ? special : token_is(token, r->token)) {
                token->flags = (uint8_t)(r->set ? token->flags | r->flag : token->flags & ~r->flag);
            }
        }
    }
}

static qn_err read_ids(struct qn_tokenizer *t, const struct qn_gguf *g, struct qn_error *e)
{
    static const struct {
        int32_t bos, eos, unknown, separator; /* defaults for ids that the file does not contain */
    } usual[] = {[QN_VOCAB_BPE] = {-1, -1, -1, -1},   [QN_VOCAB_RAW] = {-1, -1, -1, -1},
                 [QN_VOCAB_SPM] = {1, 2, 0, -1},      [QN_VOCAB_WORDPIECE] = {101, -1, 100, 102},
                 [QN_VOCAB_UNIGRAM] = {-1, 1, 2, -1}, [QN_VOCAB_RWKV] = {-1, -1, -1, -1}};
    enum qn_vocab_model m = t->vocab.model;
    const char *bos_key = m == QN_VOCAB_WORDPIECE && qn_gguf_has(g, KEY("cls_token_id"))
                              ? KEY("cls_token_id")
                              : KEY("bos_token_id");
    qn_err err = read_id(t, g, bos_key, usual[m].bos, &t->bos, e);
    if (err == QN_OK) {
        err = read_id(t, g, KEY("eos_token_id"), usual[m].eos, &t->eos, e);
    }
    if (err == QN_OK) {
        err = read_id(t, g, KEY("unknown_token_id"), usual[m].unknown, &t->unknown, e);
    }
    if (err == QN_OK) { /* the key is misspelt in the GGUF format itself */
        err = read_id(t, g, KEY("seperator_token_id"), usual[m].separator, &t->separator, e);
    }
    if (err == QN_OK && m == QN_VOCAB_WORDPIECE && t->unknown < 0) {
        err = qn_fail(e, QN_EFORMAT, "a WordPiece vocabulary needs an unknown token");
    }
    return err;
}

static qn_err read_additions(struct qn_tokenizer *t, const struct qn_gguf *g, struct qn_error *e)
{
    enum qn_vocab_model m = t->vocab.model;
    unsigned pre = t->bpe.pre != NULL ? qn_pretokenizer_flags(t->bpe.pre) : 0;
    t->adds_bos = (pre & QN_PRE_ADDS_BOS) != 0 || m == QN_VOCAB_SPM || m == QN_VOCAB_WORDPIECE;
    t->adds_eos = m == QN_VOCAB_UNIGRAM;
    t->adds_separator = m == QN_VOCAB_WORDPIECE;
    t->space_prefix = m == QN_VOCAB_SPM;
    qn_err err = read_flag(g, KEY("add_bos_token"), &t->adds_bos, e);
    if (err == QN_OK) {
        err = read_flag(g, KEY("add_eos_token"), &t->adds_eos, e);
    }
    if (err == QN_OK) {
        err = read_flag(g, KEY("add_sep_token"), &t->adds_separator, e);
    }
    if (err == QN_OK && (m == QN_VOCAB_SPM || m == QN_VOCAB_UNIGRAM)) {
        err = read_flag(g, KEY("add_space_prefix"), &t->space_prefix, e);
    }
    /* Files of this family contain add_bos_token = false although the model was trained with
     * BOS. */
    t->adds_bos = t->adds_bos || (pre & QN_PRE_WHOLE_LINES) != 0;
    /* In other models separators stand only between two texts, which the caller handles. */
    t->adds_separator = t->adds_separator && m == QN_VOCAB_WORDPIECE;
    /* A token that the vocabulary does not have is not added. */
    t->adds_bos = t->adds_bos && t->bos >= 0;
    t->adds_eos = t->adds_eos && t->eos >= 0;
    t->adds_separator = t->adds_separator && t->separator >= 0;
    return err;
}

/* Reads the file's pre-tokenizer, which BPE requires. */
static qn_err read_pretokenizer(const struct qn_gguf *g, const char *model_pre,
                                const struct qn_pretokenizer **out, struct qn_error *e)
{
    struct qn_gguf_str pre = {"default", 7};
    qn_err err = QN_OK;
    if (model_pre != NULL) {
        pre = (struct qn_gguf_str){model_pre, strlen(model_pre)};
    } else if (qn_gguf_has(g, KEY("pre"))) {
        err = qn_gguf_str(g, KEY("pre"), &pre, e);
    } else {
        qn_warn("tokenizer", "the file names no pre-tokenizer: words may be cut differently than "
                             "in training; convert the model again if answers are poor");
    }
    return err != QN_OK ? err : qn_pretokenizer_find(pre.s, pre.n, out, e);
}

/* Reads the kind of vocabulary and, for BPE, the rules for splitting words. */
static qn_err model_of(const struct qn_gguf *g, enum qn_vocab_model *out,
                       const struct qn_pretokenizer **pre, struct qn_error *e)
{
    static const struct {
        const char *name;
        enum qn_vocab_model model;
        const char *pre; /* the pre-tokenizer that the model implies regardless of the file; NULL:
                            as the file says */
    } models[] = {{"gpt2", QN_VOCAB_BPE, NULL},   {"gemma4", QN_VOCAB_RAW, "gemma4"},
                  {"llama", QN_VOCAB_SPM, NULL},  {"bert", QN_VOCAB_WORDPIECE, NULL},
                  {"t5", QN_VOCAB_UNIGRAM, NULL}, {"rwkv", QN_VOCAB_RWKV, NULL}};
    struct qn_gguf_str s;
    qn_err err = qn_gguf_str(g, KEY("model"), &s, e);
    if (err != QN_OK) {
        return err;
    }
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (s.n != strlen(models[i].name) || memcmp(s.s, models[i].name, s.n) != 0) {
            continue;
        }
        *out = models[i].model;
        if (*out == QN_VOCAB_BPE || *out == QN_VOCAB_RAW) {
            err = read_pretokenizer(g, models[i].pre, pre, e);
            if (err == QN_OK && (qn_pretokenizer_flags(*pre) & QN_PRE_RAW_TEXT) != 0) {
                *out = QN_VOCAB_RAW;
            }
        }
        return err;
    }
    return qn_fail(e, QN_EUNSUPPORTED,
                   "this version does not know the tokenizer \"%.*s\" (tokenizer.ggml.model); use "
                   "a newer quince, or another conversion of the model",
                   s.n < 80 ? (int)s.n : 80, s.s);
}

static qn_err init_model(struct qn_tokenizer *t, const struct qn_pretokenizer *pre,
                         const struct qn_gguf *g, struct qn_error *e)
{
    switch (t->vocab.model) {
    case QN_VOCAB_BPE:
    case QN_VOCAB_RAW:
        return qn_bpe_init(&t->bpe, pre, &t->vocab, g, e);
    case QN_VOCAB_SPM:
        qn_spm_init(&t->spm, &t->vocab);
        return QN_OK;
    case QN_VOCAB_WORDPIECE:
        return qn_wordpiece_init(&t->wordpiece, g, e);
    case QN_VOCAB_UNIGRAM:
        return qn_unigram_init(&t->unigram, &t->vocab, g, e);
    case QN_VOCAB_RWKV:
        return qn_rwkv_init(&t->rwkv, &t->vocab, e);
    }
    return QN_OK;
}

qn_err qn_tokenizer_new(const struct qn_gguf *g, struct qn_tokenizer **out, struct qn_error *e)
{
    enum qn_vocab_model model = QN_VOCAB_BPE;
    const struct qn_pretokenizer *pre = NULL;
    qn_err err = model_of(g, &model, &pre, e);
    if (err != QN_OK) {
        return err;
    }
    struct qn_tokenizer *t = qn_xcalloc(1, sizeof *t);
    err = qn_vocab_init(&t->vocab, model, g, e);
    if (err == QN_OK) {
        err = init_model(t, pre, g, e);
    }
    if (err == QN_OK) {
        err = read_ids(t, g, e);
    }
    if (err == QN_OK) {
        err = read_additions(t, g, e);
    }
    if (err == QN_OK) {
        err = read_ends(t, g, e);
    }
    /* Some files (starcoder, refact) name their end token as the unknown token. Within a text it
     * would begin another document, so text without a token is left out instead. */
    if (err == QN_OK && (t->unknown == t->eos || qn_token_is_end(t, t->unknown))) {
        t->unknown = -1;
    }
    if (err != QN_OK) {
        qn_tokenizer_free(t);
        return err;
    }
    apply_strip_rules(t, g);
    qn_special_init(&t->special, &t->vocab,
                    1u << QN_TOKEN_CONTROL | 1u << QN_TOKEN_USER | 1u << QN_TOKEN_UNKNOWN);
    qn_special_init(&t->user, &t->vocab, 1u << QN_TOKEN_USER);
    *out = t;
    return QN_OK;
}

void qn_tokenizer_free(struct qn_tokenizer *t)
{
    if (t == NULL) {
        return;
    }
    qn_special_deinit(&t->special);
    qn_special_deinit(&t->user);
    qn_bpe_deinit(&t->bpe);
    qn_unigram_deinit(&t->unigram);
    qn_rwkv_deinit(&t->rwkv);
    qn_vocab_deinit(&t->vocab);
    free(t);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static qn_err plain_text(const struct qn_tokenizer *t, struct qn_tokenizing *z, const char *text,
                         size_t len, bool after_special, struct qn_error *e)
{
    switch (t->vocab.model) {
    case QN_VOCAB_BPE:
    case QN_VOCAB_RAW:
        return qn_bpe_text(&t->bpe, z, text, len, e);
    case QN_VOCAB_SPM:
        return qn_spm_text(&t->spm, z, text, len, t->space_prefix && after_special, e);
    case QN_VOCAB_WORDPIECE:
        return qn_wordpiece_text(&t->wordpiece, z, text, len, e);
    case QN_VOCAB_UNIGRAM:
        return qn_unigram_text(&t->unigram, z, text, len, t->space_prefix, e);
    case QN_VOCAB_RWKV:
        return qn_rwkv_text(&t->rwkv, z, text, len, e);
    }
    return QN_OK;
}

/* Tokenises a piece without the marks that prevented special tokens from being recognised in it. */
static qn_err marked_text(const struct qn_tokenizer *t, struct qn_tokenizing *z, const char *text,
                          size_t len, bool after_special, struct qn_error *e)
{
    const size_t mark = sizeof QN_TOKEN_MARK - 1;
    struct qn_buf bare;
    qn_buf_init(&bare, len);
    for (const char *end = text + len, *next; text < end; text = next + mark) {
        next = memmem(text, (size_t)(end - text), QN_TOKEN_MARK, mark);
        qn_buf_add(&bare, text, (size_t)((next ? next : end) - text));
        if (!next) {
            break;
        }
    }
    qn_err err =
        bare.len > 0 ? plain_text(t, z, qn_buf_cstr(&bare), bare.len, after_special, e) : QN_OK;
    qn_buf_deinit(&bare);
    return err;
}

static qn_err whole_text(const struct qn_tokenizer *t, struct qn_tokenizing *z, const char *text,
                         size_t len, unsigned flags, struct qn_error *e)
{
    const struct qn_special *specials = (flags & QN_TOK_SPECIAL) != 0 ? &t->special : &t->user;
    bool around = (flags & QN_TOK_BOS_EOS) != 0;
    bool after_special = true; /* SentencePiece treats the start of a text like the text after a
                                  special token */
    qn_err err = around && t->adds_bos ? qn_tokenizing_push(z, t->bos, e) : QN_OK;
    for (size_t from = 0; from < len && err == QN_OK;) {
        size_t at;
        int32_t id = qn_special_next(specials, &t->vocab, text, from, len, &at);
        uint8_t strip = id >= 0 ? t->vocab.token[id].flags : 0;
        size_t end = at;
        while ((strip & QN_TOKEN_LSTRIP) != 0 && end > from && is_space(text[end - 1])) {
            end--;
        }
        if (end > from) {
            err = ((flags & QN_TOK_MARKED) != 0 ? marked_text : plain_text)(
                t, z, text + from, end - from, after_special, e);
            after_special = false;
        }
        from = at;
        if (id < 0 || err != QN_OK) {
            continue;
        }
        err = qn_tokenizing_push(z, id, e);
        after_special = true;
        from += t->vocab.token[id].n;
        while ((strip & QN_TOKEN_RSTRIP) != 0 && from < len && is_space(text[from])) {
            from++;
        }
    }
    if (err == QN_OK && around && t->adds_eos) {
        err = qn_tokenizing_push(z, t->eos, e);
    }
    if (err == QN_OK && around && t->adds_separator) {
        err = qn_tokenizing_push(z, t->separator, e);
    }
    return err;
}

qn_err qn_tokenize(const struct qn_tokenizer *t, const char *text, size_t len, unsigned flags,
                   size_t max_tokens, struct qn_tokens *out, struct qn_error *e)
{
    if (len > QN_TOKEN_TEXT_MAX) {
        return qn_fail(e, QN_ELIMIT, "a text of %zu bytes, at most %d can be tokenised", len,
                       QN_TOKEN_TEXT_MAX);
    }
    struct qn_tokenizing z = {
        .vocab = &t->vocab, .unknown = t->unknown, .out = out, .max_tokens = max_tokens};
    struct qn_buf repaired; /* invalid UTF-8 becomes U+FFFD: up to 3 bytes for 1 */
    qn_buf_init(&repaired, 3 * (size_t)QN_TOKEN_TEXT_MAX);
    qn_err err = QN_OK;
    if (!qn_utf8_valid(text, len)) {
        for (size_t i = 0; i < len && err == QN_OK;) {
            uint32_t cp;
            char utf8[4];
            i += qn_utf8_decode(text + i, len - i, &cp);
            err = qn_buf_add(&repaired, utf8, qn_utf8_encode(cp, utf8));
        }
        text = repaired.data;
        len = repaired.len;
    }
    size_t before = out->n;
    qn_tokenizing_start(&z, len);
    if (err == QN_OK) {
        err = whole_text(t, &z, text, len, flags, e);
    }
    if (err != QN_OK) {
        out->n = before;
    }
    qn_buf_deinit(&repaired);
    qn_tokenizing_end(&z);
    return err;
}

size_t qn_tokenizer_next_control(const struct qn_tokenizer *t, const char *text, size_t from,
                                 size_t len)
{
    for (size_t at; from < len; from = at) {
        int32_t id = qn_special_next(&t->special, &t->vocab, text, from, len, &at);
        if (id < 0) {
            break;
        }
        if (t->vocab.token[id].kind != QN_TOKEN_USER) {
            return at;
        }
        at += t->vocab.token[id].n;
    }
    return len;
}

int32_t qn_tokenizer_size(const struct qn_tokenizer *t)
{
    return t->vocab.n;
}

static const struct qn_token *token_at(const struct qn_tokenizer *t, int32_t id)
{
    return id >= 0 && id < t->vocab.n ? &t->vocab.token[id] : NULL;
}

const char *qn_token_bytes(const struct qn_tokenizer *t, int32_t id, size_t *len)
{
    const struct qn_token *token = token_at(t, id);
    *len = token == NULL ? 0 : token->n;
    return token == NULL ? "" : token->s;
}

bool qn_token_is_control(const struct qn_tokenizer *t, int32_t id)
{
    const struct qn_token *token = token_at(t, id);
    return token != NULL && token->kind == QN_TOKEN_CONTROL;
}

bool qn_token_is_end(const struct qn_tokenizer *t, int32_t id)
{
    const struct qn_token *token = token_at(t, id);
    return token != NULL && (token->flags & QN_TOKEN_END) != 0;
}

int32_t qn_token_bos(const struct qn_tokenizer *t)
{
    return t->bos;
}

int32_t qn_token_eos(const struct qn_tokenizer *t)
{
    return t->eos;
}

bool qn_tokenizer_adds_bos(const struct qn_tokenizer *t)
{
    return t->adds_bos;
}

bool qn_tokenizer_space_prefix(const struct qn_tokenizer *t)
{
    return t->space_prefix || t->unigram.merge_spaces;
}
