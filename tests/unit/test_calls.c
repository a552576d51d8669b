/* Answers in the syntaxes of the families of models, cut everywhere: the same text, reasoning and
 * calls come out. What is expected was written by hand from each family's published template or
 * model card. */
#include "llm/toolcall/calls.h"

#include "calls_run.h"

#include "llm/toolcall/calls_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THINKING = 1, RAW = 2, NO_TOOLS = 4, SINGLE = 8 };
enum { PAIRS_MAX = 160 }; /* bytes of an answer that is cut at every pair of places */

struct family {
    const char *template; /* what its template says */
    const char *calls, *thinking;
};

struct answer {
    const struct family *family;
    const char *what;
    int flags;
    const char *text, *seen;
};

static const char tools_json[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"parameters\":{\"type\":"
    "\"object\","
    "\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"},\"metric\":{"
    "\"type\":"
    "\"boolean\"},\"where\":{\"type\":\"object\"},\"tags\":{\"type\":\"array\"},\"any\":{},"
    "\"maybe\":{\"type\":["
    "\"string\",\"null\"]}}}}},{\"type\":\"function\",\"function\":{\"name\":\"now\","
    "\"parameters\":{\"type\":"
    "\"object\",\"properties\":{}}}},{\"type\":\"function\",\"function\":{\"name\":\"python\","
    "\"parameters\":{"
    "\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"}}}}}]";

#include "calls_answers.inc"

/* Whether the log is as it should be; what is wrong is told. The log is freed. */
static bool as_expected(const struct answer *a, struct calls_seen *s, size_t i, size_t k)
{
    const char *log = qn_buf_cstr(&s->log);
    bool good = strcmp(log, a->seen) == 0 && !s->wrong;
    if (!good)
        print_error("%s: %s, cut at %zu and %zu:\n  %s\nexpected%s\n  %s\n", a->family->calls,
                    a->what, i, k, log, s->wrong ? " (in order)" : "", a->seen);
    qn_buf_deinit(&s->log);
    return good;
}

static bool run_answer(const struct answer *a, const struct qn_tools *tools)
{
    struct qn_parse_config c = {.syntax = qn_syntax_find(a->family->template, NULL, NULL),
                                .tools = a->flags & NO_TOOLS ? NULL : tools,
                                .thinking = a->flags & THINKING,
                                .reasoning_in_text = a->flags & RAW,
                                .single_call = a->flags & SINGLE};
    if (strcmp(qn_syntax_calls(&c.syntax), a->family->calls) ||
        strcmp(qn_syntax_thinking(&c.syntax), a->family->thinking))
        fail_msg("\"%s\" was taken for %s, %s", a->family->template, qn_syntax_calls(&c.syntax),
                 qn_syntax_thinking(&c.syntax));
    size_t n = strlen(a->text);
    bool pairs = n <= PAIRS_MAX;
    for (size_t i = 0; i <= n; i++)
        for (size_t k = i; k <= (pairs ? n : i); k++) {
            struct calls_seen s = calls_run(&c, a->text, n, i, k);
            if (!as_expected(a, &s, i, k))
                return false;
        }
    /* And byte by byte. */
    struct calls_seen s = {0};
    qn_buf_init(&s.log, 1 << 20);
    struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&s, calls_text, calls_call});
    for (size_t i = 0; i < n; i++)
        qn_parse_feed(p, a->text + i, 1);
    qn_parse_end(p);
    calls_close(&s, 0);
    qn_parse_free(p);
    return as_expected(a, &s, n, n);
}

static void answers_cut_everywhere(void **state)
{
    (void)state;
    struct qn_tools *tools;
    int wrong = 0;
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        wrong += !run_answer(&answers[i], tools);
    qn_tools_free(tools);
    assert_int_equal(wrong, 0);
}

/* The mark of a call that a log of calls_run.h has within a text; NULL: none. */
static const char *mark_in_text(const char *log)
{
    static const char *const marks[] = {
        "<tool_call>",      "<|tool_call|>",    "[TOOL_CALLS]",        "<|tool_call>",
        "<function=",       "<seed:tool_call>", "<|tool_call_start|>", "<minimax:tool_call>",
        "<|START_ACTION|>", "<|tools_prefix|>"};
    const char *text = strstr(log, "T<");
    for (size_t k = 0; text && k < sizeof marks / sizeof *marks; k++)
        if (strstr(text, marks[k]))
            return marks[k];
    return NULL;
}

/* Cut by a limit anywhere, no answer of any family has the mark that opens a call as text, unless
 * the whole answer has it there, too. */
