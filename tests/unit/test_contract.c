/* lib/contract: what one process writes the other reads, and a broken peer gets an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "messages_text.h"

#include "contract/backend_types.h"
#include "contract/codec.h"
#include "contract/control.h"
#include "contract/frame.h"
#include "tests/unit/job_wire.h"

#include <math.h>
#include <string.h>

struct fixture {
    struct qn_arena *arena;
    struct qn_json *doc;
    struct qn_buf text;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    f->arena = qn_arena_new(1024 * 1024);
    qn_buf_init(&f->text, 1024 * 1024);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    qn_json_free(f->doc);
    qn_arena_free(f->arena);
    qn_buf_deinit(&f->text);
    test_free(f);
    return 0;
}

static struct qn_jref parse(struct fixture *f, const char *text)
{
    qn_json_free(f->doc);
    f->doc = NULL;
    struct qn_error e = {0};
    if (qn_json_parse(text, strlen(text), &f->doc, &e))
        fail_msg("%s", e.message);
    return qn_json_root(f->doc);
}

static void a_job_survives_the_crossing(void **state)
{
    struct fixture *f = *state;
    struct qn_job job, back;
    qn_job_init(&job);
    const char *stops[] = {"\n\n", "END"};
    struct qn_bias biases[] = {{7, -100}, {9, 2.5}};
    job.task = QN_TASK_CHAT;
    job.id = "r7";
    mt_read(&job, "[{\"role\":\"user\",\"content\":\"h\\u00e9\"}]", f->arena);
    job.chat.template_vars = "{\"enable_thinking\":false}";
    job.chat.think_budget = 77;
    job.chat.template_text = "{{ messages }}";
    int64_t before[] = {5, 6};
    job.chat.before = (struct qn_i64s){before, 2};
    job.sampling.temperature = 0.7;
    job.sampling.max_tokens = 64;
    job.sampling.seed = -3;
    job.sampling.stop = (struct qn_strings){stops, 2};
    job.sampling.logit_bias = (struct qn_biases){biases, 2};
    job.sampling.ignore_eos = true;
    job.sampling.no_reuse = true;
    job.owner_salt = UINT64_C(0xfedcba9876543210);
    struct qn_lora loras[] = {{"pirate", 0, NAN}, {NULL, 3, -0.5}};
    job.sampling.lora = (struct qn_loras){loras, 2, true};
    job.sampling.context_shift = 0;
    assert_int_equal(qn_job_encode(&job, &f->text), QN_OK);
    struct qn_jref root = parse(f, f->text.data);
    struct qn_error e;
    assert_int_equal(qn_job_decode(&root, &back, f->arena, &e), QN_OK);
    assert_int_equal(back.task, QN_TASK_CHAT);
    assert_string_equal(back.id, "r7");
    assert_string_equal(mt_text(&back.chat.messages, &back.attachments, f->arena),
                        "[{\"role\":\"user\",\"content\":\"h\xc3\xa9\"}]");
    assert_string_equal(back.chat.template_vars, "{\"enable_thinking\":false}");
    assert_int_equal(back.chat.think_budget, 77);
    assert_string_equal(back.chat.template_text, "{{ messages }}");
    assert_int_equal(back.chat.before.n, 2);
    assert_int_equal(back.chat.before.v[1], 6);
    assert_true(back.sampling.temperature == 0.7);
    assert_int_equal(back.sampling.max_tokens, 64);
    assert_int_equal(back.sampling.seed, -3);
    assert_int_equal(back.sampling.stop.n, 2);
    assert_string_equal(back.sampling.stop.v[0], "\n\n");
    assert_int_equal(back.sampling.logit_bias.v[1].token, 9);
    assert_true(back.sampling.logit_bias.v[0].bias == -100);
    assert_true(back.sampling.ignore_eos);
    assert_true(back.sampling.no_reuse);
    assert_true(back.owner_salt == UINT64_C(0xfedcba9876543210));
    assert_true(back.sampling.lora.given);
    assert_int_equal(back.sampling.lora.n, 2);
    assert_string_equal(back.sampling.lora.v[0].name, "pirate");
    assert_true(isnan(back.sampling.lora.v[0].scale));
    assert_null(back.sampling.lora.v[1].name);
    assert_int_equal(back.sampling.lora.v[1].id, 3);
    assert_true(back.sampling.lora.v[1].scale == -0.5);
    assert_int_equal(back.sampling.context_shift, 0);
    /* What was not set stays unset. */
    assert_true(isnan(back.sampling.top_p));
    assert_int_equal(back.sampling.n, QN_UNSET);
    assert_null(back.chat.tools);
    assert_null(back.complete.prompt);
}

