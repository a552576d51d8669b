/* See log.h. A line is formatted in a buffer and written with one write(2), so that lines of
 * several threads and processes on one pipe are not mixed. */
#include "base/log.h"

#include "base/address.h"
#include "base/clock.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

static _Atomic int current_level = QN_LOG_INFO;
static qn_log_sink line_sink;
static void *line_sink_ctx;

static const char *const level_names[] = {"fatal", "error", "warn", "info", "debug", "trace"};

void qn_log_set_level(enum qn_log_level level)
{
    atomic_store(&current_level, (int)level);
}

enum qn_log_level qn_log_get_level(void)
{
    return (enum qn_log_level)atomic_load(&current_level);
}

bool qn_log_level_parse(const char *name, enum qn_log_level *out)
{
    for (int i = QN_LOG_FATAL; i <= QN_LOG_TRACE; i++)
        if (qn_str_eq(name, level_names[i])) {
            *out = (enum qn_log_level)i;
            return true;
        }
    /* Further names of the levels, used by other servers. */
    static const struct {
        const char *name;
        enum qn_log_level level;
    } others[] = {{"critical", QN_LOG_FATAL}, {"warning", QN_LOG_WARN}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (qn_str_eq(name, others[i].name)) {
            *out = others[i].level;
            return true;
        }
    return false;
}

const char *qn_log_level_name(enum qn_log_level level)
{
    return level_names[level];
}

void qn_log_set_sink(qn_log_sink sink, void *ctx)
{
    line_sink_ctx = ctx;
    line_sink = sink;
}

/* Copies text and escapes line breaks, control characters and bytes that are not UTF-8 (truncated
 * formatting may have split a character); out has space for n bytes. U+0080 to U+009F are control
 * characters too: terminals interpret U+009B as ESC [. */
static size_t escape(char *out, size_t n, const char *text)
{
    size_t used = 0, len = strlen(text), step;
    for (size_t i = 0; i < len && used + 5 < n; i += step) {
        uint32_t cp;
        unsigned char c = (unsigned char)text[i];
        step = qn_utf8_decode(text + i, len - i, &cp);
        if (c == '\n') {
            memcpy(out + used, "\\n", 2);
            used += 2;
        } else if (c >= 0x80 && step == 1) {
            used += (size_t)snprintf(out + used, n - used, "\\x%02x", c);
        } else if (cp < 0x20 || (cp >= 0x7F && cp <= 0x9F)) {
            used += (size_t)snprintf(out + used, n - used, "\\x%02x", (unsigned)cp);
        } else {
            memcpy(out + used, text + i, step);
            used += step;
        }
    }
    return used;
}

void qn_log(enum qn_log_level level, const char *tag, const char *fmt, ...)
{
    if ((int)level > atomic_load(&current_level))
        return;
    char text[LINE_MAX_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    qn_addresses_strip(text);

    char line[LINE_MAX_BYTES + 128];
    char when[25];
    qn_wall_format(qn_wall_ms(), when);
    int head =
        snprintf(line, 128, "%s %s %.*s ", when, level_names[level], (int)QN_LOG_TAG_MAX, tag);
    size_t n = (size_t)head;
    n += escape(line + n, sizeof line - n - 1, text);
    line[n] = '\0';
    if (line_sink)
        line_sink(line_sink_ctx, level, tag, line);
    line[n++] = '\n';
    /* A failure to write to stderr cannot be reported anywhere. */
    ssize_t ignored = write(STDERR_FILENO, line, n);
    (void)ignored;
}
