/* See http_reader.h. */
#include "io/http_reader.h"

void qn_reader_init(struct qn_reader *r, size_t head_max)
{
    *r = (struct qn_reader){.max = head_max};
    qn_buf_init(&r->bytes, head_max);
}

void qn_reader_deinit(struct qn_reader *r)
{
    qn_buf_deinit(&r->bytes);
}

bool qn_reader_is_idle(const struct qn_reader *r)
{
    const struct qn_head *h = &r->head;
    return r->state == QN_READING_HEAD &&
           (h->status == 200 || (!h->started && h->at == r->bytes.len));
}

bool qn_reader_has_end(const struct qn_reader *r)
{
    return r->state == QN_READING_BODY && qn_chunks_done(&r->body);
}

void qn_reader_drop_head(struct qn_reader *r)
{
    qn_buf_deinit(&r->bytes);
}

static enum qn_reader_event refuse(struct qn_reader *r, int status, const char *why)
{
    r->state = QN_READING_NOTHING;
    r->status = status;
    r->why = why;
    return QN_READER_REFUSED;
}

static enum qn_reader_event take_head(struct qn_reader *r, const char *p, size_t n, size_t *used)
{
    if (r->head.status == 200) { /* of the previous request */
        qn_reader_drop_head(r);
        r->head = (struct qn_head){0};
    }
    size_t before = r->bytes.len, room = r->max - before;
    *used = n < room ? n : room;
    qn_buf_add(&r->bytes, p, *used);
    qn_head_more(&r->head, r->bytes.data, r->bytes.len, r->max);
    if (r->head.status == 0)
        return QN_READER_MORE;
    if (r->head.status != 200)
        return refuse(r, r->head.status, r->head.why);
    *used = r->head.len - before;
    r->bytes.len = r->head.len;
    r->state = QN_READING_BODY;
    qn_chunks_init(&r->body, &r->head.framing);
    return QN_READER_HEAD;
}

enum qn_reader_event qn_reader_take(struct qn_reader *r, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len)
{
    *used = *data_len = 0;
    *data = NULL;
    if (r->state == QN_READING_NOTHING)
        return QN_READER_REFUSED;
    if (r->state == QN_READING_HEAD)
        return n ? take_head(r, p, n, used) : QN_READER_MORE;
    switch (qn_chunks_take(&r->body, p, n, used, data, data_len)) {
    case QN_CHUNKS_DATA:
        return QN_READER_DATA;
    case QN_CHUNKS_END:
        r->state = QN_READING_HEAD;
        return QN_READER_END;
    case QN_CHUNKS_BAD:
        return refuse(r, 400, r->body.why);
    default:
        return QN_READER_MORE;
    }
}
