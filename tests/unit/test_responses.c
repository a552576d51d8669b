/* The Responses API without a server: the exact bytes of whole and streamed answers, written by
 * hand after https://platform.openai.com/docs/api-reference/responses and .../responses-streaming;
 * what is asked of the kept answers, and what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "messages_text.h"

#include "tests/unit/dialect_play.h"

#include <stdio.h>
#include <time.h>

enum { EVENTS_MAX = 10, STEPS_MAX = 24 };

#define USAGE                                                                                      \
    {                                                                                              \
        .kind = QN_EV_USAGE, .usage = {.prompt = 2, .cached = 1, .output = 3, .reasoning = 1 }     \
    }

/* The response object around what changes. */
#define HEAD(status)                                                                               \
    "{\"id\":\"resp_ID\",\"object\":\"response\",\"created_at\":1700000000,\"status\":\"" status   \
    "\",\"error\":"
#define FINE "null,\"incomplete_details\":null,"
#define CUT "null,\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
#define OUTPUT "\"model\":\"m\",\"output\":["
#define ECHO_(summary)                                                                             \
    ",\"background\":false,\"instructions\":null,\"max_output_tokens\":null,\"max_tool_calls\":"   \
    "null,\"metadata\":{},\"parallel_tool_calls\":true,\"previous_response_id\":null,"             \
    "\"reasoning\":{\"effort\":null,\"summary\":" summary "},\"service_tier\":\"default\","        \
    "\"store\":true,\"temperature\":null,\"text\":{\"format\":{\"type\":\"text\"},\"verbosity\":"  \
    "\"medium\"},\"tool_choice\":\"auto\",\"tools\":[],\"top_logprobs\":0,\"top_p\":null,"         \
    "\"truncation\":\"disabled\"}"
#define ECHO ECHO_("null")
#define NO_USAGE "],\"usage\":null"
#define COUNTED                                                                                    \
    "],\"usage\":{\"input_tokens\":2,\"input_tokens_details\":{\"cached_tokens\":1},"              \
    "\"output_tokens\":3,\"output_tokens_details\":{\"reasoning_tokens\":1},\"total_tokens\":5}"
#define BEGUN_(summary) HEAD("in_progress") FINE OUTPUT NO_USAGE ECHO_(summary)
#define CREATED_(summary)                                                                          \
    {"response.created", "\"response\":" BEGUN_(summary)},                                         \
    {                                                                                              \
        "response.in_progress", "\"response\":" BEGUN_(summary)                                    \
    }
#define CREATED CREATED_("null")

