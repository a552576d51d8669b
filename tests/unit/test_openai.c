/* router/dialects/openai*.c: what is refused and how it is named, what becomes of a request, and
 * the bytes of replies against ones written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/answer.h"
#include "router/dialects/dialect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct qn_arena *arena;
    struct qn_json *doc;
    struct qn_request rq;
    struct qn_error e;
};

static qn_err parse(struct fixture *f, const struct qn_dialect *d, const char *body)
{
    *f = (struct fixture){.arena = qn_arena_new(64 * 1024 * 1024)};
    qn_err err = qn_json_parse(body, strlen(body), &f->doc, &f->e);
    if (err)
        return err;
    f->rq.doc = f->doc;
    f->rq.arena = f->arena;
    return d->parse(&f->rq, &f->e);
}

static void drop(struct fixture *f)
{
    qn_json_free(f->doc);
    qn_arena_free(f->arena);
}

#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define P "\"prompt\":\"a\""

static void adapters_are_named_by_id_or_name(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_openai_complete,
                           "{\"lora\":[{\"id\":2,\"scale\":0.5},{\"name\":\"pirate\"}],"
                           "\"context_shift\":false," P "}"),
                     QN_OK);
    const struct qn_sampling *s = &f.rq.jobs[0].sampling;
    assert_true(s->lora.given);
    assert_int_equal(s->lora.n, 2);
    assert_null(s->lora.v[0].name);
    assert_int_equal(s->lora.v[0].id, 2);
    assert_true(s->lora.v[0].scale == 0.5);
    assert_string_equal(s->lora.v[1].name, "pirate");
    assert_true(isnan(s->lora.v[1].scale));
    assert_int_equal(s->context_shift, 0);
    drop(&f);
    assert_int_equal(parse(&f, &qn_openai_chat, "{\"lora\":[],\"context_shift\":true," M "}"),
                     QN_OK);
    assert_true(f.rq.jobs[0].sampling.lora.given);
    assert_int_equal(f.rq.jobs[0].sampling.lora.n, 0);
    assert_int_equal(f.rq.jobs[0].sampling.context_shift, 1);
    drop(&f);
    assert_int_equal(parse(&f, &qn_openai_chat, "{\"lora\":null," M "}"), QN_OK);
    assert_false(f.rq.jobs[0].sampling.lora.given);
    assert_int_equal(f.rq.jobs[0].sampling.context_shift, QN_UNSET);
    drop(&f);
}

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *body, *param;
    } rows[] = {
        {&qn_openai_chat, "{}", "messages"},
        {&qn_openai_chat, "{\"messages\":null}", "messages"},
        {&qn_openai_chat, "{\"messages\":\"hi\"}", "messages"},
        {&qn_openai_chat, "{\"messages\":[]}", "messages"},
        {&qn_openai_chat, "{\"messages\":[1]}", "messages[0]"},
        {&qn_openai_chat, "{\"messages\":[{}]}", "messages[0].role"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":7}]}", "messages[0].role"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"king\",\"content\":\"\"}]}",
         "messages[0].role"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"user\"}]}", "messages[0].content"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"user\",\"content\":5}]}",
         "messages[0].content"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"user\",\"content\":[7]}]}",
         "messages[0].content[0]"},
        {&qn_openai_chat,
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
         "messages[0].content[0].image_url"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]}",
         "messages[0].content[0].text"},
        {&qn_openai_chat, "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{}]}]}",
         "messages[0].tool_calls[0].function.name"},
        {&qn_openai_chat, "{\"model\":5," M "}", "model"},
        {&qn_openai_chat, "{\"stream\":\"yes\"," M "}", "stream"},
        {&qn_openai_chat, "{\"stream_options\":{}," M "}", "stream_options"},
        {&qn_openai_chat, "{\"stream\":true,\"stream_options\":{\"include_usage\":1}," M "}",
         "stream_options.include_usage"},
        {&qn_openai_chat, "{\"temperature\":\"hot\"," M "}", "temperature"},
        {&qn_openai_chat, "{\"temperature\":-1," M "}", "temperature"},
        {&qn_openai_chat, "{\"temperature\":1e300," M "}", "temperature"},
        {&qn_openai_chat, "{\"top_p\":1.5," M "}", "top_p"},
        {&qn_openai_chat, "{\"top_k\":1.5," M "}", "top_k"},
        {&qn_openai_chat, "{\"min_p\":-0.1," M "}", "min_p"},
        {&qn_openai_chat, "{\"repeat_penalty\":0," M "}", "repeat_penalty"},
        {&qn_openai_chat, "{\"presence_penalty\":3," M "}", "presence_penalty"},
        {&qn_openai_chat, "{\"frequency_penalty\":-3," M "}", "frequency_penalty"},
        {&qn_openai_chat, "{\"max_tokens\":-1," M "}", "max_tokens"},
        {&qn_openai_chat, "{\"max_completion_tokens\":1e30," M "}", "max_completion_tokens"},
        {&qn_openai_chat, "{\"seed\":0.5," M "}", "seed"},
        {&qn_openai_chat, "{\"n\":0," M "}", "n"},
        {&qn_openai_chat, "{\"n\":1000000," M "}", "n"},
        {&qn_openai_chat, "{\"stop\":5," M "}", "stop"},
        {&qn_openai_chat, "{\"stop\":[\"a\",5]," M "}", "stop[1]"},
        {&qn_openai_chat, "{\"logit_bias\":[]," M "}", "logit_bias"},
        {&qn_openai_chat, "{\"logit_bias\":{\"x\":1}," M "}", "logit_bias.x"},
        {&qn_openai_chat, "{\"logit_bias\":{\"5\":101}," M "}", "logit_bias.5"},
        {&qn_openai_chat, "{\"lora\":{}," M "}", "lora"},
        {&qn_openai_chat, "{\"lora\":[0]," M "}", "lora[0]"},
        {&qn_openai_chat, "{\"lora\":[{\"scale\":1}]," M "}", "lora[0].id"},
        {&qn_openai_chat, "{\"lora\":[{\"id\":0},{\"id\":-1}]," M "}", "lora[1].id"},
        {&qn_openai_chat, "{\"lora\":[{\"name\":5}]," M "}", "lora[0].name"},
        {&qn_openai_complete, "{\"lora\":[{\"id\":0,\"scale\":\"big\"}]," P "}", "lora[0].scale"},
        {&qn_openai_complete, "{\"lora\":[{\"id\":0,\"scale\":1001}]," P "}", "lora[0].scale"},
        {&qn_openai_complete,
         "{\"lora\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]," P "}", "lora"},
        {&qn_openai_chat, "{\"context_shift\":1," M "}", "context_shift"},
        {&qn_openai_chat, "{\"logprobs\":1," M "}", "logprobs"},
        {&qn_openai_chat, "{\"top_logprobs\":2," M "}", "top_logprobs"},
        {&qn_openai_chat, "{\"logprobs\":true,\"top_logprobs\":21," M "}", "top_logprobs"},
        {&qn_openai_chat, "{\"tools\":{}," M "}", "tools"},
        {&qn_openai_chat, "{\"tools\":[{\"type\":\"web\"}]," M "}", "tools[0].type"},
        {&qn_openai_chat, "{\"tools\":[{\"type\":\"function\"}]," M "}", "tools[0].function.name"},
        {&qn_openai_chat, "{\"tool_choice\":\"required\"," M "}", "tool_choice"},
        {&qn_openai_chat, "{\"response_format\":{\"type\":\"json_object\"}," M "}",
         "response_format.type"},
        {&qn_openai_chat, "{\"response_format\":\"json\"," M "}", "response_format"},
        {&qn_openai_chat, "{\"chat_template_kwargs\":[]," M "}", "chat_template_kwargs"},
        {&qn_openai_chat, "{\"enable_thinking\":\"no\"," M "}", "enable_thinking"},
        {&qn_openai_complete, "{}", "prompt"},
        {&qn_openai_complete, "{\"prompt\":{}}", "prompt"},
        {&qn_openai_complete, "{\"prompt\":[]}", "prompt"},
        {&qn_openai_complete, "{\"prompt\":[\"a\",1]}", "prompt[1]"},
        {&qn_openai_complete, "{\"prompt\":[1,\"a\"]}", "prompt[1]"},
        {&qn_openai_complete, "{\"prompt\":[1,-2]}", "prompt[1]"},
        {&qn_openai_complete, "{\"prompt\":[[1],[]]}", "prompt[1]"},
        {&qn_openai_complete, "{\"prompt\":[[1],[1.5]]}", "prompt[1][0]"},
        {&qn_openai_complete, "{\"prompt\":[[[1]]]}", "prompt[0][0]"},
        {&qn_openai_complete, "{\"echo\":1," P "}", "echo"},
        {&qn_openai_complete, "{\"logprobs\":true," P "}", "logprobs"},
        {&qn_openai_complete, "{\"logprobs\":-1," P "}", "logprobs"},
        {&qn_openai_complete, "{\"suffix\":[]," P "}", "suffix"},
        {&qn_openai_complete, "{\"best_of\":3," P "}", "best_of"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        qn_err err = parse(&f, rows[i].dialect, rows[i].body);
        struct qn_problem p = {.error = &f.e};
        if (err == QN_OK || strcmp(f.e.param, rows[i].param) != 0 || qn_problem_status(&p) != 400)
            fail_msg("%s: error %d param '%s' message '%s'", rows[i].body, err, f.e.param,
                     f.e.message);
        if (!strstr(f.e.message, rows[i].param))
            fail_msg("%s: the message does not say where: '%s'", rows[i].body, f.e.message);
        drop(&f);
    }
}

static void not_json(void **state)
{
    (void)state;
    static char deep[100000];
    memset(deep, '[', sizeof deep - 1);
    static const char *const bodies[] = {
        "",
        "{",
        "{\"a\":}",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
        "{\"messages\":\"\\u0000\"}",
        "{} x",
        deep,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct fixture f;
        assert_int_not_equal(parse(&f, &qn_openai_chat, bodies[i]), QN_OK);
        drop(&f);
    }
}

static void chat_becomes_a_job(void **state)
{
    (void)state;
    struct fixture f;
    qn_err err = parse(
        &f, &qn_openai_chat,
        "{\"model\":\"m\",\"stream\":true,\"max_tokens\":5,\"max_completion_tokens\":7,"
        "\"temperature\":0,\"top_k\":null,\"stop\":[\"a\",\"b\"],\"seed\":-3,\"n\":2,"
        "\"logit_bias\":{\"12\":-100},\"logprobs\":true,\"top_logprobs\":4,\"unknown\":1,"
        "\"enable_thinking\":false,\"chat_template_kwargs\":{\"x\":1},\"messages\":["
        "{\"role\":\"developer\",\"content\":\"S\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
        "\"text\":\"b\"}]},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"q\\\":1}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}]}");
    if (err)
        fail_msg("%s", f.e.message);
    const struct qn_job *j = f.rq.jobs;
    assert_int_equal(f.rq.n_jobs, 1);
    assert_string_equal(f.rq.model, "m");
    assert_true(f.rq.stream);
    assert_int_equal(j->task, QN_TASK_CHAT);
    assert_int_equal(j->sampling.max_tokens, 7);
    assert_true(j->sampling.temperature == 0);
    assert_true(isnan(j->sampling.top_p));
    assert_true(j->sampling.top_k == QN_UNSET);
    assert_int_equal(j->sampling.seed, -3);
    assert_int_equal(j->sampling.n, 2);
    assert_int_equal(j->sampling.logprobs, 4);
    assert_int_equal(j->sampling.stop.n, 2);
    assert_string_equal(j->sampling.stop.v[1], "b");
    assert_int_equal(j->sampling.logit_bias.n, 1);
    assert_int_equal(j->sampling.logit_bias.v[0].token, 12);
    assert_string_equal(
        j->chat.messages,
        "[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"a\\nb\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"q\":1}}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}]");
    assert_string_equal(j->chat.template_vars, "{\"x\":1,\"enable_thinking\":false}");
    assert_null(j->chat.tools);
    drop(&f);
}

static void prompts_become_jobs(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"prompt\":[\"a\",\"b\"],\"echo\":true}"),
                     QN_OK);
    assert_int_equal(f.rq.n_jobs, 2);
    assert_null(f.rq.model);
    assert_string_equal(f.rq.jobs[1].complete.prompt, "b");
    assert_true(f.rq.jobs[1].complete.echo);
    drop(&f);
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"prompt\":[1,2,3],\"logprobs\":0}"), QN_OK);
    assert_int_equal(f.rq.n_jobs, 1);
    assert_int_equal(f.rq.jobs[0].complete.prompt_tokens.n, 3);
    assert_int_equal(f.rq.jobs[0].complete.prompt_tokens.v[2], 3);
    assert_int_equal(f.rq.jobs[0].sampling.logprobs, 0);
    drop(&f);
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"prompt\":[[1,2],[3]]}"), QN_OK);
    assert_int_equal(f.rq.n_jobs, 2);
    assert_int_equal(f.rq.jobs[1].complete.prompt_tokens.n, 1);
    drop(&f);
}

/* Plays events to a dialect and gives what it wrote; the caller frees. */
static char *play(struct fixture *f, const struct qn_dialect *d, const struct qn_event *events,
                  size_t n)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    struct qn_reply r = {
        .rq = &f->rq, .arena = f->arena, .out = &out, .id = "ID", .created_s = 1700000000};
    d->begin(&r);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(d->event(&r, 0, &events[i], &f->e), QN_OK);
    d->end(&r);
    d->free(r.own);
    return qn_buf_take(&out);
}

