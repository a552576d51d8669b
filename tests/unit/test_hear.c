/* Replies of OpenAI-style servers as events: the forms that llama.cpp's, vLLM's and OpenAI's
 * documents show. */
#include "base/arena.h"
#include "base/str.h"
#include "bridge/hear.h"
#include "contract/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SSE "text/event-stream"
#define JSON "application/json"

struct fix {
    struct qn_job job;
    struct qn_hearing h;
    struct qn_buf heard; /* events as they cross, one per line */
    struct qn_error e;
    bool passing;
};

static void collect(void *ctx, const struct qn_event *ev)
{
    struct fix *f = ctx;
    struct qn_event copy = *ev;
    if (ev->kind == QN_EV_USAGE) /* times are what they are */
        copy.usage.prompt_ms = copy.usage.output_ms = 0;
    if (ev->kind != QN_EV_VECTORS && ev->kind != QN_EV_SCORES) {
        assert_int_equal(qn_event_frame(&copy, &f->heard), QN_OK);
        return;
    }
    assert_int_equal(qn_event_encode(&copy, &f->heard), QN_OK); /* bytes as numbers behind it */
    struct qn_jw w = qn_jw_to(&f->heard);
    qn_jw_arr(&w);
    for (size_t i = 0; i < (size_t)ev->bytes / 4; i++)
        qn_jw_f32(&w, qn_event_float(ev->data, i));
    qn_jw_arr_end(&w);
    qn_buf_char(&f->heard, '\n');
}

static struct fix *fix_new(enum qn_task task)
{
    struct fix *f = calloc(1, sizeof *f);
    qn_job_init(&f->job);
    f->job.task = task;
    qn_buf_init(&f->heard, 1 << 20);
    qn_hearing_init(&f->h, &f->job, collect, f);
    return f;
}

static void fix_free(struct fix *f)
{
    qn_hearing_deinit(&f->h);
    qn_buf_deinit(&f->heard);
    free(f);
}

/* The whole of one reply, byte by byte. */
static qn_err hear(struct fix *f, int status, const char *type, const char *body, bool broken)
{
    struct qn_engine_call ask = {.inputs = 2};
    struct qn_error why = {0};
    qn_hearing_begin(&f->h, &ask);
    qn_fail(&why, QN_EIO, "the connection broke");
    for (const char *s = body; *s; s++)
        if (qn_hearing_data(&f->h, status, type, s, 1))
            broken = true;
    qn_err err = qn_hearing_end(&f->h, status, broken ? &why : NULL, "host", &f->passing, &f->e);
    if (!err)
        qn_hearing_finish(&f->h);
    return err;
}

static const char *line(const struct fix *f, int n)
{
    static char out[4096];
    const char *s = f->heard.data;
    while (n-- && s)
        s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL;
    out[0] = '\0';
    if (s)
        snprintf(out, sizeof out, "%.*s", (int)strcspn(s, "\n"), s);
    return out;
}

static bool has(const struct fix *f, const char *part)
{
    return f->heard.data && strstr(f->heard.data, part);
}

