/* router/dialects/ollama*.c: what is refused and how it is named, what becomes of a request, and
 * the bytes of replies against ones written by hand from docs/api.md and api/types.go of Ollama. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "messages_text.h"

#include "answers/answer.h"
#include "base/clock.h"
#include "dialects/dialect.h"
#include "dialects/shared/keep_alive.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dialect_play.h"

#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define P "\"prompt\":\"a\""

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const struct qn_dialect *dialect;
        const char *body, *param;
    } rows[] = {
        {&qn_ollama_chat, "{\"messages\":\"hi\"}", "messages"},
        {&qn_ollama_chat, "{\"messages\":[1]}", "messages[0]"},
        {&qn_ollama_chat, "{\"messages\":[{}]}", "messages[0].role"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"king\"}]}", "messages[0].role"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"content\":5}]}",
         "messages[0].content"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"thinking\":5}]}",
         "messages[0].thinking"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"images\":\"x\"}]}",
         "messages[0].images"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"images\":[7]}]}",
         "messages[0].images[0]"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"images\":[\"not base64!\"]}]}",
         "messages[0].images[0]"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"user\",\"images\":[\"AA==A\"]}]}",
         "messages[0].images[0]"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":{}}]}",
         "messages[0].tool_calls"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{}]}]}",
         "messages[0].tool_calls[0].function.name"},
        {&qn_ollama_chat,
         "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\","
         "\"arguments\":7}}]}]}",
         "messages[0].tool_calls[0].function.arguments"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"tool\",\"tool_name\":7}]}",
         "messages[0].tool_name"},
        {&qn_ollama_chat, "{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":7}]}",
         "messages[0].tool_call_id"},
        {&qn_ollama_chat, "{\"tools\":{}," M "}", "tools"},
        {&qn_ollama_chat, "{\"tools\":[{\"type\":\"web\"}]," M "}", "tools[0].type"},
        {&qn_ollama_chat, "{\"tools\":[{\"type\":\"function\"}]," M "}", "tools[0].function.name"},
        {&qn_ollama_chat, "{\"model\":5," M "}", "model"},
        {&qn_ollama_chat, "{\"stream\":\"yes\"," M "}", "stream"},
        {&qn_ollama_chat, "{\"keep_alive\":\"soon\"," M "}", "keep_alive"},
        {&qn_ollama_chat, "{\"keep_alive\":\"5\\u00b5\"," M "}", "keep_alive"},
        {&qn_ollama_chat, "{\"keep_alive\":\"\"," M "}", "keep_alive"},
        {&qn_ollama_chat, "{\"keep_alive\":\"1.2.3s\"," M "}", "keep_alive"},
        {&qn_ollama_chat, "{\"keep_alive\":true," M "}", "keep_alive"},
        {&qn_ollama_chat, "{\"options\":[]," M "}", "options"},
        {&qn_ollama_chat, "{\"options\":{\"temperature\":\"hot\"}," M "}", "options.temperature"},
        {&qn_ollama_chat, "{\"options\":{\"temperature\":-1}," M "}", "options.temperature"},
        {&qn_ollama_chat, "{\"options\":{\"top_k\":1.5}," M "}", "options.top_k"},
        {&qn_ollama_chat, "{\"options\":{\"top_p\":\"1\"}," M "}", "options.top_p"},
        {&qn_ollama_chat, "{\"options\":{\"num_predict\":1e30}," M "}", "options.num_predict"},
        {&qn_ollama_chat, "{\"options\":{\"num_ctx\":-1}," M "}", "options.num_ctx"},
        {&qn_ollama_chat, "{\"options\":{\"num_ctx\":1e12}," M "}", "options.num_ctx"},
        {&qn_ollama_chat, "{\"options\":{\"num_gpu\":\"all\"}," M "}", "options.num_gpu"},
        {&qn_ollama_chat, "{\"options\":{\"use_mmap\":1}," M "}", "options.use_mmap"},
        {&qn_ollama_chat, "{\"options\":{\"seed\":0.5}," M "}", "options.seed"},
        {&qn_ollama_chat, "{\"options\":{\"stop\":5}," M "}", "options.stop"},
        {&qn_ollama_chat, "{\"options\":{\"stop\":[\"a\",5]}," M "}", "options.stop[1]"},
        {&qn_ollama_chat, "{\"format\":\"yaml\"," M "}", "format"},
        {&qn_ollama_chat, "{\"format\":[]," M "}", "format"},
        {&qn_ollama_chat, "{\"think\":\"deeply\"," M "}", "think"},
        {&qn_ollama_chat, "{\"think\":1," M "}", "think"},
        {&qn_ollama_chat, "{\"logprobs\":1," M "}", "logprobs"},
        {&qn_ollama_chat, "{\"top_logprobs\":21," M "}", "top_logprobs"},
        {&qn_ollama_chat, "{\"truncate\":1," M "}", "truncate"},
        {&qn_ollama_chat, "{\"shift\":1," M "}", "shift"},
        {&qn_ollama_generate, "{\"prompt\":5}", "prompt"},
        {&qn_ollama_generate, "{\"system\":5," P "}", "system"},
        {&qn_ollama_generate, "{\"template\":5," P "}", "template"},
        {&qn_ollama_generate, "{\"suffix\":5," P "}", "suffix"},
        {&qn_ollama_generate, "{\"raw\":5," P "}", "raw"},
        {&qn_ollama_generate, "{\"raw\":true,\"system\":\"s\"," P "}", "raw"},
        {&qn_ollama_generate, "{\"raw\":true,\"context\":[1]," P "}", "raw"},
        {&qn_ollama_generate, "{\"context\":{}," P "}", "context"},
        {&qn_ollama_generate, "{\"context\":[1,-1]," P "}", "context[1]"},
        {&qn_ollama_generate, "{\"images\":[\"?\"]," P "}", "images[0]"},
        {&qn_ollama_generate, "{\"format\":1," P "}", "format"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        complains(rows[i].dialect, rows[i].body, rows[i].param);
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t ms;
    } rows[] = {
        {"300", 300000},
        {"1.5", 1500},
        {"0", 0},
        {"-1", -1},
        {"-0.001", -1},
        {"1e300", INT64_C(3162240000000)},
        {"null", QN_UNSET},
        {"\"5m\"", 300000},
        {"\"1.5h\"", 5400000},
        {"\"1h30m5s\"", 5405000},
        {"\"250ms\"", 250},
        {"\"1us\"", 1},
        {"\"1\\u00b5s\"", 1},
        {"\"10ns\"", 1},
        {"\".5s\"", 500},
        {"\"5.s\"", 5000},
        {"\"0\"", 0},
        {"\"0s\"", 0},
        {"\"-1\"", -1},
        {"\"-1m\"", -1},
        {"\"24h\"", 86400000},
        {"\"99999999999h\"", INT64_C(3162240000000)},
        {"\"60\"", 60000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_json *doc;
        int64_t ms = QN_UNSET;
        assert_int_equal(qn_json_parse(rows[i].json, strlen(rows[i].json), &doc, NULL), QN_OK);
        struct qn_jref root = qn_json_root(doc);
        if (qn_keep_alive_read(&root, &ms, NULL) || ms != rows[i].ms)
            fail_msg("%s became %lld", rows[i].json, (long long)ms);
        qn_json_free(doc);
    }
}

/* Every option of docs/api.md's example, where it goes. */
static void options(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        parse(&f, &qn_ollama_generate,
              "{\"model\":\"m\",\"prompt\":\"Why?\",\"stream\":false,\"options\":{\"num_keep\":5,"
              "\"seed\":42,\"num_predict\":100,\"top_k\":20,\"top_p\":0.9,\"min_p\":0.25,"
              "\"typical_p\":0.7,\"repeat_last_n\":33,\"temperature\":0.8,\"repeat_penalty\":1.2,"
              "\"presence_penalty\":1.5,\"frequency_penalty\":1.0,\"mirostat\":1,"
              "\"mirostat_tau\":0.8,\"mirostat_eta\":0.6,\"penalize_newline\":true,"
              "\"stop\":[\"\\n\",\"user:\"],\"numa\":false,\"num_ctx\":1024,\"num_batch\":2,"
              "\"num_gpu\":1,\"main_gpu\":0,\"low_vram\":false,\"vocab_only\":false,"
              "\"use_mmap\":true,\"use_mlock\":false,\"num_thread\":8,\"of the future\":[]}}"),
        QN_OK);
    const struct qn_sampling *s = &f.rq.jobs[0].sampling;
    assert_false(f.rq.stream);
    assert_int_equal(f.rq.context, 1024);
    assert_int_equal(f.rq.keep_alive_ms, QN_UNSET);
    assert_int_equal(s->seed, 42);
    assert_int_equal(s->max_tokens, 100);
    assert_int_equal(s->top_k, 20);
    assert_true(s->top_p == 0.9 && s->min_p == 0.25 && s->typical_p == 0.7);
    assert_int_equal(s->repeat_last_n, 33);
    assert_true(s->temperature == 0.8 && s->repeat_penalty == 1.2);
    assert_true(s->presence_penalty == 1.5 && s->frequency_penalty == 1.0);
    assert_int_equal(s->stop.n, 2);
    assert_string_equal(s->stop.v[1], "user:");
    drop(&f);
    /* Values that stand for something, and ones that Ollama cuts. */
    assert_int_equal(parse(&f, &qn_ollama_chat,
                           "{" M ",\"options\":{\"num_predict\":-1,\"seed\":-1,\"top_k\":-1,"
                           "\"top_p\":1.5,\"min_p\":-2,\"num_ctx\":0,\"repeat_last_n\":-1,"
                           "\"stop\":\"x\",\"temperature\":null}}"),
                     QN_OK);
    s = &f.rq.jobs[0].sampling;
    assert_true(f.rq.stream);
    assert_int_equal(s->max_tokens, QN_UNSET);
    assert_int_equal(s->seed, QN_UNSET);
    assert_int_equal(s->top_k, 0);
    assert_true(s->top_p == 1 && s->min_p == 0 && isnan(s->temperature));
    assert_int_equal(s->repeat_last_n, -1);
    assert_int_equal(f.rq.context, QN_UNSET);
    assert_int_equal(s->stop.n, 1);
    drop(&f);
    assert_int_equal(parse(&f, &qn_ollama_chat, "{" M ",\"options\":{\"num_predict\":-2}}"), QN_OK);
    assert_int_equal(f.rq.jobs[0].sampling.max_tokens, QN_UNSET);
    drop(&f);
}