static const struct qn_event hello[] = {
    {.kind = QN_EV_PROGRESS, .done = 1, .total = 3},
    {.kind = QN_EV_TEXT, .text = "Hel"},
    {.kind = QN_EV_TEXT, .text = "lo\n\"x\""},
    {.kind = QN_EV_DONE, .finish = QN_FINISH_STOP},
    {.kind = QN_EV_USAGE,
     .usage = {.prompt = 12, .cached = 8, .output = 4, .prompt_ms = 2, .output_ms = 100}},
};

#define FP "\"system_fingerprint\":\"quince-" QN_VERSION "\""
#define USAGE                                                                                      \
    "\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":4,\"total_tokens\":16,"                 \
    "\"prompt_tokens_details\":{\"cached_tokens\":8}},\"timings\":{\"cache_n\":8,\"prompt_n\":4,"  \
    "\"prompt_ms\":2,\"prompt_per_second\":2000,\"predicted_n\":4,\"predicted_ms\":100,"           \
    "\"predicted_per_second\":40}"

static void whole_chat(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_openai_chat, "{\"model\":\"m\"," M "}"), QN_OK);
    char *text = play(&f, &qn_openai_chat, hello, 5);
    assert_string_equal(
        text, "{\"id\":\"chatcmpl-ID\",\"object\":\"chat.completion\",\"created\":1700000000,"
              "\"model\":\"m\"," FP ",\"choices\":[{\"index\":0,\"message\":{\"role\":"
              "\"assistant\",\"content\":\"Hello\\n\\\"x\\\"\"},\"logprobs\":null,"
              "\"finish_reason\":\"stop\"}]," USAGE "}");
    free(text);
    drop(&f);
}