static void no_adapters_is_not_the_same_as_none_named(void **state)
{
    struct fixture *f = *state;
    struct qn_error e;
    for (int given = 0; given < 2; given++) {
        struct qn_job job, back;
        qn_job_init(&job);
        job.task = QN_TASK_COMPLETE;
        job.id = "x";
        job.complete.prompt = "a";
        job.sampling.lora.given = given;
        qn_buf_clear(&f->text);
        assert_int_equal(qn_job_encode(&job, &f->text), QN_OK);
        struct qn_jref root = parse(f, f->text.data);
        assert_int_equal(qn_job_decode(&root, &back, f->arena, &e), QN_OK);
        assert_int_equal(back.sampling.lora.given, given);
        assert_int_equal(back.sampling.lora.n, 0);
        assert_int_equal(back.sampling.context_shift, QN_UNSET);
    }
}

/* Every kind of part, and the members of a message. */
static void messages_survive_the_crossing(void **state)
{
    struct fixture *f = *state;
    struct qn_message_part user[] = {
        {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = "see\n\"this\""},
        {.kind = QN_PART_PICTURE, .attachment = 1},
        {.kind = QN_PART_SOUND, .attachment = 0},
        {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = ""}};
    struct qn_message_part assistant[] = {
        {.kind = QN_PART_REASONING, .attachment = QN_UNSET, .text = "hm"},
        {.kind = QN_PART_CALL,
         .attachment = QN_UNSET,
         .id = "c1",
         .name = "f",
         .arguments = "{\"a\": 1}"},
        {.kind = QN_PART_CALL, .attachment = QN_UNSET, .name = "g", .arguments = "oops"}};
    struct qn_message messages[] = {{.role = QN_ROLE_USER, .name = "Ann", .parts = {user, 4}},
                                    {.role = QN_ROLE_ASSISTANT, .parts = {assistant, 3}},
                                    {.role = QN_ROLE_TOOL, .tool_call_id = "c1"}};
    struct qn_attachment files[] = {
        {.role = QN_ATTACHMENT_AUDIO, .type = "audio/wav", .data = "RIFF", .bytes = 4},
        {.role = QN_ATTACHMENT_IMAGE, .type = "image/png", .data = "\n\0", .bytes = 2}};
    struct qn_job job, back;
    struct qn_error e = {0};
    qn_job_init(&job);
    job.task = QN_TASK_CHAT;
    job.id = "r8";
    job.chat.messages = (struct qn_messages){messages, 3};
    job.attachments = (struct qn_attachments){files, 2};
    assert_int_equal(qn_job_frame(&job, &f->text), QN_OK);
    static const char end[] = "\n"
                              "RIFF\n\0";
    assert_memory_equal(f->text.data + f->text.len - (sizeof end - 1), end, sizeof end - 1);
    qn_arena_free(f->arena);
    if (wire_job(f->text.data, f->text.len, &back, &f->arena, &e))
        fail_msg("%s: %s", e.param, e.message);
    assert_int_equal(back.chat.messages.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct qn_message *a = &messages[i], *b = &back.chat.messages.v[i];
        assert_int_equal(a->role, b->role);
        assert_int_equal(a->parts.n, b->parts.n);
        for (size_t k = 0; k < a->parts.n; k++) {
            assert_int_equal(a->parts.v[k].kind, b->parts.v[k].kind);
            assert_int_equal(a->parts.v[k].attachment, b->parts.v[k].attachment);
        }
    }
    const struct qn_message_part *said = back.chat.messages.v[0].parts.v;
    const struct qn_message_part *did = back.chat.messages.v[1].parts.v;
    assert_string_equal(back.chat.messages.v[0].name, "Ann");
    assert_string_equal(said[0].text, "see\n\"this\"");
    assert_string_equal(said[3].text, "");
    assert_string_equal(did[0].text, "hm");
    assert_string_equal(did[1].id, "c1");
    assert_string_equal(did[1].arguments, "{\"a\": 1}");
    assert_null(did[2].id);
    assert_string_equal(did[2].arguments, "oops");
    assert_string_equal(back.chat.messages.v[2].tool_call_id, "c1");
    assert_string_equal(back.attachments.v[1].type, "image/png");
    assert_memory_equal(back.attachments.v[1].data, "\n\0", 2);
}