static void conversations(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        parse(&f, &qn_ollama_chat,
              "{\"model\":\"m\",\"keep_alive\":\"10m\",\"think\":\"max\",\"truncate\":false,"
              "\"shift\":false,\"logprobs\":true,\"top_logprobs\":3,\"format\":{\"type\":"
              "\"object\",\"properties\":{\"age\":{\"type\":\"integer\"}}},"
              "\"messages\":[{\"role\":\"System\",\"content\":\"s\"},"
              "{\"role\":\"user\",\"content\":\"weather?\",\"images\":[\"iVBORw==\"]},"
              "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hm\",\"tool_calls\":["
              "{\"function\":{\"name\":\"get\",\"arguments\":{\"city\":\"Toronto\"}}},"
              "{\"id\":\"c2\",\"function\":{\"name\":\"now\"}}]},"
              "{\"role\":\"tool\",\"content\":\"11\",\"tool_name\":\"get\",\"tool_call_id\":"
              "\"c1\"}],"
              "\"tools\":[{\"function\":{\"name\":\"get\",\"parameters\":{}}}]}"),
        QN_OK);
    const struct qn_job *job = &f.rq.jobs[0];
    assert_int_equal(f.rq.n_jobs, 1);
    assert_int_equal(f.rq.keep_alive_ms, 600000);
    assert_int_equal(job->task, QN_TASK_CHAT);
    assert_string_equal(
        mt_text(&job->chat.messages, &job->attachments, f.arena),
        "[{\"role\":\"system\",\"content\":\"s\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"weather?\"},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORw==\"}}]},"
        "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"hm\",\"tool_calls\":["
        "{\"type\":\"function\",\"function\":{\"name\":\"get\",\"arguments\":{\"city\":\"Toronto\"}"
        "}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":{}}}]},"
        "{\"role\":\"tool\",\"name\":\"get\",\"tool_call_id\":\"c1\",\"content\":\"11\"}]");
    assert_string_equal(
        job->chat.tools,
        "[{\"type\":\"function\",\"function\":{\"name\":\"get\",\"parameters\":{}}}]");
    assert_int_equal(job->chat.think, 1);
    assert_string_equal(job->chat.effort, "high");
    assert_false(job->truncate);
    assert_int_equal(job->sampling.context_shift, 0);
    assert_int_equal(job->sampling.logprobs, 3);
    assert_string_equal(job->constrain.schema,
                        "{\"type\":\"object\",\"properties\":{\"age\":{\"type\":\"integer\"}}}");
    drop(&f);

    assert_int_equal(parse(&f, &qn_ollama_chat, "{" M ",\"think\":false,\"format\":\"json\"}"),
                     QN_OK);
    assert_int_equal(f.rq.jobs[0].chat.think, 0);
    assert_null(f.rq.jobs[0].chat.effort);
    assert_true(f.rq.jobs[0].truncate);
    assert_int_equal(f.rq.jobs[0].sampling.context_shift, QN_UNSET);
    assert_string_equal(f.rq.jobs[0].constrain.schema, "{\"type\":\"object\"}");
    drop(&f);
    assert_int_equal(parse(&f, &qn_ollama_chat, "{" M ",\"format\":\"\",\"think\":null}"), QN_OK);
    assert_null(f.rq.jobs[0].constrain.schema);
    assert_int_equal(f.rq.jobs[0].chat.think, QN_UNSET);
    drop(&f);
}

