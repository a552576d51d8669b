/* Constraints compiled by several threads at once while another follows an answer: each source is
 * there once, errors are everybody's, nothing is lost. */
#include "constrain_says.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 60, SOURCES = 5 };

/* The last two are none. */
static const char *const sources[SOURCES] = {
    "{\"type\":\"object\",\"properties\":{\"a\":{\"format\":\"date-time\"}},\"required\":[\"a\"]}",
    "{\"enum\":[\"x\",\"y\"]}",
    "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}",
    "{\"type\":\"thing\"}",
    "{\"type\":\"string\",\"pattern\":\"(\"}",
};

struct worker {
    struct qn_constrainer *c;
    pthread_barrier_t *start;
    int number;
    int wrong;
    struct qn_constraint *first[SOURCES]; /* of its own, one reference */
};

static void *compile_many(void *arg)
{
    struct worker *w = arg;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < ROUNDS; i++) {
        int which = i < SOURCES ? i : (i * 7 + w->number) % SOURCES;
        struct qn_constraint *k = NULL;
        struct qn_error e = {0};
        struct qn_constrain job = {.schema = sources[which]};
        qn_err err = qn_constraint_of_job(w->c, &job, &k, &e);
        bool bad = which >= 3;
        w->wrong += (err == QN_OK) == bad || (bad && strncmp(e.message, "schema: ", 8) != 0);
        w->wrong += !qn_constrainer_has_room(w->c);
        if (i < SOURCES)
            w->first[which] = k;
        else
            qn_constraint_unref(k);
    }
    return NULL;
}

static void threads_share_what_they_compile(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    (void)state;
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.c = c, .start = &start, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, &workers[i]), 0);
    }
    pthread_barrier_wait(&start);
    /* The compute thread meanwhile. */
    for (int i = 0; i < ROUNDS; i++) {
        struct qn_constraint *k;
        float logits[BYTE_VOCAB_N] = {0};
        struct qn_constraint_state s = {0};
        assert_int_equal(
            qn_constraint_of_job(c, &(struct qn_constrain){.schema = sources[2]}, &k, NULL), QN_OK);
        assert_true(says(k, "[1, 2]"));
        qn_constraint_begin(&s, k);
        assert_true(qn_constraint_mask(&s, logits, BYTE_VOCAB_N));
        qn_constraint_end(&s);
        qn_constraint_unref(k);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    for (int k = 0; k < SOURCES; k++)
        for (int i = 0; i < THREADS; i++) {
            assert_ptr_equal(workers[i].first[k], workers[0].first[k]);
            qn_constraint_unref(workers[i].first[k]);
        }
    pthread_barrier_destroy(&start);
    qn_constrainer_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_what_they_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
