/* See frame.h. */
#include "contract/frame.h"

#include <string.h>

void qn_frame_reader_init(struct qn_frame_reader *r, size_t line_max)
{
    *r = (struct qn_frame_reader){.line_max = line_max};
    qn_buf_init(&r->in, line_max + QN_FRAME_BYTES_MAX);
}

void qn_frame_reader_deinit(struct qn_frame_reader *r)
{
    qn_buf_deinit(&r->in);
}

/* Drops the frame lent last. Done lazily so that many small frames fed at once cost one move. */
static void drop_used(struct qn_frame_reader *r)
{
    if (r->used) {
        qn_buf_drop(&r->in, r->used);
        r->used = 0;
        r->scanned = 0;
    }
}

qn_err qn_frame_feed(struct qn_frame_reader *r, const void *p, size_t n)
{
    drop_used(r);
    return qn_buf_add(&r->in, p, n);
}

qn_err qn_frame_next(struct qn_frame_reader *r, struct qn_frame *out, struct qn_error *e)
{
    *out = (struct qn_frame){0};
    const char *begin = qn_buf_cstr(&r->in) + r->used;
    size_t have = r->in.len - r->used;
    const char *newline =
        have > r->scanned ? memchr(begin + r->scanned, '\n', have - r->scanned) : NULL;
    if (!newline) {
        r->scanned = have;
        return have > r->line_max
                   ? qn_fail(e, QN_ELIMIT, "frame line longer than %zu bytes", r->line_max)
                   : QN_EBUSY;
    }
    size_t line = (size_t)(newline - begin);
    if (line > r->line_max)
        return qn_fail(e, QN_ELIMIT, "frame line longer than %zu bytes", r->line_max);
    /* Found again at once if the raw bytes are still on their way. */
    r->scanned = line;
    struct qn_json *json;
    qn_err err = qn_json_parse(begin, line, &json, e);
    if (err)
        return QN_EFORMAT;
    struct qn_jref root = qn_json_root(json);
    struct qn_jref member = qn_json_get(&root, "bytes");
    int64_t bytes = 0;
    err = qn_json_i64_opt(&member, 0, QN_FRAME_BYTES_MAX, &bytes, e);
    if (err) {
        qn_json_free(json);
        return QN_EFORMAT;
    }
    if (have - line - 1 < (size_t)bytes) {
        qn_json_free(json);
        return QN_EBUSY;
    }
    out->json = json;
    if (qn_json_type(&member) == QN_JSON_NUMBER) {
        out->bytes = newline + 1;
        out->bytes_len = (size_t)bytes;
    }
    r->used += line + 1 + (size_t)bytes;
    r->scanned = 0;
    return QN_OK;
}

bool qn_frame_pending(const struct qn_frame_reader *r)
{
    return r->in.len > r->used;
}
