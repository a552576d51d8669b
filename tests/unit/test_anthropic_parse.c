/* router/dialects/anthropic/anthropic_parse.c and anthropic_talk.c: what is refused and how it is
 * named, and what becomes of a request. Shapes: https://platform.claude.com/docs/en/api/messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "messages_text.h"

#include "answers/answer.h"
#include "dialects/anthropic/anthropic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/dialect_play.h"

#define N "\"max_tokens\":10,"
#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define T "\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}],"
#define USER(blocks) "{" N "\"messages\":[{\"role\":\"user\",\"content\":[" blocks "]}]}"
#define SAID(blocks) "{" N "\"messages\":[{\"role\":\"assistant\",\"content\":[" blocks "]}]}"

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const char *body, *param;
    } rows[] = {
        {"{" M "}", "max_tokens"},
        {"{\"max_tokens\":null," M "}", "max_tokens"},
        {"{\"max_tokens\":-1," M "}", "max_tokens"},
        {"{\"max_tokens\":\"5\"," M "}", "max_tokens"},
        {"{\"max_tokens\":10}", "messages"},
        {"{" N "\"messages\":[]}", "messages"},
        {"{" N "\"messages\":{}}", "messages"},
        {"{" N "\"messages\":[5]}", "messages[0]"},
        {"{" N "\"messages\":[{}]}", "messages[0].role"},
        {"{" N "\"messages\":[{\"role\":\"tool\",\"content\":\"x\"}]}", "messages[0].role"},
        {"{" N "\"messages\":[{\"role\":\"user\"}]}", "messages[0].content"},
        {"{" N "\"messages\":[{\"role\":\"user\",\"content\":null}]}", "messages[0].content"},
        {"{" N "\"messages\":[{\"role\":\"user\",\"content\":{}}]}", "messages[0].content"},
        {USER("7"), "messages[0].content[0]"},
        {USER("{}"), "messages[0].content[0].type"},
        {USER("{\"type\":\"video\"}"), "messages[0].content[0].type"},
        {USER("{\"type\":\"text\"}"), "messages[0].content[0].text"},
        {USER("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}"),
         "messages[0].content[0].type"},
        {USER("{\"type\":\"thinking\",\"thinking\":\"x\"}"), "messages[0].content[0].type"},
        {USER("{\"type\":\"image\"}"), "messages[0].content[0].source.type"},
        {USER("{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x/y.png\"}}"),
         "messages[0].content[0].source.type"},
        {USER("{\"type\":\"image\",\"source\":{\"type\":\"file\",\"file_id\":\"f\"}}"),
         "messages[0].content[0].source.type"},
        {USER("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"AA==\"}}"),
         "messages[0].content[0].source.media_type"},
        {USER("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"text/html\","
              "\"data\":\"AA==\"}}"),
         "messages[0].content[0].source.media_type"},
        {USER("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\"}}"),
         "messages[0].content[0].source.data"},
        {USER("{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
              "\"application/pdf\",\"data\":\"\"}}"),
         "messages[0].content[0].source.type"},
        {USER("{\"type\":\"document\",\"source\":{\"type\":\"content\",\"content\":[{\"type\":"
              "\"document\"}]}}"),
         "messages[0].content[0].source.content[0].type"},
        {USER("{\"type\":\"tool_result\"}"), "messages[0].content[0].tool_use_id"},
        {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":5}"),
         "messages[0].content[0].content"},
        {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"is_error\":\"no\"}"),
         "messages[0].content[0].is_error"},
        {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[{\"type\":"
              "\"tool_result\"}]}"),
         "messages[0].content[0].content[0].type"},
        {SAID("{\"type\":\"image\"}"), "messages[0].content[0].type"},
        {SAID("{\"type\":\"server_tool_use\"}"), "messages[0].content[0].type"},
        {SAID("{\"type\":\"tool_use\",\"name\":\"f\",\"input\":{}}"), "messages[0].content[0].id"},
        {SAID("{\"type\":\"tool_use\",\"id\":\"a\",\"input\":{}}"), "messages[0].content[0].name"},
        {SAID("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":\"{}\"}"),
         "messages[0].content[0].input"},
        {SAID("{\"type\":\"thinking\"}"), "messages[0].content[0].thinking"},
        {SAID("{\"type\":\"redacted_thinking\"}"), "messages[0].content[0].data"},
        {"{" N "\"system\":5," M "}", "system"},
        {"{" N "\"system\":[{\"type\":\"image\"}]," M "}", "system[0].type"},
        {"{" N "\"model\":5," M "}", "model"},
        {"{" N "\"stream\":1," M "}", "stream"},
        {"{" N "\"keep_alive\":\"soon\"," M "}", "keep_alive"},
        {"{" N "\"temperature\":\"hot\"," M "}", "temperature"},
        {"{" N "\"top_p\":2," M "}", "top_p"},
        {"{" N "\"top_k\":1.5," M "}", "top_k"},
        {"{" N "\"stop_sequences\":\"x\"," M "}", "stop_sequences"},
        {"{" N "\"stop_sequences\":[5]," M "}", "stop_sequences[0]"},
        {"{" N "\"stop_sequences\":[\"a\",\"\"]," M "}", "stop_sequences[1]"},
        {"{" N "\"tools\":{}," M "}", "tools"},
        {"{" N "\"tools\":[5]," M "}", "tools[0]"},
        {"{" N "\"tools\":[{\"input_schema\":{}}]," M "}", "tools[0].name"},
        {"{" N "\"tools\":[{\"name\":\"\",\"input_schema\":{}}]," M "}", "tools[0].name"},
        {"{" N "\"tools\":[{\"name\":\"f\"}]," M "}", "tools[0].input_schema"},
        {"{" N "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]," M "}",
         "tools[0].type"},
        {"{" N T "\"tool_choice\":\"auto\"," M "}", "tool_choice"},
        {"{" N T "\"tool_choice\":{}," M "}", "tool_choice.type"},
        {"{" N T "\"tool_choice\":{\"type\":\"all\"}," M "}", "tool_choice.type"},
        {"{" N T "\"tool_choice\":{\"type\":\"tool\"}," M "}", "tool_choice.name"},
        {"{" N T "\"tool_choice\":{\"type\":\"tool\",\"name\":\"g\"}," M "}", "tool_choice.name"},
        {"{" N T "\"tool_choice\":{\"type\":\"any\",\"disable_parallel_tool_use\":1}," M "}",
         "tool_choice.disable_parallel_tool_use"},
        {"{" N "\"tool_choice\":{\"type\":\"any\"}," M "}", "tool_choice"},
        {"{" N "\"thinking\":true," M "}", "thinking"},
        {"{" N "\"thinking\":{\"type\":\"much\"}," M "}", "thinking.type"},
        {"{" N "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":\"1\"}," M "}",
         "thinking.budget_tokens"},
        {"{" N "\"thinking\":{\"type\":\"adaptive\",\"display\":\"loud\"}," M "}",
         "thinking.display"},
        {"{" N "\"output_config\":[]," M "}", "output_config"},
        {"{" N "\"output_config\":{\"effort\":\"some\"}," M "}", "output_config.effort"},
        {"{" N "\"output_config\":{\"format\":{\"type\":\"json\"}}," M "}",
         "output_config.format.type"},
        {"{" N "\"output_config\":{\"format\":{\"type\":\"json_schema\"}}," M "}",
         "output_config.format.schema"},
        {"{" N "\"output_format\":{\"type\":\"json_schema\",\"schema\":[]}," M "}",
         "output_format.schema"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        complains(&qn_anthropic, rows[i].body, rows[i].param);
}

static void members_become_a_job(void **state)
{
    (void)state;
    struct fixture f;
    qn_err err = parse(
        &f, &qn_anthropic,
        "{\"model\":\"m\",\"keep_alive\":\"5m\",\"max_tokens\":7,\"stream\":true,\"temperature\":0."
        "5,\"top_k\":3,"
        "\"top_p\":0.9,\"stop_sequences\":[\"a\",\"b\"],\"metadata\":{\"user_id\":\"u\"},"
        "\"system\":[{\"type\":\"text\",\"text\":\"S\",\"cache_control\":{\"type\":\"ephemeral\"}},"
        "{\"type\":\"text\",\"text\":\"T\"}],\"thinking\":{\"type\":\"disabled\"},"
        "\"tools\":[{\"name\":\"f\",\"description\":\"D\",\"type\":\"custom\",\"strict\":true,"
        "\"cache_control\":{\"type\":\"ephemeral\"},\"input_schema\":{\"type\":\"object\","
        "\"properties\":{}}},{\"name\":\"g\",\"input_schema\":{}}],"
        "\"tool_choice\":{\"type\":\"tool\",\"name\":\"g\",\"disable_parallel_tool_use\":true},"
        "\"output_config\":{\"effort\":\"max\",\"format\":{\"type\":\"json_schema\",\"schema\":"
        "{\"type\":\"object\"}}}," M "}");
    if (err)
        fail_msg("%s", f.e.message);
    const struct qn_job *j = f.rq.jobs;
    assert_string_equal(f.rq.model, "m");
    assert_true(f.rq.stream);
    assert_int_equal(j->task, QN_TASK_CHAT);
    assert_false(j->count_only);
    assert_int_equal(j->sampling.max_tokens, 7);
    assert_true(j->sampling.temperature == 0.5);
    assert_true(j->sampling.top_p == 0.9);
    assert_int_equal(j->sampling.top_k, 3);
    assert_true(isnan(j->sampling.min_p));
    assert_int_equal(j->sampling.stop.n, 2);
    assert_string_equal(j->sampling.stop.v[1], "b");
    assert_string_equal(mt_text(&j->chat.messages, &j->attachments, f.arena),
                        "[{\"role\":\"system\",\"content\":\"S\\nT\"},"
                        "{\"role\":\"user\",\"content\":\"hi\"}]");
    assert_string_equal(
        j->chat.tools, "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"D\","
                       "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":true}},"
                       "{\"type\":\"function\",\"function\":{\"name\":\"g\",\"parameters\":{}}}]");
    assert_int_equal(j->chat.tool_choice, QN_TOOLS_NAMED);
    assert_string_equal(j->chat.tool_name, "g");
    assert_true(j->chat.single_call);
    assert_int_equal(j->chat.think, 0);
    assert_string_equal(j->chat.effort, "high");
    assert_string_equal(j->constrain.schema, "{\"type\":\"object\"}");
    assert_false(j->chat.continue_last);
    assert_int_equal(f.rq.keep_alive_ms, 300000);
    assert_int_equal(f.rq.n_headers, 0);
    drop(&f);
}

/* LayerScale's page: temperature 0.7 and top_p 1 where a message is silent; max_tokens is the
 * answer's own in every profile. */
