/* router/library/inquiry.c: questions run on workers; owners take turns and share the places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "io/loop.h"
#include "library/inquiry.h"
#include "registry/web.h"

#include <pthread.h>

enum { MANY = QN_INQUIRIES + QN_INQUIRIES_WAITING_MAX };

static struct qn_loop *loop;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held: hubs do not answer */
static int ends, wanted;

struct question {
    struct qn_inquiry *x;
    int ended; /* which of all, from 1; 0: it has not */
    qn_err code;
};

static qn_err ask(void *ctx, const struct qn_web *web, struct qn_error *e)
{
    (void)ctx;
    (void)web;
    (void)e;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return QN_OK;
}

static void done(void *ctx, const struct qn_error *e)
{
    struct question *x = ctx;
    x->ended = ++ends;
    x->code = e ? e->code : QN_OK;
    if (ends == wanted)
        qn_loop_stop(loop);
}

static void one_owner_cannot_take_all_places(void **state)
{
    (void)state;
    static struct question many[MANY], other, more;
    const struct qn_web web = {0};
    struct qn_error e = {0};
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    struct qn_inquiries *q = qn_inquiries_new(loop, &web);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(qn_inquire(q, "greedy", ask, done, &many[i], &many[i].x, &e), QN_OK);
    assert_int_equal(qn_inquire(q, "greedy", ask, done, &more, &more.x, &e), QN_EBUSY);
    assert_int_equal(qn_inquire(q, "other", ask, done, &other, &other.x, &e), QN_OK);
    assert_int_equal(many[MANY - 1].ended, 1); /* the newest, at once */
    assert_int_equal(many[MANY - 1].code, QN_EBUSY);
    wanted = MANY + 1;
    pthread_mutex_unlock(&gate);
    qn_loop_run(loop);
    assert_int_equal(other.code, QN_OK);
    /* The refused one, those that ran, one of the first owner's turn, then it; workers that run
     * beside each other may end in another order. */
    assert_in_range(other.ended, 2, 1 + 2 * QN_INQUIRIES + 2);
    qn_inquiries_stop(q);
    qn_loop_free(loop);
    qn_inquiries_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_owner_cannot_take_all_places),
    };
    return cmocka_run_group_tests_name("inquiry", tests, NULL, NULL);
}
