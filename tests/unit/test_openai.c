/* router/dialects/openai*.c: what is refused and how it is named, what becomes of a request, and
 * the bytes of replies against ones written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "messages_text.h"

#include "answers/answer.h"
#include "dialects/dialect.h"
#include "dialects/shared/keep_alive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/dialect_play.h"

#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define T                                                                                          \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"     \
    "\"object\"}}},{\"type\":\"function\",\"function\":{\"name\":\"h\",\"strict\":true}}]"
#define P "\"prompt\":\"a\""

static void adapters_are_named_by_id_or_name(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_openai_complete,
                           "{\"lora\":[{\"id\":2,\"scale\":0.5},{\"name\":\"pirate\"}],"
                           "\"context_shift\":false,\"cache_prompt\":false," P "}"),
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
    assert_true(s->no_reuse);
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
        {&qn_openai_chat, "{\"cache_prompt\":\"no\"," M "}", "cache_prompt"},
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
        {&qn_openai_chat,
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":"
         "{"
         "\"data\":\"AA==\"}}]}]}",
         "messages[0].content[0].input_audio.format"},
        {&qn_openai_chat,
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":"
         "{"
         "\"data\":\"A\",\"format\":\"wav\"}}]}]}",
         "messages[0].content[0].input_audio.data"},
        {&qn_openai_chat,
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":"
         "{"
         "\"data\":\"AA==\",\"format\":\"a/b\"}}]}]}",
         "messages[0].content[0].input_audio.format"},
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
        {&qn_openai_chat, "{\"max_tokens\":-2," M "}", "max_tokens"},
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
        {&qn_openai_complete, "{\"logprobs\":\"yes\"," P "}", "logprobs"},
        {&qn_openai_complete, "{\"max_tokens\":3,\"max_completion_tokens\":3," P "}",
         "max_completion_tokens"},
        {&qn_openai_chat, "{\"max_completion_tokens\":4,\"max_tokens\":3," M "}",
         "max_completion_tokens"},
        {&qn_openai_complete, "{\"logprobs\":-1," P "}", "logprobs"},
        {&qn_openai_complete, "{\"suffix\":[]," P "}", "suffix"},
        {&qn_openai_complete, "{\"best_of\":17," P "}", "best_of"},
        {&qn_openai_complete, "{\"best_of\":2,\"n\":3," P "}", "best_of"},
        {&qn_openai_complete, "{\"best_of\":2,\"stream\":true," P "}", "best_of"},
        {&qn_openai_chat, "{\"tool_choice\":\"maybe\"," M "}", "tool_choice"},
        {&qn_openai_chat, "{\"tool_choice\":7," M "}", "tool_choice"},
        {&qn_openai_chat, "{\"tool_choice\":{\"type\":\"web_search\"}," M "}", "tool_choice.type"},
        {&qn_openai_chat, "{\"tool_choice\":{\"type\":\"function\",\"function\":{}}," M "}",
         "tool_choice.function.name"},
        {&qn_openai_chat,
         "{" T ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}," M "}",
         "tool_choice"},
        {&qn_openai_chat,
         "{" T ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"none\","
         "\"tools\":[]}}," M "}",
         "tool_choice.allowed_tools.mode"},
        {&qn_openai_chat,
         "{" T ",\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":5}," M "}",
         "tool_choice.tools"},
        {&qn_openai_chat,
         "{" T ",\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"required\",\"tools\":[]}," M
         "}",
         "tool_choice"},
        {&qn_openai_chat, "{\"parallel_tool_calls\":1," M "}", "parallel_tool_calls"},
        {&qn_openai_chat, "{\"functions\":[{}]," M "}", "functions[0].name"},
        {&qn_openai_chat, "{\"functions\":[{\"name\":\"f\"}],\"function_call\":\"x\"," M "}",
         "function_call"},
        {&qn_openai_chat,
         "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"\"}}]," M "}",
         "tools[0].function.name"},
        {&qn_openai_chat,
         "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":[]}}]," M
         "}",
         "tools[0].function.parameters"},
        {&qn_openai_chat, "{\"response_format\":{\"type\":\"xml\"}," M "}", "response_format.type"},
        {&qn_openai_chat, "{\"response_format\":{\"type\":\"json_schema\"}," M "}",
         "response_format.json_schema"},
        {&qn_openai_chat,
         "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\"}}," M "}",
         "response_format.json_schema.schema"},
        {&qn_openai_chat,
         "{\"response_format\":{\"type\":\"json_object\"},\"grammar\":\"root ::= \\\"a\\\"\"," M
         "}",
         "grammar"},
        {&qn_openai_chat, "{\"grammar\":[]," M "}", "grammar"},
        {&qn_openai_chat, "{\"json_schema\":[]," M "}", "json_schema"},
        {&qn_openai_chat, "{\"reasoning_effort\":\"some\"," M "}", "reasoning_effort"},
        {&qn_openai_chat, "{\"reasoning\":{\"effort\":1}," M "}", "reasoning.effort"},
        {&qn_openai_chat, "{\"thinking\":\"on\"," M "}", "thinking"},
        {&qn_openai_chat, "{\"thinking\":{\"type\":\"on\"}," M "}", "thinking.type"},
        {&qn_openai_chat, "{\"reasoning_format\":\"x\"," M "}", "reasoning_format"},
        {&qn_openai_chat, "{\"modalities\":[\"text\",\"audio\"]," M "}", "modalities[1]"},
        {&qn_openai_chat, "{\"keep_alive\":\"soon\"," M "}", "keep_alive"},
        {&qn_openai_chat, "{\"ttl\":[]," M "}", "ttl"},
        {&qn_openai_chat, "{\"ctx_size\":-1," M "}", "ctx_size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        complains(rows[i].dialect, rows[i].body, rows[i].param);
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
        "{\"model\":\"m\",\"stream\":true,\"max_tokens\":null,\"max_completion_tokens\":7,"
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
        mt_text(&j->chat.messages, &j->attachments, f.arena),
        "[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"a\\nb\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"q\":1}}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}]");
    assert_string_equal(j->chat.template_vars, "{\"x\":1}");
    assert_int_equal(j->chat.think, 0);
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

/* A body of chat, and members of the job that it becomes. NULL: not asked about. */
static void tools_become_a_job(void **state)
{
    (void)state;
    static const char f[] = "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{"
                            "\"type\":\"object\"}}}";
    static const char h[] = "{\"type\":\"function\",\"function\":{\"name\":\"h\",\"strict\":true}}";
    static const struct {
        const char *body;
        bool f, h; /* tools in the job */
        enum qn_tool_choice choice;
        const char *name;
        bool single;
    } rows[] = {
        {"{" T "," M "}", true, true, QN_TOOLS_UNSET, NULL, false},
        {"{" T ",\"tool_choice\":null,\"parallel_tool_calls\":false," M "}", true, true,
         QN_TOOLS_UNSET, NULL, true},
        {"{" T ",\"tool_choice\":\"auto\",\"parallel_tool_calls\":true," M "}", true, true,
         QN_TOOLS_AUTO, NULL, false},
        {"{" T ",\"tool_choice\":\"none\"," M "}", true, true, QN_TOOLS_NONE, NULL, false},
        {"{" T ",\"tool_choice\":\"required\"," M "}", true, true, QN_TOOLS_REQUIRED, NULL, false},
        {"{" T ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"h\"}}," M "}",
         true, true, QN_TOOLS_NAMED, "h", false},
        {"{" T
         ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\","
         "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"h\"}}]}}," M "}",
         false, true, QN_TOOLS_REQUIRED, NULL, false},
        {"{\"tool_choice\":\"auto\",\"tools\":[]," M "}", false, false, QN_TOOLS_UNSET, NULL,
         false},
        {"{\"functions\":[{\"name\":\"f\",\"parameters\":{\"type\":\"object\"}}]," M "}", true,
         false, QN_TOOLS_UNSET, NULL, true},
        {"{\"functions\":[{\"name\":\"f\",\"parameters\":{\"type\":\"object\"}}],"
         "\"function_call\":{\"name\":\"f\"}," M "}",
         true, false, QN_TOOLS_NAMED, "f", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture x;
        char tools[512];
        snprintf(tools, sizeof tools, "[%s%s%s]", rows[i].f ? f : "",
                 rows[i].f && rows[i].h ? "," : "", rows[i].h ? h : "");
        if (parse(&x, &qn_openai_chat, rows[i].body))
            fail_msg("%s: %s", rows[i].body, x.e.message);
        const struct qn_chat *chat = &x.rq.jobs[0].chat;
        if (rows[i].f || rows[i].h)
            assert_string_equal(chat->tools, tools);
        else
            assert_null(chat->tools);
        assert_int_equal(chat->tool_choice, rows[i].choice);
        assert_int_equal(chat->single_call, rows[i].single);
        if (rows[i].name)
            assert_string_equal(chat->tool_name, rows[i].name);
        drop(&x);
    }
}

static void forms_become_a_job(void **state)
{
    (void)state;
    static const struct {
        const char *members, *schema, *grammar;
        int64_t think;
        const char *effort;
    } rows[] = {
        {"\"response_format\":{\"type\":\"text\"}", NULL, NULL, QN_UNSET, NULL},
        {"\"response_format\":{\"type\":\"json_object\"}", "{\"type\":\"object\"}", NULL, QN_UNSET,
         NULL},
        {"\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"strict\":"
         "true,\"schema\":{\"type\":\"array\"}}}",
         "{\"type\":\"array\"}", NULL, QN_UNSET, NULL},
        {"\"response_format\":{\"type\":\"json_object\",\"schema\":{\"type\":\"string\"}}",
         "{\"type\":\"string\"}", NULL, QN_UNSET, NULL},
        {"\"json_schema\":{\"type\":\"null\"}", "{\"type\":\"null\"}", NULL, QN_UNSET, NULL},
        {"\"grammar\":\"root ::= [a]\"", NULL, "root ::= [a]", QN_UNSET, NULL},
        {"\"grammar\":\"\"", NULL, NULL, QN_UNSET, NULL},
        {"\"reasoning_effort\":\"none\"", NULL, NULL, 0, NULL},
        {"\"reasoning_effort\":\"minimal\"", NULL, NULL, QN_UNSET, "minimal"},
        {"\"reasoning_effort\":\"xhigh\"", NULL, NULL, 1, "high"},
        {"\"reasoning\":{\"effort\":\"low\"}", NULL, NULL, 1, "low"},
        {"\"thinking\":{\"type\":\"disabled\"}", NULL, NULL, 0, NULL},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}", NULL, NULL, 1, NULL},
        {"\"thinking\":{\"type\":\"adaptive\"}", NULL, NULL, QN_UNSET, NULL},
        {"\"thinking\":true", NULL, NULL, 1, NULL},
        {"\"enable_thinking\":true", NULL, NULL, 1, NULL},
        {"\"chat_template_kwargs\":{\"enable_thinking\":false}", NULL, NULL, 0, NULL},
        {"\"chat_template_kwargs\":{\"enable_thinking\":false},\"enable_thinking\":true", NULL,
         NULL, 1, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        char body[1024];
        snprintf(body, sizeof body, "{%s," M "}", rows[i].members);
        if (parse(&f, &qn_openai_chat, body))
            fail_msg("%s: %s", body, f.e.message);
        const struct qn_job *j = &f.rq.jobs[0];
        if (!rows[i].schema != !j->constrain.schema || !rows[i].grammar != !j->constrain.grammar ||
            !rows[i].effort != !j->chat.effort || rows[i].think != j->chat.think)
            fail_msg("%s: schema %s grammar %s effort %s think %lld", body, j->constrain.schema,
                     j->constrain.grammar, j->chat.effort, (long long)j->chat.think);
        if (rows[i].schema)
            assert_string_equal(j->constrain.schema, rows[i].schema);
        if (rows[i].grammar)
            assert_string_equal(j->constrain.grammar, rows[i].grammar);
        if (rows[i].effort)
            assert_string_equal(j->chat.effort, rows[i].effort);
        drop(&f);
    }
}

/* What clients write who say how long a model may reason. */
static void budgets(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        int64_t think, budget;
    } rows[] = {
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}", 1, 9},
        {"\"thinking\":{\"type\":\"disabled\",\"budget_tokens\":9}", 0, QN_UNSET},
        {"\"reasoning_budget\":1024", QN_UNSET, 1024},
        {"\"reasoning_budget\":-1", QN_UNSET, QN_UNSET},
        {"\"reasoning_budget\":0", 0, QN_UNSET},
        {"\"thinking_budget\":7,\"enable_thinking\":true", 1, 7},
        {"\"thinking_budget_tokens\":1e12", QN_UNSET, INT32_MAX},
        {"\"reasoning\":{\"max_tokens\":5}", QN_UNSET, 5},
        {"\"chat_template_kwargs\":{\"thinking_budget\":3}", QN_UNSET, 3},
        {"\"chat_template_kwargs\":{\"thinking_budget\":\"much\"}", QN_UNSET, QN_UNSET},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        char body[1024];
        snprintf(body, sizeof body, "{%s," M "}", rows[i].members);
        assert_int_equal(parse(&f, &qn_openai_chat, body), QN_OK);
        const struct qn_chat *chat = &f.rq.jobs[0].chat;
        if (chat->think != rows[i].think || chat->think_budget != rows[i].budget)
            fail_msg("%s: think %lld budget %lld", body, (long long)chat->think,
                     (long long)chat->think_budget);
        drop(&f);
    }
}