static void a_stream_of_llama_server(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(
        hear(f, 200, SSE,
             "data: "
             "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\","
             "\"content\":null}}]}\n\n"
             "data: {\"choices\":[],\"prompt_progress\":{\"total\":20,\"cache\":3,\"processed\":5,"
             "\"time_ms\":3}}\n\n"
             "data: "
             "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"reasoning_content\":"
             "\"hm\"}}]}\n\n"
             "data: "
             "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}"
             "\n\n"
             "data: {\"choices\":[{\"finish_reason\":\"length\",\"index\":0,\"delta\":{}}]}\n\n"
             "data: {\"choices\":[],\"usage\":{\"completion_tokens\":3,\"prompt_tokens\":20,"
             "\"total_tokens\":23},\"timings\":{\"cache_n\":15,\"prompt_n\":5,\"prompt_ms\":7.5,"
             "\"predicted_n\":3,\"predicted_ms\":9.25}}\n\n"
             "data: [DONE]\n\n",
             false),
        QN_OK);
    assert_true(strstr(line(f, 0), "\"progress\"") && strstr(line(f, 0), "\"done\":5") &&
                strstr(line(f, 0), "\"total\":20") && strstr(line(f, 0), "\"reused\":3"));
    assert_true(strstr(line(f, 1), "\"reasoning\"") && strstr(line(f, 1), "\"hm\""));
    assert_true(strstr(line(f, 2), "\"text\":\"Hi\""));
    assert_true(strstr(line(f, 3), "\"reason\":\"length\""));
    assert_true(strstr(line(f, 4), "\"prompt\":20") && strstr(line(f, 4), "\"cached\":15") &&
                strstr(line(f, 4), "\"output\":3"));
    assert_true(strstr(line(f, 5), "\"end\""));
    assert_true(f->h.usage.prompt_ms == 7.5 && f->h.usage.output_ms == 9.25);
    fix_free(f);
}

static void reasoning_that_stays_in_the_text(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    f->job.chat.reasoning_in_text = true;
    hear(f, 200, SSE,
         "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\n"
         "data: "
         "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}"
         "\n\n",
         false);
    assert_true(has(f, "<think>\\n") && has(f, "\\n</think>\\n\\n") &&
                !has(f, "\"ev\":\"reasoning\""));
    fix_free(f);
}

static void calls_of_tools(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(
        hear(f, 200, SSE,
             "data: "
             "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\","
             "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n"
             "data: "
             "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
             "\"arguments\":\"{}\"}}]}}]}\n\n"
             "data: "
             "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c2\","
             "\"function\":{\"name\":\"g\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}\n\n"
             "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
             false),
        QN_OK);
    assert_true(strstr(line(f, 0), "\"name\":\"f\"") && strstr(line(f, 0), "\"id\":\"c1\""));
    assert_true(strstr(line(f, 1), "\"arguments\":\"{}\"") && !strstr(line(f, 1), "\"name\""));
    assert_true(strstr(line(f, 2), "\"name\":\"g\"") && strstr(line(f, 2), "\"call\":1"));
    assert_true(strstr(line(f, 3), "\"reason\":\"tool_calls\""));
    fix_free(f);
}

/* Some servers number no calls, some give all of them the same number: their ids tell them apart.
 */