#define CHUNK                                                                                      \
    "data: {\"id\":\"chatcmpl-ID\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"   \
    "\"model\":\"m\"," FP ",\"choices\":["

static void streamed_chat(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_openai_chat,
                           "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":"
                           "true}," M "}"),
                     QN_OK);
    char *text = play(&f, &qn_openai_chat, hello, 5);
    assert_string_equal(
        text, CHUNK
        "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
        "\"finish_reason\":null}],\"usage\":null}\n\n" CHUNK
        "{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"logprobs\":null,\"finish_reason\":null}]"
        ",\"usage\":null}\n\n" CHUNK
        "{\"index\":0,\"delta\":{\"content\":\"lo\\n\\\"x\\\"\"},\"logprobs\":null,"
        "\"finish_reason\":null}],\"usage\":null}\n\n" CHUNK
        "{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":"
        "null}\n\n" CHUNK "]," USAGE "}\n\ndata: [DONE]\n\n");
    free(text);
    drop(&f);
}

static const char logprobs[] =
    "[{\"id\":1,\"token\":\"H\xc3\xa9\",\"bytes\":[72,195,169],\"logprob\":-0.5,\"top\":[{\"id\":1,"
    "\"token\":\"H\xc3\xa9\",\"bytes\":[72,195,169],\"logprob\":-0.5}]},"
    "{\"id\":2,\"token\":\"y\",\"bytes\":[121],\"logprob\":-1,\"top\":[]}]";