static void prompts(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(parse(&f, &qn_ollama_generate,
                           "{\"model\":\"m\",\"prompt\":\"p\",\"system\":\"s\",\"template\":\"t\","
                           "\"context\":[5,6]}"),
                     QN_OK);
    const struct qn_job *job = &f.rq.jobs[0];
    assert_int_equal(job->task, QN_TASK_CHAT);
    assert_string_equal(mt_text(&job->chat.messages, &job->attachments, f.arena),
                        "[{\"role\":\"system\",\"content\":\"s\"},"
                        "{\"role\":\"user\",\"content\":\"p\"}]");
    assert_string_equal(job->chat.template_text, "t");
    assert_int_equal(job->chat.before.n, 2);
    assert_int_equal(job->chat.before.v[1], 6);
    assert_true(job->want_tokens && job->truncate);
    drop(&f);
    assert_int_equal(parse(&f, &qn_ollama_generate, "{\"raw\":true,\"prompt\":\"[INST]\"}"), QN_OK);
    assert_int_equal(f.rq.jobs[0].task, QN_TASK_COMPLETE);
    assert_string_equal(f.rq.jobs[0].complete.prompt, "[INST]");
    assert_false(f.rq.jobs[0].want_tokens);
    drop(&f);
    assert_int_equal(parse(&f, &qn_ollama_generate, "{\"prompt\":\"a(\",\"suffix\":\")\"}"), QN_OK);
    assert_int_equal(f.rq.jobs[0].task, QN_TASK_COMPLETE);
    assert_string_equal(f.rq.jobs[0].complete.suffix, ")");
    drop(&f);
    static const char *const nothing[] = {"{\"model\":\"m\"}", "{\"prompt\":\"\"}",
                                          "{\"prompt\":null,\"keep_alive\":0}"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse(&f, &qn_ollama_generate, nothing[i]), QN_OK);
        assert_int_equal(f.rq.n_jobs, 0);
        drop(&f);
    }
}