/* Items and what is said about them. n: the item's number, i: its id's two last digits. */
#define AT(id, n) "\"item_id\":\"" id "\",\"output_index\":" n ","
#define PART(type, text) "{\"type\":\"" type "\",\"text\":\"" text "\"}"
#define SAID(text)                                                                                 \
    "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define MESSAGE(i, status, parts)                                                                  \
    "{\"id\":\"msg_ID" i "\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[" parts      \
    "],\"status\":\"" status "\"}"
#define REASONED(i, status, summary, parts)                                                        \
    "{\"id\":\"rs_ID" i "\",\"type\":\"reasoning\",\"summary\":[" summary "],\"content\":[" parts  \
    "],\"status\":\"" status "\"}"
#define CALLED(i, call, name, args, status)                                                        \
    "{\"id\":\"fc_ID" i "\",\"type\":\"function_call\",\"call_id\":\"" call "\",\"name\":\"" name  \
    "\",\"arguments\":\"" args "\",\"status\":\"" status "\"}"
#define ITEM(n, item) "\"output_index\":" n ",\"item\":" item
#define CONTENT "\"content_index\":0,"
#define BEGIN_MESSAGE(i, n)                                                                        \
    {"response.output_item.added", ITEM(n, MESSAGE(i, "in_progress", ""))},                        \
    {                                                                                              \
        "response.content_part.added", AT("msg_ID" i, n) CONTENT "\"part\":" SAID("")              \
    }
#define DELTA(i, n, text)                                                                          \
    {                                                                                              \
        "response.output_text.delta",                                                              \
            AT("msg_ID" i, n) CONTENT "\"logprobs\":[],\"delta\":\"" text "\""                     \
    }
#define END_MESSAGE(i, n, status, all)                                                             \
    {"response.output_text.done",                                                                  \
     AT("msg_ID" i, n) CONTENT "\"logprobs\":[],\"text\":\"" all "\""},                            \
        {"response.content_part.done", AT("msg_ID" i, n) CONTENT "\"part\":" SAID(all)},           \
    {                                                                                              \
        "response.output_item.done", ITEM(n, MESSAGE(i, status, SAID(all)))                        \
    }
#define BEGIN_CALL(i, n, call, name)                                                               \
    {                                                                                              \
        "response.output_item.added", ITEM(n, CALLED(i, call, name, "", "in_progress"))            \
    }
#define ARGUMENTS(i, n, piece)                                                                     \
    {                                                                                              \
        "response.function_call_arguments.delta", AT("fc_ID" i, n) "\"delta\":\"" piece "\""       \
    }
#define END_CALL(i, n, call, name, args)                                                           \
    {"response.function_call_arguments.done",                                                      \
     AT("fc_ID" i, n) "\"name\":\"" name "\",\"arguments\":\"" args "\""},                         \
    {                                                                                              \
        "response.output_item.done", ITEM(n, CALLED(i, call, name, args, "completed"))             \
    }

struct step {
    const char *type, *rest; /* what follows the sequence number */
};

static const struct golden {
    const char *name, *members;
    struct qn_event events[EVENTS_MAX];
    const char *whole;
    struct step steps[STEPS_MAX];
} goldens[] = {
    {"text",
     "",
     {TEXT("a"), TEXT("\"b\""), DONE(QN_FINISH_STOP), USAGE},
     HEAD("completed") FINE OUTPUT MESSAGE("00", "completed", SAID("a\\\"b\\\"")) COUNTED ECHO,
     {CREATED,
      BEGIN_MESSAGE("00", "0"),
      DELTA("00", "0", "a"),
      DELTA("00", "0", "\\\"b\\\""),
      END_MESSAGE("00", "0", "completed", "a\\\"b\\\""),
      {"response.completed", "\"response\":" HEAD("completed") FINE OUTPUT MESSAGE(
                                 "00", "completed", SAID("a\\\"b\\\"")) COUNTED ECHO}}},
    {"nothing",
     "",
     {DONE(QN_FINISH_STOP), USAGE},
     HEAD("completed") FINE OUTPUT MESSAGE("00", "completed", SAID("")) COUNTED ECHO,
     {CREATED,
      BEGIN_MESSAGE("00", "0"),
      END_MESSAGE("00", "0", "completed", ""),
      {"response.completed", "\"response\":" HEAD("completed")
                                 FINE OUTPUT MESSAGE("00", "completed", SAID("")) COUNTED ECHO}}},
    {"reasoning",
     "",
     {THINK("h"), THINK("m"), TEXT("a"), DONE(QN_FINISH_STOP), USAGE},
     HEAD("completed")
         FINE OUTPUT REASONED("00", "completed", "", PART("reasoning_text", "hm")) "," MESSAGE(
             "01", "completed", SAID("a")) COUNTED ECHO,
     {CREATED,
      {"response.output_item.added", ITEM("0", REASONED("00", "in_progress", "", ""))},
      {"response.content_part.added",
       AT("rs_ID00", "0") CONTENT "\"part\":" PART("reasoning_text", "")},
      {"response.reasoning_text.delta", AT("rs_ID00", "0") CONTENT "\"delta\":\"h\""},
      {"response.reasoning_text.delta", AT("rs_ID00", "0") CONTENT "\"delta\":\"m\""},
      {"response.reasoning_text.done", AT("rs_ID00", "0") CONTENT "\"text\":\"hm\""},
      {"response.content_part.done",
       AT("rs_ID00", "0") CONTENT "\"part\":" PART("reasoning_text", "hm")},
      {"response.output_item.done",
       ITEM("0", REASONED("00", "completed", "", PART("reasoning_text", "hm")))},
      BEGIN_MESSAGE("01", "1"),
      DELTA("01", "1", "a"),
      END_MESSAGE("01", "1", "completed", "a"),
      {"response.completed",
       "\"response\":" HEAD("completed")
           FINE OUTPUT REASONED("00", "completed", "", PART("reasoning_text", "hm")) "," MESSAGE(
               "01", "completed", SAID("a")) COUNTED ECHO}}},
    {"reasoning as a summary",
     ",\"reasoning\":{\"summary\":\"auto\"}",
     {THINK("hm"), TEXT("a"), DONE(QN_FINISH_STOP), USAGE},
     HEAD("completed") FINE OUTPUT REASONED("00", "completed", PART("summary_text", "hm"),
                                            "") "," MESSAGE("01", "completed", SAID("a"))
         COUNTED ECHO_("\"auto\""),
     {CREATED_("\"auto\""),
      {"response.output_item.added", ITEM("0", REASONED("00", "in_progress", "", ""))},
      {"response.reasoning_summary_part.added",
       AT("rs_ID00", "0") "\"summary_index\":0,\"part\":" PART("summary_text", "")},
      {"response.reasoning_summary_text.delta",
       AT("rs_ID00", "0") "\"summary_index\":0,\"delta\":\"hm\""},
      {"response.reasoning_summary_text.done",
       AT("rs_ID00", "0") "\"summary_index\":0,\"text\":\"hm\""},
      {"response.reasoning_summary_part.done",
       AT("rs_ID00", "0") "\"summary_index\":0,\"part\":" PART("summary_text", "hm")},
      {"response.output_item.done",
       ITEM("0", REASONED("00", "completed", PART("summary_text", "hm"), ""))},
      BEGIN_MESSAGE("01", "1"),
      DELTA("01", "1", "a"),
      END_MESSAGE("01", "1", "completed", "a"),
      {"response.completed", "\"response\":" HEAD("completed")
                                 FINE OUTPUT REASONED("00", "completed", PART("summary_text", "hm"),
                                                      "") "," MESSAGE("01", "completed", SAID("a"))
                                     COUNTED ECHO_("\"auto\"")}}},
    {"one tool",
     "",
     {CALL(0, "f", ""), CALL(0, NULL, "{\"q\":"), CALL(0, NULL, "1}"), DONE(QN_FINISH_TOOLS),
      USAGE},
     HEAD("completed") FINE OUTPUT CALLED("00", "call_ID00", "f", "{\\\"q\\\":1}", "completed")
         COUNTED ECHO,
     {CREATED,
      BEGIN_CALL("00", "0", "call_ID00", "f"),
      ARGUMENTS("00", "0", "{\\\"q\\\":"),
      ARGUMENTS("00", "0", "1}"),
      END_CALL("00", "0", "call_ID00", "f", "{\\\"q\\\":1}"),
      {"response.completed",
       "\"response\":" HEAD("completed")
           FINE OUTPUT CALLED("00", "call_ID00", "f", "{\\\"q\\\":1}", "completed") COUNTED ECHO}}},
    {"text and two tools",
     "",
     {TEXT("so"),
      CALL(0, "f", "{}"),
      {.kind = QN_EV_TOOL_CALL, .call = 1, .name = "g", .call_id = "x9", .arguments = "{}"},
      DONE(QN_FINISH_TOOLS),
      USAGE},
     HEAD("completed") FINE OUTPUT MESSAGE("00", "completed", SAID("so")) "," CALLED(
         "01", "call_ID01", "f", "{}", "completed") "," CALLED("02", "x9", "g", "{}", "completed")
         COUNTED ECHO,
     {CREATED,
      BEGIN_MESSAGE("00", "0"),
      DELTA("00", "0", "so"),
      END_MESSAGE("00", "0", "completed", "so"),
      BEGIN_CALL("01", "1", "call_ID01", "f"),
      ARGUMENTS("01", "1", "{}"),
      END_CALL("01", "1", "call_ID01", "f", "{}"),
      BEGIN_CALL("02", "2", "x9", "g"),
      ARGUMENTS("02", "2", "{}"),
      END_CALL("02", "2", "x9", "g", "{}"),
      {"response.completed",
       "\"response\":" HEAD("completed")
           FINE OUTPUT MESSAGE("00", "completed", SAID("so")) "," CALLED(
               "01", "call_ID01", "f", "{}", "completed") "," CALLED("02", "x9", "g", "{}",
                                                                     "completed") COUNTED ECHO}}},
    {"length",
     "",
     {TEXT("a"), DONE(QN_FINISH_LENGTH), USAGE},
     HEAD("incomplete") CUT OUTPUT MESSAGE("00", "incomplete", SAID("a")) COUNTED ECHO,
     {CREATED,
      BEGIN_MESSAGE("00", "0"),
      DELTA("00", "0", "a"),
      END_MESSAGE("00", "0", "incomplete", "a"),
      {"response.incomplete", "\"response\":" HEAD("incomplete")
                                  CUT OUTPUT MESSAGE("00", "incomplete", SAID("a")) COUNTED ECHO}}},
};

static size_t count(const struct qn_event *events)
{
    size_t n = 0;
    while (n < EVENTS_MAX && events[n].kind != QN_EV_NONE)
        n++;
    return n;
}

/* The stream that the steps are. */
static void write_steps(const struct step *steps, struct qn_buf *out)
{
    for (int i = 0; i < STEPS_MAX && steps[i].type; i++)
        qn_buf_fmt(out, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,%s}\n\n",
                   steps[i].type, steps[i].type, i, steps[i].rest);
}

