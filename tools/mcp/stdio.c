/* See stdio.h. */
#include "mcp/stdio.h"

#include "base/clock.h"
#include "mcp/results.h"
#include "mcp/router.h"
#include "mcp/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    OUT_MAX = 16 * 1024 * 1024, /* maximum bytes queued while the server does not read its stdin */
    READ_BYTES = 64 * 1024,
    WORDS_MAX = 300, /* how many of the last bytes of its stderr are kept for an error message */
    STATUS_MS = 500  /* how long to wait for the keeper's sentence about how the server ended */
};

struct talk {
    const struct qn_launched *server;
    int status;
    struct qn_session *session;
    struct qn_buf out;   /* queued for the server's stdin */
    struct qn_buf line;  /* start of an incomplete line of its stdout */
    struct qn_buf words; /* the last bytes of its stderr */
    bool errors_open, router_gone;
};

static void send_message(void *ctx, int64_t rpc, const char *json, size_t n)
{
    struct talk *t = ctx;
    (void)rpc;
    qn_buf_add(&t->out, json, n);
    qn_buf_char(&t->out, '\n');
}

static void report(void *ctx, const struct qn_mcp_up *up)
{
    struct talk *t = ctx;
    t->router_gone = !qn_router_tell(up) || t->router_gone;
}

static void write_out(struct talk *t)
{
    while (t->out.len) {
        ssize_t n = write(t->server->in, t->out.data, t->out.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            qn_buf_clear(&t->out); /* broken pipe: EOF on its stdout will follow */
        if (n < 0)
            return;
        qn_buf_drop(&t->out, (size_t)n);
    }
}

/* Reads the program's stderr and keeps the last WORDS_MAX bytes. */
static void read_words(struct talk *t)
{
    char bytes[READ_BYTES];
    ssize_t n = read(t->server->errors, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    t->errors_open = n > 0;
    if (n > 0) {
        size_t take = (size_t)n > WORDS_MAX ? WORDS_MAX : (size_t)n;
        if (t->words.len + take > WORDS_MAX)
            qn_buf_drop(&t->words, t->words.len + take - WORDS_MAX);
        qn_buf_add(&t->words, bytes + n - take, take);
    }
}

/* Returns the last line of the program's stderr. */
static const char *last_words(struct talk *t)
{
    char *text = qn_buf_cstr(&t->words);
    size_t n = strlen(text);
    while (n && strchr(" \r\n", text[n - 1]))
        text[--n] = '\0';
    const char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* Handles EOF on the program's stdout: ends the session with a message about how the program
 * ended. */
static void ended(struct talk *t)
{
    char how[128] = "closed its output", text[QN_MCP_MESSAGE_TEXT_MAX];
    struct pollfd wait = {.fd = t->status, .events = POLLIN};
    ssize_t n = poll(&wait, 1, STATUS_MS) > 0 ? read(t->status, how, sizeof how - 1) : 0;
    if (n > 0)
        how[n] = '\0';
    if (t->errors_open)
        read_words(t);
    const char *words = last_words(t);
    snprintf(text, sizeof text, "the server %s%s%s", how, *words ? ": " : "", words);
    qn_session_break(t->session, text);
}

static void read_out(struct talk *t, int64_t now)
{
    char bytes[READ_BYTES];
    const char *end;
    size_t at = 0;
    ssize_t n = read(t->server->out, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        ended(t);
        return;
    }
    if (qn_buf_add(&t->line, bytes, (size_t)n)) {
        qn_session_break(t->session, "the server sent a message that is too long");
        return;
    }
    while (at < t->line.len && (end = memchr(t->line.data + at, '\n', t->line.len - at))) {
        size_t len = (size_t)(end - (t->line.data + at));
        size_t text = len && t->line.data[at + len - 1] == '\r' ? len - 1 : len;
        if (text)
            qn_session_message(t->session, t->line.data + at, text, now);
        at += len + 1;
    }
    qn_buf_drop(&t->line, at);
}

static void turn(struct talk *t, struct qn_buf *in)
{
    int64_t wait = qn_session_tick(t->session, qn_now_ms());
    struct pollfd fds[] = {{.fd = QN_MCP_FD, .events = POLLIN},
                           {.fd = t->server->out, .events = POLLIN},
                           {.fd = t->errors_open ? t->server->errors : -1, .events = POLLIN},
                           {.fd = t->out.len ? t->server->in : -1, .events = POLLOUT}};
    if (qn_session_is_down(t->session) || poll(fds, 4, (int)wait) < 0)
        return;
    if (fds[3].revents)
        write_out(t);
    if (fds[2].revents)
        read_words(t);
    if (fds[1].revents)
        read_out(t, qn_now_ms());
    if (fds[0].revents)
        t->router_gone = !qn_router_take(in, true, t->session, qn_now_ms()) || t->router_gone;
    write_out(t);
    if (t->out.overflow)
        qn_session_break(t->session, "the server does not read what it is sent");
}

void qn_stdio_run(const struct qn_mcp_target *config, const struct qn_launched *server, int status,
                  struct qn_buf *in)
{
    static const struct qn_session_events ev = {.send = send_message, .up = report};
    struct talk t = {.server = server, .status = status, .errors_open = true};
    qn_buf_init(&t.out, OUT_MAX);
    qn_buf_init(&t.line, QN_SESSION_MESSAGE_MAX + READ_BYTES);
    qn_buf_init(&t.words, WORDS_MAX);
    t.session = qn_session_new(&ev, &t, config->start_ms, qn_now_ms());
    qn_router_take(in, false, t.session, qn_now_ms());
    write_out(&t);
    while (!t.router_gone && !qn_session_is_down(t.session))
        turn(&t, in);
    qn_session_free(t.session);
    qn_buf_deinit(&t.out);
    qn_buf_deinit(&t.line);
    qn_buf_deinit(&t.words);
}