/* Replies: the times are checked and then replaced by T and N, so that the rest can be exact. */
struct talk {
    struct fixture f;
    const struct qn_dialect *d;
    struct qn_buf out;
    struct qn_reply r;
};

static void talk_begin(struct talk *t, const struct qn_dialect *d, const char *body)
{
    t->d = d;
    if (parse(&t->f, d, body))
        fail_msg("%s", t->f.e.message);
    qn_buf_init(&t->out, 1024 * 1024);
    int64_t now = qn_now_ms();
    t->r = (struct qn_reply){
        .rq = &t->f.rq,
        .arena = t->f.arena,
        .out = &t->out,
        .id = "0123456789abcdef01234567",
        .began_ms = now - 5000,
        .granted_ms = now - 3000,
    };
    d->begin(&t->r);
}

static void say(struct talk *t, const struct qn_event *ev)
{
    struct qn_error e = {0};
    if (t->d->event(&t->r, 0, ev, &e))
        fail_msg("%s", e.message);
}

static void say_text(struct talk *t, enum qn_event_kind kind, const char *text)
{
    struct qn_event ev;
    qn_event_init(&ev, kind);
    ev.text = text;
    say(t, &ev);
}

static void say_call(struct talk *t, int64_t call, const char *id, const char *name,
                     const char *arguments)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TOOL_CALL);
    ev.call = call;
    ev.call_id = id;
    ev.name = name;
    ev.arguments = arguments;
    say(t, &ev);
}

