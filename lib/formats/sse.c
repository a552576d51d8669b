/* See sse.h. */
#include "formats/sse.h"

#include <string.h>

void qn_sse_init(struct qn_sse *s, qn_sse_fn fn, void *ctx)
{
    *s = (struct qn_sse){.fn = fn, .ctx = ctx};
    qn_buf_init(&s->line, QN_SSE_EVENT_MAX);
    qn_buf_init(&s->data, QN_SSE_EVENT_MAX);
    qn_buf_init(&s->event, QN_SSE_EVENT_MAX);
}

void qn_sse_deinit(struct qn_sse *s)
{
    qn_buf_deinit(&s->line);
    qn_buf_deinit(&s->data);
    qn_buf_deinit(&s->event);
}

static void dispatch(struct qn_sse *s)
{
    if (s->has_data)
        s->fn(s->ctx, s->event.len ? s->event.data : "message", qn_buf_cstr(&s->data), s->data.len);
    qn_buf_clear(&s->data);
    qn_buf_clear(&s->event);
    s->has_data = false;
}

static qn_err take_line(struct qn_sse *s)
{
    const char *line = qn_buf_cstr(&s->line);
    size_t n = s->line.len;
    if (!s->begun && n >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        n -= 3;
    }
    s->begun = true;
    if (n == 0) {
        dispatch(s);
        qn_buf_clear(&s->line);
        return QN_OK;
    }
    const char *colon = memchr(line, ':', n);
    size_t name = colon ? (size_t)(colon - line) : n;
    const char *value = colon ? colon + 1 : line + n;
    if (value < line + n && *value == ' ')
        value++;
    size_t value_len = (size_t)(line + n - value);
    qn_err err = QN_OK;
    if (name == 4 && memcmp(line, "data", 4) == 0) {
        if (s->has_data)
            err = qn_buf_char(&s->data, '\n');
        if (!err)
            err = qn_buf_add(&s->data, value, value_len);
        s->has_data = true;
    } else if (name == 5 && memcmp(line, "event", 5) == 0) {
        qn_buf_clear(&s->event);
        err = qn_buf_add(&s->event, value, value_len);
    }
    qn_buf_clear(&s->line);
    return err;
}

qn_err qn_sse_feed(struct qn_sse *s, const void *p, size_t n)
{
    const char *bytes = p;
    for (size_t i = 0; i < n;) {
        if (s->after_cr && bytes[i] == '\n') {
            s->after_cr = false;
            i++;
            continue;
        }
        s->after_cr = false;
        size_t end = i;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        if (qn_buf_add(&s->line, bytes + i, end - i))
            return QN_ELIMIT;
        if (end == n)
            return QN_OK;
        s->after_cr = bytes[end] == '\r';
        qn_err err = take_line(s);
        if (err)
            return err;
        i = end + 1;
    }
    return QN_OK;
}