#define CHAT(message)                                                                              \
    "{\"task\":\"chat\",\"id\":\"x\",\"attachments\":[{\"role\":\"image\",\"bytes\":1}],"          \
    "\"chat\":{\"messages\":[" message "]}}"
#define USER(part) "{\"role\":\"user\",\"parts\":[" part "]}"

static void bad_jobs_name_the_field(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *param;
    } cases[] = {
        {"{\"id\":\"x\"}", "task"},
        {"{\"task\":\"dance\",\"id\":\"x\"}", "task"},
        {"{\"task\":\"chat\",\"id\":\"x\"}", "messages"},
        {"{\"task\":\"complete\",\"id\":\"x\"}", "prompt"},
        {"{\"task\":\"chat\",\"id\":\"x\",\"chat\":{\"messages\":{}}}", "chat.messages"},
        {CHAT("{\"parts\":[]}"), "messages[0].role"},
        {CHAT("{\"role\":\"king\"}"), "chat.messages[0].role"},
        {CHAT(USER("{}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"text\"}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"dance\"}")), "chat.messages[0].parts[0].kind"},
        {CHAT(USER("{\"kind\":\"call\",\"name\":\"f\"}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"picture\"}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"picture\",\"attachment\":1}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"sound\",\"attachment\":0}")), "messages[0].parts[0]"},
        {CHAT(USER("{\"kind\":\"picture\",\"attachment\":-1}")),
         "chat.messages[0].parts[0].attachment"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"top_p\":-1}}",
         "sampling.top_p"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"n\":17}}",
         "sampling.n"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt_tokens\":[1,-2]}}",
         "complete.prompt_tokens[1]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"logit_bias\":[[1]]}}",
         "sampling.logit_bias[0]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"stop\":[\"\"]}}",
         "stop"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"lora\":[[1]]}}",
         "sampling.lora[0]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"lora\":[[-1,1]]}}",
         "sampling.lora[0][0]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"lora\":[[\"a\",1e9]]}}",
         "sampling.lora[0][1]"},
        {"{\"task\":\"complete\",\"id\":\"x\",\"complete\":{\"prompt\":\"a\"},"
         "\"sampling\":{\"context_shift\":2}}",
         "sampling.context_shift"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_jref root = parse(f, cases[i].text);
        struct qn_job job;
        struct qn_error e = {0};
        assert_int_equal(qn_job_decode(&root, &job, f->arena, &e), QN_EINVAL);
        assert_string_equal(e.param, cases[i].param);
    }
}

static void events_survive_the_crossing(void **state)
{
    struct fixture *f = *state;
    struct qn_event ev, back;
    struct qn_error e;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.index = 2;
    ev.text = "a\"\n";
    ev.logprobs = "[{\"id\":5,\"logprob\":-0.5}]";
    assert_int_equal(qn_event_encode(&ev, &f->text), QN_OK);
    assert_string_equal(f->text.data, "{\"ev\":\"text\",\"index\":2,\"text\":\"a\\\"\\n\","
                                      "\"logprobs\":[{\"id\":5,\"logprob\":-0.5}]}");
    struct qn_jref root = parse(f, f->text.data);
    assert_int_equal(qn_event_decode(&root, &back, f->arena, &e), QN_OK);
    assert_string_equal(back.text, "a\"\n");
    assert_int_equal(back.index, 2);

    qn_buf_clear(&f->text);
    qn_event_init(&ev, QN_EV_ERROR);
    qn_fail_param(&ev.error, QN_ECONTEXT, "messages", "too long");
    qn_event_encode(&ev, &f->text);
    root = parse(f, f->text.data);
    assert_int_equal(qn_event_decode(&root, &back, f->arena, &e), QN_OK);
    assert_int_equal(back.error.code, QN_ECONTEXT);
    assert_string_equal(back.error.param, "messages");
    assert_string_equal(back.error.message, "too long");

    static const char *const broken[] = {
        "{}",
        "{\"ev\":\"sing\"}",
        "{\"ev\":\"text\"}",
        "{\"ev\":\"text\",\"text\":5}",
        "{\"ev\":\"text\",\"text\":\"a\",\"index\":99}",
        "{\"ev\":\"done\"}",
        "{\"ev\":\"done\",\"reason\":\"bored\"}",
        "{\"ev\":\"error\"}",
        "{\"ev\":\"usage\",\"prompt\":-1}",
        "[]",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        root = parse(f, broken[i]);
        assert_int_equal(qn_event_decode(&root, &back, f->arena, &e), QN_EINVAL);
    }
}

