/* Jobs as requests: members by flavour, what cannot be said is refused. */
#include "base/json.h"
#include "base/str.h"
#include "bridge/ask.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "messages_text.h"

static struct qn_arena *arena;

static struct qn_job chat(void)
{
    struct qn_job job;
    qn_job_init(&job);
    job.task = QN_TASK_CHAT;
    mt_read(&job, "[{\"role\":\"user\",\"content\":\"hi\"}]", arena);
    return job;
}

static struct qn_ask_to to(enum qn_flavour flavour)
{
    return (struct qn_ask_to){.flavour = flavour, .model = "m"};
}

/* The request has all of these texts, and none of those. */
static void check(const struct qn_job *job, enum qn_flavour flavour, const char *path,
                  const char *const *parts, const char *const *absent)
{
    struct qn_engine_call ask;
    struct qn_error e = {0};
    struct qn_ask_to target = to(flavour);
    struct qn_json *doc = NULL;
    assert_int_equal(qn_ask_make(job, &target, NULL, &ask, &e), QN_OK);
    assert_string_equal(ask.path, path);
    if (!strncmp(ask.content_type, "application/json", 16))
        assert_int_equal(qn_json_parse(qn_buf_cstr(&ask.body), ask.body.len, &doc, &e), QN_OK);
    for (; parts && *parts; parts++)
        if (!strstr(qn_buf_cstr(&ask.body), *parts))
            fail_msg("%s is not in %s", *parts, ask.body.data);
    for (; absent && *absent; absent++)
        if (strstr(qn_buf_cstr(&ask.body), *absent))
            fail_msg("%s is in %s", *absent, ask.body.data);
    qn_json_free(doc);
    qn_ask_deinit(&ask);
}

#define PARTS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void sampling_by_flavour(void **state)
{
    (void)state;
    struct qn_job job = chat();
    struct qn_bias bias = {42, -1.5};
    const char *stop[] = {"x"};
    job.sampling.temperature = 0.5;
    job.sampling.top_k = 7;
    job.sampling.typical_p = 0.9;
    job.sampling.repeat_penalty = 1.25;
    job.sampling.repeat_last_n = 64;
    job.sampling.ignore_eos = true;
    job.sampling.logit_bias = (struct qn_biases){&bias, 1};
    job.sampling.stop = (struct qn_strings){stop, 1};
    const char *const *common =
        PARTS("\"model\":\"m\"", "\"stream\":true", "\"include_usage\":true", "\"temperature\":0.5",
              "\"stop\":[\"x\"]", "\"logit_bias\":{\"42\":-1.5}");
    check(&job, QN_FLAVOUR_OPENAI, "/chat/completions", common,
          PARTS("top_k", "typical_p", "repe", "ignore_eos", "return_progress", "max_tokens"));
    check(&job, QN_FLAVOUR_LLAMA, "/chat/completions",
          PARTS("\"top_k\":7", "\"typical_p\":0.9", "\"repeat_penalty\":1.25",
                "\"repeat_last_n\":64", "\"ignore_eos\":true", "\"return_progress\":true"),
          PARTS("repetition_penalty"));
    check(&job, QN_FLAVOUR_VLLM, "/chat/completions",
          PARTS("\"top_k\":7", "\"repetition_penalty\":1.25"),
          PARTS("repeat_penalty", "repeat_last_n", "typical_p", "return_progress"));
}

static void messages_and_tools(void **state)
{
    (void)state;
    struct qn_job job = chat();
    mt_read(
        &job,
        "[{\"role\":\"assistant\",\"reasoning_content\":\"hm\",\"content\":null,\"tool_calls\":[{"
        "\"id\":"
        "\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"x\"}]",
        arena);
    job.chat.tools = "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    job.chat.tool_choice = QN_TOOLS_NAMED;
    job.chat.tool_name = "f";
    job.chat.single_call = true;
    check(&job, QN_FLAVOUR_OPENAI, "/chat/completions",
          PARTS("\"arguments\":\"{\\\"a\\\":1}\"", "\"tool_call_id\":\"c1\"", "\"content\":null",
                "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
                "\"parallel_tool_calls\":false"),
          PARTS("reasoning_content"));
    check(&job, QN_FLAVOUR_LLAMA, "/chat/completions", PARTS("\"reasoning_content\":\"hm\""), NULL);
    job.chat.tool_choice = QN_TOOLS_REQUIRED;
    check(&job, QN_FLAVOUR_VLLM, "/chat/completions", PARTS("\"tool_choice\":\"required\""), NULL);
}

