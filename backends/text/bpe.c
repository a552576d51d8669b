/* Byte-pair encoding: a word starts as a sequence of its bytes, or of its characters, and the
 * adjacent pair whose merge has the lowest rank is joined first. Merges are stored as pairs of
 * token ids, so tokenising builds no strings. Source: Sennrich et al., arXiv:1508.07909; GPT-2's
 * byte-level alphabet. */
#include "text/pieces.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/rand.h"

#include <stdlib.h>
#include <string.h>

#define MERGES "tokenizer.ggml.merges"

struct qn_bpe_slot {
    uint64_t pair; /* left token, right token */
    uint32_t rank;
    int32_t id; /* the merged token; -1: the slot is free */
};

static struct qn_bpe_slot *slot_of(const struct qn_bpe *b, uint64_t pair)
{
    size_t i = (size_t)qn_hash_u64(b->seed, pair) & b->mask;
    while (b->slot[i].id >= 0 && b->slot[i].pair != pair) {
        i = (i + 1) & b->mask;
    }
    return &b->slot[i];
}

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

static qn_err bad_merge(size_t i, struct qn_gguf_str s, const char *why, struct qn_error *e)
{
    return qn_fail(e, QN_EFORMAT, "merge %zu (%.*s): %s", i, s.n < 80 ? (int)s.n : 80, s.s, why);
}

/* Writes the bytes of text that one part of a merge stands for; -1: the part is not in the
 * byte-level alphabet. */
static int part_bytes(const struct qn_vocab *v, const char *s, size_t n, char *out)
{
    return v->model == QN_VOCAB_BPE ? qn_byte_level_decode(s, n, out)
                                    : qn_unescape_spaces(s, n, out);
}

static qn_err add_merge(struct qn_bpe *b, const struct qn_vocab *v, size_t i, struct qn_gguf_str s,
                        char *bytes, struct qn_error *e)
{
    if (s.n > QN_VOCAB_TOKEN_BYTES_MAX) {
        return bad_merge(i, s, "too long", e);
    }
    const char *space = s.n < 2 ? NULL : memchr(s.s + 1, ' ', s.n - 1);
    if (space == NULL) {
        return bad_merge(i, s, "two parts with a space between them are expected", e);
    }
    size_t first = (size_t)(space - s.s);
    int left_n = part_bytes(v, s.s, first, bytes);
    int right_n = left_n < 0 ? -1 : part_bytes(v, space + 1, s.n - first - 1, bytes + left_n);
    if (left_n < 0 || right_n < 0) {
        return bad_merge(i, s, "not in the byte-level alphabet", e);
    }
    int32_t left = qn_vocab_find(v, bytes, (size_t)left_n);
    int32_t right = qn_vocab_find(v, bytes + left_n, (size_t)right_n);
    int32_t joined = qn_vocab_find(v, bytes, (size_t)left_n + (size_t)right_n);
    if (left < 0 || right < 0 || joined < 0) {
        return bad_merge(i, s, "a part or the result is not a token", e);
    }
    if (v->token[joined].kind == QN_TOKEN_CONTROL) {
        return QN_OK; /* plain text never becomes a control token */
    }
    struct qn_bpe_slot *slot = slot_of(b, pair_of(left, right));
    if (slot->id < 0) {
        *slot = (struct qn_bpe_slot){pair_of(left, right), (uint32_t)i, joined};
    }
    return QN_OK;
}

static qn_err read_merges(struct qn_bpe *b, const struct qn_vocab *v, const struct qn_gguf *g,
                          struct qn_error *e)
{
    enum qn_gguf_type item;
    size_t count;
    qn_err err = qn_gguf_array(g, MERGES, &item, &count, e);
    if (err != QN_OK) {
        return err;
    }
    if (item != QN_GGUF_STRING && count > 0) {
        return qn_fail(e, QN_EFORMAT, "metadata " MERGES ": expected an array of strings");
    }
    if (count > QN_VOCAB_TOKENS_MAX) {
        return qn_fail(e, QN_ELIMIT, "%zu merges, at most %d", count, QN_VOCAB_TOKENS_MAX);
    }
    size_t slots = 16;
    while (slots < count + count / 2) {
        slots *= 2;
    }
    b->slot = qn_alloc_sized(slots, sizeof *b->slot, SIZE_MAX);
    if (b->slot == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory for %zu merges", count);
    }
    b->mask = slots - 1;
    for (size_t i = 0; i < slots; i++) {
        b->slot[i].id = -1;
    }
    char *bytes = qn_xmalloc(QN_VOCAB_TOKEN_BYTES_MAX);
    for (size_t i = 0; i < count && err == QN_OK; i++) {
        err = add_merge(b, v, i, qn_gguf_array_str(g, MERGES, i), bytes, e);
    }
    free(bytes);
    return err;
}