static void goldens_as_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++)
        for (int stream = 0; stream < 2; stream++) {
            const struct golden *g = &goldens[i];
            struct fixture f;
            struct qn_buf expected;
            char body[512];
            qn_buf_init(&expected, 1 << 20);
            if (stream)
                write_steps(g->steps, &expected);
            else
                qn_buf_str(&expected, g->whole);
            snprintf(body, sizeof body, "{\"model\":\"m\",\"input\":\"hi\",\"stream\":%s%s}",
                     stream ? "true" : "false", g->members);
            assert_int_equal(parse(&f, &qn_responses, body), QN_OK);
            char *text = play(&f, &qn_responses, g->events, count(g->events));
            if (strcmp(text, qn_buf_cstr(&expected)) != 0)
                fail_msg("%s:\n%s\n  expected\n%s", g->name, text, qn_buf_cstr(&expected));
            free(text);
            qn_buf_deinit(&expected);
            drop(&f);
        }
}

/* An error is a body of its own before the first byte; after it, an event and a failed response. */
static void errors(void **state)
{
    (void)state;
    static const struct qn_event events[] = {TEXT("a")};
    static const struct step steps[STEPS_MAX] = {
        CREATED,
        BEGIN_MESSAGE("00", "0"),
        DELTA("00", "0", "a"),
        {"error", "\"code\":\"server_error\",\"message\":\"it fell\",\"param\":null"},
        {"response.failed",
         "\"response\":" HEAD("failed") "{\"code\":\"server_error\",\"message\":\"it fell\"},"
                                        "\"incomplete_details\":null," OUTPUT MESSAGE(
                                            "00", "incomplete", SAID("a")) NO_USAGE ECHO}};
    struct fixture f;
    struct qn_error e = {0};
    qn_fail(&e, QN_ECHILD, "it fell");
    struct qn_problem p = {.error = &e, .model = "m"};
    struct qn_buf expected;
    qn_buf_init(&expected, 1 << 20);
    assert_int_equal(parse(&f, &qn_responses, "{\"model\":\"m\",\"input\":\"hi\",\"stream\":true}"),
                     QN_OK);
    char *text = play_failure(&f, &qn_responses, events, 0, &p);
    assert_string_equal(text, "{\"error\":{\"message\":\"it fell\",\"type\":\"server_error\","
                              "\"param\":null,\"code\":\"model_process_failed\"}}");
    free(text);
    text = play_failure(&f, &qn_responses, events, 1, &p);
    write_steps(steps, &expected);
    assert_string_equal(text, qn_buf_cstr(&expected));
    free(text);
    /* The context was too short: agents look for this code and shorten what they send. */
    qn_fail(&e, QN_ECONTEXT, "too long");
    text = play_failure(&f, &qn_responses, events, 1, &p);
    assert_non_null(strstr(text, "\"error\":{\"code\":\"context_length_exceeded\""));
    free(text);
    qn_buf_deinit(&expected);
    drop(&f);
}