static void say_done(struct talk *t, enum qn_finish finish, const char *tokens)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish = finish;
    ev.tokens = tokens;
    say(t, &ev);
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = 26;
    ev.usage.cached = 3;
    ev.usage.output = 7;
    ev.usage.prompt_ms = 130.079;
    ev.usage.output_ms = 4232.5;
    say(t, &ev);
    t->d->end(&t->r);
}

static void mask(struct qn_buf *b)
{
    static const char at[] = "\"created_at\":\"", total[] = "\"total_duration\":";
    struct qn_buf out;
    qn_buf_init(&out, 1024 * 1024);
    for (const char *p = qn_buf_cstr(b); *p;) {
        if (!strncmp(p, at, sizeof at - 1)) {
            int y, mo, d, h, mi, s, ms, n = 0;
            const char *v = p + sizeof at - 1;
            if (sscanf(v, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ\"%n", &y, &mo, &d, &h, &mi, &s, &ms, &n) !=
                    7 ||
                n != 25)
                fail_msg("no time: %.40s", v);
            qn_buf_fmt(&out, "%sT\"", at);
            p = v + n;
        } else if (!strncmp(p, total, sizeof total - 1)) {
            char *end;
            long long ns = strtoll(p + sizeof total - 1, &end, 10);
            if (ns < 5000000000 || ns > 65000000000)
                fail_msg("total_duration %lld", ns);
            qn_buf_fmt(&out, "%sN", total);
            p = end;
        } else {
            qn_buf_char(&out, *p++);
        }
    }
    qn_buf_deinit(b);
    *b = out;
}

static void talk_check(struct talk *t, const char *wanted)
{
    mask(&t->out);
    assert_string_equal(qn_buf_cstr(&t->out), wanted);
    t->d->free(t->r.own);
    qn_buf_deinit(&t->out);
    drop(&t->f);
}

#define HEAD "{\"model\":\"llama3.2\",\"created_at\":\"T\","
#define SAYS(text) HEAD "\"message\":{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define FIGURES                                                                                    \
    "\"total_duration\":N,\"load_duration\":2000000000,\"prompt_eval_count\":26,"                  \
    "\"prompt_eval_duration\":130079000,\"eval_count\":7,\"eval_duration\":4232500000"
#define LAST(reason) SAYS("") ",\"done\":true,\"done_reason\":\"" reason "\"," FIGURES "}\n"
#define CHAT "{\"model\":\"llama3.2\"," M "}"
#define WHOLE "{\"model\":\"llama3.2\",\"stream\":false," M "}"

