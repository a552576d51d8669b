/* See marks.h: a walk over a JSON value that copies it with marks in its texts. */
#include "llm/prompt/marks.h"

#include "base/str.h"

#include <string.h>

enum { MARK_BYTES = sizeof QN_TOKEN_MARK - 1 };

/* s with a mark behind the first character of every control token's written form. */
static void mark(const struct qn_tokenizer *tok, const char *s, size_t n, struct qn_buf *out)
{
    size_t control = qn_tokenizer_next_control(tok, s, 0, n);
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t used = qn_utf8_decode(s + at, n - at, &cp);
        if (n - at >= MARK_BYTES && memcmp(s + at, QN_TOKEN_MARK, MARK_BYTES) == 0)
            qn_buf_str(out, "\xef\xbf\xbd");
        else
            qn_buf_add(out, s + at, used);
        if (at == control) {
            qn_buf_str(out, QN_TOKEN_MARK);
            control = qn_tokenizer_next_control(tok, s, at + used, n);
        }
        at += used;
    }
}

static bool needs_marks(const struct qn_tokenizer *tok, const char *s, size_t n)
{
    return qn_tokenizer_next_control(tok, s, 0, n) < n ||
           memmem(s, n, QN_TOKEN_MARK, MARK_BYTES) != NULL;
}

void qn_marks_write_str(const struct qn_tokenizer *tok, struct qn_jw *w, const char *s, size_t n)
{
    if (!needs_marks(tok, s, n)) {
        qn_jw_strn(w, s, n);
        return;
    }
    struct qn_buf text;
    qn_buf_init(&text, (1 + MARK_BYTES) * n); /* at most a mark behind every byte */
    mark(tok, s, n, &text);
    qn_jw_strn(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
}

void qn_marks_write_key(const struct qn_tokenizer *tok, struct qn_jw *w, const char *key)
{
    size_t n = strlen(key);
    if (!needs_marks(tok, key, n)) {
        qn_jw_key(w, key);
        return;
    }
    struct qn_buf text;
    qn_buf_init(&text, (1 + MARK_BYTES) * n);
    mark(tok, key, n, &text);
    qn_jw_key(w, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

static void walk(const struct qn_tokenizer *tok, struct qn_jw *w, const struct qn_jref *value)
{
    struct qn_jref it;
    struct qn_buf raw;
    switch (qn_json_type(value)) {
    case QN_JSON_STRING:
        qn_marks_write_str(tok, w, qn_json_raw_str(value), strlen(qn_json_raw_str(value)));
        break;
    case QN_JSON_ARRAY:
        qn_jw_arr(w);
        for (bool more = qn_json_first(value, &it); more; more = qn_json_next(&it))
            walk(tok, w, &it);
        qn_jw_arr_end(w);
        break;
    case QN_JSON_OBJECT:
        qn_jw_obj(w);
        for (bool more = qn_json_first(value, &it); more; more = qn_json_next(&it)) {
            qn_marks_write_key(tok, w, it.key);
            walk(tok, w, &it);
        }
        qn_jw_obj_end(w);
        break;
    default: /* numbers, truths and null have no text to mark, and fit here */
        qn_buf_init(&raw, 64);
        qn_json_print(value, &raw);
        qn_jw_raw(w, qn_buf_cstr(&raw), raw.len);
        qn_buf_deinit(&raw);
    }
}

void qn_marks_write(const struct qn_tokenizer *tok, struct qn_jw *w, const struct qn_jref *value)
{
    /* By a writer of its own: the value may be as deep as a whole document, and w is in one. */
    struct qn_buf raw;
    qn_buf_init(&raw, w->out->limit);
    struct qn_jw inner = qn_jw_to(&raw);
    walk(tok, &inner, value);
    qn_jw_raw(w, qn_buf_cstr(&raw), raw.len);
    w->out->overflow |= raw.overflow;
    qn_buf_deinit(&raw);
}
