/* Loads a vocabulary: three arrays of the file become one table of byte strings and a hash index.
 * The byte-level alphabet and SentencePiece's "▁" are decoded here, so that all other code works on
 * plain bytes. */
#include "text/vocab.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/rand.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS "tokenizer.ggml.tokens"
#define TYPES "tokenizer.ggml.token_type"
#define SCORES "tokenizer.ggml.scores"

static const char lower_block[] = "\xe2\x96\x81"; /* U+2581, which SentencePiece writes for a
                                                     space */

/* The byte that a character of the byte-level alphabet stands for, or -1. Printable Latin-1
 * characters stand for themselves; the other 68 bytes are, in order, U+0100 and the following.
 * Source: GPT-2's encoder. */
static int byte_of_char(uint32_t cp)
{
    if ((cp >= 33 && cp <= 126) || (cp >= 161 && cp <= 172) || (cp >= 174 && cp <= 255)) {
        return (int)cp;
    }
    if (cp < 256 || cp >= 256 + 68) {
        return -1;
    }
    uint32_t k = cp - 256;
    if (k <= 32) {
        return (int)k;
    }
    return k < 67 ? (int)(k - 33 + 127) : 173;
}

int qn_byte_level_decode(const char *s, size_t n, char *out)
{
    int len = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        i += qn_utf8_decode(s + i, n - i, &cp);
        int byte = byte_of_char(cp);
        if (byte < 0) {
            return -1;
        }
        out[len++] = (char)byte;
    }
    return len;
}

