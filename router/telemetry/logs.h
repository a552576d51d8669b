/* The last lines of the log, kept for readers: GET /logs and those who follow it. Lines get numbers
 * from 1 that never repeat, so a reader can ask for what came after the last one it has; the ring's
 * id, another one at each start of the server, tells it whether its number still means anything.
 *
 * A follower is told that there is more and reads at its own pace: the ring is its buffer, so a
 * slow one costs no memory, and finds out that lines are lost when it is QN_LOGS_LINES behind. */
#ifndef QN_TELEMETRY_LOGS_H
#define QN_TELEMETRY_LOGS_H

#include "base/json.h"
#include "base/log.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_LOGS_LINES = 5000,
    QN_LOGS_LINE_MAX = 2000,
    QN_LOGS_TAG_MAX = 255, /* a type and a model's name */
    QN_LOGS_REPLY_MAX = 16 * 1024 * 1024,
    QN_LOGS_TURN_MS = 4, /* followers are told for so long in one turn of the loop */
    QN_LOGS_ID_DIGITS = 16,
    QN_LOGS_REQUESTS = 4096,
    QN_LOGS_OWNER_MAX = 71 /* QN_OWNER_MAX */
};

struct qn_logs;

struct qn_logs *qn_logs_new(void);
void qn_logs_free(struct qn_logs *l);

/* Any thread. Fits qn_log_set_sink. Lines over QN_LOGS_LINE_MAX bytes are cut. */
void qn_logs_add(void *logs, enum qn_log_level level, const char *tag, const char *line);

/* The lines about the request `id` (as infer.c logs them and its model's process does: they begin
 * with the id) are its owner's from now on. The last QN_LOGS_REQUESTS requests are remembered; a
 * line about an earlier one is nobody's. Any thread. */
void qn_logs_own(struct qn_logs *l, const char *id, const char *owner);

const char *qn_logs_id(const struct qn_logs *l); /* QN_LOGS_ID_DIGITS digits and letters */

/* Numbers of the oldest line that is kept and of the newest one; 1 and 0: there was none. */
struct qn_logs_range {
    int64_t first, last;
};
struct qn_logs_range qn_logs_range(struct qn_logs *l);

struct qn_logs_entry {
    int64_t seq;
    enum qn_log_level level;
    const char *tag, *line;
    const char *owner; /* whose request it is about; "": the server's own */
};

/* Which lines. */
struct qn_logs_filter {
    /* Both NULL: all; else those of these models' processes, and those of others that name one of
     * them as model=NAME. */
    const char *models[2];
    const char
        *owner; /* NULL: everybody's lines; else this owner's alone, without paths of files */
    enum qn_log_level most; /* QN_LOG_DEBUG: all; QN_LOG_WARN: errors and warnings */
};
bool qn_logs_wanted(const struct qn_logs_filter *f, const struct qn_logs_entry *entry);

/* Hands those that pass the filter to fn, oldest first, from number *next to `last`, until fn says
 * false, and sets *next behind the last one it has looked at. Lines that are not kept any more are
 * skipped; returns how many. Any thread. fn runs under the log's lock: it must not write to the
 * log. f MAY be NULL. */
typedef bool (*qn_logs_fn)(void *ctx, const struct qn_logs_entry *entry);
int64_t qn_logs_read(struct qn_logs *l, int64_t *next, int64_t last, const struct qn_logs_filter *f,
                     qn_logs_fn fn, void *ctx);

/* The number from which the newest `lines` that pass the filter begin; `from` at least. */
int64_t qn_logs_newest(struct qn_logs *l, int64_t from, int64_t lines,
                       const struct qn_logs_filter *f);

/* One entry as {"seq","timestamp","severity","tag","line"}; severity as Lemonade's clients know it:
 * Error, Warning, Info or Debug. */
void qn_logs_entry_write(struct qn_jw *w, const struct qn_logs_entry *entry);

/* Following, on the loop's thread: `more` is called soon after lines have come, once for many, and
 * where followers are many in several turns of the loop.
 * Lives until qn_logs_unfollow; the follower is the caller's memory. */
struct qn_logs_follower {
    void (*more)(void *ctx);
    void *ctx;
    struct qn_logs_follower *next; /* the log's */
};
void qn_logs_follow(struct qn_logs *l, struct qn_loop *loop, struct qn_logs_follower *f);
void qn_logs_unfollow(struct qn_logs *l, struct qn_logs_follower *f);
void qn_logs_wake(struct qn_logs *l); /* tells all followers, soon, without a new line */

#endif
