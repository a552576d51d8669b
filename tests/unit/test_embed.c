/* Embeddings and reranking without a server: what is refused, the job a request becomes, the
 * reply's bytes. The base64 form was worked out by hand: 1.0f, -2.0f, 0.5f and 0.3f are 00 00 80
 * 3F, 00 00 00 C0, 00 00 00 3F and 9A 99 99 3E, least significant byte first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contract/codec.h"
#include "contract/inputs.h"
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
        {&qn_ollama_embed, "{\"model\":\"m\"}", "input"},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":[\"a\",1]}", "input[1]"},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":{}}", "input"},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":\"a\",\"dimensions\":-1}", "dimensions"},
        {&qn_ollama_embed, "{\"input\":\"a\"}", "model"},
        {&qn_ollama_embeddings, "{\"model\":\"m\"}", "prompt"},
        {&qn_ollama_embeddings, "{\"model\":\"m\",\"prompt\":[\"a\"]}", "prompt"},
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

/* What the child reads of the inputs, as "text" or [tokens] one behind the other. */
static char *cross_inputs(const struct qn_job *job)
{
    struct qn_buf frame, out;
    struct qn_input_cursor at;
    qn_buf_init(&frame, 1 << 20);
    qn_buf_init(&out, 1 << 20);
    qn_inputs_begin(&job->embed, &at);
    for (qn_inputs_pack(&at, &frame); frame.len; qn_inputs_pack(&at, &frame)) {
        struct qn_frame_reader r;
        struct qn_frame f;
        struct qn_input_batch *b;
        struct qn_error e = {0};
        qn_frame_reader_init(&r, 4096);
        assert_int_equal(qn_frame_feed(&r, frame.data, frame.len), QN_OK);
        assert_int_equal(qn_frame_next(&r, &f, &e), QN_OK);
        assert_int_equal(qn_inputs_take(&f, 0, &b, &e), QN_OK);
        for (size_t i = 0; i < b->n; i++) {
            if (b->v[i].text)
                qn_buf_fmt(&out, "\"%s\"", b->v[i].text);
            for (size_t k = 0; k < b->v[i].n_tokens; k++)
                qn_buf_fmt(&out, "%s%d%s", k ? "," : "[", b->v[i].tokens[k],
                           k + 1 == b->v[i].n_tokens ? "]" : "");
        }
        free(b);
        qn_json_free(f.json);
        qn_frame_reader_deinit(&r);
        qn_buf_clear(&frame);
    }
    qn_buf_deinit(&frame);
    return qn_buf_take(&out);
}

/* The job as the child reads it. */
static void jobs(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *body, *inputs;
        int64_t count;
    } rows[] = {
        {&qn_openai_embed, "{\"input\":\"a\",\"dimensions\":3,\"truncate\":true}", "\"a\"", 1},
        {&qn_openai_embed, "{\"input\":[\"a\",\"b\"],\"after\":[\"c\"]}", "\"a\"\"b\"", 2},
        {&qn_openai_embed, "{\"input\":\"a\",\"after\":\"b\"}", "\"a\"", 1},
        {&qn_openai_embed, "{\"input\":[1,2]}", "[1,2]", 1},
        {&qn_openai_embed, "{\"input\":[[1,2],[3]]}", "[1,2][3]", 2},
        {&qn_openai_embed, "{\"input\":[\"a\",[2147483647]]}", "\"a\"[2147483647]", 2},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[\"a\",{\"text\":\"b\"},\"\"]}",
         "\"a\"\"b\"\"\"", 3},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":\"a\",\"truncate\":false}", "\"a\"", 1},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":[\"a\",\"\"],\"truncate\":false}",
         "\"a\"\"\"", 2},
        {&qn_ollama_embeddings, "{\"name\":\"m\",\"prompt\":\"a\",\"truncate\":false}", "\"a\"", 1},
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
        assert_int_equal(job.embed.count, rows[i].count);
        assert_true(job.embed.dimensions == (i == 0 ? 3 : QN_UNSET));
        assert_int_equal(job.truncate, i == 0);
        assert_false(f.rq.stream);
        char *inputs = cross_inputs(f.rq.jobs);
        assert_string_equal(inputs, rows[i].inputs);
        free(inputs);
        qn_json_free(doc);
        qn_buf_deinit(&wire);
        drop(&f);
    }
}

/* Large replies of vectors are streamed; scores have to be compared first. Too many inputs are an
 * error that names the limit. */
