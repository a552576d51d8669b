/* Preparing jobs beside the compute thread: order, room, removal, the end. */
#include "child/prepare.h"

#include "base/buf.h"
#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS = 12, HANG_MS = 60000 };

/* A job's prompt says what its preparation does. */
static struct world {
    atomic_bool open;    /* "slow" ones may end */
    atomic_bool room;    /* there is room for "large" ones */
    atomic_int slow;     /* that are at work */
    atomic_int attempts; /* at "large" ones */
    atomic_int done;
    struct qn_preparation *order[JOBS];
    pthread_mutex_t lock;
} w;

static qn_err prepare(void *self, const struct qn_job *job, void **prepared, struct qn_error *e)
{
    assert_ptr_equal(self, &w);
    const char *what = job->complete.prompt;
    if (strcmp(what, "slow") == 0) {
        atomic_fetch_add(&w.slow, 1);
        while (!w.open)
            usleep(1000);
    }
    if (strcmp(what, "large") == 0) {
        atomic_fetch_add(&w.attempts, 1);
        if (!w.room)
            return qn_fail(e, QN_EBUSY, "no room");
    }
    if (strcmp(what, "bad") == 0)
        return qn_fail(e, QN_ELIMIT, "too much");
    *prepared = &w;
    return QN_OK;
}

static void done(void *ctx, struct qn_preparation *p)
{
    struct world *world = ctx;
    pthread_mutex_lock(&world->lock);
    world->order[world->done] = p;
    atomic_fetch_add(&world->done, 1);
    pthread_mutex_unlock(&world->lock);
}

static const struct qn_backend backend = {.prepare = prepare};

struct jobs {
    struct qn_preparer *r;
    struct qn_job job[JOBS];
    struct qn_preparation p[JOBS];
    int n;
};

static void begin(struct jobs *j)
{
    memset(j, 0, sizeof *j);
    memset(&w, 0, sizeof w);
    pthread_mutex_init(&w.lock, NULL);
    j->r = qn_preparer_new(&backend, done, &w);
}

static struct qn_preparation *add(struct jobs *j, const char *what)
{
    struct qn_preparation *p = &j->p[j->n];
    qn_job_init(&j->job[j->n]);
    j->job[j->n].complete.prompt = what;
    p->job = &j->job[j->n++];
    qn_preparer_add(j->r, p);
    return p;
}

static void end(struct jobs *j)
{
    qn_preparer_stop(j->r);
    qn_preparer_free(j->r);
    pthread_mutex_destroy(&w.lock);
}

static void await(atomic_int *value, int at_least)
{
    int64_t limit = qn_now_ms() + HANG_MS;
    while (*value < at_least) {
        if (qn_now_ms() > limit)
            fail_msg("waited in vain for %d, it is %d", at_least, *value);
        usleep(1000);
    }
}

static bool among_done(const struct qn_preparation *p)
{
    pthread_mutex_lock(&w.lock);
    bool found = false;
    for (int i = 0; i < w.done && !found; i++)
        found = w.order[i] == p;
    pthread_mutex_unlock(&w.lock);
    return found;
}

/* All threads but one are busy, and all that follows is prepared, failures too. */
static void slow_ones_are_passed(void **state)
{
    struct jobs j;
    (void)state;
    begin(&j);
    for (int i = 0; i < QN_CHILD_PREPARERS - 1; i++)
        add(&j, "slow");
    struct qn_preparation *quick = add(&j, "quick"), *bad = add(&j, "bad");
    assert_int_equal(qn_preparer_start(j.r, &w, NULL), QN_OK);
    await(&w.slow, QN_CHILD_PREPARERS - 1);
    await(&w.done, 2);
    assert_ptr_equal(w.order[0], quick);
    assert_ptr_equal(quick->prepared, &w);
    assert_int_equal(quick->failure.code, QN_OK);
    assert_ptr_equal(w.order[1], bad);
    assert_int_equal(bad->failure.code, QN_ELIMIT);
    assert_string_equal(bad->failure.message, "too much");
    w.open = true;
    await(&w.done, QN_CHILD_PREPARERS + 1);
    end(&j);
}

/* Those for which there is no room delay no others, and are tried again when there may be. */
static void room_is_waited_for(void **state)
{
    struct jobs j;
    (void)state;
    begin(&j);
    assert_int_equal(qn_preparer_start(j.r, &w, NULL), QN_OK);
    struct qn_preparation *large[QN_CHILD_PREPARERS + 1];
    for (int i = 0; i < QN_CHILD_PREPARERS + 1; i++)
        large[i] = add(&j, "large");
    await(&w.attempts, QN_CHILD_PREPARERS + 1);
    struct qn_preparation *quick = add(&j, "quick");
    await(&w.done, 1);
    assert_true(among_done(quick));
    w.room = true;
    qn_preparer_retry(j.r);
    await(&w.done, QN_CHILD_PREPARERS + 2);
    for (int i = 0; i < QN_CHILD_PREPARERS + 1; i++)
        assert_true(among_done(large[i]));
    end(&j);
}

static void what_waits_can_be_removed(void **state)
{
    struct jobs j;
    (void)state;
    begin(&j);
    struct qn_preparation *slow[QN_CHILD_PREPARERS];
    for (int i = 0; i < QN_CHILD_PREPARERS; i++)
        slow[i] = add(&j, "slow");
    struct qn_preparation *a = add(&j, "quick"), *b = add(&j, "quick"), *c = add(&j, "quick");
    assert_int_equal(qn_preparer_start(j.r, &w, NULL), QN_OK);
    await(&w.slow, QN_CHILD_PREPARERS);
    assert_true(qn_preparer_remove(j.r, c)); /* the last */
    struct qn_preparation *d = add(&j, "quick");
    assert_true(qn_preparer_remove(j.r, a));
    assert_false(qn_preparer_remove(j.r, slow[0])); /* at work */
    w.open = true;
    await(&w.done, QN_CHILD_PREPARERS + 2);
    assert_true(among_done(b) && among_done(d) && among_done(slow[0]));
    assert_false(among_done(a) || among_done(c));
    assert_false(qn_preparer_remove(j.r, b));
    end(&j);
    assert_int_equal(w.done, QN_CHILD_PREPARERS + 2);
}

static void stopping_leaves_what_waits(void **state)
{
    struct jobs j;
    (void)state;
    begin(&j);
    assert_int_equal(qn_preparer_start(j.r, &w, NULL), QN_OK);
    add(&j, "large");
    await(&w.attempts, 1);
    struct qn_preparation *quick = add(&j, "quick");
    await(&w.done, 1);
    end(&j);
    assert_ptr_equal(w.order[0], quick);
    assert_int_equal(w.done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_ones_are_passed),
        cmocka_unit_test(room_is_waited_for),
        cmocka_unit_test(what_waits_can_be_removed),
        cmocka_unit_test(stopping_leaves_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
