/* See word.h. */
#include "text/word.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    RECENT = 16384,          /* number of cached words, a power of two */
    RECENT_FROM = 32 * 1024, /* length of a text in bytes from which on the cache is worthwhile */
    RECENT_BYTES = 26,
    RECENT_IDS = 7
};

struct qn_recent {
    struct {
        uint32_t tag; /* part of the word's hash */
        uint8_t n, ids;
        char s[RECENT_BYTES];
        int32_t id[RECENT_IDS];
    } word[RECENT]; /* n 0: the entry is empty */
};

void qn_tokenizing_start(struct qn_tokenizing *z, size_t len)
{
    if (len >= RECENT_FROM) {
        z->recent = qn_xcalloc(1, sizeof *z->recent);
        z->pairs =
            z->vocab->model == QN_VOCAB_SPM ? qn_xcalloc(QN_RECENT_PAIRS, sizeof *z->pairs) : NULL;
    }
}

void qn_tokenizing_end(struct qn_tokenizing *z)
{
    qn_merge_deinit(&z->merge);
    free(z->recent);
    free(z->pairs);
    z->recent = NULL;
    z->pairs = NULL;
}

qn_err qn_tokenizing_push(struct qn_tokenizing *z, int32_t id, struct qn_error *e)
{
    if (id < 0) {
        return QN_OK;
    }
    if (z->out->n >= z->max_tokens) {
        return qn_fail(e, QN_ELIMIT, "the text has more than %zu tokens", z->max_tokens);
    }
    qn_tokens_push(z->out, id);
    return QN_OK;
}

bool qn_recent_take(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n)
{
    if (z->recent == NULL || n > RECENT_BYTES) {
        return false;
    }
    size_t at = (size_t)hash % RECENT;
    if (z->recent->word[at].n != n || z->recent->word[at].tag != (uint32_t)(hash >> 32) ||
        memcmp(z->recent->word[at].s, s, n) != 0 ||
        z->max_tokens - z->out->n < z->recent->word[at].ids) {
        return false;
    }
    for (uint8_t i = 0; i < z->recent->word[at].ids; i++) {
        qn_tokens_push(z->out, z->recent->word[at].id[i]);
    }
    return true;
}

void qn_recent_keep(struct qn_tokenizing *z, uint64_t hash, const char *s, size_t n, size_t before)
{
    size_t ids = z->out->n - before, at = (size_t)hash % RECENT;
    if (z->recent == NULL || n > RECENT_BYTES || ids > RECENT_IDS) {
        return;
    }
    z->recent->word[at].tag = (uint32_t)(hash >> 32);
    z->recent->word[at].n = (uint8_t)n;
    z->recent->word[at].ids = (uint8_t)ids;
    memcpy(z->recent->word[at].s, s, n);
    memcpy(z->recent->word[at].id, z->out->v + before, ids * sizeof z->out->v[0]);
}

/* Splits the word into symbols and joins them as far as possible. */
static qn_err join(struct qn_tokenizing *z, const struct qn_word_way *way, const char *s, size_t n,
                   struct qn_error *e)
{
    const struct qn_vocab *v = z->vocab;
    qn_err err = qn_merge_start(&z->merge, n, e);
    if (err != QN_OK) {
        return err;
    }
    if (way->bytes) {
        for (uint32_t i = 0; i < n; i++) {
            qn_merge_add(&z->merge, i, 1, v->byte_id[(unsigned char)s[i]]);
        }
    } else {
        for (size_t i = 0, len; i < n; i += len) {
            uint32_t cp;
            len = qn_utf8_decode(s + i, n - i, &cp);
            qn_merge_add(&z->merge, (uint32_t)i, (uint32_t)len,
                         cp < 0x80 ? v->ascii_id[cp] : qn_vocab_find_text(v, s + i, len));
        }
    }
    qn_merge_run(&z->merge, s, n, way->rank, way->ctx);
    return QN_OK;
}

static qn_err push_joined(struct qn_tokenizing *z, const char *s, size_t n, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (uint32_t i = 0, next; i < n && err == QN_OK; i = next) {
        const struct qn_merge_sym *sym = &z->merge.sym[i];
        next = sym->next;
        if (sym->id >= 0) {
            err = qn_tokenizing_push(z, sym->id, e);
        }
        for (uint32_t k = i; sym->id < 0 && k < next && err == QN_OK; k++) {
            int32_t id = z->vocab->byte_id[(unsigned char)s[k]];
            err = qn_tokenizing_push(z, id >= 0 ? id : z->unknown, e);
        }
    }
    return err;
}

qn_err qn_word_tokens(struct qn_tokenizing *z, const struct qn_word_way *way, const char *s,
                      size_t n, struct qn_error *e)
{
    const struct qn_vocab *v = z->vocab;
    uint64_t hash = n <= v->longest || n <= RECENT_BYTES ? qn_vocab_hash(v, s, n) : 0;
    int32_t whole = n <= v->longest ? qn_vocab_find_hashed(v, hash, s, n) : -1;
    if (whole >= 0 &&
        (way->take_whole ||
         atomic_load_explicit(&v->joined[whole], memory_order_relaxed) == QN_JOINED)) {
        return qn_tokenizing_push(z, whole, e);
    }
    if (qn_recent_take(z, hash, s, n)) {
        return QN_OK;
    }
    qn_err err = join(z, way, s, n, e);
    if (err != QN_OK) {
        return err;
    }
    if (whole >= 0 && z->merge.sym[0].next == n) {
        /* Every thread would store the same value, so the order does not matter. */
        atomic_store_explicit(&v->joined[whole], QN_JOINED, memory_order_relaxed);
    }
    size_t before = z->out->n;
    err = push_joined(z, s, n, e);
    if (err == QN_OK) {
        qn_recent_keep(z, hash, s, n, before);
    }
    return err;
}
