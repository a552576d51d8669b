/* The log ring, see logs.h. Log lines come from every thread; the ring is the queue between them
 * and the loop, hence the lock. */
#include "router/logs.h"

#include "base/clock.h"
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int64_t seq, wall_ms;
    enum qn_log_level level;
    char tag[32];
    char *line;
};

struct qn_logs {
    pthread_mutex_t lock;
    int64_t last; /* number of the newest line; it is at (last - 1) % QN_LOGS_LINES */
    struct entry ring[QN_LOGS_LINES];
};

struct qn_logs *qn_logs_new(void)
{
    struct qn_logs *l = qn_xcalloc(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void qn_logs_free(struct qn_logs *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < QN_LOGS_LINES; i++)
        free(l->ring[i].line);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void qn_logs_add(void *logs, enum qn_log_level level, const char *tag, const char *line)
{
    struct qn_logs *l = logs;
    size_t n = strlen(line);
    if (n > QN_LOGS_LINE_MAX)
        n = qn_utf8_whole(line, QN_LOGS_LINE_MAX);
    char *copy = qn_xstrndup(line, n);
    pthread_mutex_lock(&l->lock);
    struct entry *e = &l->ring[l->last % QN_LOGS_LINES];
    char *old = e->line;
    *e = (struct entry){.seq = ++l->last, .wall_ms = qn_wall_ms(), .level = level, .line = copy};
    size_t m = strlen(tag);
    memcpy(e->tag, tag, m < sizeof e->tag ? m : sizeof e->tag - 1);
    pthread_mutex_unlock(&l->lock);
    free(old);
}

void qn_logs_write(struct qn_logs *l, int64_t after, size_t max, struct qn_jw *w)
{
    pthread_mutex_lock(&l->lock);
    int64_t first = l->last > QN_LOGS_LINES ? l->last - QN_LOGS_LINES + 1 : 1;
    int64_t from = after + 1 > first ? after + 1 : first;
    if (l->last - from >= (int64_t)max)
        from = l->last - (int64_t)max + 1;
    qn_jw_obj(w);
    qn_jw_key(w, "entries");
    qn_jw_arr(w);
    for (int64_t seq = from; seq <= l->last; seq++) {
        const struct entry *e = &l->ring[(seq - 1) % QN_LOGS_LINES];
        char time[25];
        qn_wall_format(e->wall_ms, time);
        qn_jw_obj(w);
        qn_jw_ki64(w, "seq", e->seq);
        qn_jw_kstr(w, "timestamp", time);
        qn_jw_kstr(w, "severity", qn_log_level_name(e->level));
        qn_jw_kstr(w, "tag", e->tag);
        qn_jw_kstr(w, "line", e->line);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_jw_ki64(w, "first_seq", first);
    qn_jw_ki64(w, "last_seq", l->last);
    qn_jw_obj_end(w);
    pthread_mutex_unlock(&l->lock);
}
