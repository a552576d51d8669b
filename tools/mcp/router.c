/* See router.h. */
#include "mcp/router.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024 };

/* Blocks until the router has sent bytes, and appends them to `in`. Returns false at end of file,
 * after an error, or if the buffer is full. */
static bool receive(struct qn_buf *in)
{
    char bytes[READ_BYTES];
    ssize_t n;
    do
        n = recv(QN_MCP_FD, bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    return n > 0 && !qn_buf_add(in, bytes, (size_t)n);
}

bool qn_router_first(struct qn_buf *line, struct qn_buf *rest)
{
    const char *end;
    while (!(end = line->len ? memchr(line->data, '\n', line->len) : NULL))
        if (!receive(line))
            return false;
    size_t n = (size_t)(end - line->data);
    qn_buf_add(rest, end + 1, line->len - n - 1);
    line->len = n;
    return true;
}

static void take_line(const char *line, size_t n, struct qn_session *s, int64_t now_ms)
{
    struct qn_json *doc;
    if (qn_json_parse(line, n, &doc, NULL))
        return; /* cannot happen: the router only sends valid JSON */
    struct qn_jref root = qn_json_root(doc), what = qn_json_get(&root, "do"),
                   id = qn_json_get(&root, "id"), tool = qn_json_get(&root, "tool"),
                   arguments = qn_json_get(&root, "arguments"), ms = qn_json_get(&root, "ms");
    const char *verb = qn_json_raw_str(&what);
    int64_t call = (int64_t)qn_json_raw_f64(&id);
    if (qn_str_eq(verb, "list"))
        qn_session_list(s, now_ms);
    else if (qn_str_eq(verb, "call"))
        qn_session_call(s, call, qn_json_raw_str(&tool), qn_json_raw_str(&arguments),
                        (int64_t)qn_json_raw_f64(&ms), now_ms);
    else if (qn_str_eq(verb, "cancel"))
        qn_session_cancel(s, call);
    qn_json_free(doc);
}

bool qn_router_take(struct qn_buf *in, bool readable, struct qn_session *s, int64_t now_ms)
{
    size_t at = 0;
    const char *end;
    if (readable && !receive(in))
        return false;
    while (at < in->len && (end = memchr(in->data + at, '\n', in->len - at))) {
        size_t n = (size_t)(end - (in->data + at));
        take_line(in->data + at, n, s, now_ms);
        at += n + 1;
    }
    qn_buf_drop(in, at);
    return true;
}

/* Sends the line and frees its buffer. */
static bool send_line(struct qn_buf *line)
{
    bool told = true;
    for (size_t at = 0; at < line->len && told;) {
        ssize_t n = send(QN_MCP_FD, line->data + at, line->len - at, MSG_NOSIGNAL);
        told = n >= 0 || errno == EINTR;
        at += n > 0 ? (size_t)n : 0;
    }
    qn_buf_deinit(line);
    return told;
}

/* Copies as many whole UTF-8 characters of `message` as fit. Invalid bytes are replaced by U+FFFD
 * before they are counted, because that makes the text longer. */
static void clean(const char *message, char out[static QN_MCP_MESSAGE_TEXT_MAX + 1])
{
    size_t left = strlen(message), n = 0;
    while (left && n + 4 <= QN_MCP_MESSAGE_TEXT_MAX) {
        uint32_t cp;
        size_t used = qn_utf8_decode(message, left, &cp);
        n += qn_utf8_encode(cp, out + n);
        message += used;
        left -= used;
    }
    out[n] = '\0';
}

bool qn_router_tell(const struct qn_mcp_up *up)
{
    char message[QN_MCP_MESSAGE_TEXT_MAX + 1];
    struct qn_mcp_up told = *up;
    struct qn_buf line;
    if (up->message) {
        clean(up->message, message);
        told.message = message;
    }
    qn_buf_init(&line, 2 * QN_MCP_UP_MAX);
    qn_mcp_up_write(&told, &line);
    return send_line(&line);
}

bool qn_router_tell_program(int64_t pid)
{
    struct qn_buf line;
    qn_buf_init(&line, QN_MCP_MESSAGE_TEXT_MAX);
    qn_mcp_program_write(pid, &line);
    return send_line(&line);
}
