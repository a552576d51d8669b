/* SentencePiece's unigram model: of all sequences of tokens that cover the text, finds the one with
 * the greatest sum of scores, from left to right (Viterbi). The text is first normalised with the
 * file's map. Source: Kudo, arXiv:1804.10959. */
#include "text/pieces.h"

#include "base/buf.h"
#include "base/str.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define MAP "tokenizer.ggml.precompiled_charsmap"
#define MERGE_SPACES "tokenizer.ggml.remove_extra_whitespaces"

static const double unknown_penalty = 10; /* how far the score of an unknown character is below that
                                             of the worst token */

qn_err qn_unigram_init(struct qn_unigram *u, const struct qn_vocab *v, const struct qn_gguf *g,
                       struct qn_error *e)
{
    *u = (struct qn_unigram){.words_apart = qn_vocab_words_apart(v)};
    double worst = FLT_MAX;
    for (int32_t i = 0; i < v->n; i++) {
        if (v->token[i].kind == QN_TOKEN_NORMAL && v->score[i] < worst) {
            worst = v->score[i];
        }
    }
    u->unknown_score = (double)(float)(worst - unknown_penalty);
    qn_err err =
        qn_gguf_has(g, MERGE_SPACES) ? qn_gguf_bool(g, MERGE_SPACES, &u->merge_spaces, e) : QN_OK;
    if (err == QN_OK && qn_gguf_has(g, MAP)) {
        enum qn_gguf_type item;
        size_t count;
        err = qn_gguf_array(g, MAP, &item, &count, e);
        if (err == QN_OK && item != QN_GGUF_U8 && item != QN_GGUF_I8) {
            err = qn_fail(e, QN_EFORMAT, "metadata " MAP ": expected an array of bytes");
        }
        if (err == QN_OK) {
            err = qn_charsmap_init(&u->map, qn_gguf_array_raw(g, MAP), count, e);
        }
    }
    if (err == QN_OK) {
        err = qn_token_trie_init(
            &u->tokens, v, 1u << QN_TOKEN_NORMAL | 1u << QN_TOKEN_USER | 1u << QN_TOKEN_UNUSED, e);
    }
    return err;
}

void qn_unigram_deinit(struct qn_unigram *u)
{
    qn_charsmap_deinit(&u->map);
    qn_token_trie_deinit(&u->tokens);
}

/* The text after normalisation with the map and the model's rules for spaces. */
struct normal {
    struct qn_buf out;
    bool merge_spaces, prefix; /* prefix: a space has yet to be inserted before the first word */
    bool in_word;
};

