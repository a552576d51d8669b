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
    qn_json_free(r->json);
    r->json = NULL;
}

/* Drops the bytes of the frame that was returned last. This is deferred to the next call so that
 * many small frames in one buffer cost one memmove. */
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

/* Parses the next line into r, if the buffer has the whole line. */
static qn_err take_line(struct qn_frame_reader *r, const char *begin, size_t have,
                        struct qn_error *e)
{
    const char *newline =
        have > r->scanned ? memchr(begin + r->scanned, '\n', have - r->scanned) : NULL;
    size_t line = newline ? (size_t)(newline - begin) : have;
    r->scanned = line;
    if (line > r->line_max)
        return qn_fail(e, QN_ELIMIT, "frame line longer than %zu bytes", r->line_max);
    if (!newline)
        return QN_EBUSY;
    if (qn_json_parse(begin, line, &r->json, e))
        return QN_EFORMAT;
    struct qn_jref root = qn_json_root(r->json), member = qn_json_get(&root, "bytes");
    int64_t bytes = 0;
    if (qn_json_i64_opt(&member, 0, QN_FRAME_BYTES_MAX, &bytes, e)) {
        qn_json_free(r->json);
        r->json = NULL;
        return QN_EFORMAT;
    }
    r->line = line + 1;
    r->has_bytes = qn_json_type(&member) == QN_JSON_NUMBER;
    r->bytes = (size_t)bytes;
    return QN_OK;
}

qn_err qn_frame_next(struct qn_frame_reader *r, struct qn_frame *out, struct qn_error *e)
{
    *out = (struct qn_frame){0};
    const char *begin = qn_buf_cstr(&r->in) + r->used;
    size_t have = r->in.len - r->used;
    qn_err err = r->json ? QN_OK : take_line(r, begin, have, e);
    if (err)
        return err;
    if (have - r->line < r->bytes)
        return QN_EBUSY; /* r->json is kept, so the line is not parsed again */
    out->json = r->json;
    if (r->has_bytes) {
        out->bytes = begin + r->line;
        out->bytes_len = r->bytes;
    }
    r->json = NULL;
    r->used += r->line + r->bytes;
    r->scanned = 0;
    return QN_OK;
}

bool qn_frame_pending(const struct qn_frame_reader *r)
{
    return r->in.len > r->used;
}
