/* A child's output on stdout and stderr: split into lines, written to the router's log under the
 * child's tag, and limited in rate (dropped lines are counted). The last lines are kept for the
 * crash report. Moves no descriptor. */
#ifndef QN_MODELS_CHILD_LOG_H
#define QN_MODELS_CHILD_LOG_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_CHILD_LOG_TAIL = 20,       /* lines kept */
    QN_CHILD_LOG_LINE_MAX = 4096, /* bytes; longer lines are truncated */
    QN_CHILD_LOG_RATE = 200,      /* sustained lines per second that reach the router's log */
    QN_CHILD_LOG_BURST = 1000     /* lines that may arrive at once */
};

struct qn_child_log {
    char *tag; /* "llm/qwen3-4b" */
    struct qn_buf line;
    char *tail[QN_CHILD_LOG_TAIL]; /* a ring */
    size_t next;                   /* index of the slot for the next line */
    int64_t tokens, refilled_ms, suppressed;
};

void qn_child_log_init(struct qn_child_log *g, const char *type, const char *name);
void qn_child_log_deinit(struct qn_child_log *g);
void qn_child_log_feed(struct qn_child_log *g, const char *p, size_t n, int64_t now_ms);
/* Flushes the last line, which may lack its newline. */
void qn_child_log_end(struct qn_child_log *g, int64_t now_ms);
/* Forgets the tail; called when a new process starts. */
void qn_child_log_clear(struct qn_child_log *g);
/* Appends the tail, oldest line first. */
void qn_child_log_print(const struct qn_child_log *g, struct qn_buf *out);

#endif