/* Another server gets pictures and sounds in base64, in the place where they stood, and a call's
 * arguments as the text that the client sent. */
static void files_in_base64(void **state)
{
    (void)state;
    struct qn_job job = chat();
    struct qn_message_part user[] = {{.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = "see"},
                                     {.kind = QN_PART_PICTURE, .attachment = 1},
                                     {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = "hear"},
                                     {.kind = QN_PART_SOUND, .attachment = 0}};
    struct qn_message_part call = {
        .kind = QN_PART_CALL, .attachment = QN_UNSET, .name = "f", .arguments = "{ \"n\": 1.50 }"};
    struct qn_message messages[] = {{.role = QN_ROLE_USER, .parts = {user, 4}},
                                    {.role = QN_ROLE_ASSISTANT, .parts = {&call, 1}}};
    struct qn_attachment files[] = {
        {.role = QN_ATTACHMENT_AUDIO, .type = "audio/wav", .data = "RIFF", .bytes = 4},
        {.role = QN_ATTACHMENT_IMAGE, .type = "image/png", .data = "\x89PNG\0", .bytes = 5}};
    job.chat.messages = (struct qn_messages){messages, 2};
    job.attachments = (struct qn_attachments){files, 2};
    check(
        &job, QN_FLAVOUR_OPENAI, "/chat/completions",
        PARTS("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":"
              "\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORwA=\"}},{\"type\":"
              "\"text\",\"text\":\"hear\"},{\"type\":\"input_audio\",\"input_audio\":{\"data\":"
              "\"UklGRg==\",\"format\":\"wav\"}}]}",
              "\"arguments\":\"{ \\\"n\\\": 1.50 }\""),
        NULL);
}

static void thinking_schemas_and_counting(void **state)
{
    (void)state;
    struct qn_job job = chat();
    job.chat.think = 0;
    job.chat.template_vars = "{\"x\":1,\"enable_thinking\":true}";
    job.chat.effort = "low";
    job.constrain.schema = "{\"type\":\"object\"}";
    job.count_only = true;
    check(
        &job, QN_FLAVOUR_VLLM, "/chat/completions",
        PARTS("\"chat_template_kwargs\":{\"x\":1,\"enable_thinking\":false}",
              "\"reasoning_effort\":\"low\"",
              "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\","
              "\"schema\":{\"type\":\"object\"}}}",
              "\"max_tokens\":1"),
        NULL);
    check(&job, QN_FLAVOUR_OPENAI, "/chat/completions", PARTS("\"reasoning_effort\":\"low\""),
          PARTS("chat_template_kwargs"));
}