static void numbers_of_inputs(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *begin, *end;
        int n;
        bool streams;
    } rows[] = {
        {&qn_openai_embed, "{\"input\":[", "]}", 64, false},
        {&qn_openai_embed, "{\"input\":[", "]}", 65, true},
        {&qn_ollama_embed, "{\"model\":\"m\",\"input\":[", "]}", 3000, true},
        {&qn_rerank, "{\"query\":\"q\",\"documents\":[", "]}", 3000, false},
        {&qn_openai_embed, "{\"input\":[", "]}", QN_JOB_INPUTS_MAX + 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct qn_buf body;
        qn_buf_init(&body, 64 << 20);
        qn_buf_str(&body, rows[i].begin);
        for (int k = 0; k < rows[i].n; k++)
            qn_buf_str(&body, k ? ",\"a\"" : "\"a\"");
        qn_buf_str(&body, rows[i].end);
        qn_err err = parse(&f, rows[i].dialect, qn_buf_cstr(&body));
        assert_int_equal(err, rows[i].n > QN_JOB_INPUTS_MAX ? QN_EINVAL : QN_OK);
        if (err)
            assert_non_null(strstr(f.e.message, "at most 1000000 inputs"));
        else
            assert_int_equal(f.rq.stream, rows[i].streams);
        qn_buf_deinit(&body);
        drop(&f);
    }
}

static const char first_two[] = "\0\0\x80\x3F\0\0\0\xC0", third[] = "\0\0\0\x3F\x9A\x99\x99\x3E",
                  two_each[] = "\0\0\x80\x3F\0\0\0\xC0\0\0\0\x3F\x9A\x99\x99\x3E";