static void chat_logprobs(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_event events[] = {
        {.kind = QN_EV_TEXT, .text = "H\xc3\xa9y", .logprobs = logprobs},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_LENGTH},
    };
    assert_int_equal(
        parse(&f, &qn_openai_chat, "{\"model\":\"m\",\"logprobs\":true,\"top_logprobs\":1," M "}"),
        QN_OK);
    char *text = play(&f, &qn_openai_chat, events, 2);
    assert_non_null(strstr(
        text,
        "\"logprobs\":{\"content\":[{\"token\":\"H\xc3\xa9\",\"logprob\":-0.5,\"bytes\":[72,195,"
        "169],\"top_logprobs\":[{\"token\":\"H\xc3\xa9\",\"logprob\":-0.5,\"bytes\":[72,195,"
        "169]}]},{\"token\":\"y\",\"logprob\":-1,\"bytes\":[121],\"top_logprobs\":[]}],"
        "\"refusal\":null},\"finish_reason\":\"length\""));
    free(text);
    drop(&f);
}

static void completion(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_event events[] = {
        {.kind = QN_EV_TEXT, .text = "H\xc3\xa9y", .logprobs = logprobs},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_LENGTH},
    };
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"model\":\"m\",\"logprobs\":1," P "}"),
                     QN_OK);
    char *text = play(&f, &qn_openai_complete, events, 2);
    assert_non_null(strstr(
        text, "{\"id\":\"cmpl-ID\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":"
              "\"m\"," FP ",\"choices\":[{\"text\":\"H\xc3\xa9y\",\"index\":0,\"logprobs\":{"
              "\"tokens\":[\"H\xc3\xa9\",\"y\"],\"token_logprobs\":[-0.5,-1],\"top_logprobs\":[{"
              "\"H\xc3\xa9\":-0.5},{}],\"text_offset\":[0,2]},\"finish_reason\":\"length\"}]"));
    free(text);
    drop(&f);
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"model\":\"m\",\"stream\":true," P "}"),
                     QN_OK);
    text = play(&f, &qn_openai_complete, events, 2);
    assert_string_equal(
        text,
        "data: {\"id\":\"cmpl-ID\",\"object\":\"text_completion\",\"created\":1700000000,"
        "\"model\":\"m\"," FP ",\"choices\":[{\"text\":\"H\xc3\xa9y\",\"index\":0,\"logprobs\":"
        "null,\"finish_reason\":null}]}\n\n"
        "data: {\"id\":\"cmpl-ID\",\"object\":\"text_completion\",\"created\":1700000000,"
        "\"model\":\"m\"," FP ",\"choices\":[{\"text\":\"\",\"index\":0,\"logprobs\":null,"
        "\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n");
    free(text);
    drop(&f);
}