static void what_cannot_be_said_is_refused(void **state)
{
    static const struct {
        int what;
        enum qn_flavour flavour;
        bool refused;
    } cases[] = {
        {0, QN_FLAVOUR_LLAMA, true},  {1, QN_FLAVOUR_LLAMA, true},  {2, QN_FLAVOUR_OPENAI, true},
        {2, QN_FLAVOUR_LLAMA, false}, {3, QN_FLAVOUR_OPENAI, true}, {3, QN_FLAVOUR_VLLM, true},
        {3, QN_FLAVOUR_LLAMA, false}, {4, QN_FLAVOUR_OPENAI, true}, {4, QN_FLAVOUR_LLAMA, false},
        {5, QN_FLAVOUR_LLAMA, true},  {6, QN_FLAVOUR_OPENAI, true}, {6, QN_FLAVOUR_LLAMA, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_job job = chat();
        struct qn_engine_call ask;
        struct qn_error e = {0};
        struct qn_ask_to target = to(cases[i].flavour);
        int64_t token = 5;
        struct qn_lora lora = {.name = cases[i].what == 5 ? "style" : NULL, .id = 1, .scale = NAN};
        switch (cases[i].what) {
        case 0:
            job.chat.before = (struct qn_i64s){&token, 1};
            break;
        case 1:
            job.chat.template_text = "{{ x }}";
            break;
        case 2:
            job.chat.continue_last = true;
            break;
        case 3:
            job.constrain.grammar = "root ::= \"a\"";
            break;
        case 4:
            job.task = QN_TASK_COMPLETE;
            job.complete.prompt = "x";
            job.constrain.schema = "{}";
            break;
        default:
            job.sampling.lora = (struct qn_loras){&lora, 1, true};
            break;
        }
        qn_err err = qn_ask_make(&job, &target, NULL, &ask, &e);
        assert_int_equal(err, cases[i].refused ? QN_EUNSUPPORTED : QN_OK);
        assert_int_equal(e.param[0] != '\0', cases[i].refused);
        qn_ask_deinit(&ask);
    }
}

/* A batch of five inputs from number 64 on, as texts and as tokens. */
static void a_batch_of_inputs_is_one_request(void **state)
{
    (void)state;
    static const int32_t tokens[] = {7, 0, 2147483647};
    struct qn_input_batch *batch = calloc(1, sizeof *batch + 2 * sizeof *batch->v);
    struct qn_job job;
    struct qn_engine_call ask;
    struct qn_error e = {0};
    struct qn_ask_to target = to(QN_FLAVOUR_OPENAI);
    batch->first = 64;
    batch->n = 2;
    batch->v[0] = (struct qn_input){.text = "a \"b\"", .len = 5};
    batch->v[1] = (struct qn_input){.tokens = tokens, .n_tokens = 3};
    qn_job_init(&job);
    job.task = QN_TASK_EMBED;
    job.embed.count = 66;
    job.embed.dimensions = 8;
    assert_int_equal(qn_ask_make(&job, &target, batch, &ask, &e), QN_OK);
    assert_int_equal(ask.first, 64);
    assert_int_equal(ask.inputs, 2);
    assert_string_equal(ask.path, "/embeddings");
    assert_non_null(strstr(ask.body.data, "\"dimensions\":8"));
    assert_non_null(strstr(ask.body.data, "\"input\":[\"a \\\"b\\\"\",[7,0,2147483647]]"));
    qn_ask_deinit(&ask);
    job.task = QN_TASK_RERANK;
    job.embed.query = "why?";
    batch->n = 1;
    assert_int_equal(qn_ask_make(&job, &target, batch, &ask, &e), QN_OK);
    assert_int_equal(ask.inputs, 1);
    assert_string_equal(ask.path, "/rerank");
    assert_non_null(strstr(ask.body.data, "\"query\":\"why?\",\"documents\":[\"a \\\"b\\\"\"]"));
    qn_ask_deinit(&ask);
    free(batch);
}

static void files_go_as_forms(void **state)
{
    (void)state;
    struct qn_job job;
    struct qn_attachment sound = {.role = QN_ATTACHMENT_AUDIO, .data = "OggS\0data", .bytes = 9};
    qn_job_init(&job);
    job.task = QN_TASK_TRANSCRIBE;
    job.attachments = (struct qn_attachments){&sound, 1};
    job.transcribe.language = "de";
    check(&job, QN_FLAVOUR_OPENAI, "/audio/transcriptions",
          PARTS("name=\"model\"\r\n\r\nm\r\n", "name=\"language\"\r\n\r\nde\r\n",
                "filename=\"sound.ogg\""),
          NULL);
    job.transcribe.translate = true;
    check(&job, QN_FLAVOUR_OPENAI, "/audio/translations", NULL, NULL);
}

static void sd_server_takes_the_rest_out_of_the_prompt(void **state)
{
    (void)state;
    struct qn_job job;
    struct qn_engine_call ask;
    struct qn_error e = {0};
    struct qn_ask_to target = {.api = QN_API_SD, .flavour = QN_FLAVOUR_OPENAI};
    qn_job_init(&job);
    job.task = QN_TASK_IMAGE;
    job.image.kind = QN_IMAGE_GENERATE;
    job.image.prompt = "a cat";
    job.image.format = "png";
    job.image.steps = 4;
    job.image.width = job.image.height = 64;
    assert_int_equal(qn_ask_make(&job, &target, NULL, &ask, &e), QN_OK);
    assert_non_null(strstr(ask.body.data, "a cat <sd_cpp_extra_args>{\\\"sample_params\\\":{"
                                          "\\\"sample_steps\\\":4}}</sd_cpp_extra_args>"));
    assert_non_null(strstr(ask.body.data, "\"size\":\"64x64\""));
    qn_ask_deinit(&ask);
    job.image.kind = QN_IMAGE_UPSCALE;
    assert_int_equal(qn_ask_make(&job, &target, NULL, &ask, &e), QN_EUNSUPPORTED);
    qn_ask_deinit(&ask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling_by_flavour),
        cmocka_unit_test(messages_and_tools),
        cmocka_unit_test(files_in_base64),
        cmocka_unit_test(thinking_schemas_and_counting),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(a_batch_of_inputs_is_one_request),
        cmocka_unit_test(files_go_as_forms),
        cmocka_unit_test(sd_server_takes_the_rest_out_of_the_prompt),
    };
    arena = qn_arena_new(1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    qn_arena_free(arena);
    return failed;
}