static void what_a_profile_adds(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *members;
        double temperature, top_p;
    } rows[] = {
        {"layerscale", "", 0.7, 1}, {"layerscale", "\"temperature\":0.2,\"top_p\":0.5,", 0.2, 0.5},
        {"localllm", "", 0.8, NAN}, {"lemonade", "", NAN, NAN},
        {"auto", "", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[256];
        struct fixture f;
        snprintf(body, sizeof body, "{%s%s%s}", N, rows[i].members, M);
        assert_int_equal(parse_as(&f, &qn_anthropic, rows[i].profile, body), QN_OK);
        const struct qn_sampling *s = &f.rq.jobs[0].sampling;
        assert_true(isnan(rows[i].temperature) ? isnan(s->temperature)
                                               : s->temperature == rows[i].temperature);
        assert_true(isnan(rows[i].top_p) ? isnan(s->top_p) : s->top_p == rows[i].top_p);
        assert_true(s->max_tokens == 10 && !s->max_with_prompt);
        drop(&f);
    }
    struct fixture f;
    assert_int_equal(parse_as(&f, &qn_anthropic, "layerscale", "{" N "\"temperature\":2.5," M "}"),
                     QN_EINVAL);
    assert_string_equal(f.e.param, "temperature");
    drop(&f);
}

