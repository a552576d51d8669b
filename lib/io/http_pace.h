/* How fast a client has to be. A client that sends or takes one byte now and then would hold a
 * connection for ever if every byte gave it more time; so bytes have to come at a rate, too. Pure.
 */
#ifndef QN_IO_HTTP_PACE_H
#define QN_IO_HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Bytes that count as progress, and the slowest rate in a second, averaged from the end of the
     * grace on. */
    QN_PACE_PROGRESS_BYTES = 1024,
    QN_PACE_BYTES_PER_S = 1024
};

/* Each 0: without that limit. */
struct qn_pace_rule {
    int64_t stall_ms; /* without one byte */
    int64_t grace_ms; /* before the rate holds; 0: there is no rate */
    int64_t total_ms; /* whatever moves */
};

/* One thing that a client has to do: a head or a body to send, a reply to take. */
struct qn_pace {
    const struct qn_pace_rule *rule; /* lent; NULL: there is nothing that the client has to do */
    int64_t began_ms, moved_ms;
    int64_t progress_ms; /* of the last QN_PACE_PROGRESS_BYTES that were complete, or began_ms */
    uint64_t bytes;
};

void qn_pace_begin(struct qn_pace *p, const struct qn_pace_rule *rule, int64_t now_ms);
void qn_pace_move(struct qn_pace *p, uint64_t bytes, int64_t now_ms);
/* Time in which the client could do nothing does not count. */
void qn_pace_pardon(struct qn_pace *p, int64_t ms);
/* True when a limit has been passed. */
bool qn_pace_is_late(const struct qn_pace *p, int64_t now_ms);

#endif