static qn_err add(struct normal *t, const char *s, size_t n)
{
    qn_err err = QN_OK;
    for (size_t i = 0, end; i < n && err == QN_OK; i = end) {
        end = i + 1;
        if (s[i] == ' ') {
            t->in_word = false;
            err = t->merge_spaces ? QN_OK : qn_buf_add(&t->out, " ", 1);
            continue;
        }
        while (end < n && s[end] != ' ') {
            end++;
        }
        if (!t->in_word && (t->prefix || t->merge_spaces)) {
            err = qn_buf_add(&t->out, " ", 1);
            t->prefix = false;
        }
        t->in_word = true;
        err = err == QN_OK ? qn_buf_add(&t->out, s + i, end - i) : err;
    }
    return err;
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static qn_err normalise(const struct qn_unigram *u, struct normal *t, const char *text, size_t len)
{
    qn_err err = QN_OK;
    for (size_t i = 0, n; i < len && err == QN_OK; i += n) {
        const char *to = text + i;
        uint32_t cp;
        n = 0;
        while (i + n + 1 < len && is_ascii(text[i + n]) && is_ascii(text[i + n + 1]) &&
               (u->map.nodes == 0 || u->map.plain[(unsigned char)text[i + n]])) {
            n++;
        }
        if (n > 0) {
            err = add(t, text + i, n);
            continue;
        }
        n = qn_charsmap_longest(&u->map, text + i, len - i, &to);
        if (n > 0) {
            err = add(t, to, strlen(to));
        } else {
            n = qn_utf8_decode(text + i, len - i, &cp);
            err = add(t, text + i, n);
        }
    }
    return err;
}

static qn_err best(const struct qn_unigram *u, struct qn_tokenizing *z, const char *s, size_t n,
                   struct qn_error *e)
{
    struct step {
        double score; /* of the best path to this position */
        int32_t id;   /* last token of that path; -1: an unknown character */
        uint32_t from;
    };
    struct step near[128];
    struct step *way = n < 128 ? near : qn_alloc_sized(n + 1, sizeof *way, SIZE_MAX);
    if (way == NULL) {
        return qn_fail(e, QN_ENOMEM, "no memory to tokenise %zu bytes at once", n);
    }
    for (size_t i = 1; i <= n; i++) {
        way[i].score = -DBL_MAX;
    }
    way[0] = (struct step){.score = 0, .id = -1};
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t cp;
        len = qn_utf8_decode(s + i, n - i, &cp);
        bool whole = false;
        uint32_t node = 0;
        for (size_t k = i; k < n; k++) {
            node = qn_token_trie_step(&u->tokens, node, (unsigned char)s[k]);
            if (node == 0) {
                break;
            }
            const struct qn_token_leaf leaf = u->tokens.leaf[node];
            double score = way[i].score + (double)leaf.score;
            whole = whole || (leaf.id >= 0 && k + 1 - i == len);
            if (leaf.id >= 0 && score > way[k + 1].score) {
                way[k + 1] = (struct step){score, leaf.id, (uint32_t)i};
            }
        }
        if (!whole && way[i].score + u->unknown_score > way[i + len].score) {
            way[i + len] = (struct step){way[i].score + u->unknown_score, -1, (uint32_t)i};
        }
    }
    /* Walks back along the best path and turns `from` of each step into the end of the next token;
     * 0: the last token. */
    uint32_t next = 0;
    for (uint32_t at = (uint32_t)n, from; at > 0; at = from) {
        from = way[at].from;
        way[at].from = next;
        next = at;
    }
    qn_err err = QN_OK;
    for (uint32_t at = next; at > 0 && err == QN_OK; at = way[at].from) {
        /* A run of unknown characters becomes one unknown token. */
        int32_t id = way[at].id < 0 ? z->unknown : way[at].id;
        if (way[at].id >= 0 || !z->after_unknown) {
            err = qn_tokenizing_push(z, id, e);
        }
        z->after_unknown = way[at].id < 0;
    }
    if (way != near) {
        free(way);
    }
    return err;
}

qn_err qn_unigram_text(const struct qn_unigram *u, struct qn_tokenizing *z, const char *text,
                       size_t len, bool prefix, struct qn_error *e)
{
    struct normal t = {.merge_spaces = u->merge_spaces, .prefix = prefix};
    qn_buf_init(&t.out, QN_TOKEN_TEXT_MAX);
    qn_err err = normalise(u, &t, text, len);
    if (err != QN_OK) {
        err = qn_fail(e, QN_ELIMIT, "the text is longer than %d bytes when normalised",
                      QN_TOKEN_TEXT_MAX);
    }
    const char *s = qn_buf_cstr(&t.out);
    size_t n = t.out.len;
    z->after_unknown = false;
    for (size_t from = 0, to; from < n && err == QN_OK; from = to) {
        to = u->words_apart ? qn_spaced_word_end(s, from, n) : n;
        uint64_t hash = qn_vocab_hash(z->vocab, s + from, to - from);
        size_t before = z->out->n;
        bool plain = !z->after_unknown;
        if (plain && qn_recent_take(z, hash, s + from, to - from)) {
            continue;
        }
        err = best(u, z, s + from, to - from, e);
        /* A word that begins or ends with unknown characters is not cached, because its tokens
         * depend on the adjacent words. */
        if (err == QN_OK && plain && !z->after_unknown) {
            qn_recent_keep(z, hash, s + from, to - from, before);
        }
    }
    qn_buf_deinit(&t.out);
    return err;
}
