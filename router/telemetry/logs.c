/* The log ring, see logs.h. All threads add log lines and the loop thread reads them, so a lock
 * guards the ring. */
#include "telemetry/logs.h"

#include "answers/hide_paths.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int64_t seq;
    enum qn_log_level level;
    char *tag, *line, *owner; /* one allocation that begins at tag */
};

/* A request that runs or has run, and its owner. */
struct request {
    uint64_t id; /* the first 16 digits of its id; 0: none */
    char owner[QN_LOGS_OWNER_MAX + 1];
};

struct qn_logs {
    pthread_mutex_t lock;
    int64_t last; /* number of the newest line, which is at (last - 1) % QN_LOGS_LINES */
    struct entry ring[QN_LOGS_LINES];
    size_t n_requests; /* total ever added; the newest is at (n_requests - 1) % QN_LOGS_REQUESTS */
    struct request requests[QN_LOGS_REQUESTS];
    char id[QN_LOGS_ID_DIGITS + 1];
    struct qn_loop *loop; /* NULL: no follower */
    bool told;            /* `tell` is posted to the loop, or has followers left to notify */
    bool more;            /* a line was added since `tell` began with the first follower */
    struct qn_logs_follower *followers; /* used by the loop thread only */
    struct qn_logs_follower *turn; /* next follower that `tell` notifies; NULL: all are notified */
};