int qn_unescape_spaces(const char *s, size_t n, char *out)
{
    int len = 0;
    for (size_t i = 0; i < n;) {
        if (n - i >= 3 && memcmp(s + i, lower_block, 3) == 0) {
            out[len++] = ' ';
            i += 3;
        } else {
            out[len++] = s[i++];
        }
    }
    return len;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* The byte that "<0xAB>" names, or -1. */
static int byte_of_text(struct qn_gguf_str s)
{
    if (s.n != 6 || memcmp(s.s, "<0x", 3) != 0 || s.s[5] != '>') {
        return -1;
    }
    int high = hex_digit(s.s[3]), low = hex_digit(s.s[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Whether the vocabulary writes spaces as "▁" and bytes as "<0xAB>". */
static bool writes_spaces(const struct qn_vocab *v)
{
    return v->model == QN_VOCAB_SPM || v->model == QN_VOCAB_RAW || v->model == QN_VOCAB_UNIGRAM;
}

/* Decodes RWKV's escapes: "\t", "\n", "\r", "\xAB", and "\" before any other character. Returns the
 * number of bytes written to out, at most n. */
static int unescape_python(const char *s, size_t n, char *out)
{
    int len = 0;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '\\' && i + 1 < n) {
            c = s[++i];
            if (c == 'x' && i + 2 < n && hex_digit(s[i + 1]) >= 0 && hex_digit(s[i + 2]) >= 0) {
                c = (char)(hex_digit(s[i + 1]) * 16 + hex_digit(s[i + 2]));
                i += 2;
            } else {
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
        }
        out[len++] = c;
    }
    return len;
}

/* Writes the bytes of a token to out. Returns whether text can become this token, so that the index
 * must contain it. */
static bool decode_token(struct qn_vocab *v, int32_t id, struct qn_gguf_str s, char *out)
{
    struct qn_token *t = &v->token[id];
    bool special =
        t->kind == QN_TOKEN_CONTROL || t->kind == QN_TOKEN_USER || t->kind == QN_TOKEN_UNKNOWN;
    int len = -1;
    bool found = false;
    if (special) {
        /* The written form is kept unchanged. The decoded bytes only tell whether merges can also
         * produce this token. */
        len = v->model == QN_VOCAB_BPE ? qn_byte_level_decode(s.s, s.n, out) : (int)s.n;
        found =
            len >= 0 && (!writes_spaces(v) || memchr(s.s, ' ', s.n) == NULL) && (size_t)len == s.n;
        memcpy(out, s.s, s.n);
        len = (int)s.n;
    } else if (v->model == QN_VOCAB_BPE) {
        len = qn_byte_level_decode(s.s, s.n, out);
        found = len > 0;
        if (len < 0) { /* not in the byte-level alphabet: the token can be generated, but text never
                          becomes it */
            memcpy(out, s.s, s.n);
            len = (int)s.n;
        }
        if (len == 1 && v->byte_id[(unsigned char)*out] < 0) {
            v->byte_id[(unsigned char)*out] = id;
        }
    } else if (v->model == QN_VOCAB_RWKV) {
        len = unescape_python(s.s, s.n, out);
    } else {
        int byte = v->model != QN_VOCAB_UNIGRAM || t->kind == QN_TOKEN_BYTE ? byte_of_text(s) : -1;
        if (byte >= 0 && writes_spaces(v)) {
            out[0] = (char)byte;
            len = 1;
            if (v->byte_id[byte] < 0) {
                v->byte_id[byte] = id;
            }
            t->kind = QN_TOKEN_BYTE;
        } else {
            found = memchr(s.s, ' ', s.n) == NULL; /* a space that text can become would be written
                                                      as "▁" */
            len = qn_unescape_spaces(s.s, s.n, out);
        }
    }
    t->s = out;
    t->n = (uint32_t)len;
    return found && len > 0;
}

uint64_t qn_vocab_hash(const struct qn_vocab *v, const char *s, size_t n)
{
    return qn_hash_bytes(v->seed, s, n);
}

/* memcmp without a function call for the short lengths that most tokens have. */
static inline bool same(const char *a, const char *b, size_t n)
{
    uint64_t a8, b8, a8_end, b8_end;
    uint32_t a4, b4, a4_end, b4_end;
    if (n > 16) {
        return memcmp(a, b, n) == 0;
    }
    if (n >= 8) {
        memcpy(&a8, a, 8), memcpy(&a8_end, a + n - 8, 8);
        memcpy(&b8, b, 8), memcpy(&b8_end, b + n - 8, 8);
        return ((a8 ^ b8) | (a8_end ^ b8_end)) == 0;
    }
    if (n >= 4) {
        memcpy(&a4, a, 4), memcpy(&a4_end, a + n - 4, 4);
        memcpy(&b4, b, 4), memcpy(&b4_end, b + n - 4, 4);
        return ((a4 ^ b4) | (a4_end ^ b4_end)) == 0;
    }
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* The slot of the token with these bytes, or the free slot where it would be stored. */
static struct qn_vocab_slot *slot_of(const struct qn_vocab *v, uint64_t hash, const char *s,
                                     size_t n)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t i = (size_t)hash & v->mask;; i = (i + 1) & v->mask) {
        struct qn_vocab_slot *slot = &v->slot[i];
        if (slot->id < 0) {
            return slot;
        }
        if (slot->tag == tag) {
            const struct qn_token *t = &v->token[slot->id];
            if (t->n == n && same(t->s, s, n)) {
                return slot;
            }
        }
    }
}

int32_t qn_vocab_find(const struct qn_vocab *v, const char *s, size_t n)
{
    return n == 0 || n > v->longest ? -1 : slot_of(v, qn_vocab_hash(v, s, n), s, n)->id;
}

int32_t qn_vocab_find_hashed(const struct qn_vocab *v, uint64_t hash, const char *s, size_t n)
{
    int32_t id = slot_of(v, hash, s, n)->id;
    if (id < 0 || v->token[id].kind == QN_TOKEN_CONTROL || v->token[id].kind == QN_TOKEN_UNKNOWN) {
        return -1;
    }
    return id;
}

int32_t qn_vocab_find_text(const struct qn_vocab *v, const char *s, size_t n)
{
    return n == 0 || n > v->longest ? -1 : qn_vocab_find_hashed(v, qn_vocab_hash(v, s, n), s, n);
}

bool qn_vocab_words_apart(const struct qn_vocab *v)
{
    for (int32_t i = 0; i < v->n; i++) {
        const struct qn_token *t = &v->token[i];
        for (uint32_t k = 1; t->kind != QN_TOKEN_CONTROL && k < t->n; k++) {
            if (t->s[k] == ' ' && t->s[k - 1] != ' ') {
                return false;
            }
        }
    }
    return true;
}

/* Reads the kinds and, for SentencePiece, the scores. */
static qn_err read_numbers(struct qn_vocab *v, const struct qn_gguf *g, struct qn_error *e)
{
    enum qn_gguf_type item;
    size_t count;
    for (int32_t i = 0; i < v->n; i++) {
        v->token[i].kind = QN_TOKEN_NORMAL;
    }
    if (qn_gguf_has(g, TYPES)) {
        qn_err err = qn_gguf_array(g, TYPES, &item, &count, e);
        if (err != QN_OK) {
            return err;
        }
        if ((item != QN_GGUF_I32 && item != QN_GGUF_U32) || count < (size_t)v->n) {
            return qn_fail(e, QN_EFORMAT, "metadata " TYPES ": expected %d 32-bit integers", v->n);
        }
        const char *raw = qn_gguf_array_raw(g, TYPES);
        for (int32_t i = 0; i < v->n; i++) {
            int32_t kind;
            memcpy(&kind, raw + (size_t)i * sizeof kind, sizeof kind);
            if (kind < 0 || kind > QN_TOKEN_BYTE) {
                return qn_fail(e, QN_EFORMAT, "token %d: unknown type %d", i, kind);
            }
            v->token[i].kind = kind == 0 ? QN_TOKEN_NORMAL : (uint8_t)kind;
        }
    }
    if (v->model != QN_VOCAB_SPM && v->model != QN_VOCAB_UNIGRAM) {
        return QN_OK;
    }
    qn_err err = qn_gguf_array(g, SCORES, &item, &count, e);
    if (err != QN_OK) {
        return err;
    }
    if (item != QN_GGUF_F32 || count < (size_t)v->n) {
        return qn_fail(e, QN_EFORMAT, "metadata " SCORES ": expected %d 32-bit floats", v->n);
    }
    v->score = qn_alloc_sized((size_t)v->n, sizeof *v->score, SIZE_MAX);
    if (v->score == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory for %d scores", v->n);
    }
    memcpy(v->score, qn_gguf_array_raw(g, SCORES), (size_t)v->n * sizeof *v->score);
    for (int32_t i = 0; i < v->n; i++) {
        if (isnan(v->score[i]) || (v->model == QN_VOCAB_UNIGRAM && isinf(v->score[i]))) {
            return qn_fail(e, QN_EFORMAT, "token %d: its score is not a number", i);
        }
    }
    return QN_OK;
}

static void insert(struct qn_vocab *v, int32_t id)
{
    const struct qn_token *t = &v->token[id];
    uint64_t hash = qn_vocab_hash(v, t->s, t->n);
    struct qn_vocab_slot *slot = slot_of(v, hash, t->s, t->n);
    if (slot->id < 0) {
        *slot = (struct qn_vocab_slot){(uint32_t)(hash >> 32), id};
    }
}

qn_err qn_vocab_init(struct qn_vocab *v, enum qn_vocab_model model, const struct qn_gguf *g,
                     struct qn_error *e)
{
    enum qn_gguf_type item;
    size_t count, total = 0;
    *v = (struct qn_vocab){.model = model};
    qn_random_bytes(&v->seed, sizeof v->seed);
    for (int i = 0; i < 256; i++) {
        v->byte_id[i] = -1;
    }
    qn_err err = qn_gguf_array(g, TOKENS, &item, &count, e);
    if (err != QN_OK) {
        return err;
    }
    if (item != QN_GGUF_STRING || count == 0) {
        return qn_fail(e, QN_EFORMAT, "metadata " TOKENS ": expected an array of strings");
    }
    if (count > QN_VOCAB_TOKENS_MAX) {
        return qn_fail(e, QN_ELIMIT, "%zu tokens, at most %d", count, QN_VOCAB_TOKENS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        size_t n = qn_gguf_array_str(g, TOKENS, i).n;
        if (n > QN_VOCAB_TOKEN_BYTES_MAX) {
            return qn_fail(e, QN_ELIMIT, "token %zu: %zu bytes, at most %d", i, n,
                           QN_VOCAB_TOKEN_BYTES_MAX);
        }
        total += n;
    }
    size_t slots = 16;
    while (slots < count + count / 2) {
        slots *= 2;
    }
    v->n = (int32_t)count;
    v->mask = slots - 1;
    v->bytes = qn_alloc_sized(total + 1, 1, QN_VOCAB_BYTES_MAX);
    v->token = qn_alloc_sized(count, sizeof *v->token, SIZE_MAX);
    v->slot = qn_alloc_sized(slots, sizeof *v->slot, SIZE_MAX);
    v->joined = qn_alloc_sized(count, sizeof *v->joined, SIZE_MAX);
    bool *found = qn_alloc_sized(count, sizeof *found, SIZE_MAX);
    if (v->bytes == NULL || v->token == NULL || v->slot == NULL || v->joined == NULL ||
        found == NULL) {
        err = qn_fail(e, QN_ENOMEM, "no memory for %zu tokens of %zu bytes", count, total);
        goto out;
    }
    for (size_t i = 0; i < slots; i++) {
        v->slot[i].id = -1;
    }
    err = read_numbers(v, g, e);
    if (err != QN_OK) {
        goto out;
    }
    char *at = v->bytes;
    for (int32_t i = 0; i < v->n; i++) {
        found[i] = decode_token(v, i, qn_gguf_array_str(g, TOKENS, (size_t)i), at);
        at += v->token[i].n;
        if (v->token[i].n > v->longest) {
            v->longest = v->token[i].n;
        }
    }
    /* Normal tokens are inserted first, because of several tokens with equal bytes only the first
     * is stored. */
    for (int32_t i = 0; i < v->n; i++) {
        uint8_t kind = v->token[i].kind;
        if (found[i] && (kind == QN_TOKEN_NORMAL || kind == QN_TOKEN_BYTE)) {
            insert(v, i);
        }
    }
    for (int32_t i = 0; i < v->n; i++) {
        uint8_t kind = v->token[i].kind;
        if (found[i] && kind != QN_TOKEN_NORMAL && kind != QN_TOKEN_BYTE) {
            insert(v, i);
        }
    }
    for (int c = 0; c < 128; c++) {
        char s = (char)c;
        v->ascii_id[c] = qn_vocab_find_text(v, &s, 1);
    }
out:
    free(found);
    if (err != QN_OK) {
        qn_vocab_deinit(v);
    }
    return err;
}

void qn_vocab_deinit(struct qn_vocab *v)
{
    free(v->token);
    free(v->score);
    free(v->bytes);
    free(v->slot);
    free(v->joined);
    *v = (struct qn_vocab){.n = 0};
}