qn_err qn_bpe_init(struct qn_bpe *b, const struct qn_pretokenizer *pre, const struct qn_vocab *v,
                   const struct qn_gguf *g, struct qn_error *e)
{
    *b = (struct qn_bpe){.pre = pre};
    b->words_apart = v->model == QN_VOCAB_RAW && qn_vocab_words_apart(v);
    qn_random_bytes(&b->seed, sizeof b->seed);
    qn_err err = read_merges(b, v, g, e);
    if (err != QN_OK) {
        qn_bpe_deinit(b);
    }
    return err;
}

void qn_bpe_deinit(struct qn_bpe *b)
{
    free(b->slot);
    *b = (struct qn_bpe){.mask = 0};
}

static int32_t rank(const void *ctx, const char *s, size_t len, int32_t left, int32_t right,
                    uint32_t *priority)
{
    (void)s;
    (void)len;
    if (left < 0 || right < 0) {
        return -1;
    }
    const struct qn_bpe_slot *slot = slot_of(ctx, pair_of(left, right));
    *priority = slot->rank;
    return slot->id;
}

static qn_err byte_words(const struct qn_bpe *b, struct qn_tokenizing *z, const char *text,
                         size_t len, struct qn_error *e)
{
    const struct qn_word_way way = {.rank = rank,
                                    .ctx = b,
                                    .bytes = true,
                                    .take_whole =
                                        (qn_pretokenizer_flags(b->pre) & QN_PRE_WHOLE_TOKENS) != 0};
    struct qn_text_pieces pieces = {0};
    qn_pretokenize(b->pre, text, len, &pieces);
    qn_err err = QN_OK;
    for (size_t i = 0, from = 0; i < pieces.n && err == QN_OK; from = pieces.end[i++]) {
        err = qn_word_tokens(z, &way, text + from, pieces.end[i] - from, e);
    }
    qn_pieces_deinit(&pieces);
    return err;
}

/* Like byte_words, over characters. A piece can be a whole line and is split into its words if no
 * token spans several words. */
static qn_err raw_words(const struct qn_bpe *b, struct qn_tokenizing *z, const char *text,
                        size_t len, struct qn_error *e)
{
    unsigned flags = qn_pretokenizer_flags(b->pre);
    struct qn_word_way way = {.rank = rank, .ctx = b};
    struct qn_text_pieces pieces = {0};
    size_t n;
    char *plain = qn_spaced_text(text, len, false, &n);
    if (plain == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory to tokenise %zu bytes", len);
    }
    qn_pretokenize(b->pre, plain, n, &pieces);
    qn_err err = QN_OK;
    for (size_t i = 0, from = 0; i < pieces.n && err == QN_OK; i++) {
        way.take_whole = (flags & QN_PRE_WHOLE_LINES) != 0 && plain[from] == '\n';
        for (size_t to; from < pieces.end[i] && err == QN_OK; from = to) {
            to = b->words_apart ? qn_spaced_word_end(plain, from, pieces.end[i]) : pieces.end[i];
            err = qn_word_tokens(z, &way, plain + from, to - from, e);
        }
    }
    qn_pieces_deinit(&pieces);
    free(plain);
    return err;
}

qn_err qn_bpe_text(const struct qn_bpe *b, struct qn_tokenizing *z, const char *text, size_t len,
                   struct qn_error *e)
{
    return (z->vocab->model == QN_VOCAB_BPE ? byte_words : raw_words)(b, z, text, len, e);
}
