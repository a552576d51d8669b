/* A token bucket decides which lines reach the log; the last lines are kept even if they do not
 * reach it. A child that logs with lib/base/log.h writes a time and a level before each line: the
 * level is taken over and the time dropped, since the router's logger adds its own. */
#include "models/child_log.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { TIME_LEN = 24 /* "2026-01-31T12:00:00.123Z" */ };

void qn_child_log_init(struct qn_child_log *g, const char *type, const char *name)
{
    *g = (struct qn_child_log){.tokens = QN_CHILD_LOG_BURST};
    struct qn_buf tag;
    qn_buf_init(&tag, 4096);
    qn_buf_fmt(&tag, "%s/%s", type, name);
    g->tag = qn_buf_take(&tag);
    qn_buf_init(&g->line, QN_CHILD_LOG_LINE_MAX);
}

void qn_child_log_clear(struct qn_child_log *g)
{
    for (size_t i = 0; i < QN_CHILD_LOG_TAIL; i++) {
        free(g->tail[i]);
        g->tail[i] = NULL;
    }
    g->next = 0;
    qn_buf_clear(&g->line);
}

void qn_child_log_deinit(struct qn_child_log *g)
{
    qn_child_log_clear(g);
    qn_buf_deinit(&g->line);
    free(g->tag);
}

/* "2026-01-31T12:00:00.123Z warn llm text" gives warn and "llm text"; any other line has level
 * info. */
static const char *take_level(const char *line, enum qn_log_level *level)
{
    *level = QN_LOG_INFO;
    if (strlen(line) <= TIME_LEN || line[10] != 'T' || line[TIME_LEN - 1] != 'Z' ||
        line[TIME_LEN] != ' ')
        return line;
    const char *word = line + TIME_LEN + 1;
    size_t n = strcspn(word, " ");
    char name[16];
    if (word[n] != ' ' || n >= sizeof name)
        return line;
    memcpy(name, word, n);
    name[n] = 0;
    return qn_log_level_parse(name, level) ? word + n + 1 : line;
}

static void tell_suppressed(struct qn_child_log *g)
{
    if (g->suppressed == 0)
        return;
    qn_warn(g->tag, "%lld lines left out: more than %d in a second", (long long)g->suppressed,
            QN_CHILD_LOG_RATE);
    g->suppressed = 0;
}

static void refill(struct qn_child_log *g, int64_t now_ms)
{
    int64_t more = (now_ms - g->refilled_ms) * QN_CHILD_LOG_RATE / 1000;
    if (more <= 0)
        return;
    g->refilled_ms = now_ms;
    g->tokens = g->tokens + more < QN_CHILD_LOG_BURST ? g->tokens + more : QN_CHILD_LOG_BURST;
}

static void end_line(struct qn_child_log *g, int64_t now_ms)
{
    const char *line = qn_buf_cstr(&g->line);
    if (*line) {
        free(g->tail[g->next]);
        g->tail[g->next] = qn_xstrdup(line);
        g->next = (g->next + 1) % QN_CHILD_LOG_TAIL;
        refill(g, now_ms);
        if (g->tokens > 0) {
            enum qn_log_level level;
            const char *text = take_level(line, &level);
            g->tokens--;
            tell_suppressed(g);
            qn_log(level, g->tag, "%s", text);
        } else {
            g->suppressed++;
        }
    }
    qn_buf_clear(&g->line);
}

void qn_child_log_feed(struct qn_child_log *g, const char *p, size_t n, int64_t now_ms)
{
    while (n > 0) {
        const char *nl = memchr(p, '\n', n);
        size_t part = nl ? (size_t)(nl - p) : n;
        size_t room = QN_CHILD_LOG_LINE_MAX - g->line.len;
        size_t text = part > 0 && p[part - 1] == '\r' ? part - 1 : part;
        qn_buf_add(&g->line, p, text < room ? text : room);
        if (!nl)
            return;
        end_line(g, now_ms);
        p += part + 1;
        n -= part + 1;
    }
}

void qn_child_log_end(struct qn_child_log *g, int64_t now_ms)
{
    end_line(g, now_ms);
    tell_suppressed(g);
}

void qn_child_log_print(const struct qn_child_log *g, struct qn_buf *out)
{
    for (size_t i = 0; i < QN_CHILD_LOG_TAIL; i++) {
        const char *line = g->tail[(g->next + i) % QN_CHILD_LOG_TAIL];
        if (line)
            qn_buf_fmt(out, "%s\n", line);
    }
}