static void choices_and_thinking(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        enum qn_tool_choice choice;
        int64_t think, budget;
    } rows[] = {
        {"\"tool_choice\":null", QN_TOOLS_UNSET, QN_UNSET, QN_UNSET},
        {"\"tool_choice\":{\"type\":\"auto\"}", QN_TOOLS_AUTO, QN_UNSET, QN_UNSET},
        {"\"tool_choice\":{\"type\":\"any\"}", QN_TOOLS_REQUIRED, QN_UNSET, QN_UNSET},
        {"\"tool_choice\":{\"type\":\"none\"}", QN_TOOLS_NONE, QN_UNSET, QN_UNSET},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}", QN_TOOLS_UNSET, 1, 1024},
        {"\"thinking\":{\"type\":\"disabled\"}", QN_TOOLS_UNSET, 0, QN_UNSET},
        {"\"thinking\":{\"type\":\"adaptive\"}", QN_TOOLS_UNSET, QN_UNSET, QN_UNSET},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[512];
        struct fixture f;
        snprintf(body, sizeof body, "{" N T "%s," M "}", rows[i].member);
        assert_int_equal(parse(&f, &qn_anthropic, body), QN_OK);
        assert_int_equal(f.rq.jobs[0].chat.tool_choice, rows[i].choice);
        assert_true(f.rq.jobs[0].chat.think == rows[i].think);
        assert_true(f.rq.jobs[0].chat.think_budget == rows[i].budget);
        drop(&f);
    }
}

