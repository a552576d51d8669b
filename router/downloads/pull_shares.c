/* Shares the list of downloads, the threads and the queries to hubs between owners. A job counts
 * for the owner that began it. Priorities come first: only an admin sets one above 0. */
#include "access/owner.h"
#include "base/log.h"
#include "base/str.h"
#include "base/tally.h"
#include "downloads/pull_private.h"

#include <string.h>

struct name {
    char text[QN_OWNER_MAX + 1];
};

/* The first of the job's owners; "": the server itself. */
static struct name owner_of(const struct qn_pull_job *j)
{
    struct name out = {""};
    const char *list = j->owners ? j->owners : "";
    size_t n = strcspn(list, " ");
    memcpy(out.text, list, n < QN_OWNER_MAX ? n : QN_OWNER_MAX);
    return out;
}

/* ---- the list ---- */

/* The owner's oldest job that is over: failed ones last, since they may be resumed. */
static struct qn_pull_job *oldest_over(const struct qn_pulls *p, const char *owner)
{
    struct qn_pull_job *failed = NULL;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (!qn_pull_is_over(j->m.state) || !qn_str_eq(owner_of(j).text, owner))
            continue;
        if (j->m.state != QN_PULL_FAILED)
            return j;
        failed = failed ? failed : j;
    }
    return failed;
}

static bool drop_one(struct qn_pulls *p, const char *owner)
{
    struct qn_pull_job *j = oldest_over(p, owner);
    if (!j)
        return false;
    qn_info("pulls", "download=%s dropped=list_is_full", j->id);
    qn_pull_handle(j, QN_PULL_REMOVE);
    return true;
}

qn_err qn_pull_make_room(struct qn_pulls *p, const char *owner, bool admin, struct qn_error *e)
{
    struct qn_tally jobs;
    struct name whose = {""};
    int64_t most;
    qn_tally_init(&jobs);
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        qn_tally_add(&jobs, owner_of(j).text, 1);
    int64_t own = qn_tally_of(&jobs, owner), all = jobs.total;
    const char *name = qn_tally_most(&jobs, &most);
    if (name)
        memcpy(whose.text, name, strlen(name) + 1);
    qn_tally_deinit(&jobs);
    if (!admin && own >= QN_PULL_OWNER_MAX)
        return drop_one(p, owner) ? QN_OK
                                  : qn_fail(e, QN_EBUSY,
                                            "%d downloads of this client are not over: wait for "
                                            "them, or remove some",
                                            QN_PULL_OWNER_MAX);
    if (all < QN_DOWNLOADS_MAX || drop_one(p, whose.text) || drop_one(p, owner))
        return QN_OK;
    return qn_fail(e, QN_EBUSY, "there are %d downloads already: remove some", QN_DOWNLOADS_MAX);
}

/* ---- turns ---- */

struct qn_pull_job *qn_pull_next(const struct qn_pulls *p, enum qn_pull_turn kind,
                                 bool (*may)(const struct qn_pull_job *j))
{
    struct qn_tally last; /* number of each owner's newest turn */
    struct qn_pull_job *found = NULL;
    int64_t found_turn = 0;
    qn_tally_init(&last);
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next) {
        struct name owner = owner_of(j);
        int64_t before = j->turn[kind] ? qn_tally_of(&last, owner.text) : 0;
        if (j->turn[kind] > before)
            qn_tally_add(&last, owner.text, j->turn[kind] - before);
    }
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (!may(j))
            continue;
        int64_t turn = qn_tally_of(&last, owner_of(j).text);
        if (!found || j->priority > found->priority ||
            (j->priority == found->priority && turn < found_turn)) {
            found = j;
            found_turn = turn;
        }
    }
    qn_tally_deinit(&last);
    return found;
}

static int running_of(const struct qn_pulls *p, const char *owner)
{
    int n = 0;
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        n += j->m.state == QN_PULL_FETCHING && qn_str_eq(owner_of(j).text, owner);
    return n;
}

/* True when a job that is stopped now would have to begin a file again. */
static bool would_lose(const struct qn_pull_job *j)
{
    for (size_t i = 0; j->run && i < j->run->n; i++)
        if (!atomic_load(&j->run->parts[i].done) &&
            atomic_load(&j->run->parts[i].meter->whole_only) &&
            atomic_load(&j->run->parts[i].meter->here_bytes) > 0)
            return true;
    return false;
}

/* The fetching job to interrupt in favour of w, whose owner has no thread: the one that has fetched
 * longest. It may keep its thread until *end_ms. NULL: none. */
static struct qn_pull_job *longest(const struct qn_pulls *p, const struct qn_pull_job *w,
                                   int64_t now_ms, int64_t *end_ms)
{
    struct qn_pull_job *found = NULL;
    int64_t slice = p->config.slice_ms ? p->config.slice_ms : QN_PULL_SLICE_MS;
    *end_ms = INT64_MAX;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (j->m.state != QN_PULL_FETCHING || j->priority > w->priority)
            continue;
        int64_t end = j->fetches_since_ms + slice;
        if (end <= now_ms && would_lose(j))
            end = now_ms + slice;
        if (end >= *end_ms)
            continue;
        found = j;
        *end_ms = end;
    }
    return found;
}

static struct qn_pull_job *slice_is_over(const struct qn_pulls *p,
                                         bool (*may)(const struct qn_pull_job *j), int64_t now_ms,
                                         int64_t *look_at_ms)
{
    for (const struct qn_pull_job *w = p->jobs; w; w = w->next) {
        int64_t end_ms;
        if (!may(w) || running_of(p, owner_of(w).text) > 0)
            continue;
        struct qn_pull_job *j = longest(p, w, now_ms, &end_ms);
        if (j && end_ms <= now_ms)
            return j;
        if (j && end_ms < *look_at_ms)
            *look_at_ms = end_ms;
    }
    return NULL;
}

struct qn_pull_job *qn_pull_to_yield(const struct qn_pulls *p,
                                     bool (*may)(const struct qn_pull_job *j), int64_t now_ms,
                                     int64_t *look_at_ms)
{
    struct qn_pull_job *found = NULL;
    for (const struct qn_pull_job *w = p->jobs; w && !found; w = w->next) {
        if (!may(w))
            continue;
        struct name owner = owner_of(w);
        int own = running_of(p, owner.text);
        for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
            if (j->m.state != QN_PULL_FETCHING || (found && j->priority > found->priority))
                continue;
            if (j->priority < w->priority ||
                (j->priority == w->priority && running_of(p, owner_of(j).text) >= own + 2))
                found = j;
        }
    }
    *look_at_ms = INT64_MAX;
    return found ? found : slice_is_over(p, may, now_ms, look_at_ms);
}
