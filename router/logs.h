/* The last lines of the log, kept for GET /logs. Lines get numbers from 1 that never repeat, so a
 * reader can ask for what came after the last one it has. */
#ifndef QN_ROUTER_LOGS_H
#define QN_ROUTER_LOGS_H

#include "base/json.h"
#include "base/log.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_LOGS_LINES = 5000, QN_LOGS_LINE_MAX = 2000, QN_LOGS_REPLY_MAX = 16 * 1024 * 1024 };

struct qn_logs;

struct qn_logs *qn_logs_new(void);
void qn_logs_free(struct qn_logs *l);

/* Any thread. Fits qn_log_set_sink. Lines over QN_LOGS_LINE_MAX bytes are cut. */
void qn_logs_add(void *logs, enum qn_log_level level, const char *tag, const char *line);

/* Writes {"entries":[{"seq","timestamp","severity","tag","line"}],"last_seq","first_seq"}: lines
 * numbered above `after`, at most max of them, the newest ones. Any thread. */
void qn_logs_write(struct qn_logs *l, int64_t after, size_t max, struct qn_jw *w);

#endif