static void golden_text(void **state)
{
    struct talk t;
    (void)state;
    talk_begin(&t, &qn_ollama_chat, CHAT);
    say_text(&t, QN_EV_TEXT, "The \"sky\"");
    say_text(&t, QN_EV_TEXT, " is\n");
    say_done(&t, QN_FINISH_STOP, NULL);
    talk_check(&t, SAYS("The \\\"sky\\\"") ",\"done\":false}\n" SAYS(
                       " is\\n") ",\"done\":false}\n" LAST("stop"));
    talk_begin(&t, &qn_ollama_chat, WHOLE);
    say_text(&t, QN_EV_TEXT, "The ");
    say_text(&t, QN_EV_TEXT, "sky");
    say_done(&t, QN_FINISH_STOP, NULL);
    talk_check(&t, SAYS("The sky") ",\"done\":true,\"done_reason\":\"stop\"," FIGURES "}");
}

static void golden_thinking(void **state)
{
    struct talk t;
    (void)state;
    talk_begin(&t, &qn_ollama_chat, CHAT);
    say_text(&t, QN_EV_REASONING, "Hm");
    say_text(&t, QN_EV_TEXT, "Yes");
    say_done(&t, QN_FINISH_STOP, NULL);
    talk_check(&t, HEAD "\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Hm\"},"
                        "\"done\":false}\n" SAYS("Yes") ",\"done\":false}\n" LAST("stop"));
    talk_begin(&t, &qn_ollama_chat, WHOLE);
    say_text(&t, QN_EV_REASONING, "H");
    say_text(&t, QN_EV_REASONING, "m");
    say_text(&t, QN_EV_TEXT, "Yes");
    say_done(&t, QN_FINISH_STOP, NULL);
    talk_check(&t,
               HEAD "\"message\":{\"role\":\"assistant\",\"content\":\"Yes\",\"thinking\":\"Hm\"},"
                    "\"done\":true,\"done_reason\":\"stop\"," FIGURES "}");
}

#define ONE_CALL(id, n, name, arguments)                                                           \
    "{\"id\":\"" id "\",\"function\":{\"index\":" n ",\"name\":\"" name                            \
    "\",\"arguments\":" arguments "}}"
#define CALLS(list)                                                                                \
    HEAD "\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" list "]}"

static void golden_tools(void **state)
{
    struct talk t;
    (void)state;
    talk_begin(&t, &qn_ollama_chat, CHAT);
    say_call(&t, 0, NULL, "get_weather", "");
    say_call(&t, 0, NULL, NULL, "{\"city\":");
    say_call(&t, 0, NULL, NULL, "\"Tokyo\"}");
    say_done(&t, QN_FINISH_TOOLS, NULL);
    talk_check(&t, CALLS(ONE_CALL("call_012345670", "0", "get_weather",
                                  "{\"city\":\"Tokyo\"}")) ",\"done\":false}\n" LAST("stop"));

    talk_begin(&t, &qn_ollama_chat, CHAT);
    say_text(&t, QN_EV_TEXT, "Two:");
    say_call(&t, 0, "abc", "one", "{\"a\": [1, 2.5]}");
    say_call(&t, 1, "", "two", "");
    say_done(&t, QN_FINISH_TOOLS, NULL);
    talk_check(
        &t,
        SAYS("Two:") ",\"done\":false}\n" CALLS(ONE_CALL(
            "abc", "0", "one",
            "{\"a\":[1,2.5]}")) ",\"done\":false}\n" CALLS(ONE_CALL("call_012345671", "1", "two",
                                                                    "{}")) ",\"done\":false}"
                                                                           "\n" LAST("stop"));

    talk_begin(&t, &qn_ollama_chat, WHOLE);
    say_call(&t, 0, NULL, "one", "{}");
    say_call(&t, 1, NULL, "two", "{\"b\":true}");
    say_done(&t, QN_FINISH_TOOLS, NULL);
    talk_check(&t, CALLS(ONE_CALL("call_012345670", "0", "one", "{}") "," ONE_CALL(
                       "call_012345671", "1", "two",
                       "{\"b\":true}")) ",\"done\":true,\"done_reason\":\"stop\"," FIGURES "}");

    /* Cut off in the middle of its arguments it is no call. */
    talk_begin(&t, &qn_ollama_chat, CHAT);
    say_call(&t, 0, NULL, "one", "{\"a\":");
    say_done(&t, QN_FINISH_LENGTH, NULL);
    talk_check(&t, LAST("length"));
}