static const struct qn_event vectors[] = {
    {.kind = QN_EV_VECTORS, .index = 0, .count = 1, .data = first_two, .bytes = 8},
    {.kind = QN_EV_VECTORS, .index = 1, .count = 1, .data = third, .bytes = 8},
    {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
    {.kind = QN_EV_USAGE, .usage = {.prompt = 6}},
};
static const struct qn_event at_once[] = {
    {.kind = QN_EV_VECTORS, .index = 0, .count = 2, .data = two_each, .bytes = 16},
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
    static const char floats[] =
        "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[1,"
        "-2]},{\"object\":\"embedding\",\"index\":1,\"embedding\":[0.5,0.3]}],\"model\":\"m\","
        "\"usage\":{\"prompt_tokens\":6,\"total_tokens\":6}}";
    static const char packed[] =
        "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":"
        "\"AACAPwAAAMA=\"},{\"object\":\"embedding\",\"index\":1,\"embedding\":\"AAAAP5qZmT4=\"}],"
        "\"model\":\"m\",\"usage\":{\"prompt_tokens\":6,\"total_tokens\":6}}";
    static const char body[] = "{\"model\":\"m\",\"input\":[\"a\",\"b\"]}";
    expect(&qn_openai_embed, body, vectors, 4, floats);
    expect(&qn_openai_embed, body, at_once, 3, floats);
    expect(&qn_openai_embed,
           "{\"model\":\"m\",\"input\":[\"a\",\"b\"],\"encoding_format\":\"base64\"}", vectors, 4,
           packed);
}

static void embeddings_of_ollama(void **state)
{
    (void)state;
    struct fixture f;
    static const char begin[] = "{\"model\":\"m\",\"embeddings\":[[1,-2],[0.5,0.3]],"
                                "\"total_duration\":",
                      end[] = ",\"prompt_eval_count\":6}";
    assert_int_equal(parse(&f, &qn_ollama_embed, "{\"model\":\"m\",\"input\":[\"a\",\"b\"]}"),
                     QN_OK);
    char *text = play(&f, &qn_ollama_embed, at_once, 3);
    assert_int_equal(strncmp(text, begin, sizeof begin - 1), 0);
    assert_string_equal(text + strlen(text) - sizeof end + 1, end);
    free(text);
    drop(&f);
    expect(&qn_ollama_embeddings, "{\"model\":\"m\",\"prompt\":\"a\"}", vectors, 1,
           "{\"embedding\":[1,-2]}");
    /* nothing to embed: the model is loaded, no more */
    expect(&qn_ollama_embeddings, "{\"model\":\"m\",\"prompt\":\"\"}", NULL, 0,
           "{\"embedding\":[]}");
    assert_int_equal(parse(&f, &qn_ollama_embed, "{\"model\":\"m\",\"input\":[]}"), QN_OK);
    assert_int_equal(f.rq.n_jobs, 0);
    text = play(&f, &qn_ollama_embed, NULL, 0);
    assert_non_null(strstr(text, "\"embeddings\":[],"));
    free(text);
    drop(&f);
}

/* -1.5f, 2.0f, 2.0f and 0.1f. */
static const char four_scores[] = "\0\0\xC0\xBF\0\0\0\x40\0\0\0\x40\xCD\xCC\xCC\x3D";

static void reranking(void **state)
{
    (void)state;
    static const struct qn_event scores[] = {
        {.kind = QN_EV_SCORES, .index = 0, .count = 3, .data = four_scores, .bytes = 12},
        {.kind = QN_EV_SCORES, .index = 3, .count = 1, .data = four_scores + 12, .bytes = 4},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
        {.kind = QN_EV_USAGE, .usage = {.prompt = 9}},
    };
    expect(
        &qn_rerank, "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"a\",\"b\",\"c\",\"d\"]}",
        scores, 4,
        "{\"model\":\"m\",\"object\":\"list\",\"results\":[{\"index\":0,\"relevance_score\":-1."
        "5},{\"index\":1,\"relevance_score\":2},{\"index\":2,\"relevance_score\":2},{\"index\":3,"
        "\"relevance_score\":0.1}],\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}");
    expect(&qn_rerank,
           "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"a\",{\"text\":\"b\"},\"c\",\"d\"],"
           "\"top_n\":1,\"return_documents\":true}",
           scores, 4,
           "{\"model\":\"m\",\"object\":\"list\",\"results\":[{\"index\":1,\"relevance_score\":2,"
           "\"document\":{\"text\":\"b\"}}],\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}");
    expect(&qn_rerank,
           "{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"a\",\"b\",\"c\",\"d\"],\"top_n\":3}",
           scores, 4,
           "{\"model\":\"m\",\"object\":\"list\",\"results\":[{\"index\":1,\"relevance_score\":2},"
           "{\"index\":2,\"relevance_score\":2},{\"index\":3,\"relevance_score\":0.1}],\"usage\":{"
           "\"prompt_tokens\":9,\"total_tokens\":9}}");
}

/* A child that leaves an input out, answers twice, out of turn, or with something else is broken.
 */
static void broken_children(void **state)
{
    (void)state;
    static const struct qn_event bad[] = {
        {.kind = QN_EV_VECTORS, .index = 2, .count = 1, .data = third, .bytes = 8}, /* skips one */
        {.kind = QN_EV_VECTORS, .index = 0, .count = 1, .data = third, .bytes = 8}, /* again */
        {.kind = QN_EV_VECTORS, .index = 1, .count = 3, .data = two_each, .bytes = 12}, /* beyond */
        {.kind = QN_EV_VECTORS, .index = 1, .count = 1, .data = third, .bytes = 4}, /* shorter */
        {.kind = QN_EV_VECTORS, .index = 1, .count = 1, .data = two_each, .bytes = 16}, /* longer */
        {.kind = QN_EV_SCORES, .index = 1, .count = 1, .data = third, .bytes = 4},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture f;
        struct qn_buf out;
        qn_buf_init(&out, 1 << 20);
        assert_int_equal(parse(&f, &qn_openai_embed, "{\"input\":[\"a\",\"b\",\"c\"]}"), QN_OK);
        struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID"};
        qn_openai_embed.begin(&r);
        assert_int_equal(qn_openai_embed.event(&r, 0, &vectors[0], &f.e), QN_OK);
        size_t before = out.len;
        assert_int_equal(qn_openai_embed.event(&r, 0, &bad[i], &f.e), QN_ECHILD);
        assert_int_equal(out.len, before);
        qn_openai_embed.free(r.own);
        qn_buf_deinit(&out);
        drop(&f);
    }
}

/* Before the first byte a failure is the endpoint's error, after it the connection's end. */
static void failures(void **state)
{
    (void)state;
    static const struct qn_dialect *const dialects[] = {&qn_openai_embed, &qn_ollama_embed,
                                                        &qn_rerank};
    struct qn_error why = {.code = QN_ECHILD, .message = "it died"};
    struct qn_problem p = {.error = &why};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        for (int started = 0; started < 2; started++) {
            struct qn_buf out;
            qn_buf_init(&out, 1 << 20);
            struct qn_request rq = {.family = QN_FAMILY_ERROR};
            struct qn_reply r = {.rq = &rq, .out = &out, .started = started};
            (dialects[i]->fail)(&r, &p);
            assert_int_equal(r.cut, started);
            assert_int_equal(out.len == 0, started);
            if (!started)
                assert_non_null(strstr(qn_buf_cstr(&out), "it died"));
            qn_buf_deinit(&out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),           cmocka_unit_test(jobs),
        cmocka_unit_test(numbers_of_inputs),    cmocka_unit_test(embeddings),
        cmocka_unit_test(embeddings_of_ollama), cmocka_unit_test(reranking),
        cmocka_unit_test(broken_children),      cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
