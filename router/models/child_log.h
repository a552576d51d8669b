/* What a child writes on stdout and stderr: cut into lines, put into our log under the child's tag,
 * the last ones kept for the message about a crash, a flood reduced to a count. Moves no
 * descriptor. */
#ifndef QN_MODELS_CHILD_LOG_H
#define QN_MODELS_CHILD_LOG_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_CHILD_LOG_TAIL = 20,       /* lines kept */
    QN_CHILD_LOG_LINE_MAX = 4096, /* longer ones are cut */
    QN_CHILD_LOG_RATE = 200,      /* lines per second that reach our log in the long run */
    QN_CHILD_LOG_BURST = 1000     /* lines that may come at once */
};

struct qn_child_log {
    char *tag; /* "llm/qwen3-4b" */
    struct qn_buf line;
    char *tail[QN_CHILD_LOG_TAIL]; /* a ring */
    size_t next;                   /* where the next line goes */
    int64_t tokens, refilled_ms, suppressed;
};

void qn_child_log_init(struct qn_child_log *g, const char *type, const char *name);
void qn_child_log_deinit(struct qn_child_log *g);
void qn_child_log_feed(struct qn_child_log *g, const char *p, size_t n, int64_t now_ms);
void qn_child_log_end(struct qn_child_log *g,
                      int64_t now_ms);           /* the last line may lack its newline */
void qn_child_log_clear(struct qn_child_log *g); /* a new process begins: forgets the tail */
void qn_child_log_print(const struct qn_child_log *g,
                        struct qn_buf *out); /* the tail, oldest first */

#endif
