/* Log lines on stderr, one per event: `2026-01-31T12:00:00.123Z info instance model=qwen3-4b
 * state=ready ms=2310`.
 *
 * fatal: the process ends; error: an operator has to act; warn: degraded; info: life-cycle; debug:
 * everything else; trace: prompts, which no other level has. Replies and keys are never logged.
 * Line breaks and control bytes within a line are escaped. Any thread. */
#ifndef QN_BASE_LOG_H
#define QN_BASE_LOG_H

#include <stdbool.h>

enum { QN_LOG_TAG_MAX = 64 }; /* bytes of a tag that are printed */

enum qn_log_level {
    QN_LOG_FATAL,
    QN_LOG_ERROR,
    QN_LOG_WARN,
    QN_LOG_INFO,
    QN_LOG_DEBUG,
    QN_LOG_TRACE
};

/* The names of the levels, for messages. */
#define QN_LOG_LEVELS "critical, error, warn, info, debug or trace"

void qn_log_set_level(enum qn_log_level level);
enum qn_log_level qn_log_get_level(void);
/* Accepts "fatal" to "trace", and the names "critical" and "warning" of other servers. */
bool qn_log_level_parse(const char *name, enum qn_log_level *out);
const char *qn_log_level_name(enum qn_log_level level);

/* A second receiver of every printed line (the router's log ring), called on the logging thread
 * with the line without its newline; NULL removes it. Must be set before threads start. */
typedef void (*qn_log_sink)(void *ctx, enum qn_log_level level, const char *tag, const char *line);
void qn_log_set_sink(qn_log_sink sink, void *ctx);

/* tag: the part of the program ("instance", "http"); fmt: key=value pairs. */
void qn_log(enum qn_log_level level, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define qn_fatal(tag, ...) qn_log(QN_LOG_FATAL, tag, __VA_ARGS__)
#define qn_error_log(tag, ...) qn_log(QN_LOG_ERROR, tag, __VA_ARGS__)
#define qn_warn(tag, ...) qn_log(QN_LOG_WARN, tag, __VA_ARGS__)
#define qn_info(tag, ...) qn_log(QN_LOG_INFO, tag, __VA_ARGS__)
#define qn_debug(tag, ...) qn_log(QN_LOG_DEBUG, tag, __VA_ARGS__)
#define qn_trace(tag, ...) qn_log(QN_LOG_TRACE, tag, __VA_ARGS__)

#endif
