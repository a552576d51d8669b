/* SentencePiece's BPE: characters are joined as long as the result is a token, best score first;
 * characters without a token become byte tokens. Source: Kudo, Richardson, arXiv:1808.06226. */
#include "nets/pieces.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* True when a space stands after another character: such a token joins words. */
static bool spans_words(const struct qn_token *t)
{
    for (uint32_t i = 1; i < t->n; i++) {
        if (t->s[i] == ' ' && t->s[i - 1] != ' ') {
            return true;
        }
    }
    return false;
}

void qn_spm_init(struct qn_spm *s, const struct qn_vocab *v)
{
    s->words_apart = true;
    for (int32_t i = 0; i < v->n && s->words_apart; i++) {
        s->words_apart = v->token[i].kind == QN_TOKEN_CONTROL || !spans_words(&v->token[i]);
    }
}

static bool rank(const void *ctx, const char *text, const struct qn_merge_sym *left,
                 const struct qn_merge_sym *right, uint32_t *priority, int32_t *id)
{
    const struct qn_vocab *v = ctx;
    *id = qn_vocab_find_text(v, text + left->at, left->len + right->len);
    if (*id < 0) {
        return false;
    }
    /* The bits of a float, turned so that greater scores give smaller numbers; + 0 undoes -0. */
    float score = v->score[*id] + 0.0f;
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    *priority = bits >> 31 ? bits : ~bits & 0x7fffffffu;
    return true;
}

static qn_err word(struct qn_tokenizing *z, const char *s, size_t n, struct qn_error *e)
{
    const struct qn_vocab *v = z->vocab;
    qn_err err = qn_merge_start(&z->merge, n, e);
    if (err != QN_OK) {
        return err;
    }
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = qn_utf8_decode(s + i, n - i, &cp);
        qn_merge_add(&z->merge, (uint32_t)i, (uint32_t)len, qn_vocab_find_text(v, s + i, len));
        i += len;
    }
    qn_merge_run(&z->merge, s, rank, v);
    for (int32_t i = 0; i >= 0 && err == QN_OK; i = z->merge.sym[i].next) {
        const struct qn_merge_sym *sym = &z->merge.sym[i];
        if (sym->id >= 0) {
            err = qn_tokenizing_push(z, sym->id, e);
            continue;
        }
        for (uint32_t k = 0; k < sym->len && err == QN_OK; k++) {
            int32_t id = v->byte_id[(unsigned char)s[sym->at + k]];
            err = qn_tokenizing_push(z, id >= 0 ? id : z->unknown, e);
        }
    }
    return err;
}

qn_err qn_spm_text(const struct qn_spm *s, struct qn_tokenizing *z, const char *text, size_t len,
                   bool prefix, struct qn_error *e)
{
    /* Spaces and written "▁" are one and the same to SentencePiece. */
    char *plain = qn_alloc_sized(len + 1, 1, SIZE_MAX);
    if (plain == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory to tokenise %zu bytes", len);
    }
    size_t n = 0;
    if (prefix) {
        plain[n++] = ' ';
    }
    for (size_t i = 0; i < len;) {
        if (len - i >= 3 && memcmp(text + i, "\xe2\x96\x81", 3) == 0) {
            plain[n++] = ' ';
            i += 3;
        } else {
            plain[n++] = text[i++];
        }
    }
    qn_err err = QN_OK;
    for (size_t from = 0; from < n && err == QN_OK;) {
        size_t to = s->words_apart ? from + 1 : n;
        while (to < n && !(plain[to] == ' ' && plain[to - 1] != ' ')) {
            to++;
        }
        err = word(z, plain + from, to - from, e);
        from = to;
    }
    free(plain);
    return err;
}
