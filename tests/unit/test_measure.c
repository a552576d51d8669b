/* Embeddings and reranking without a server: what is refused, the job a request becomes, the
 * reply's bytes. The base64 form was worked out by hand: 1.0f, -2.0f and 0.5f are 00 00 80 3F, 00
 * 00 00 C0 and 00 00 00 3F, least significant byte first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contract/codec.h"
#include "tests/unit/dialect_play.h"

#include <stdio.h>

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *body, *param;
    } rows[] = {
        {&qn_openai_embed, "{}", "input"},
        {&qn_openai_embed, "{\"input\":5}", "input"},
        {&qn_openai_embed, "{\"input\":[]}", "input"},
        {&qn_openai_embed, "{\"input\":\"\"}", "input"},
        {&qn_openai_embed, "{\"input\":[\"a\",\"\"]}", "input[1]"},
        {&qn_openai_embed, "{\"input\":[\"a\",null]}", "input[1]"},
        {&qn_openai_embed, "{\"input\":[1,\"a\"]}", "input[1]"},
        {&qn_openai_embed, "{\"input\":[[1],[]]}", "input[1]"},
        {&qn_openai_embed, "{\"input\":[[1],[-1]]}", "input[1][0]"},
        {&qn_openai_embed, "{\"input\":\"a\",\"encoding_format\":\"hex\"}", "encoding_format"},
        {&qn_openai_embed, "{\"input\":\"a\",\"dimensions\":0}", "dimensions"},
        {&qn_openai_embed, "{\"input\":\"a\",\"model\":5}", "model"},
        {&qn_openai_embed, "{\"input\":\"a\",\"truncate\":1}", "truncate"},
        {&qn_rerank, "{\"documents\":[\"a\"]}", "query"},
        {&qn_rerank, "{\"query\":\"q\"}", "documents"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":\"a\"}", "documents"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[]}", "documents"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[\"a\",7]}", "documents[1]"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[{}]}", "documents[0].text"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[\"a\"],\"top_n\":0}", "top_n"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[\"a\"],\"return_documents\":0}",
         "return_documents"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        complains(rows[i].dialect, rows[i].body, rows[i].param);
}

/* The job as the child reads it. */
static void jobs(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *body, *inputs;
    } rows[] = {
        {&qn_openai_embed, "{\"input\":\"a\",\"dimensions\":3,\"truncate\":true}", "[\"a\"]"},
        {&qn_openai_embed, "{\"input\":[\"a\",\"b\"]}", "[\"a\",\"b\"]"},
        {&qn_openai_embed, "{\"input\":[1,2]}", "[[1,2]]"},
        {&qn_openai_embed, "{\"input\":[[1,2],[3]]}", "[[1,2],[3]]"},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[\"a\",{\"text\":\"b\"}]}", "[\"a\",\"b\"]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct qn_buf wire;
        struct qn_json *doc;
        struct qn_job job;
        qn_buf_init(&wire, 1 << 20);
        assert_int_equal(parse(&f, rows[i].dialect, rows[i].body), QN_OK);
        f.rq.jobs->id = "1";
        assert_int_equal(qn_job_encode(f.rq.jobs, &wire), QN_OK);
        assert_int_equal(qn_json_parse(wire.data, wire.len, &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        assert_int_equal(qn_job_decode(&root, &job, f.arena, &f.e), QN_OK);
        assert_int_equal(job.task, rows[i].dialect->task);
        assert_string_equal(job.measure.inputs, rows[i].inputs);
        assert_true(job.measure.dimensions == (i == 0 ? 3 : QN_UNSET));
        assert_int_equal(job.truncate, i == 0);
        qn_json_free(doc);
        qn_buf_deinit(&wire);
        drop(&f);
    }
}

/* Vectors and scores cross between the processes; what is no such event does not. */
static void events_cross(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        qn_err err;
    } rows[] = {
        {"{\"ev\":\"vector\",\"index\":2047,\"vector\":[0.5,-1]}", QN_OK},
        {"{\"ev\":\"score\",\"index\":3,\"score\":-2.5}", QN_OK},
        {"{\"ev\":\"vector\",\"index\":2048,\"vector\":[]}", QN_EINVAL},
        {"{\"ev\":\"vector\",\"index\":0}", QN_EINVAL},
        {"{\"ev\":\"vector\",\"index\":0,\"vector\":{}}", QN_EINVAL},
        {"{\"ev\":\"score\",\"index\":-1,\"score\":1}", QN_EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_json *doc;
        struct qn_event ev;
        struct qn_buf out;
        struct qn_arena *arena = qn_arena_new(1 << 20);
        qn_buf_init(&out, 1 << 20);
        assert_int_equal(qn_json_parse(rows[i].json, strlen(rows[i].json), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        assert_int_equal(qn_event_decode(&root, &ev, arena, NULL), rows[i].err);
        if (rows[i].err == QN_OK) {
            assert_int_equal(qn_event_encode(&ev, &out), QN_OK);
            assert_string_equal(qn_buf_cstr(&out), rows[i].json);
        }
        qn_buf_deinit(&out);
        qn_json_free(doc);
        qn_arena_free(arena);
    }
}

static const struct qn_event vectors[] = {
    {.kind = QN_EV_VECTOR, .index = 1, .vector = "[0.5]"},
    {.kind = QN_EV_VECTOR, .index = 0, .vector = "[1,-2]"},
    {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
    {.kind = QN_EV_USAGE, .usage = {.prompt = 6}},
};

static void expect(const struct qn_dialect *d, const char *body, const struct qn_event *events,
                   size_t n, const char *expected)
{
    struct fixture f;
    assert_int_equal(parse(&f, d, body), QN_OK);
    char *text = play(&f, d, events, n);
    assert_string_equal(text, expected);
    free(text);
    drop(&f);
}

static void embeddings(void **state)
{
    (void)state;
    expect(&qn_openai_embed, "{\"model\":\"m\",\"input\":[\"a\",\"b\"]}", vectors, 4,
           "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[1,"
           "-2]},{\"object\":\"embedding\",\"index\":1,\"embedding\":[0.5]}],\"model\":\"m\","
           "\"usage\":{\"prompt_tokens\":6,\"total_tokens\":6}}");
    expect(&qn_openai_embed,
           "{\"model\":\"m\",\"input\":[\"a\",\"b\"],\"encoding_format\":\"base64\"}", vectors, 4,
           "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":"
           "\"AACAPwAAAMA=\"},{\"object\":\"embedding\",\"index\":1,\"embedding\":\"AAAAPw==\"}],"
           "\"model\":\"m\",\"usage\":{\"prompt_tokens\":6,\"total_tokens\":6}}");
}

static void reranking(void **state)
{
    (void)state;
    static const struct qn_event scores[] = {
        {.kind = QN_EV_SCORE, .index = 0, .score = -1.5},
        {.kind = QN_EV_SCORE, .index = 1, .score = 2},
        {.kind = QN_EV_SCORE, .index = 2, .score = 2},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
        {.kind = QN_EV_USAGE, .usage = {.prompt = 9}},
    };
    expect(&qn_rerank, "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"a\",\"b\",\"c\"]}",
           scores, 5,
           "{\"model\":\"m\",\"object\":\"list\",\"results\":[{\"index\":0,\"relevance_score\":-1."
           "5},{\"index\":1,\"relevance_score\":2},{\"index\":2,\"relevance_score\":2}],\"usage\":{"
           "\"prompt_tokens\":9,\"total_tokens\":9}}");
    expect(&qn_rerank,
           "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"a\",\"b\",\"c\"],\"top_n\":1,"
           "\"return_documents\":true}",
           scores, 5,
           "{\"model\":\"m\",\"object\":\"list\",\"results\":[{\"index\":1,\"relevance_score\":2,"
           "\"document\":{\"text\":\"b\"}}],\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}");
}

/* A child that leaves an input out, answers twice as many or something else is broken. */
static void broken_children(void **state)
{
    (void)state;
    static const struct qn_event bad[] = {
        {.kind = QN_EV_VECTOR, .index = 2, .vector = "[]"},
        {.kind = QN_EV_SCORE, .index = 0, .score = 1},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
    };
    struct fixture f;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(parse(&f, &qn_openai_embed, "{\"input\":[\"a\",\"b\"]}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID"};
    qn_openai_embed.begin(&r);
    assert_int_equal(qn_openai_embed.event(&r, 0, &vectors[0], &f.e), QN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_openai_embed.event(&r, 0, &bad[i], &f.e), QN_ECHILD);
    qn_openai_embed.free(r.own);
    qn_buf_deinit(&out);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),      cmocka_unit_test(jobs),
        cmocka_unit_test(embeddings),      cmocka_unit_test(reranking),
        cmocka_unit_test(broken_children), cmocka_unit_test(events_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