static void deprecated_and_beside(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        parse(&f, &qn_openai_chat,
              "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":"
              "\"f\",\"arguments\":\"{}\"},\"reasoning\":\"hm\"},{\"role\":\"function\",\"name\":"
              "\"f\","
              "\"content\":\"1\"},{\"role\":\"assistant\",\"refusal\":\"no\"},{\"role\":\"user\","
              "\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\",\"image_"
              "url\":{"
              "\"url\":\"data:image/png;base64,AA==\",\"detail\":\"low\"}}]}],"
              "\"reasoning_format\":\"none\",\"keep_alive\":\"1h30m\",\"ctx_size\":2048,"
              "\"max_tokens\":-1,\"top_k\":-1}"),
        QN_OK);
    assert_string_equal(
        mt_text(&f.rq.jobs[0].chat.messages, &f.rq.jobs[0].attachments, f.arena),
        "[{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\",\"tool_calls\":[{"
        "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]},{\"role\":"
        "\"tool\","
        "\"name\":\"f\",\"content\":\"1\"},{\"role\":\"assistant\",\"content\":\"no\"},{\"role\":"
        "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}}]}]");
    assert_true(f.rq.jobs[0].chat.reasoning_in_text);
    assert_int_equal(f.rq.keep_alive_ms, 5400000);
    assert_int_equal(f.rq.context, 2048);
    assert_true(f.rq.jobs[0].sampling.max_tokens == QN_UNSET);
    assert_true(f.rq.jobs[0].sampling.top_k == QN_UNSET);
    drop(&f);
}