struct qn_logs *qn_logs_new(void)
{
    struct qn_logs *l = qn_xcalloc(1, sizeof *l);
    qn_random_hex(l->id, QN_LOGS_ID_DIGITS);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void qn_logs_free(struct qn_logs *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < QN_LOGS_LINES; i++)
        free(l->ring[i].tag);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

const char *qn_logs_id(const struct qn_logs *l)
{
    return l->id;
}

/* On the loop thread: notifies followers for at most QN_LOGS_TURN_MS. A follower may be removed
 * during this. */
static void tell(void *ctx)
{
    struct qn_logs *l = ctx;
    int64_t until_us = qn_now_us() + QN_LOGS_TURN_MS * 1000;
    if (!l->turn) {
        pthread_mutex_lock(&l->lock);
        l->more = false;
        pthread_mutex_unlock(&l->lock);
        l->turn = l->followers;
    }
    while (l->turn && qn_now_us() < until_us) {
        struct qn_logs_follower *f = l->turn;
        l->turn = f->next;
        f->more(f->ctx);
    }
    pthread_mutex_lock(&l->lock);
    l->told = l->loop && (l->turn || l->more);
    if (l->told)
        qn_loop_post(l->loop, tell, l);
    pthread_mutex_unlock(&l->lock);
}

/* Called with the lock held. */
static void wake(struct qn_logs *l)
{
    l->more = true;
    if (!l->loop || l->told)
        return;
    l->told = true;
    qn_loop_post(l->loop, tell, l);
}

/* The first 16 hexadecimal digits of a request's id as a number; 0: the id is shorter. */
static uint64_t number_of(const char *id)
{
    enum { DIGITS = 16 };
    uint64_t v = 0;
    for (int i = 0; i < DIGITS; i++) {
        char c = id[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return 0;
        v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return v;
}

void qn_logs_own(struct qn_logs *l, const char *id, const char *owner)
{
    pthread_mutex_lock(&l->lock);
    struct request *r = &l->requests[l->n_requests++ % QN_LOGS_REQUESTS];
    r->id = number_of(id);
    snprintf(r->owner, sizeof r->owner, "%s", owner);
    pthread_mutex_unlock(&l->lock);
}

/* Returns the owner of the request that a line is about; called with the lock held. Its id is the
 * first word after "TIME LEVEL TAG ", or after the word "child" in lines of a model's process.
 * Later words are not trusted, as they may be a client's text. */
static const char *owner_of(const struct qn_logs *l, const char *tag, const char *line)
{
    for (int words = 0; words < 2; words++) /* skips the time and the level */
        line += strcspn(line, " ") + (strchr(line, ' ') != NULL);
    size_t n = strnlen(tag, QN_LOG_TAG_MAX);
    if (strncmp(line, tag, n) != 0 || line[n] != ' ')
        return "";
    line += n + 1;
    if (strchr(tag, '/') && qn_str_starts(line, "child "))
        line += strlen("child ");
    uint64_t id = qn_str_starts(line, "id=") ? number_of(line + strlen("id=")) : 0;
    size_t known = l->n_requests < QN_LOGS_REQUESTS ? l->n_requests : QN_LOGS_REQUESTS;
    for (size_t i = 1; id && i <= known; i++) {
        const struct request *r = &l->requests[(l->n_requests - i) % QN_LOGS_REQUESTS];
        if (r->id == id)
            return r->owner;
    }
    return "";
}

void qn_logs_add(void *logs, enum qn_log_level level, const char *tag, const char *line)
{
    struct qn_logs *l = logs;
    size_t n = strlen(line), m = strlen(tag);
    if (n > QN_LOGS_LINE_MAX)
        n = qn_utf8_whole(line, QN_LOGS_LINE_MAX);
    if (m > QN_LOGS_TAG_MAX)
        m = qn_utf8_whole(tag, QN_LOGS_TAG_MAX);
    char *copy = qn_xmalloc(m + n + QN_LOGS_OWNER_MAX + 3);
    memcpy(copy, tag, m);
    copy[m] = '\0';
    memcpy(copy + m + 1, line, n);
    copy[m + 1 + n] = '\0';
    char *owner = copy + m + n + 2;
    pthread_mutex_lock(&l->lock);
    snprintf(owner, QN_LOGS_OWNER_MAX + 1, "%s", owner_of(l, tag, line));
    struct entry *e = &l->ring[l->last % QN_LOGS_LINES];
    char *old = e->tag;
    *e = (struct entry){
        .seq = ++l->last, .level = level, .tag = copy, .line = copy + m + 1, .owner = owner};
    wake(l);
    pthread_mutex_unlock(&l->lock);
    free(old);
}

void qn_logs_wake(struct qn_logs *l)
{
    pthread_mutex_lock(&l->lock);
    wake(l);
    pthread_mutex_unlock(&l->lock);
}

void qn_logs_follow(struct qn_logs *l, struct qn_loop *loop, struct qn_logs_follower *f)
{
    f->next = l->followers;
    l->followers = f;
    pthread_mutex_lock(&l->lock);
    l->loop = loop;
    pthread_mutex_unlock(&l->lock);
}

void qn_logs_unfollow(struct qn_logs *l, struct qn_logs_follower *f)
{
    struct qn_logs_follower **at = &l->followers;
    while (*at && *at != f)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = f->next;
    if (l->turn == f)
        l->turn = f->next;
    if (!l->followers) {
        pthread_mutex_lock(&l->lock);
        l->loop = NULL;
        pthread_mutex_unlock(&l->lock);
    }
}

/* ---- reading ---- */

static int64_t first_kept(const struct qn_logs *l)
{
    return l->last > QN_LOGS_LINES ? l->last - QN_LOGS_LINES + 1 : 1;
}

struct qn_logs_range qn_logs_range(struct qn_logs *l)
{
    pthread_mutex_lock(&l->lock);
    struct qn_logs_range r = {.first = first_kept(l), .last = l->last};
    pthread_mutex_unlock(&l->lock);
    return r;
}

/* Whether the line has the word model=NAME, or model="NAME" if the name needs quotes. */
static bool names_model(const char *line, const char *model)
{
    static const char word[] = " model=";
    size_t n = strlen(model);
    while ((line = strstr(line, word))) {
        line += sizeof word - 1;
        const char *name = *line == '"' ? line + 1 : line;
        if (!strncmp(name, model, n) && (name[n] == ' ' || name[n] == '\0' || name[n] == '"'))
            return true;
    }
    return false;
}

bool qn_logs_wanted(const struct qn_logs_filter *f, const struct qn_logs_entry *entry)
{
    if (!f)
        return true;
    if (entry->level > f->most || (f->owner && !qn_str_eq(f->owner, entry->owner)))
        return false;
    const char *slash = strchr(entry->tag, '/'); /* "llm/NAME" is the tag of a child's lines */
    bool any = true;
    for (size_t i = 0; i < 2; i++) {
        if (!f->models[i])
            continue;
        if ((slash && qn_str_eq(slash + 1, f->models[i])) || names_model(entry->line, f->models[i]))
            return true;
        any = false;
    }
    return any;
}

static struct qn_logs_entry entry_at(const struct qn_logs *l, int64_t seq)
{
    const struct entry *e = &l->ring[(seq - 1) % QN_LOGS_LINES];
    return (struct qn_logs_entry){
        .seq = e->seq, .level = e->level, .tag = e->tag, .line = e->line, .owner = e->owner};
}

int64_t qn_logs_read(struct qn_logs *l, int64_t *next, int64_t last, const struct qn_logs_filter *f,
                     qn_logs_fn fn, void *ctx)
{
    int64_t lost = 0;
    bool more = true;
    char line[QN_LOGS_LINE_MAX + 1];
    pthread_mutex_lock(&l->lock);
    int64_t first = first_kept(l);
    if (*next < first) {
        lost = first - *next;
        *next = first;
    }
    if (last > l->last)
        last = l->last;
    while (more && *next <= last) {
        struct qn_logs_entry e = entry_at(l, (*next)++);
        if (!qn_logs_wanted(f, &e))
            continue;
        if (f && f->owner) {
            qn_hide_paths(e.line, line, sizeof line);
            e.line = line;
        }
        more = fn(ctx, &e);
    }
    pthread_mutex_unlock(&l->lock);
    return lost;
}

int64_t qn_logs_newest(struct qn_logs *l, int64_t from, int64_t lines,
                       const struct qn_logs_filter *f)
{
    pthread_mutex_lock(&l->lock);
    int64_t first = first_kept(l), at = l->last + 1;
    if (from < first)
        from = first;
    while (lines > 0 && at > from) {
        struct qn_logs_entry e = entry_at(l, --at);
        lines -= qn_logs_wanted(f, &e);
    }
    pthread_mutex_unlock(&l->lock);
    return at > from ? at : from;
}

static const char *severity(enum qn_log_level level)
{
    static const char *const names[] = {"Fatal", "Error", "Warning", "Info", "Debug", "Trace"};
    return names[level];
}

void qn_logs_entry_write(struct qn_jw *w, const struct qn_logs_entry *entry)
{
    qn_jw_obj(w);
    qn_jw_ki64(w, "seq", entry->seq);
    qn_jw_key(w, "timestamp");
    qn_jw_strn(w, entry->line, strcspn(entry->line, " ")); /* a line begins with its time */
    qn_jw_kstr(w, "severity", severity(entry->level));
    qn_jw_kstr(w, "tag", entry->tag);
    qn_jw_kstr(w, "line", entry->line);
    qn_jw_obj_end(w);
}
