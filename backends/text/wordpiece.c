/* BERT's WordPiece: text is cleaned, converted to lower case and split at white space and
 * punctuation. Each word is then covered from the left by the longest matching tokens, or becomes
 * the unknown token as a whole. A GGUF file writes "▁word" for the beginning of a word and "rest"
 * for "##rest"; vocab.c decodes the former to " word". The only file of backends/text that includes
 * utf8proc. Source: google-research/bert tokenization, Hugging Face BertNormalizer. */
#include "text/pieces.h"

#include "base/buf.h"
#include "base/str.h"

#include <utf8proc.h>

#include <string.h>

enum {
    WORD_CHARS_MAX = 100, /* longer words become the unknown token, as in BERT */
    DECOMPOSED_MAX = 32   /* code points of one decomposed character; Unicode has at most 4 */
};

qn_err qn_wordpiece_init(struct qn_wordpiece *w, const struct qn_gguf *g, struct qn_error *e)
{
    static const char lowercase[] = "tokenizer.ggml.normalizer.lowercase";
    static const char accents[] = "tokenizer.ggml.normalizer.strip_accents";
    w->lowercase = true;
    qn_err err = qn_gguf_has(g, lowercase) ? qn_gguf_bool(g, lowercase, &w->lowercase, e) : QN_OK;
    w->strip_accents = w->lowercase;
    if (err == QN_OK && qn_gguf_has(g, accents)) {
        err = qn_gguf_bool(g, accents, &w->strip_accents, e);
    }
    return err;
}

static bool is_chinese(uint32_t cp)
{
    static const uint32_t ranges[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                         {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                         {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (cp >= ranges[i][0] && cp <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

static bool is_punctuation(uint32_t cp, utf8proc_category_t category)
{
    if (cp < 0x7f && (category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO)) {
        return true; /* BERT treats every ASCII symbol as punctuation */
    }
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/* The current word: a space and its characters. */
struct word {
    char s[1 + 4 * (WORD_CHARS_MAX + 1)];
    size_t n;
    int chars;
};

static void append(struct word *w, uint32_t cp)
{
    if (w->chars <= WORD_CHARS_MAX) {
        w->n += qn_utf8_encode(cp, w->s + w->n);
        w->chars++;
    }
}

static qn_err finish(struct word *w, struct qn_tokenizing *z, struct qn_error *e)
{
    if (w->chars == 0) {
        return QN_OK;
    }
    size_t before = z->out->n, at = 0;
    qn_err err = QN_OK;
    while (err == QN_OK && w->chars <= WORD_CHARS_MAX && at < w->n) {
        size_t end = w->n - at > z->vocab->longest ? at + z->vocab->longest : w->n;
        int32_t id = -1;
        while (end > at && (id = qn_vocab_find_text(z->vocab, w->s + at, end - at)) < 0) {
            end--;
        }
        if (id < 0) {
            break;
        }
        err = qn_tokenizing_push(z, id, e);
        at = end;
    }
    if (err == QN_OK && (at < w->n || w->chars > WORD_CHARS_MAX)) {
        z->out->n = before;
        err = qn_tokenizing_push(z, z->unknown, e);
    }
    w->n = 1;
    w->chars = 0;
    return err;
}

static qn_err character(const struct qn_wordpiece *wp, struct qn_tokenizing *z, struct word *w,
                        uint32_t cp, struct qn_error *e)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);
    if (cp == '\t' || cp == '\n' || cp == '\r' ||
        (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP)) {
        return finish(w, z, e);
    }
    /* Clean-up: drops control, format, private-use and unassigned characters. */
    if (cp == 0 || cp == 0xfffd || category == UTF8PROC_CATEGORY_CN ||
        (category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO)) {
        return QN_OK;
    }
    if (wp->strip_accents && category == UTF8PROC_CATEGORY_MN) {
        return QN_OK;
    }
    bool alone = is_punctuation(cp, category) || is_chinese(cp);
    qn_err err = alone ? finish(w, z, e) : QN_OK;
    append(w, wp->lowercase ? (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp) : cp);
    return alone && err == QN_OK ? finish(w, z, e) : err;
}

qn_err qn_wordpiece_text(const struct qn_wordpiece *wp, struct qn_tokenizing *z, const char *text,
                         size_t len, struct qn_error *e)
{
    struct word w = {.s = " ", .n = 1};
    qn_err err = QN_OK;
    for (size_t i = 0; i < len && err == QN_OK;) {
        uint32_t cp;
        utf8proc_int32_t parts[DECOMPOSED_MAX];
        utf8proc_ssize_t n = 1;
        i += qn_utf8_decode(text + i, len - i, &cp);
        parts[0] = (utf8proc_int32_t)cp;
        if (wp->strip_accents && cp >= 0x80) {
            int boundary = 0;
            n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, DECOMPOSED_MAX,
                                        UTF8PROC_DECOMPOSE | UTF8PROC_STABLE, &boundary);
            if (n < 1 || n > DECOMPOSED_MAX) { /* utf8proc cannot decompose this character */
                parts[0] = (utf8proc_int32_t)cp;
                n = 1;
            }
        }
        for (utf8proc_ssize_t k = 0; k < n && err == QN_OK; k++) {
            err = character(wp, z, &w, (uint32_t)parts[k], e);
        }
    }
    return err == QN_OK ? finish(&w, z, e) : err;
}