static void calls_that_only_their_ids_tell_apart(void **state)
{
    static const char *const numbers[] = {"", "\"index\":0,"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fix *f = fix_new(QN_TASK_CHAT);
        char text[2048];
        const char *n = numbers[i];
        snprintf(text, sizeof text,
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{%s\"id\":\"c1\","
                 "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n"
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{%s\"id\":\"c1\","
                 "\"function\":{\"name\":\"f\",\"arguments\":\"1}\"}}]}}]}\n\n"
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{%s\"id\":\"c2\","
                 "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]},"
                 "\"finish_reason\":\"tool_calls\"}]}\n\n",
                 n, n, n);
        assert_int_equal(hear(f, 200, SSE, text, false), QN_OK);
        assert_true(strstr(line(f, 0), "\"call\":0") && strstr(line(f, 0), "\"name\":\"f\""));
        assert_true(strstr(line(f, 1), "\"call\":0") && !strstr(line(f, 1), "\"name\""));
        assert_true(strstr(line(f, 2), "\"call\":1") && strstr(line(f, 2), "\"name\":\"g\""));
        assert_non_null(strstr(line(f, 2), "\"id\":\"c2\""));
        fix_free(f);
    }
}

static void an_answer_in_one_piece(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(
        hear(f, 200, JSON,
             "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hi\","
             "\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":"
             "1}}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":4,"
             "\"completion_tokens\":2}}",
             false),
        QN_OK);
    assert_true(has(f, "\"Hi\"") && has(f, "{\\\"a\\\":1}") && has(f, "\"prompt\":4"));
    fix_free(f);
}

static void counting_says_no_text(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    f->job.count_only = true;
    assert_int_equal(
        hear(f, 200, SSE,
             "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":"
             "\"length\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n",
             false),
        QN_OK);
    assert_true(!has(f, "Hi") && has(f, "\"reason\":\"stop\"") && has(f, "\"prompt\":9") &&
                has(f, "\"output\":0"));
    fix_free(f);
}

static void logprobs_of_both_forms(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    f->job.sampling.logprobs = 1;
    hear(
        f, 200, SSE,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\","
        "\"logprobs\":{\"content\":[{\"id\":7,\"token\":\"a\",\"bytes\":[97],\"logprob\":-0.5,"
        "\"top_logprobs\":[{\"id\":8,\"token\":\"b\",\"bytes\":[98],\"logprob\":-1.5}]}]}}]}\n\n",
        false);
    assert_true(has(f,
                    "[{\"id\":7,\"token\":\"a\",\"bytes\":[97],\"logprob\":-0.5,\"top\":[{\"id\":8,"
                    "\"token\":\"b\",\"bytes\":[98],\"logprob\":-1.5}]}]"));
    fix_free(f);
    f = fix_new(QN_TASK_COMPLETE);
    f->job.sampling.logprobs = 1;
    hear(f, 200, JSON,
         "{\"choices\":[{\"index\":0,\"text\":\"ab\",\"finish_reason\":\"stop\",\"logprobs\":{"
         "\"tokens\":["
         "\"a\",\"b\"],\"token_logprobs\":[null,-0.25],\"top_logprobs\":[null,{\"b\":-0.25}]}}]}",
         false);
    assert_true(
        has(f, "{\"id\":0,\"token\":\"a\",\"bytes\":[97],\"logprob\":null,\"top\":[]},{\"id\":0,"
               "\"token\":\"b\",\"bytes\":[98],\"logprob\":-0.25,\"top\":[{\"id\":0,\"token\":"
               "\"b\",\"bytes\":[98],\"logprob\":-0.25}]}"));
    fix_free(f);
}

static void what_ends_too_early(void **state)
{
    (void)state;
    static const char half[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(hear(f, 200, SSE, half, false), QN_ECHILD);
    assert_true(f->h.spoken && strstr(f->e.message, "host ended its reply"));
    fix_free(f);
    f = fix_new(QN_TASK_CHAT);
    assert_int_equal(hear(f, 200, SSE, half, true), QN_ECHILD);
    fix_free(f);
    f = fix_new(QN_TASK_CHAT);
    assert_int_equal(hear(f, 0, "", "", true), QN_EIO);
    assert_true(f->passing && !f->h.spoken);
    fix_free(f);
}

/* What becomes of the connection then is no part of the answer. */
static void what_ends_in_time(void **state)
{
    (void)state;
    static const char whole[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(hear(f, 200, SSE, whole, true), QN_OK);
    assert_true(qn_hearing_complete(&f->h) && has(f, "\"ev\":\"end\""));
    fix_free(f);
    f = fix_new(QN_TASK_CHAT);
    f->job.sampling.n = 2;
    assert_int_equal(hear(f, 200, SSE, whole, true), QN_ECHILD);
    assert_false(qn_hearing_complete(&f->h));
    fix_free(f);
}

/* A success status without a body answers no request of any task. */
static void an_empty_answer(void **state)
{
    static const enum qn_task tasks[] = {QN_TASK_CHAT,      QN_TASK_COMPLETE, QN_TASK_EMBED,
                                         QN_TASK_RERANK,    QN_TASK_IMAGE,    QN_TASK_SPEAK,
                                         QN_TASK_TRANSCRIBE};
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct fix *f = fix_new(tasks[i]);
        assert_int_equal(hear(f, 200, JSON, "", false), QN_ECHILD);
        assert_string_equal(f->e.message, "host sent an empty reply");
        assert_true(f->passing && !f->h.spoken);
        fix_free(f);
    }
}

/* Of a failed first try nothing is left in the second. */
static void a_second_try_begins_anew(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    assert_int_equal(hear(f, 200, SSE, "data: {\"choi", true), QN_EIO);
    assert_int_equal(
        hear(f, 200, SSE,
             "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":"
             "\"stop\"}]}\n\n",
             false),
        QN_OK);
    assert_true(strstr(line(f, 0), "\"Hi\""));
    fix_free(f);
}

static void errors_of_servers(void **state)
{
    static const struct {
        int status;
        const char *body;
        qn_err code;
        bool passing;
        const char *says;
    } cases[] = {
        {400, "{\"error\":{\"message\":\"bad n\",\"type\":\"x\"}}", QN_EINVAL, false, "bad n"},
        {400,
         "{\"error\":{\"code\":400,\"message\":\"too "
         "long\",\"type\":\"exceed_context_size_error\"}}",
         QN_ECONTEXT, false, "too long"},
        {400, "{\"object\":\"error\",\"message\":\"maximum context length is 5\"}", QN_ECONTEXT,
         false, "maximum"},
        {401, "{\"error\":\"no\"}", QN_EIO, false, "does not accept the key"},
        {404, "{\"detail\":\"Not Found\"}", QN_ENOTFOUND, false, "Not Found"},
        {429, "slow down", QN_EBUSY, true, "429"},
        {500, "", QN_EIO, true, "500"},
        {503, "{\"error\":{\"message\":\"Loading model\"}}", QN_EBUSY, true, "Loading model"},
        {302, "", QN_EIO, false, "302"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fix *f = fix_new(QN_TASK_CHAT);
        assert_int_equal(hear(f, cases[i].status, JSON, cases[i].body, false), cases[i].code);
        assert_int_equal(f->passing, cases[i].passing);
        assert_non_null(strstr(f->e.message, cases[i].says));
        assert_true(strstr(f->e.message, "host") == f->e.message);
        fix_free(f);
    }
}

static void vectors_and_scores(void **state)
{
    static const struct {
        enum qn_task task;
        const char *body, *says; /* NULL: refused */
    } cases[] = {
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":1,\"embedding\":[1,2]},{\"index\":0,\"embedding\":[3.5,-0.1]}],"
         "\"usage\":{"
         "\"prompt_tokens\":8}}",
         "{\"ev\":\"vectors\",\"index\":0,\"count\":2,\"bytes\":16}[3.5,-0.1,1,2]"},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":1,\"embedding\":[1,2]},{\"index\":0,\"embedding\":[3.5]}]}", NULL},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":0,\"embedding\":[1e39]},{\"index\":1,\"embedding\":[1]}]}", NULL},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":0,\"embedding\":[]},{\"index\":1,\"embedding\":[]}]}", NULL},
        {QN_TASK_EMBED, "{\"data\":[{\"index\":0,\"embedding\":[1]}]}", NULL},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]}]}", NULL},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":0,\"embedding\":[\"1\"]},{\"index\":1,\"embedding\":[1]}]}", NULL},
        {QN_TASK_EMBED,
         "{\"data\":[{\"index\":0,\"embedding\":{}},{\"index\":1,\"embedding\":[1]}]}", NULL},
        {QN_TASK_EMBED, "[]", NULL},
        {QN_TASK_RERANK,
         "{\"results\":[{\"index\":0,\"relevance_score\":-1.5},{\"index\":1,\"relevance_score\":2}]"
         "}",
         "{\"ev\":\"scores\",\"index\":0,\"count\":2,\"bytes\":8}[-1.5,2]"},
        {QN_TASK_RERANK,
         "{\"results\":[{\"index\":1,\"relevance_score\":3},{\"index\":0,\"relevance_score\":1e39}]"
         "}",
         NULL},
        {QN_TASK_RERANK,
         "{\"results\":[{\"index\":0,\"relevance_score\":null},{\"index\":1,\"relevance_score\":2}]"
         "}",
         NULL},
        {QN_TASK_RERANK,
         "{\"results\":[{\"index\":2,\"relevance_score\":1},{\"index\":1,\"relevance_score\":2}]}",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fix *f = fix_new(cases[i].task);
        f->job.embed.count = 2;
        qn_err err = hear(f, 200, JSON, cases[i].body, false);
        assert_int_equal(err, cases[i].says ? QN_OK : QN_ECHILD);
        if (cases[i].says)
            assert_true(has(f, cases[i].says) && has(f, "\"end\""));
        else
            assert_false(f->h.spoken); /* so it may be asked again */
        fix_free(f);
    }
}

