/* SentencePiece's BPE: adjacent symbols are joined as long as the result is a token, best score
 * first; characters without a token become byte tokens. Source: Kudo, Richardson,
 * arXiv:1808.06226. */
#include "text/pieces.h"

#include "base/buf.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char lower_block[] = "\xe2\x96\x81"; /* U+2581, which SentencePiece writes for a
                                                     space */

void qn_spm_init(struct qn_spm *s, const struct qn_vocab *v)
{
    s->words_apart = qn_vocab_words_apart(v);
}

static int32_t find(const struct qn_vocab *v, const char *s, size_t len, uint32_t *priority)
{
    int32_t id = qn_vocab_find_text(v, s, len);
    if (id < 0) {
        return -1;
    }
    /* The float's bits are mapped so that greater scores yield smaller integers; + 0 turns -0 into
     * 0. */
    float score = v->score[id] + 0.0f;
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    *priority = bits >> 31 ? bits : ~bits & 0x7fffffffu;
    return id;
}

/* The cache answers most lookups, because the same two tokens often were adjacent shortly
 * before. */
static int32_t rank(const void *ctx, const char *s, size_t len, int32_t left, int32_t right,
                    uint32_t *priority)
{
    const struct qn_tokenizing *z = ctx;
    if (z->pairs == NULL || left < 0 || right < 0) {
        return find(z->vocab, s, len, priority);
    }
    /* 0 marks an empty cache entry and would also be the pair of token 0 with itself, so 1 is
     * added. */
    uint64_t pair = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) + 1;
    struct qn_recent_pair *p = &z->pairs[qn_hash_u64(z->vocab->seed, pair) & (QN_RECENT_PAIRS - 1)];
    if (p->pair != pair) {
        p->id = find(z->vocab, s, len, &p->priority);
        p->pair = pair;
    }
    *priority = p->priority;
    return p->id;
}

char *qn_spaced_text(const char *text, size_t len, bool prefix, size_t *n)
{
    char *out = qn_alloc_sized(len + 1, 1, SIZE_MAX);
    if (out == NULL) {
        return NULL;
    }
    size_t at = 0;
    if (prefix) {
        out[at++] = ' ';
    }
    for (const char *end = text + len, *space; text < end; text = space + 3) {
        space = memmem(text, (size_t)(end - text), lower_block, 3);
        size_t plain = (size_t)((space != NULL ? space : end) - text);
        memcpy(out + at, text, plain);
        at += plain;
        if (space == NULL) {
            break;
        }
        out[at++] = ' ';
    }
    *n = at;
    return out;
}

qn_err qn_spm_text(const struct qn_spm *s, struct qn_tokenizing *z, const char *text, size_t len,
                   bool prefix, struct qn_error *e)
{
    const struct qn_word_way way = {.rank = rank, .ctx = z};
    size_t n;
    char *plain = qn_spaced_text(text, len, prefix, &n);
    if (plain == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory to tokenise %zu bytes", len);
    }
    qn_err err = QN_OK;
    for (size_t from = 0, to; from < n && err == QN_OK; from = to) {
        to = s->words_apart ? qn_spaced_word_end(plain, from, n) : n;
        err = qn_word_tokens(z, &way, plain + from, to - from, e);
    }
    free(plain);
    return err;
}