/* A sound keeps its place among the parts; its format becomes its media type. */
static void sounds(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        parse(
            &f, &qn_openai_chat,
            "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hear\"},{"
            "\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg==\",\"format\":\"wav\"}},{"
            "\"type\":\"text\",\"text\":\"this\"}]}]}"),
        QN_OK);
    const struct qn_job *job = &f.rq.jobs[0];
    const struct qn_message_parts *parts = &job->chat.messages.v[0].parts;
    assert_int_equal(parts->n, 3);
    assert_string_equal(parts->v[0].text, "hear");
    assert_int_equal(parts->v[1].kind, QN_PART_SOUND);
    assert_string_equal(parts->v[2].text, "this");
    assert_int_equal(job->attachments.n, 1);
    assert_int_equal(job->attachments.v[0].role, QN_ATTACHMENT_AUDIO);
    assert_string_equal(job->attachments.v[0].type, "audio/wav");
    assert_int_equal(job->attachments.v[0].bytes, 4);
    assert_memory_equal(job->attachments.v[0].data, "RIFF", 4);
    drop(&f);
}

static void keep_alive(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t ms;
    } rows[] = {
        {"5", 5000},        {"0", 0},
        {"-1", -1},         {"\"5m\"", 300000},
        {"\"-1\"", -1},     {"\"-1m\"", -1},
        {"\"0\"", 0},       {"\"1.5h\"", 5400000},
        {"\"300ms\"", 300}, {"\"1h2m3s\"", 3723000},
        {"\"20\"", 20000},  {"null", -7},
        {"0.25", 250},      {"1e300", 3162240000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_json *doc;
        assert_int_equal(qn_json_parse(rows[i].json, strlen(rows[i].json), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        int64_t ms = -7;
        assert_int_equal(qn_keep_alive_read(&root, &ms, NULL), QN_OK);
        if (ms != rows[i].ms)
            fail_msg("%s: %lld", rows[i].json, (long long)ms);
        qn_json_free(doc);
    }
    static const char *const bad[] = {"\"\"",  "\"m\"", "\"5x\"",    "\"5m3\"",
                                      "\"-\"", "true",  "\"1..2s\"", "\"nan\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qn_json *doc;
        assert_int_equal(qn_json_parse(bad[i], strlen(bad[i]), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        int64_t ms;
        if (qn_keep_alive_read(&root, &ms, NULL) != QN_EINVAL)
            fail_msg("%s passes", bad[i]);
        qn_json_free(doc);
    }
}

/* API.md, C6: what a request that says nothing gets in each profile. */
static void habits(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        int64_t chat_tokens, tokens;
        double temperature, top_p;
        int64_t top_k;
    } rows[] = {
        {"lemonade", QN_UNSET, QN_UNSET, NAN, NAN, QN_UNSET},
        {"ollama", QN_UNSET, QN_UNSET, NAN, NAN, QN_UNSET},
        {"auto", QN_UNSET, QN_UNSET, NAN, NAN, QN_UNSET},
        {"layerscale", 256, 256, 0.7, 1, QN_UNSET},
        {"dppan", 512, 512, 0.8, 0.95, QN_UNSET},
        {"kolosal", 128, 16, 1, 1, QN_UNSET},
        {"localllm", QN_UNSET, QN_UNSET, 0.8, NAN, 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int complete = 0; complete < 2; complete++) {
            struct fixture f;
            assert_int_equal(parse_as(&f, complete ? &qn_openai_complete : &qn_openai_chat,
                                      rows[i].profile, complete ? "{" P "}" : "{" M "}"),
                             QN_OK);
            const struct qn_sampling *s = &f.rq.jobs[0].sampling;
            assert_true(s->max_tokens == (complete ? rows[i].tokens : rows[i].chat_tokens));
            assert_true(isnan(rows[i].temperature) ? isnan(s->temperature)
                                                   : s->temperature == rows[i].temperature);
            assert_true(isnan(rows[i].top_p) ? isnan(s->top_p) : s->top_p == rows[i].top_p);
            assert_true(s->top_k == rows[i].top_k);
            drop(&f);
        }
    struct fixture f;
    assert_int_equal(
        parse_as(&f, &qn_openai_chat, "kolosal", "{\"temperature\":0,\"max_tokens\":3," M "}"),
        QN_OK);
    assert_true(f.rq.jobs[0].sampling.temperature == 0);
    assert_int_equal(f.rq.jobs[0].sampling.max_tokens, 3);
    drop(&f);
}

/* LayerScale and Kolosal: "temperature 0.0 to 2.0"; the others name no end. */
static void temperatures(void **state)
{
    (void)state;
    for (int i = 0; i < QN_PROFILE_COUNT; i++) {
        const char *profile = qn_profile_at(i)->name;
        bool ends = !strcmp(profile, "layerscale") || !strcmp(profile, "kolosal");
        for (int complete = 0; complete < 2; complete++) {
            const struct qn_dialect *d = complete ? &qn_openai_complete : &qn_openai_chat;
            struct fixture f;
            assert_int_equal(
                parse_as(&f, d, profile,
                         complete ? "{\"temperature\":2," P "}" : "{\"temperature\":2.0," M "}"),
                QN_OK);
            drop(&f);
            assert_int_equal(parse_as(&f, d, profile,
                                      complete ? "{\"temperature\":2.01," P "}"
                                               : "{\"temperature\":2.01," M "}"),
                             ends ? QN_EINVAL : QN_OK);
            assert_string_equal(f.e.param, ends ? "temperature" : "");
            drop(&f);
        }
    }
}

/* Lemonade's boolean beside OpenAI's number. */
static void logprobs_as_a_boolean(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int64_t logprobs;
    } rows[] = {
        {"{\"logprobs\":true," P "}", 0},
        {"{\"logprobs\":false," P "}", QN_UNSET},
        {"{\"logprobs\":null," P "}", QN_UNSET},
        {"{\"logprobs\":3," P "}", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        assert_int_equal(parse(&f, &qn_openai_complete, rows[i].body), QN_OK);
        assert_true(f.rq.jobs[0].sampling.logprobs == rows[i].logprobs);
        drop(&f);
    }
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
    "\"prompt_tokens_details\":{\"cached_tokens\":8},\"completion_tokens_details\":{"              \
    "\"reasoning_tokens\":0}},\"timings\":{\"cache_n\":8,\"prompt_n\":4,\"prompt_ms\":2,"          \
    "\"prompt_per_second\":2000,\"predicted_n\":4,\"predicted_ms\":100,"                           \
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
              "\"assistant\",\"content\":\"Hello\\n\\\"x\\\"\",\"refusal\":null},\"logprobs\":null,"
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

/* Tokens that are parts of characters have keys of their own, as OpenAI's completions have. */
static void completion_of_bytes(void **state)
{
    static const char parts[] =
        "[{\"id\":1,\"token\":\"\xef\xbf\xbd\",\"bytes\":[195],\"logprob\":-0.5,\"top\":[{\"id\":1,"
        "\"token\":\"\xef\xbf\xbd\",\"bytes\":[195],\"logprob\":-0.5},{\"id\":2,\"token\":"
        "\"\xef\xbf\xbd\","
        "\"bytes\":[226,128],\"logprob\":-1},{\"id\":3,\"token\":\"a\",\"bytes\":[97],\"logprob\":-"
        "2}]}]";
    (void)state;
    struct fixture f;
    struct qn_event events[] = {
        {.kind = QN_EV_TEXT, .text = "\xc3\xa9", .logprobs = parts},
        {.kind = QN_EV_DONE, .finish = QN_FINISH_LENGTH},
    };
    assert_int_equal(parse(&f, &qn_openai_complete, "{\"model\":\"m\",\"logprobs\":3," P "}"),
                     QN_OK);
    char *text = play(&f, &qn_openai_complete, events, 2);
    assert_non_null(strstr(text, "\"tokens\":[\"bytes:\\\\xc3\"],\"token_logprobs\":[-0.5],"
                                 "\"top_logprobs\":[{\"bytes:\\\\xc3\":-0.5,"
                                 "\"bytes:\\\\xe2\\\\x80\":-1,\"a\":-2}]"));
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

static void a_choice_that_was_not_requested(void **state)
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
    struct qn_request rq = {.profile = qn_profile_main()};
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

/* A list of n tools after head; each has as many further members as `members` says. */
static void add_tools(struct qn_buf *out, const char *head, int n, int members)
{
    qn_buf_str(out, head);
    for (int i = 0; i < n; i++) {
        qn_buf_fmt(out, "%s{\"type\":\"function\"", i ? "," : "");
        for (int k = 0; k < members; k++)
            qn_buf_fmt(out, ",\"m%d\":0", k);
        /* Names in no order, so that they have to be sorted. */
        qn_buf_fmt(out, ",\"name\":\"f%d\"}", (i * 7) % n);
    }
}

enum { TOOLS = 1000, WIDE = 900 };

/* Each tool is looked up among the allowed names. Were they searched one after another, through all
 * of their members, that would take far longer than to read the request's JSON. */
static void allowed_tools_are_found_by_name(void **state)
{
    (void)state;
    struct qn_buf body;
    struct fixture f;
    qn_buf_init(&body, 64 << 20);
    add_tools(&body, "{\"tools\":[", TOOLS, 0);
    add_tools(&body, "],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":[",
              TOOLS - 1, WIDE);
    qn_buf_str(&body, "]}," M "}");
    f = (struct fixture){.arena = qn_arena_new(64 << 20)};
    clock_t begun = clock();
    assert_int_equal(qn_json_parse(qn_buf_cstr(&body), body.len, &f.doc, &f.e), QN_OK);
    clock_t read = clock();
    f.rq = (struct qn_request){.doc = f.doc, .arena = f.arena, .profile = qn_profile_main()};
    if (qn_openai_chat.parse(&f.rq, &f.e))
        fail_msg("%s", f.e.message);
    assert_true(clock() - read < 5 * (read - begun));
    const char *tools = f.rq.jobs[0].chat.tools;
    assert_non_null(strstr(tools, "\"name\":\"f0\""));
    assert_non_null(strstr(tools, "\"name\":\"f998\""));
    assert_null(strstr(tools, "\"name\":\"f999\""));
    drop(&f);
    qn_buf_clear(&body);
    add_tools(&body, "{\"tools\":[", 1, 0);
    add_tools(&body, "],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":[",
              TOOLS + 1, 0);
    qn_buf_str(&body, "]}," M "}");
    complains(&qn_openai_chat, qn_buf_cstr(&body), "tool_choice.tools");
    qn_buf_deinit(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),
        cmocka_unit_test(allowed_tools_are_found_by_name),
        cmocka_unit_test(adapters_are_named_by_id_or_name),
        cmocka_unit_test(not_json),
        cmocka_unit_test(chat_becomes_a_job),
        cmocka_unit_test(prompts_become_jobs),
        cmocka_unit_test(tools_become_a_job),
        cmocka_unit_test(forms_become_a_job),
        cmocka_unit_test(budgets),
        cmocka_unit_test(deprecated_and_beside),
        cmocka_unit_test(keep_alive),
        cmocka_unit_test(sounds),
        cmocka_unit_test(habits),
        cmocka_unit_test(temperatures),
        cmocka_unit_test(logprobs_as_a_boolean),
        cmocka_unit_test(whole_chat),
        cmocka_unit_test(streamed_chat),
        cmocka_unit_test(chat_logprobs),
        cmocka_unit_test(completion_of_bytes),
        cmocka_unit_test(completion),
        cmocka_unit_test(a_choice_that_was_not_requested),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