static void a_transcript(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_TRANSCRIBE);
    f->job.transcribe.words = true;
    assert_int_equal(
        hear(f, 200, JSON,
             "{\"language\":\"de\",\"duration\":3.5,\"segments\":[{\"start\":0,\"end\":1,\"text\":"
             "\" Ja\","
             "\"avg_logprob\":-0.25},{\"start\":1,\"end\":3,\"text\":\" "
             "nein\"}],\"words\":[{\"word\":"
             "\"Ja\",\"start\":0.1,\"end\":0.9},{\"word\":\"nein\",\"start\":1.5,\"end\":2}]}",
             false),
        QN_OK);
    assert_true(strstr(line(f, 0), "\" Ja\"") && strstr(line(f, 0), "\"avg_logprob\":-0.25") &&
                strstr(line(f, 0), "[{\"word\":\"Ja\",\"start\":0.1,\"end\":0.9}]"));
    assert_true(strstr(line(f, 1), "\"nein\"") && !strstr(line(f, 1), "avg_logprob"));
    assert_true(has(f, "\"language\":\"de\"") && has(f, "\"audio_ms\":3500"));
    fix_free(f);
    f = fix_new(QN_TASK_TRANSCRIBE);
    assert_int_equal(hear(f, 200, JSON, "{\"text\":\"Ja\"}", false), QN_OK);
    assert_true(has(f, "\"Ja\""));
    fix_free(f);
}