static void sampling_fields_are_read_by_name(void **state)
{
    struct fixture *f = *state;
    struct qn_job job;
    qn_job_init(&job);
    struct qn_error e = {0};
    struct qn_jref root = parse(f, "{\"temperature\":0.5,\"top_k\":2.5,\"min_p\":null}");
    struct qn_jref v = qn_json_get(&root, "temperature");
    assert_int_equal(qn_sampling_read(&job.sampling, "temperature", &v, &e), QN_OK);
    assert_true(job.sampling.temperature == 0.5);
    v = qn_json_get(&root, "top_k");
    assert_int_equal(qn_sampling_read(&job.sampling, "top_k", &v, &e), QN_EINVAL);
    assert_string_equal(e.param, "top_k");
    v = qn_json_get(&root, "min_p");
    assert_int_equal(qn_sampling_read(&job.sampling, "min_p", &v, &e), QN_OK);
    assert_true(isnan(job.sampling.min_p));
    assert_int_equal(qn_sampling_read(&job.sampling, "stop", &v, &e), QN_ENOTFOUND);
}

static void frames_come_out_however_they_went_in(void **state)
{
    (void)state;
    static const char wire[] = "{\"a\":1}\n{\"bytes\":5}\n\n{}\n}{\"bytes\":0}\n{\"b\":2}\n";
    for (size_t piece = 1; piece <= sizeof wire - 1; piece++) {
        struct qn_frame_reader r;
        qn_frame_reader_init(&r, 64);
        int seen = 0;
        for (size_t at = 0; at < sizeof wire - 1; at += piece) {
            size_t n = sizeof wire - 1 - at < piece ? sizeof wire - 1 - at : piece;
            assert_int_equal(qn_frame_feed(&r, wire + at, n), QN_OK);
            struct qn_frame frame;
            struct qn_error e;
            qn_err err;
            while ((err = qn_frame_next(&r, &frame, &e)) == QN_OK) {
                if (seen == 1) {
                    assert_int_equal(frame.bytes_len, 5);
                    assert_memory_equal(frame.bytes, "\n{}\n}", 5);
                } else if (seen == 2) {
                    assert_non_null(frame.bytes);
                    assert_int_equal(frame.bytes_len, 0);
                } else {
                    assert_null(frame.bytes);
                }
                seen++;
                qn_json_free(frame.json);
            }
            assert_int_equal(err, QN_EBUSY);
        }
        assert_int_equal(seen, 4);
        assert_false(qn_frame_pending(&r));
        qn_frame_reader_deinit(&r);
    }
}

static void broken_frames_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *wire;
        qn_err err;
    } cases[] = {
        {"garbage\n", QN_EFORMAT},
        {"{\"bytes\":-1}\n", QN_EFORMAT},
        {"{\"bytes\":1e18}\n", QN_EFORMAT},
        {"{\"bytes\":\"5\"}\n", QN_EFORMAT},
        {"{\"x\":\"0123456789012345678901234567890123456789\"}\n", QN_ELIMIT},
        {"0123456789012345678901234567890123456789", QN_ELIMIT},
        {"{\"open\":1", QN_EBUSY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_frame_reader r;
        struct qn_frame frame;
        struct qn_error e;
        qn_frame_reader_init(&r, 32);
        assert_int_equal(qn_frame_feed(&r, cases[i].wire, strlen(cases[i].wire)), QN_OK);
        assert_int_equal(qn_frame_next(&r, &frame, &e), cases[i].err);
        qn_frame_reader_deinit(&r);
    }
}