static void a_choice_nobody_asked_for(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(parse(&f, &qn_openai_chat, "{" M "}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID"};
    struct qn_event ev = {.kind = QN_EV_TEXT, .index = 1, .text = "x"};
    qn_openai_chat.begin(&r);
    assert_int_equal(qn_openai_chat.event(&r, 0, &ev, &f.e), QN_ECHILD);
    assert_int_equal(qn_openai_chat.event(&r, 1, &hello[1], &f.e), QN_ECHILD);
    qn_openai_chat.free(r.own);
    qn_buf_deinit(&out);
    drop(&f);
}

static void failures(void **state)
{
    (void)state;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    struct qn_request rq = {0};
    struct qn_reply r = {.rq = &rq, .out = &out, .id = "ID"};
    struct qn_error e = {0};
    qn_fail_param(&e, QN_ENOTFOUND, "model", "model 'x' is not known");
    struct qn_problem p = {.error = &e, .model = "x"};
    (qn_openai_chat.fail)(&r, &p);
    assert_int_equal(qn_problem_status(&p), 404);
    assert_string_equal(qn_buf_cstr(&out),
                        "{\"error\":{\"message\":\"model 'x' is not known\",\"type\":"
                        "\"model_not_found\",\"param\":\"model\",\"code\":\"model_not_found\","
                        "\"requested_model\":\"x\"}}");
    qn_buf_clear(&out);
    r.started = true;
    qn_fail(&e, QN_ECONTEXT, "too long");
    e.param[0] = '\0';
    p = (struct qn_problem){.error = &e};
    (qn_openai_chat.fail)(&r, &p);
    assert_int_equal(qn_problem_status(&p), 400);
    assert_string_equal(qn_buf_cstr(&out), "data: {\"error\":{\"message\":\"too long\",\"type\":"
                                           "\"invalid_request_error\",\"param\":null,\"code\":"
                                           "\"context_length_exceeded\"}}\n\n");
    qn_fail(&e, QN_EFORMAT, "broken file");
    p = (struct qn_problem){.error = &e, .loading = true, .model = "x"};
    assert_int_equal(qn_problem_status(&p), 500);
    qn_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),
        cmocka_unit_test(adapters_are_named_by_id_or_name),
        cmocka_unit_test(not_json),
        cmocka_unit_test(chat_becomes_a_job),
        cmocka_unit_test(prompts_become_jobs),
        cmocka_unit_test(whole_chat),
        cmocka_unit_test(streamed_chat),
        cmocka_unit_test(chat_logprobs),
        cmocka_unit_test(completion),
        cmocka_unit_test(a_choice_nobody_asked_for),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
