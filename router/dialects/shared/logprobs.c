/* See logprobs.h. */
#include "dialects/shared/logprobs.h"

#include "base/json.h"
#include "base/str.h"

#include <string.h>

/* Bytes that are compared; longer tokens are distinguished by these. */
enum { TOKEN_BYTES_MAX = 1024 };

/* Writes {"token","logprob","bytes"} of one entry, without the closing brace. */
static void write_token(const struct qn_jref *token, struct qn_jw *w)
{
    struct qn_jref text = qn_json_get(token, "token"), p = qn_json_get(token, "logprob");
    struct qn_jref bytes = qn_json_get(token, "bytes"), it;
    qn_jw_obj(w);
    qn_jw_kstr(w, "token", qn_json_raw_str(&text));
    if (qn_json_type(&p) == QN_JSON_NUMBER)
        qn_jw_kf64(w, "logprob", qn_json_raw_f64(&p));
    else
        qn_jw_knull(w, "logprob");
    qn_jw_key(w, "bytes");
    qn_jw_arr(w);
    for (bool more = qn_json_first(&bytes, &it); more; more = qn_json_next(&it)) {
        int64_t byte = 0; /* an invalid number counts as 0 */
        (void)qn_json_i64(&it, 0, 255, &byte, NULL);
        qn_jw_i64(w, byte);
    }
    qn_jw_arr_end(w);
}

void qn_logprobs_name(const struct qn_jref *token, struct qn_buf *out)
{
    struct qn_jref text = qn_json_get(token, "token"), bytes = qn_json_get(token, "bytes"), it;
    char raw[TOKEN_BYTES_MAX];
    size_t n = 0;
    for (bool more = qn_json_first(&bytes, &it); more && n < sizeof raw; more = qn_json_next(&it)) {
        int64_t byte = 0; /* an invalid number counts as 0 */
        (void)qn_json_i64(&it, 0, 255, &byte, NULL);
        raw[n++] = (char)byte;
    }
    if (qn_utf8_valid(raw, n)) {
        qn_buf_str(out, qn_json_raw_str(&text));
        return;
    }
    qn_buf_str(out, "bytes:");
    for (size_t i = 0; i < n; i++)
        qn_buf_fmt(out, "\\x%02x", (unsigned)(unsigned char)raw[i]);
}

qn_err qn_logprobs_add(const char *tokens, bool always, struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(tokens, strlen(tokens), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), token, other;
    for (bool more = qn_json_first(&root, &token); more; more = qn_json_next(&token)) {
        if (out->len)
            qn_buf_char(out, ',');
        struct qn_jw w = qn_jw_to(out);
        struct qn_jref top = qn_json_get(&token, "top");
        write_token(&token, &w);
        if (always || qn_json_count(&top)) {
            qn_jw_key(&w, "top_logprobs");
            qn_jw_arr(&w);
            for (bool m = qn_json_first(&top, &other); m; m = qn_json_next(&other)) {
                write_token(&other, &w);
                qn_jw_obj_end(&w);
            }
            qn_jw_arr_end(&w);
        }
        qn_jw_obj_end(&w);
    }
    qn_json_free(doc);
    return out->overflow ? qn_fail(e, QN_ELIMIT, "the reply is too long") : QN_OK;
}