/* The stream has begun with pings, and then the model could not be loaded. */
static void fails_while_loading(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_error e = {0};
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    qn_fail(&e, QN_EFORMAT, "the file is broken");
    struct qn_problem p = {.error = &e, .loading = true, .model = "m"};
    assert_int_equal(parse(&f, &qn_responses, "{\"model\":\"m\",\"input\":\"hi\",\"stream\":true}"),
                     QN_OK);
    struct qn_reply r = {
        .rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID", .answer_id = "ID", .started = true};
    (qn_responses.fail)(&r, &p);
    assert_non_null(strstr(qn_buf_cstr(&out), "event: response.created\n"));
    assert_non_null(strstr(qn_buf_cstr(&out), "event: error\n"));
    assert_non_null(strstr(qn_buf_cstr(&out), "event: response.failed\n"));
    qn_buf_deinit(&out);
    drop(&f);
}

/* Which kept answers a body asks for. */
static void earlier(void **state)
{
    (void)state;
#define DIGITS "0123456789abcdef01234567"
    static const char body[] =
        "{\"previous_response_id\":\"resp_x\",\"input\":[{\"type\":\"item_reference\",\"id\":"
        "\"msg_" DIGITS "00\"},{\"id\":\"rs_" DIGITS "01\"},{\"type\":\"item_reference\",\"id\":"
        "\"msg_short\"},{\"type\":\"item_reference\"},{\"role\":\"user\",\"content\":\"x\",\"id\":"
        "\"msg_" DIGITS "02\"},{\"type\":\"item_reference\",\"id\":\"fc_f" DIGITS "\"},7]}";
    struct qn_json *doc;
    const char *chain = NULL, *ids[QN_EARLIER_MAX];
    struct qn_arena *arena = qn_arena_new(1 << 20);
    assert_int_equal(qn_json_parse(body, strlen(body), &doc, NULL), QN_OK);
    assert_int_equal(qn_responses.earlier(doc, arena, &chain, ids), 2);
    assert_string_equal(chain, "resp_x");
    assert_string_equal(ids[0], "resp_" DIGITS);
    assert_string_equal(ids[1], "resp_f0123456789abcdef0123456");
    qn_json_free(doc);
    qn_arena_free(arena);
}

/* A list that is too long is refused before anything is looked up for it. */
static void too_many_items(void **state)
{
    (void)state;
    struct fixture f;
    struct qn_buf body;
    const char *chain = NULL, *ids[QN_EARLIER_MAX];
    qn_buf_init(&body, 1 << 20);
    qn_buf_str(&body, "{\"previous_response_id\":\"resp_x\",\"input\":[");
    for (int i = 0; i < 10001; i++)
        qn_buf_fmt(&body, "%s{\"id\":\"msg_" DIGITS "%02x\"}", i ? "," : "", i);
    qn_buf_str(&body, "]}");
    assert_int_equal(parse(&f, &qn_responses, qn_buf_cstr(&body)), QN_EINVAL);
    assert_string_equal(f.e.param, "input");
    assert_int_equal(qn_responses.earlier(f.doc, f.arena, &chain, ids), 0);
    assert_null(chain);
    drop(&f);
    qn_buf_deinit(&body);
}

/* As the router does it on a worker. */
static void open_kept(struct qn_kept *k)
{
    assert_int_equal(qn_json_parse(k->input, strlen(k->input), &k->input_doc, NULL), QN_OK);
    assert_int_equal(qn_json_parse(k->body, strlen(k->body), &k->body_doc, NULL), QN_OK);
}

static void close_kept(struct qn_kept *k)
{
    qn_json_free(k->input_doc);
    qn_json_free(k->body_doc);
}

/* What is kept of an answer, and that a later request finds its way through it. */
static void kept(void **state)
{
    (void)state;
    static const struct qn_event events[] = {THINK("hm"), CALL(0, "f", "{}"), DONE(QN_FINISH_TOOLS),
                                             USAGE};
    struct fixture f, g;
    struct qn_buf out;
    qn_buf_init(&out, 1 << 20);
    assert_int_equal(parse(&f, &qn_responses, "{\"model\":\"m\",\"input\":\"hi\"}"), QN_OK);
    struct qn_reply r = {.rq = &f.rq, .arena = f.arena, .out = &out, .id = "ID", .answer_id = "ID"};
    qn_responses.begin(&r);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(qn_responses.event(&r, 0, &events[i], &f.e), QN_OK);
    qn_responses.end(&r);
    qn_responses.free(r.own);
    assert_string_equal(r.keep.id, "resp_ID");
    assert_string_equal(r.keep.previous, "");
    assert_string_equal(r.keep.input,
                        "[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                        "\"input_text\",\"text\":\"hi\"}]}]");
    assert_string_equal(r.keep.body, qn_buf_cstr(&out));

    open_kept(&r.keep);
    static const char body[] = "{\"model\":\"m\",\"previous_response_id\":\"resp_ID\",\"input\":[{"
                               "\"type\":\"function_call_output\",\"call_id\":\"call_ID01\","
                               "\"output\":\"42\"}]}";
    g = (struct fixture){.arena = qn_arena_new(1 << 20)};
    assert_int_equal(qn_json_parse(body, strlen(body), &g.doc, NULL), QN_OK);
    g.rq = (struct qn_request){.profile = qn_profile_main(),
                               .doc = g.doc,
                               .arena = g.arena,
                               .kept = &r.keep,
                               .n_kept = 1,
                               .n_chain = 1};
    if (qn_responses.parse(&g.rq, &g.e))
        fail_msg("%s", g.e.message);
    assert_string_equal(
        mt_text(&g.rq.jobs[0].chat.messages, &g.rq.jobs[0].attachments, g.arena),
        "[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
        "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"call_ID01\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":{}}}]},{\"role\":\"tool\",\"tool_call_id\":"
        "\"call_ID01\",\"content\":\"42\"}]");
    close_kept(&r.keep);
    drop(&g);
    qn_buf_deinit(&out);
    drop(&f);
}

enum { MANY = 100000, REFERENCES = 256 };

/* Items of kept answers are found by the id they brought, else by their place; the first of several
 * is meant. So many of them and so many references would take minutes if each looked at all. */
static void references(void **state)
{
    (void)state;
    static const char kept_body[] = "{\"output\":[{\"id\":\"twice\",\"role\":\"user\",\"content\":"
                                    "\"said\"}]}";
    struct fixture f = {.arena = qn_arena_new(1 << 26)};
    struct qn_buf input, body, expected;
    qn_buf_init(&input, 1 << 26);
    qn_buf_init(&body, 1 << 20);
    qn_buf_init(&expected, 1 << 20);
    qn_buf_str(&input, "[{\"id\":\"twice\",\"role\":\"user\",\"content\":\"sent\"}");
    for (int i = 1; i < MANY; i++)
        qn_buf_fmt(&input, ",{\"%s\":\"id%d\",\"role\":\"user\",\"content\":\"%d\"}",
                   i % 2 ? "id" : "no", i, i);
    qn_buf_str(&input, "]");
    struct qn_kept kept[] = {
        {.id = "resp_" DIGITS, .previous = "", .input = qn_buf_cstr(&input), .body = kept_body}};
    open_kept(kept);
    qn_buf_str(&body, "{\"model\":\"m\",\"input\":[");
    qn_buf_str(&expected, "[");
    for (int i = 0; i < REFERENCES; i++) {
        int item = i == 0 ? 0 : MANY - i;
        qn_buf_fmt(&body, "%s{\"type\":\"item_reference\",\"id\":\"", i ? "," : "");
        if (i == 0)
            qn_buf_str(&body, "twice");
        else if (item % 2)
            qn_buf_fmt(&body, "id%d", item);
        else
            qn_buf_fmt(&body, "msg_" DIGITS "i%02x", item);
        qn_buf_str(&body, "\"}");
        qn_buf_fmt(&expected, "%s{\"role\":\"user\",\"content\":\"", i ? "," : "");
        qn_buf_fmt(&expected, i ? "%d" : "said", item);
        qn_buf_str(&expected, "\"}");
    }
    qn_buf_str(&expected, "]");
    qn_buf_str(&body, "]}");
    assert_int_equal(qn_json_parse(qn_buf_cstr(&body), body.len, &f.doc, NULL), QN_OK);
    f.rq = (struct qn_request){
        .profile = qn_profile_main(), .doc = f.doc, .arena = f.arena, .kept = kept, .n_kept = 1};
    clock_t begun = clock();
    if (qn_responses.parse(&f.rq, &f.e))
        fail_msg("%s", f.e.message);
    assert_true(clock() - begun < 3 * CLOCKS_PER_SEC);
    assert_string_equal(mt_text(&f.rq.jobs[0].chat.messages, &f.rq.jobs[0].attachments, f.arena),
                        qn_buf_cstr(&expected));
    drop(&f);

    static const char *const absent[] = {"id2",
                                         "twic",
                                         "msg_" DIGITS "i00x",
                                         "msg_" DIGITS "i186a0",
                                         "msg_f123456789abcdef01234567i01",
                                         "i",
                                         ""};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        f = (struct fixture){.arena = qn_arena_new(1 << 26)};
        qn_buf_clear(&body);
        qn_buf_fmt(&body,
                   "{\"model\":\"m\",\"input\":[{\"type\":\"item_reference\",\"id\":\"%s\"}]}",
                   absent[i]);
        assert_int_equal(qn_json_parse(qn_buf_cstr(&body), body.len, &f.doc, NULL), QN_OK);
        f.rq = (struct qn_request){.profile = qn_profile_main(),
                                   .doc = f.doc,
                                   .arena = f.arena,
                                   .kept = kept,
                                   .n_kept = 1};
        assert_int_equal(qn_responses.parse(&f.rq, &f.e), QN_EINVAL);
        assert_string_equal(f.e.param, "input[0].id");
        drop(&f);
    }
    close_kept(kept);
    qn_buf_deinit(&input);
    qn_buf_deinit(&body);
    qn_buf_deinit(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens_as_written),  cmocka_unit_test(errors),
        cmocka_unit_test(fails_while_loading), cmocka_unit_test(earlier),
        cmocka_unit_test(too_many_items),      cmocka_unit_test(kept),
        cmocka_unit_test(references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