static void a_reply_without_end(void **state)
{
    (void)state;
    struct fix *f = fix_new(QN_TASK_CHAT);
    struct qn_engine_call ask = {0};
    char *block = calloc(1, 1 << 20);
    memset(block, 'x', 1 << 20);
    qn_hearing_begin(&f->h, &ask);
    qn_err err = QN_OK;
    for (int i = 0; i < 20 && !err; i++) /* one line */
        err = qn_hearing_data(&f->h, 200, SSE, block, 1 << 20);
    assert_int_equal(err, QN_ECHILD);
    qn_hearing_begin(&f->h, &ask);
    err = QN_OK;
    for (int i = 0; i < 20 && !err; i++)
        err = qn_hearing_data(&f->h, 500, JSON, block, 1 << 20);
    assert_int_equal(err, QN_ECHILD);
    free(block);
    fix_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_of_llama_server),
        cmocka_unit_test(reasoning_that_stays_in_the_text),
        cmocka_unit_test(calls_of_tools),
        cmocka_unit_test(calls_that_only_their_ids_tell_apart),
        cmocka_unit_test(an_answer_in_one_piece),
        cmocka_unit_test(counting_says_no_text),
        cmocka_unit_test(logprobs_of_both_forms),
        cmocka_unit_test(what_ends_too_early),
        cmocka_unit_test(what_ends_in_time),
        cmocka_unit_test(an_empty_answer),
        cmocka_unit_test(a_second_try_begins_anew),
        cmocka_unit_test(errors_of_servers),
        cmocka_unit_test(vectors_and_scores),
        cmocka_unit_test(a_transcript),
        cmocka_unit_test(a_reply_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
