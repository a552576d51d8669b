/* router/library/preset.c: what a preset adds to requests, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "messages_text.h"

#include "library/preset.h"

#include <math.h>
#include <string.h>

static struct qn_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = qn_arena_new(1024 * 1024);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_arena_free(arena);
    return 0;
}

static struct qn_request request(struct qn_job *job, const char *messages)
{
    qn_job_init(job);
    job->task = messages ? QN_TASK_CHAT : QN_TASK_COMPLETE;
    if (messages)
        mt_read(job, messages, arena);
    return (struct qn_request){
        .arena = arena, .jobs = job, .n_jobs = 1, .context = QN_UNSET, .keep_alive_ms = QN_UNSET};
}

#define USER "{\"role\":\"user\",\"content\":\"hi\"}"
#define SYSTEM(text) "{\"role\":\"system\",\"content\":\"" text "\"}"
static const char preset[] =
    "{\"system\":\"be kind\",\"jinja\":\"T\",\"template\":\"shown\",\"parameters\":{"
    "\"temperature\":0.5,\"top_k\":3,\"num_ctx\":99,\"num_predict\":8,\"stop\":[\"x\"]},"
    "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";

static void what_is_missing_is_added(void **state)
{
    (void)state;
    struct qn_job job;
    struct qn_request rq = request(&job, "[" USER "]");
    assert_int_equal(qn_preset_apply(preset, &rq, NULL), QN_OK);
    assert_string_equal(mt_text(&job.chat.messages, &job.attachments, arena),
                        "[" SYSTEM("be kind") ",{\"role\":\"user\",\"content\":\"a\"}," USER "]");
    assert_string_equal(job.chat.template_text, "T");
    assert_true(job.sampling.temperature == 0.5);
    assert_int_equal(job.sampling.top_k, 3);
    assert_int_equal(job.sampling.max_tokens, 8);
    assert_int_equal(job.sampling.stop.n, 1);
    assert_int_equal(rq.context, 99);
    assert_true(isnan(job.sampling.top_p));
}

static void the_requests_own_words_win(void **state)
{
    (void)state;
    static const char *own[] = {"y"};
    struct qn_job job;
    struct qn_request rq = request(&job, "[" SYSTEM("mine") "," USER "]");
    job.chat.template_text = "own";
    job.sampling.temperature = 0;
    job.sampling.stop = (struct qn_strings){own, 1};
    rq.context = 7;
    assert_int_equal(qn_preset_apply(preset, &rq, NULL), QN_OK);
    assert_string_equal(mt_text(&job.chat.messages, &job.attachments, arena),
                        "[" SYSTEM("mine") ",{\"role\":\"user\",\"content\":\"a\"}," USER "]");
    assert_string_equal(job.chat.template_text, "own");
    assert_true(job.sampling.temperature == 0);
    assert_string_equal(job.sampling.stop.v[0], "y");
    assert_int_equal(rq.context, 7);
}

static void texts_to_complete_get_parameters_alone(void **state)
{
    (void)state;
    struct qn_job job;
    struct qn_request rq = request(&job, NULL);
    assert_int_equal(qn_preset_apply(preset, &rq, NULL), QN_OK);
    assert_int_equal(job.chat.messages.n, 0);
    assert_null(job.chat.template_text);
    assert_int_equal(job.sampling.top_k, 3);
    rq = request(&job, "[" USER "]");
    assert_int_equal(qn_preset_apply("{}", &rq, NULL), QN_OK);
    assert_string_equal(mt_text(&job.chat.messages, &job.attachments, arena), "[" USER "]");
    struct qn_error e;
    assert_int_not_equal(qn_preset_apply("{", &rq, &e), QN_OK);
    assert_int_not_equal(qn_preset_apply("{\"parameters\":7}", &rq, &e), QN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_missing_is_added, setup, teardown),
        cmocka_unit_test_setup_teardown(the_requests_own_words_win, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_to_complete_get_parameters_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
