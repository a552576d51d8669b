/* Minimum speed of clients. If every byte extended the deadline, a client that sends or reads one
 * byte now and then could keep a connection for ever; so a minimum rate is required as well. Pure.
 */
#ifndef QN_IO_HTTP_PACE_H
#define QN_IO_HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Bytes that count as progress, and the minimum rate per second, averaged from the end of the
     * grace period on. */
    QN_PACE_PROGRESS_BYTES = 1024,
    QN_PACE_BYTES_PER_S = 1024
};

/* 0 in any member: no such limit. */
struct qn_pace_rule {
    int64_t stall_ms; /* time without a single byte */
    int64_t grace_ms; /* time before the minimum rate applies; 0: no minimum rate */
    int64_t total_ms; /* total time, whatever the progress */
};

/* The progress of one thing that a client has to do: send a head or a body, or read a reply. */
struct qn_pace {
    const struct qn_pace_rule *rule; /* lent; NULL: the client has nothing to do */
    int64_t began_ms, moved_ms;
    int64_t progress_ms; /* completion of the last QN_PACE_PROGRESS_BYTES, or began_ms */
    uint64_t bytes;
};

void qn_pace_begin(struct qn_pace *p, const struct qn_pace_rule *rule, int64_t now_ms);
void qn_pace_move(struct qn_pace *p, uint64_t bytes, int64_t now_ms);
/* Excludes a time in which the client was not able to do anything. */
void qn_pace_pardon(struct qn_pace *p, int64_t ms);
/* True when a limit has been exceeded. */
bool qn_pace_is_late(const struct qn_pace *p, int64_t now_ms);

#endif
