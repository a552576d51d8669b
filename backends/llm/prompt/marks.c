/* See marks.h. */
#include "llm/prompt/marks.h"

#include "base/str.h"

#include <string.h>

enum { MARK_BYTES = sizeof QN_TOKEN_MARK - 1 };

/* Copies s with a mark after the first character of every control token's text. */
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

void qn_marks_add(const struct qn_tokenizer *tok, const char *s, size_t n, struct qn_buf *out)
{
    if (needs_marks(tok, s, n))
        mark(tok, s, n, out);
    else
        qn_buf_add(out, s, n);
}

enum qn_tflow qn_marks_string(const struct qn_tokenizer *tok, struct qn_trun *run, const char *s,
                              size_t n, struct qn_tval *out)
{
    struct qn_buf text;
    if (!needs_marks(tok, s, n)) {
        *out = qn_tval_string(s, n);
        return QN_T_OK;
    }
    qn_buf_init(&text, (1 + MARK_BYTES) * n); /* at most one mark after every byte */
    mark(tok, s, n, &text);
    enum qn_tflow flow = qn_trun_copy(run, qn_buf_cstr(&text), text.len, out);
    qn_buf_deinit(&text);
    return flow;
}

static enum qn_tflow copy_string(const struct qn_tokenizer *tok, struct qn_trun *run, const char *s,
                                 struct qn_tval *out)
{
    QN_T_TRY(qn_marks_string(tok, run, s, strlen(s), out));
    return out->s == s ? qn_trun_copy(run, s, out->n, out) : QN_T_OK;
}

enum qn_tflow qn_marks_json(const struct qn_tokenizer *tok, struct qn_trun *run,
                            const struct qn_jref *value, struct qn_tval *out)
{
    struct qn_jref it;
    struct qn_tval item, key;
    struct qn_tlist *list = NULL;
    struct qn_tdict *dict = NULL;
    switch (qn_json_type(value)) {
    case QN_JSON_STRING:
        QN_T_TRY(qn_trun_charge(run, 1));
        return copy_string(tok, run, qn_json_raw_str(value), out);
    case QN_JSON_ARRAY:
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tlist_new(run, qn_json_count(value), &list));
        for (bool more = qn_json_first(value, &it); more; more = qn_json_next(&it)) {
            QN_T_TRY(qn_marks_json(tok, run, &it, &item));
            QN_T_TRY(qn_tlist_push(run, list, &item));
        }
        *out = qn_tval_list(list);
        return QN_T_OK;
    case QN_JSON_OBJECT:
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tdict_new(run, qn_json_count(value), &dict));
        for (bool more = qn_json_first(value, &it); more; more = qn_json_next(&it)) {
            QN_T_TRY(copy_string(tok, run, it.key, &key));
            QN_T_TRY(qn_marks_json(tok, run, &it, &item));
            QN_T_TRY(qn_tdict_set(run, dict, &key, &item));
        }
        *out = qn_tval_dict(dict);
        return QN_T_OK;
    default: /* numbers, booleans and null contain no text */
        return qn_tval_from_json(run, value, out);
    }
}