static void no_mark_of_a_cut_call_is_text(void **state)
{
    (void)state;
    struct qn_tools *tools;
    int tried = 0;
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const struct answer *a = &answers[i];
        if (a->flags & (NO_TOOLS | RAW) || mark_in_text(a->seen))
            continue;
        tried++;
        struct qn_parse_config c = {.syntax = qn_syntax_find(a->family->template, NULL, NULL),
                                    .tools = tools,
                                    .thinking = a->flags & THINKING};
        for (size_t n = 1; n < strlen(a->text); n++) {
            struct calls_seen s = {0};
            qn_buf_init(&s.log, 1 << 20);
            struct qn_parse *p =
                qn_parse_new(&c, &(struct qn_parse_sink){&s, calls_text, calls_call});
            qn_parse_feed(p, a->text, n);
            qn_parse_cut(p);
            qn_parse_free(p);
            if (mark_in_text(qn_buf_cstr(&s.log)))
                fail_msg("%s, %s, %zu bytes: %s", a->family->calls, a->what, n,
                         qn_buf_cstr(&s.log));
            qn_buf_deinit(&s.log);
        }
    }
    assert_true(tried > 50);
    qn_tools_free(tools);
}

/* Pieces come as soon as they can: what each byte brings out. */
static void early(void **state)
{
    (void)state;
    struct qn_tools *tools;
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    struct qn_parse_config c = {.syntax = qn_syntax_find("<think><tool_call>", NULL, NULL),
                                .tools = tools};
    struct calls_seen s = {0};
    qn_buf_init(&s.log, 1 << 20);
    struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&s, calls_text, calls_call});
    static const struct {
        const char *piece, *log;
    } steps[] = {
        {"<th", ""},
        {"ink>\nHm", "R<Hm"},
        {", so.", "R<Hm, so."},
        {"\n</thin", "R<Hm, so."},
        {"k>\n\n", "R<Hm, so."},
        {"I look", "R<Hm, so.>T<I look"},
        {" <tool", "R<Hm, so.>T<I look"},
        {"box", "R<Hm, so.>T<I look <toolbox"},
        {"\n<tool_call>\n{\"name\": \"get_weather\", ", "R<Hm, so.>T<I look <toolbox"},
        {"\"arguments\": {\"ci", "R<Hm, so.>T<I look <toolbox>Cget_weather({\"ci"},
        {"ty\": \"Z\xc3", "R<Hm, so.>T<I look <toolbox>Cget_weather({\"city\": \"Z"},
        {"\xbc\"}", "R<Hm, so.>T<I look <toolbox>Cget_weather({\"city\": \"Z\xc3\xbc\"}"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        qn_parse_feed(p, steps[i].piece, strlen(steps[i].piece));
        assert_string_equal(qn_buf_cstr(&s.log), steps[i].log);
    }
    qn_parse_free(p);
    qn_buf_deinit(&s.log);
    qn_tools_free(tools);
}

/* A parameter's name may have a line break, behind another parameter, too: what comes is JSON. */
static void names_with_line_breaks(void **state)
{
    static const char text[] = "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n"
                               "<parameter=a\nb>\nhello\n</parameter>\n</function>\n</tool_call>";
    struct qn_tools *tools;
    (void)state;
    assert_int_equal(
        qn_tools_new(
            "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
            "\"object\",\"properties\":{\"x\":{\"type\":\"integer\"},\"a\\nb\":{\"type\":"
            "\"string\"}}}}}]",
            &tools, NULL),
        QN_OK);
    struct qn_parse_config c = {
        .syntax = qn_syntax_find("<tool_call><function=f><parameter=p>", NULL, NULL),
        .tools = tools};
    struct calls_seen s = calls_run(&c, text, sizeof text - 1, 10, 60);
    assert_string_equal(qn_buf_cstr(&s.log), "Cf({\"x\": 1, \"a\\nb\": \"hello\"})");
    assert_false(s.wrong);
    qn_buf_deinit(&s.log);
    qn_tools_free(tools);
}

/* References that fan out are given up after a thousand schemas: anything may be. */
static void types_that_fan_out(void **state)
{
    (void)state;
    static const char *const refers[] = {"#/properties/x", "#/$defs/b", "#/$defs/c"};
    static const char *const opens[] = {"{\"x\":{\"anyOf\":[", "},\"y\":{\"anyOf\":[",
                                        "}},\"$defs\":{\"b\":{\"anyOf\":["};
    struct qn_buf b;
    struct qn_tools *t;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "[{\"name\":\"f\",\"input_schema\":{\"properties\":");
    for (int k = 0; k < 3; k++) {
        qn_buf_str(&b, opens[k]);
        for (int i = 0; i < 1000; i++)
            qn_buf_fmt(&b, "%s{\"$ref\":\"%s\"}", i ? "," : "", refers[k]);
        qn_buf_str(&b, "]");
    }
    qn_buf_str(&b, "},\"c\":{\"type\":\"string\"}}}}]");
    assert_int_equal(qn_tools_new(qn_buf_cstr(&b), &t, NULL), QN_OK);
    assert_int_equal(qn_tools_types(t, "f", "x"), QN_TYPE_ANY); /* round in circles */
    assert_int_equal(qn_tools_types(t, "f", "y"), QN_TYPE_ANY); /* a million strings */
    qn_tools_free(t);
    qn_buf_deinit(&b);
}