static void golden_length_and_logprobs(void **state)
{
    struct talk t;
    (void)state;
    talk_begin(&t, &qn_ollama_generate,
               "{\"model\":\"llama3.2\",\"prompt\":\"p\",\"logprobs\":true}");
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.text = "Hi";
    ev.logprobs =
        "[{\"id\":5,\"token\":\"Hi\",\"bytes\":[72,105],\"logprob\":-0.5,\"top\":[{\"id\":"
        "5,\"token\":\"Hi\",\"bytes\":[72,105],\"logprob\":-0.5}]}]";
    say(&t, &ev);
    say_done(&t, QN_FINISH_LENGTH, "[1,2,3]");
    talk_check(
        &t, HEAD
        "\"response\":\"Hi\",\"done\":false,\"logprobs\":[{\"token\":\"Hi\",\"logprob\":"
        "-0.5,\"bytes\":[72,105],\"top_logprobs\":[{\"token\":\"Hi\",\"logprob\":-0.5,"
        "\"bytes\":[72,105]}]}]}\n" HEAD
        "\"response\":\"\",\"done\":true,\"done_reason\":\"length\",\"context\":[1,2,3]," FIGURES
        "}\n");
    talk_begin(&t, &qn_ollama_generate,
               "{\"model\":\"llama3.2\",\"prompt\":\"p\",\"stream\":false}");
    say_text(&t, QN_EV_REASONING, "hm");
    say_text(&t, QN_EV_TEXT, "Yes");
    say_done(&t, QN_FINISH_STOP, "[1]");
    talk_check(&t, HEAD "\"response\":\"Yes\",\"thinking\":\"hm\",\"done\":true,\"done_reason\":"
                        "\"stop\",\"context\":[1]," FIGURES "}");
}

static void golden_loads(void **state)
{
    struct talk t;
    (void)state;
    talk_begin(&t, &qn_ollama_chat, "{\"model\":\"llama3.2\",\"messages\":[]}");
    t.d->end(&t.r);
    talk_check(&t, SAYS("") ",\"done\":true,\"done_reason\":\"load\"}\n");
    talk_begin(&t, &qn_ollama_generate,
               "{\"model\":\"llama3.2\",\"keep_alive\":0,\"stream\":false}");
    t.d->end(&t.r);
    talk_check(&t, HEAD "\"response\":\"\",\"done\":true,\"done_reason\":\"unload\"}");
}

static void golden_errors(void **state)
{
    struct talk t;
    struct qn_error e = {0};
    (void)state;
    qn_fail(&e, QN_ECHILD, "the model's process \"died\"");
    struct qn_problem p = {.error = &e};
    talk_begin(&t, &qn_ollama_chat, CHAT);
    (t.d->fail)(&t.r, &p);
    talk_check(&t, "{\"error\":\"the model's process \\\"died\\\"\"}");
    talk_begin(&t, &qn_ollama_chat, CHAT);
    t.d->ping(&t.r);
    t.r.started = true;
    say_text(&t, QN_EV_TEXT, "The");
    (t.d->fail)(&t.r, &p);
    talk_check(&t, " " SAYS("The") ",\"done\":false}\n"
                                   "{\"error\":\"the model's process \\\"died\\\"\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints),
        cmocka_unit_test(durations),
        cmocka_unit_test(options),
        cmocka_unit_test(conversations),
        cmocka_unit_test(prompts),
        cmocka_unit_test(golden_text),
        cmocka_unit_test(golden_thinking),
        cmocka_unit_test(golden_tools),
        cmocka_unit_test(golden_length_and_logprobs),
        cmocka_unit_test(golden_loads),
        cmocka_unit_test(golden_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
