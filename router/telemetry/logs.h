/* The last lines of the log, kept in a ring for readers: GET /logs and clients that follow the log.
 * Lines have numbers from 1 that never repeat, so that a reader can ask for the lines after the
 * last one it has. The ring has a random id for each run of the server, by which a reader knows
 * whether its number is still valid.
 *
 * A follower is notified of new lines and reads them at its own pace. The ring is its only buffer,
 * so a slow follower costs no memory; if it falls QN_LOGS_LINES behind, it learns how many lines it
 * has missed. */
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
    QN_LOGS_TAG_MAX = 255, /* a backend type, a slash and a model's name */
    QN_LOGS_REPLY_MAX = 16 * 1024 * 1024,
    /* the longest time for which followers are notified in one turn of the loop */
    QN_LOGS_TURN_MS = 4,
    QN_LOGS_ID_DIGITS = 16,
    QN_LOGS_REQUESTS = 4096,
    QN_LOGS_OWNER_MAX = 71 /* QN_OWNER_MAX */
};

struct qn_logs;

struct qn_logs *qn_logs_new(void);
void qn_logs_free(struct qn_logs *l);

/* Adds a line; fits qn_log_set_sink. Lines longer than QN_LOGS_LINE_MAX bytes are cut. Any
 * thread. */
void qn_logs_add(void *logs, enum qn_log_level level, const char *tag, const char *line);

/* Declares the owner of the request `id`. Later lines that begin with this id, from infer.c or from
 * the model's process, belong to that owner. The last QN_LOGS_REQUESTS requests are remembered; a
 * line about an earlier one has no owner. Any thread. */
void qn_logs_own(struct qn_logs *l, const char *id, const char *owner);

const char *qn_logs_id(const struct qn_logs *l); /* QN_LOGS_ID_DIGITS hexadecimal digits */

/* Numbers of the oldest line in the ring and of the newest; 1 and 0 if no line was ever added. */
struct qn_logs_range {
    int64_t first, last;
};
struct qn_logs_range qn_logs_range(struct qn_logs *l);

struct qn_logs_entry {
    int64_t seq;
    enum qn_log_level level;
    const char *tag, *line;
    /* owner of the request that the line is about; "": the line is the server's own */
    const char *owner;
};

/* Which lines a reader wants. */
struct qn_logs_filter {
    /* Both NULL: all lines. Otherwise the lines of these models' processes, and other lines that
     * name one of the models as model=NAME. */
    const char *models[2];
    const char
        /* NULL: the lines of all owners. Otherwise only this owner's, with paths of files
         * removed. */
        *owner;
    /* the least severe level: QN_LOG_TRACE: all, QN_LOG_WARN: errors and warnings */
    enum qn_log_level most;
};
bool qn_logs_wanted(const struct qn_logs_filter *f, const struct qn_logs_entry *entry);

/* Calls fn for each line that passes the filter, oldest first, from number *next to `last`, until
 * fn returns false. *next becomes the number after the last line that was examined. Lines that are
 * no longer in the ring are skipped; returns how many. fn is called with the log's lock held and
 * must not write to the log. f MAY be NULL: all lines. Any thread. */
typedef bool (*qn_logs_fn)(void *ctx, const struct qn_logs_entry *entry);
int64_t qn_logs_read(struct qn_logs *l, int64_t *next, int64_t last, const struct qn_logs_filter *f,
                     qn_logs_fn fn, void *ctx);

/* Returns the number from which to read, at least `from`, so that the newest `lines` lines that
 * pass the filter are read and no others. */
int64_t qn_logs_newest(struct qn_logs *l, int64_t from, int64_t lines,
                       const struct qn_logs_filter *f);

/* Writes one entry as {"seq","timestamp","severity","tag","line"}; severity is Error, Warning, Info
 * or Debug, as Lemonade's clients expect. */
void qn_logs_entry_write(struct qn_jw *w, const struct qn_logs_entry *entry);

/* A follower of the log, for the loop's thread. `more` is called soon after lines were added, once
 * for any number of lines; many followers are notified in several turns of the loop. The caller
 * owns the memory, which must be valid until qn_logs_unfollow. */
struct qn_logs_follower {
    void (*more)(void *ctx);
    void *ctx;
    struct qn_logs_follower *next; /* link of the log's list */
};
void qn_logs_follow(struct qn_logs *l, struct qn_loop *loop, struct qn_logs_follower *f);
void qn_logs_unfollow(struct qn_logs *l, struct qn_logs_follower *f);
void qn_logs_wake(struct qn_logs *l); /* notifies all followers soon, without a new line */

#endif
