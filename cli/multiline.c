/* See multiline.h. */
#include "cli/multiline.h"

#include <string.h>

enum { FENCE = 3 };

void qn_multiline_init(struct qn_multiline *m, size_t limit)
{
    *m = (struct qn_multiline){0};
    qn_buf_init(&m->text, limit);
}

void qn_multiline_deinit(struct qn_multiline *m)
{
    qn_buf_deinit(&m->text);
}

void qn_multiline_clear(struct qn_multiline *m)
{
    qn_buf_clear(&m->text);
    m->lines = 0;
    m->quoted = false;
}

static bool starts_fence(const char *s, size_t n)
{
    return n >= FENCE && memcmp(s, "\"\"\"", FENCE) == 0;
}

bool qn_multiline_add(struct qn_multiline *m, const char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    if (!m->quoted && m->lines == 0 && starts_fence(line, n)) {
        m->quoted = true;
        line += FENCE;
        n -= FENCE;
        if (n == 0)
            return false;
    }
    bool closed = m->quoted && n >= FENCE && starts_fence(line + n - FENCE, FENCE);
    bool joined = !m->quoted && n && line[n - 1] == '\\';
    n -= closed ? FENCE : joined ? 1 : 0;
    if (n || !closed) { /* closing quotes on a line of their own add no line to the text */
        if (m->lines++)
            qn_buf_char(&m->text, '\n');
        qn_buf_add(&m->text, line, n);
    }
    return closed || !(m->quoted || joined);
}