static void conversations(void **state)
{
    (void)state;
    static const struct {
        const char *theirs, *ours;
        bool goes_on;
    } rows[] = {
        {"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
         "\"text\":\"b\"}]}]",
         "[{\"role\":\"user\",\"content\":\"a\\nb\"}]", false},
        {"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"}]",
         "[{\"role\":\"user\",\"content\":\"a\\nb\"}]", false},
        {"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"{\"}]",
         "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"{\"}]",
         true},
        {"[{\"role\":\"user\",\"content\":[]}]", "[{\"role\":\"user\",\"content\":\"\"}]", false},
        {"[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":["
         "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},"
         "{\"type\":\"redacted_thinking\",\"data\":\"xx\"},{\"type\":\"text\",\"text\":\"let me "
         "see\"},"
         "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{\"x\":1}},"
         "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"g\",\"input\":{}}]},"
         "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
         "\"content\":\"42\"},{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"is_error\":true,"
         "\"content\":[{\"type\":\"text\",\"text\":\"no\"},{\"type\":\"text\",\"text\":\"way\"}]},"
         "{\"type\":\"text\",\"text\":\"so?\"}]}]",
         "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"let me "
         "see\",\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"t1\",\"type\":\"function\","
         "\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}},{\"id\":\"t2\",\"type\":"
         "\"function\",\"function\":{\"name\":\"g\",\"arguments\":{}}}]},"
         "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"42\"},"
         "{\"role\":\"tool\",\"tool_call_id\":\"t2\",\"content\":\"Error:\\nno\\nway\"},"
         "{\"role\":\"user\",\"content\":\"so?\"}]",
         false},
        {"[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
         "\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
         "\"tool_use_id\":\"a\"}]}]",
         "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
         "\"function\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]},{\"role\":\"tool\","
         "\"tool_call_id\":\"a\",\"content\":\"\"}]",
         false},
        {"[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
         "\"f\",\"input\":{}}]}]",
         "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
         "\"function\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
         false},
        {"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":"
         "\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":"
         "\"iVBO\"}}]}]",
         "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":"
         "\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBO\"}}]}]",
         false},
        {"[{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"title\":\"T\",\"context\":\"C\""
         ",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"D\"}},"
         "{\"type\":\"search_result\",\"source\":\"http://x\",\"title\":\"S\",\"content\":["
         "{\"type\":\"text\",\"text\":\"found\"}]}]}]",
         "[{\"role\":\"user\",\"content\":\"T\\nC\\nD\\nS\\nhttp://x\\nfound\"}]", false},
        {"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"system\",\"content\":\"b\"}]",
         "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"system\",\"content\":\"b\"}]", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[4096];
        struct fixture f;
        snprintf(body, sizeof body, "{" N "\"messages\":%s}", rows[i].theirs);
        if (parse(&f, &qn_anthropic, body))
            fail_msg("%s: %s", body, f.e.message);
        assert_string_equal(
            mt_text(&f.rq.jobs[0].chat.messages, &f.rq.jobs[0].attachments, f.arena), rows[i].ours);
        assert_int_equal(f.rq.jobs[0].chat.continue_last, rows[i].goes_on);
        drop(&f);
    }
}

static void what_is_ignored_is_told(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        parse(&f, &qn_anthropic,
              "{" N "\"service_tier\":\"auto\",\"thinking\":{\"type\":\"enabled\","
              "\"budget_tokens\":2000},\"container\":null,\"bad\\nname: x\":1,\"mcp_servers\":"
              "[]," M "}"),
        QN_OK);
    const struct qn_anthropic_ask *ask = f.rq.own;
    static const char text[] = "Ignored: service_tier, ..., mcp_servers";
    assert_string_equal(ask->warnings, text);
    assert_int_equal(f.rq.n_headers, 2);
    assert_string_equal(f.rq.headers[0].name, "X-Quince-Warning");
    assert_string_equal(f.rq.headers[0].value, text);
    assert_string_equal(f.rq.headers[1].name, "X-Lemonade-Warning");
    assert_string_equal(f.rq.headers[1].value, text);
    drop(&f);
}

/* Thousands of unknown members do not make a header of thousands of bytes. */
static void warnings_are_short(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_buf body;
    qn_buf_init(&body, 1 << 20);
    qn_buf_str(&body, "{" N M);
    for (int i = 0; i < 5000; i++)
        qn_buf_fmt(&body, ",\"unknown_member_%d\":1", i);
    qn_buf_str(&body, "}");
    assert_int_equal(parse(&f, &qn_anthropic, qn_buf_cstr(&body)), QN_OK);
    assert_in_range(strlen(f.rq.headers[0].value), 100, 400);
    drop(&f);
    qn_buf_deinit(&body);
}

static void counting(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_anthropic_count, "{\"model\":\"m\",\"stream\":true," T M "}"),
                     QN_OK);
    assert_true(f.rq.jobs[0].count_only);
    assert_false(f.rq.stream);
    assert_true(f.rq.jobs[0].sampling.max_tokens == QN_UNSET);
    assert_non_null(f.rq.jobs[0].chat.tools);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),
        cmocka_unit_test(members_become_a_job),
        cmocka_unit_test(conversations),
        cmocka_unit_test(what_a_profile_adds),
        cmocka_unit_test(choices_and_thinking),
        cmocka_unit_test(warnings_are_short),
        cmocka_unit_test(what_is_ignored_is_told),
        cmocka_unit_test(counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