static void control_messages_survive_the_crossing(void **state)
{
    struct fixture *f = *state;
    struct qn_control c, back;
    struct qn_error e = {0};
    const char *files[] = {"/a.gguf", "/b.gguf"};
    qn_control_init(&c, QN_CTL_LOAD);
    c.secret = "00ff";
    c.name = "qwen3";
    c.files = (struct qn_strings){files, 2};
    c.threads = 2;
    c.context = 4096;
    c.options = "{\"slots\":2}";
    c.log_level = "warn";
    assert_int_equal(qn_control_encode(&c, &f->text), QN_OK);
    assert_int_equal(f->text.data[f->text.len - 1], '\n');
    struct qn_jref root = parse(f, f->text.data);
    assert_int_equal(qn_control_decode(&root, &back, f->arena, &e), QN_OK);
    assert_int_equal(back.kind, QN_CTL_LOAD);
    assert_string_equal(back.files.v[1], "/b.gguf");
    assert_string_equal(back.options, "{\"slots\":2}");
    assert_int_equal(back.context, 4096);
    assert_string_equal(back.log_level, "warn");

    qn_buf_clear(&f->text);
    qn_control_init(&c, QN_CTL_END_REASONING);
    c.job = "0123-0";
    assert_int_equal(qn_control_encode(&c, &f->text), QN_OK);
    assert_string_equal(f->text.data, "{\"msg\":\"end_reasoning\",\"job\":\"0123-0\"}\n");
    root = parse(f, f->text.data);
    assert_int_equal(qn_control_decode(&root, &back, f->arena, &e), QN_OK);
    assert_string_equal(back.job, "0123-0");

    static const char *const broken[] = {
        "{\"msg\":\"load\",\"secret\":\"x\",\"name\":\"y\"}",
        "{\"msg\":\"loading\",\"progress\":2}",
        "{\"msg\":\"ready\",\"slots\":0}",
        "{\"msg\":\"failed\"}",
        "{\"msg\":\"warning\"}",
        "{\"msg\":\"end_reasoning\"}",
        "{\"msg\":\"shout\"}",
        "{}",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        root = parse(f, broken[i]);
        assert_int_equal(qn_control_decode(&root, &back, f->arena, &e), QN_EINVAL);
    }
}

static void memory_follows_the_models_own_numbers(void **state)
{
    (void)state;
    const struct qn_backend_type *t = qn_backend_type_find("llm");
    const int64_t mib = 1024 * 1024;
    /* Qwen3-0.6B: 112 KiB a token, 4 answers of 4096 tokens: 1792 MiB. */
    struct qn_memory_facts f = {400 * mib, 112 * 1024, 4096, 4, NULL};
    assert_int_equal(t->memory_estimate(&f), (440 + 1792 + 64) * mib);
    /* In blocks of 34 bytes for 32 numbers instead of 64 bytes: 952 MiB. */
    f.cache_type = "q8_0";
    assert_int_equal(t->memory_estimate(&f), (440 + 952 + 64) * mib);
    f.cache_type = "Q8_0";
    assert_int_equal(t->memory_estimate(&f), (440 + 952 + 64) * mib);
    f.cache_type = "q5_1"; /* 24 bytes, llama-server's */
    assert_int_equal(t->memory_estimate(&f), (440 + 672 + 64) * mib);
    f.cache_type = NULL;
    /* The child may choose: it makes do with one answer of 512 tokens. */
    f.context = f.slots = 0;
    assert_int_equal(t->memory_estimate(&f), (440 + 56 + 64) * mib);
    f = (struct qn_memory_facts){400 * mib, INT64_MAX / 2, INT64_MAX / 2, 256, NULL};
    assert_int_equal(t->memory_estimate(&f), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_survives_the_crossing, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_survive_the_crossing, setup, teardown),
        cmocka_unit_test_setup_teardown(no_adapters_is_not_the_same_as_none_named, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_jobs_name_the_field, setup, teardown),
        cmocka_unit_test_setup_teardown(events_survive_the_crossing, setup, teardown),
        cmocka_unit_test_setup_teardown(sampling_fields_are_read_by_name, setup, teardown),
        cmocka_unit_test(memory_follows_the_models_own_numbers),
        cmocka_unit_test(frames_come_out_however_they_went_in),
        cmocka_unit_test(broken_frames_are_refused),
        cmocka_unit_test_setup_teardown(control_messages_survive_the_crossing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