static void types_of_parameters(void **state)
{
    (void)state;
    struct qn_tools *t;
    assert_int_equal(
        qn_tools_new(
            "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true,\"parameters\":{"
            "\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":[\"integer\",\"null\"]},"
            "\"c\":{\"anyOf\":[{\"type\":\"boolean\"},{\"$ref\":\"#/$defs/x\"}]},\"d\":{\"enum\":["
            "\"on\",3]},\"e\":{},\"r\":{\"$ref\":\"#/properties/"
            "r\"}},\"$defs\":{\"x\":{\"type\":\"array\"}}}}},"
            "{\"name\":\"g\",\"input_schema\":{\"properties\":{\"a\":{\"type\":\"object\"}}}},{"
            "\"x\":1}]",
            &t, NULL),
        QN_OK);
    assert_int_equal(qn_tools_count(t), 2);
    assert_int_equal(qn_tools_types(t, "f", "a"), QN_TYPE_STRING);
    assert_int_equal(qn_tools_types(t, "f", "b"), QN_TYPE_NUMBER | QN_TYPE_NULL);
    assert_int_equal(qn_tools_types(t, "f", "c"), QN_TYPE_BOOL | QN_TYPE_ARRAY);
    assert_int_equal(qn_tools_types(t, "f", "d"), QN_TYPE_STRING | QN_TYPE_NUMBER);
    assert_int_equal(qn_tools_types(t, "f", "e"), QN_TYPE_ANY);
    assert_int_equal(qn_tools_types(t, "f", "r"), QN_TYPE_ANY); /* round in circles */
    assert_int_equal(qn_tools_types(t, "f", "none"), QN_TYPE_ANY);
    assert_int_equal(qn_tools_types(t, "none", "a"), QN_TYPE_ANY);
    assert_int_equal(qn_tools_types(t, "g", "a"), QN_TYPE_OBJECT);
    assert_true(qn_tools_strict(t, 0));
    assert_false(qn_tools_strict(t, 1));
    assert_string_equal(qn_tools_parameter(t, "f", 1), "b");
    assert_null(qn_tools_parameter(t, "f", 6));
    assert_int_equal(qn_tools_find(NULL, "f", 1), -1);
    qn_tools_free(t);
    struct qn_error e = {0};
    assert_int_equal(qn_tools_new("{}", &t, &e), QN_EINVAL);
    assert_string_equal(e.param, "tools");
}

/* What is said for a model that has reasoned enough ends its reasoning, and nothing of it shows. */
static void every_reasoning_can_be_ended(void **state)
{
    (void)state;
    struct qn_buf text;
    qn_buf_init(&text, 4096);
    for (size_t i = 0; qn_thinkings[i]; i++) {
        struct qn_syntax syntax = qn_syntax_find("", NULL, NULL);
        bool channels = !qn_thinkings[i]->open;
        syntax.think = qn_thinkings[i];
        struct qn_parse_config c = {.syntax = syntax, .thinking = !channels};
        qn_buf_clear(&text);
        qn_buf_str(&text, channels ? "<|channel|>analysis<|message|>I wonder" : "I wonder");
        assert_true(qn_syntax_ending(&syntax, true, &text));
        qn_buf_str(&text, "Yes.");
        struct calls_seen s = calls_run(&c, qn_buf_cstr(&text), text.len, 3, text.len - 4);
        if (strcmp(qn_buf_cstr(&s.log), "R<I wonder>T<Yes.>") != 0)
            fail_msg("%s: %s", qn_thinkings[i]->name, qn_buf_cstr(&s.log));
        qn_buf_deinit(&s.log);
    }
    struct qn_syntax none = qn_syntax_find("", NULL, NULL);
    none.think = NULL;
    assert_false(qn_syntax_ending(&none, true, &text));
    qn_buf_deinit(&text);
}

static void what_stands_behind_the_end_of_reasoning(void **state)
{
    (void)state;
    static const struct {
        const char *before, *piece;
        size_t behind;
    } rows[] = {
        {"hm", "</think>{", 1},    {"hm</th", "ink>{\"", 2},   {"hm", "</think>", 0},
        {"hm", "</think>\n\n", 0}, {"hm", "</think>\n {a", 2}, {"hm</think>", "{a", 0},
        {"hm</th", "{a", 0},       {"h", "a < b", 0},          {"", "</think>x</think>y", 10},
    };
    struct qn_syntax syntax = qn_syntax_find("<think>", NULL, NULL);
    struct qn_parse_config c = {.syntax = syntax, .thinking = true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct calls_seen s = {0};
        qn_buf_init(&s.log, 4096);
        struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&s, calls_text, calls_call});
        qn_parse_feed(p, rows[i].before, strlen(rows[i].before));
        assert_int_equal(qn_parse_behind_mark(p, rows[i].piece, strlen(rows[i].piece)),
                         rows[i].behind);
        qn_parse_free(p);
        qn_buf_deinit(&s.log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_cut_everywhere),
        cmocka_unit_test(no_mark_of_a_cut_call_is_text),
        cmocka_unit_test(early),
        cmocka_unit_test(every_reasoning_can_be_ended),
        cmocka_unit_test(what_stands_behind_the_end_of_reasoning),
        cmocka_unit_test(types_of_parameters),
        cmocka_unit_test(names_with_line_breaks),
        cmocka_unit_test(types_that_fan_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
