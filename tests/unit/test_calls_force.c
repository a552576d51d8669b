/* Calls that an answer has to make: whatever the constraint lets through, the family's parser reads
 * as calls of tools that there are, with arguments by their schemas; and what each family writes by
 * its own documents is let through. */
#include "llm/toolcall/calls_force.h"
#include "llm/toolcall/calls_parse.h"

#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BAR "\xef\xbd\x9c"
#define GAP "\xe2\x96\x81"
#define DS(words) "<" BAR words BAR ">"

/* Every byte, the marks of all families as control tokens, some ends of values as words. */
static const char *const control[] = {"<|channel|>",
                                      "<|start|>",
                                      "<|message|>",
                                      "<|constrain|>",
                                      "<|end|>",
                                      "<|tool_call>",
                                      "<tool_call|>",
                                      "<|\"|>",
                                      "<start_function_call>",
                                      "<end_function_call>",
                                      "<escape>",
                                      "<|tool_calls_section_begin|>",
                                      "<|tool_calls_section_end|>",
                                      "<|tool_call_begin|>",
                                      "<|tool_call_end|>",
                                      "<|tool_call_argument_begin|>",
                                      DS("tool" GAP "calls" GAP "begin"),
                                      DS("tool" GAP "calls" GAP "end"),
                                      DS("tool" GAP "call" GAP "begin"),
                                      DS("tool" GAP "call" GAP "end"),
                                      DS("tool" GAP "sep"),
                                      "[TOOL_CALLS]",
                                      "[ARGS]",
                                      "[THINK]",
                                      "[/THINK]",
                                      "<|START_ACTION|>",
                                      "<|END_ACTION|>",
                                      "<|START_THINKING|>",
                                      "<|END_THINKING|>",
                                      "<|tools_prefix|>",
                                      "<|tools_suffix|>",
                                      "<|inner_prefix|>",
                                      "<|inner_suffix|>",
                                      "<|tool_call_start|>",
                                      "<|tool_call_end|>",
                                      "<|role_sep|>",
                                      "<|message_sep|>",
                                      "<|tool_call|>"};
static const char *const words[] = {"\n</parameter>",
                                    "</parameter>",
                                    "</" BAR "DSML" BAR "parameter>",
                                    "</arg_value>",
                                    "</think>",
                                    "</seed:think>",
                                    "\"}",
                                    "\", ",
                                    "Paris",
                                    "</thought>"};
enum {
    CONTROLS = sizeof control / sizeof *control,
    WORDS = sizeof words / sizeof *words,
    FIRST_WORD = 256 + CONTROLS,
    END = FIRST_WORD + WORDS,
    VOCAB
};

static const char *token_bytes(void *ctx, int32_t id, size_t *len)
{
    static char bytes[256];
    (void)ctx;
    if (id < 256) {
        bytes[id] = (char)id;
        *len = 1;
        return &bytes[id];
    }
    const char *s = id < FIRST_WORD ? control[id - 256]
                    : id < END      ? words[id - FIRST_WORD]
                                    : "<end>";
    *len = strlen(s);
    return s;
}

static bool is_control(void *ctx, int32_t id)
{
    (void)ctx;
    return (id >= 256 && id < FIRST_WORD) || id == END;
}

static bool is_end(void *ctx, int32_t id)
{
    (void)ctx;
    return id == END;
}

static const char tools_json[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"parameters\":{\"type\":"
    "\"object\","
    "\"properties\":{\"unit\":{\"type\":\"string\",\"enum\":[\"C\",\"F\"]},\"city\":{\"type\":"
    "\"string\"},"
    "\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}},\"required\":[\"city\"],"
    "\"additionalProperties\":false}}},{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]";

static struct qn_constrainer *constrainer(void)
{
    return qn_constrainer_new(
        &(struct qn_constrain_vocab){NULL, VOCAB, token_bytes, is_control, is_end});
}

struct made {
    struct qn_buf names, arguments[32];
    int calls;
    struct qn_buf text;
};

static void on_text(void *ctx, bool reasoning, const char *bytes, size_t n, uint64_t at)
{
    struct made *m = ctx;
    (void)at;
    if (!reasoning)
        qn_buf_add(&m->text, bytes, n);
}

static void on_call(void *ctx, int64_t call, const char *id, const char *name,
                    const char *arguments)
{
    struct made *m = ctx;
    (void)id;
    assert_in_range(call, 0, 31);
    if (name) {
        qn_buf_fmt(&m->names, "%s ", name);
        m->calls++;
    }
    qn_buf_str(&m->arguments[call], arguments);
}

static struct made read_answer(const struct qn_syntax *s, const struct qn_tools *tools,
                               const char *text, size_t n)
{
    struct made m = {0};
    qn_buf_init(&m.names, 1 << 16);
    qn_buf_init(&m.text, 1 << 16);
    for (int i = 0; i < 32; i++)
        qn_buf_init(&m.arguments[i], 1 << 20);
    struct qn_parse_config c = {.syntax = *s, .tools = tools};
    struct qn_parse *p = qn_parse_new(&c, &(struct qn_parse_sink){&m, on_text, on_call});
    qn_parse_feed(p, text, n);
    qn_parse_end(p);
    qn_parse_free(p);
    return m;
}

static void forget(struct made *m)
{
    qn_buf_deinit(&m->names);
    qn_buf_deinit(&m->text);
    for (int i = 0; i < 32; i++)
        qn_buf_deinit(&m->arguments[i]);
}

/* By hand what the tool's schema says. */
static bool arguments_conform(const char *name, size_t n, const char *arguments)
{
    struct qn_json *doc;
    if (qn_json_parse(arguments, strlen(arguments), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), it;
    bool good = qn_json_type(&root) == QN_JSON_OBJECT, city = false;
    for (bool more = good && qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        double days = qn_json_raw_f64(&it);
        const char *text = qn_json_raw_str(&it);
        if (strcmp(it.key, "city") == 0)
            city = qn_json_type(&it) == QN_JSON_STRING;
        else if (strcmp(it.key, "days") == 0)
            good &= qn_json_type(&it) == QN_JSON_NUMBER && days >= 1 && days <= 9 &&
                    days == (double)(int)days;
        else if (strcmp(it.key, "unit") == 0)
            good &= strcmp(text, "C") == 0 || strcmp(text, "F") == 0;
        else
            good = false;
    }
    good &= strncmp(name, "now", n) == 0 ? qn_json_count(&root) == 0 : city;
    qn_json_free(doc);
    return good;
}

/* Draws tokens that are allowed until nothing may follow, or the text may end and luck wants it. */
static bool walk(struct qn_constraint *c, struct qn_rng *rng, struct qn_buf *out)
{
    static float row[VOCAB];
    struct qn_constraint_state s = {0};
    qn_constraint_begin(&s, c);
    bool over = false;
    for (int step = 0; step < 3000 && !over; step++) {
        memset(row, 0, sizeof row);
        if (!qn_constraint_mask(&s, row, VOCAB))
            break;
        int32_t any[VOCAB], longer[VOCAB];
        int n = 0, n_longer = 0;
        for (int32_t i = 0; i < END; i++)
            if (row[i] == 0) {
                any[n++] = i;
                if (i >= 256)
                    longer[n_longer++] = i;
            }
        bool may_end = row[END] == 0;
        if (n == 0 || (may_end && qn_rng_u64(rng) % 4 == 0)) {
            over = may_end;
            break;
        }
        uint64_t luck = qn_rng_u64(rng);
        int32_t id = n_longer && luck % 2 ? longer[luck / 2 % (uint64_t)n_longer]
                                          : any[luck / 2 % (uint64_t)n];
        size_t len;
        const char *bytes = token_bytes(NULL, id, &len);
        qn_buf_add(out, bytes, len);
        assert_true(qn_constraint_accept(&s, id));
        over = qn_constraint_done(&s);
    }
    qn_constraint_end(&s);
    return over;
}

static void random_answers_call(void **state)
{
    (void)state;
    struct qn_tools *tools;
    struct qn_constrainer *c = constrainer();
    struct qn_rng rng;
    struct qn_error e = {0};
    int wrong = 0, walks = 0;
    qn_rng_init(&rng, 7);
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    for (size_t row = 0; qn_callings[row]; row++)
        for (int round = 0; round < 12; round++) {
            struct qn_forcing f = {.syntax = {.call = qn_callings[row]}, .tools = tools};
            if (strcmp(qn_callings[row]->name, "harmony") == 0)
                f.syntax.think = qn_thinkings[0];
            else if (round % 3 == 1)
                f.syntax.think = qn_thinkings[11];
            f.may_think = round % 3 == 1;
            struct qn_job job;
            qn_job_init(&job);
            job.chat.tool_choice = round % 2 ? QN_TOOLS_REQUIRED : QN_TOOLS_NAMED;
            job.chat.tool_name = "get_weather";
            struct qn_constraint *made;
            if (qn_force(c, &job, &f, &made, &e))
                fail_msg("%s: %s", qn_callings[row]->name, e.message);
            struct qn_buf text;
            qn_buf_init(&text, 1 << 20);
            bool over = walk(made, &rng, &text);
            qn_constraint_unref(made);
            struct made m = read_answer(&f.syntax, tools, qn_buf_cstr(&text), text.len);
            bool good = over && m.calls > 0 && m.text.len == 0;
            const char *name = qn_buf_cstr(&m.names);
            for (int i = 0; good && i < m.calls; i++) {
                size_t n = strcspn(name, " ");
                good = qn_tools_find(tools, name, n) >= 0 &&
                       arguments_conform(name, n, qn_buf_cstr(&m.arguments[i]));
                good &= job.chat.tool_choice != QN_TOOLS_NAMED || (m.calls == 1 && name[0] == 'g');
                name += n + 1;
            }
            if (!good)
                print_error("%s: %s\n  %s: %s %s, text %s\n", qn_callings[row]->name,
                            over ? "" : "it never ended", qn_buf_cstr(&text), qn_buf_cstr(&m.names),
                            qn_buf_cstr(&m.arguments[0]), qn_buf_cstr(&m.text));
            wrong += !good;
            walks++;
            forget(&m);
            qn_buf_deinit(&text);
        }
    qn_tools_free(tools);
    qn_constrainer_free(c);
    assert_int_equal(wrong, 0);
    assert_true(walks > 300);
}

/* ---- By hand ---- */

static int32_t longest(const char *s)
{
    int32_t best = (unsigned char)*s;
    size_t best_n = 1, len;
    for (int32_t i = 256; i < FIRST_WORD; i++) {
        const char *bytes = token_bytes(NULL, i, &len);
        if (len > best_n && strncmp(s, bytes, len) == 0) {
            best = i;
            best_n = len;
        }
    }
    return best;
}

static bool accepts(struct qn_constraint *c, const char *text)
{
    struct qn_constraint_state s = {0};
    qn_constraint_begin(&s, c);
    bool good = true;
    for (size_t len; *text && good; text += len) {
        int32_t id = longest(text);
        token_bytes(NULL, id, &len);
        good = qn_constraint_accept(&s, id);
    }
    good = good && qn_constraint_complete(&s);
    qn_constraint_end(&s);
    return good;
}

static struct qn_constraint *forced(struct qn_constrainer *c, const char *template,
                                    const struct qn_job *job, const struct qn_tools *tools,
                                    bool thinking)
{
    struct qn_error e = {0};
    struct qn_forcing f = {.syntax = qn_syntax_find(template, NULL, NULL),
                           .tools = tools,
                           .thinking = thinking,
                           .may_think = job->chat.think != 0};
    struct qn_constraint *made = NULL;
    if (qn_force(c, job, &f, &made, &e))
        fail_msg("%s", e.message);
    return made;
}

static void calls_by_hand(void **state)
{
    (void)state;
    struct qn_tools *tools;
    struct qn_constrainer *c = constrainer();
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    static const struct {
        const char *template, *text;
        bool good;
    } rows[] = {
        {"<tool_call>",
         "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\":\"A\"}}\n</tool_call>",
         true},
        {"<tool_call>",
         "<tool_call>\n{\"name\": \"now\", \"arguments\": "
         "{}}\n</tool_call>\n<tool_call>\n{\"name\": "
         "\"now\", \"arguments\": {}}\n</tool_call>",
         true},
        {"<tool_call>", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}}\n</tool_call>",
         false},
        {"<tool_call>", "<tool_call>\n{\"name\": \"then\", \"arguments\": {}}\n</tool_call>",
         false},
        {"<tool_call>", "Hello.", false},
        {"<tool_call>", "", false},
        {"<think></think><tool_call>",
         "<think>\nHm.\n</think>\n\n<tool_call>\n{\"name\": \"now\", \"arguments\": "
         "{}}\n</tool_call>",
         true},
        {"<tool_call><function=f><parameter=p>",
         "<tool_call>\n<function=get_weather>\n<parameter=city>\nA\nb\n</"
         "parameter>\n<parameter=unit>\nC\n"
         "</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
         true},
        {"<tool_call><function=f><parameter=p>",
         "<tool_call>\n<function=get_weather>\n<parameter=city>\nA\n</"
         "parameter>\n<parameter=unit>\nK\n"
         "</parameter>\n</function>\n</tool_call>",
         false},
        {"<|start|><|channel|>analysis functions.",
         "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
         "to=functions.now "
         "<|constrain|>json<|message|>{}",
         true},
        {"[TOOL_CALLS][ARGS]",
         "[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]get_weather[ARGS]{\"city\":\"A\"}", true},
        {"<|tool_call>call:",
         "<|tool_call>call:get_weather{city:<|\"|>A<|\"|>,unit:<|\"|>F<|\"|>}<tool_call|>", true},
        {"<|tool_call>call:", "<|tool_call>call:get_weather{unit:<|\"|>F<|\"|>}<tool_call|>",
         false},
        {"<|python_start|>", "[now(), get_weather(city=\"A\", days=2)]", true},
        {"ipython", "{\"name\": \"now\", \"parameters\": {}}", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_job job;
        qn_job_init(&job);
        job.chat.tool_choice = QN_TOOLS_REQUIRED;
        struct qn_constraint *made = forced(c, rows[i].template, &job, tools, false);
        if (accepts(made, rows[i].text) != rows[i].good)
            fail_msg("%s %s", rows[i].text, rows[i].good ? "should be allowed" : "should not be");
        qn_constraint_unref(made);
    }
    qn_tools_free(tools);
    qn_constrainer_free(c);
}

static void answers_by_schema(void **state)
{
    (void)state;
    struct qn_tools *tools;
    struct qn_constrainer *c = constrainer();
    assert_int_equal(qn_tools_new(tools_json, &tools, NULL), QN_OK);
    struct qn_job job;
    qn_job_init(&job);
    job.constrain.schema = "{\"type\":\"boolean\"}";
    struct qn_constraint *made = forced(c, "<think></think><tool_call>", &job, NULL, false);
    assert_true(accepts(made, "true"));
    assert_true(accepts(made, "<think>\nHm.\n</think>\n\ntrue"));
    assert_false(accepts(made, "Hm."));
    qn_constraint_unref(made);
    job.chat.think = 0;
    made = forced(c, "<think></think><tool_call>", &job, NULL, false);
    assert_false(accepts(made, "<think>\nHm.\n</think>\n\ntrue"));
    qn_constraint_unref(made);
    job.chat.think = QN_UNSET;
    made = forced(c, "<think></think><tool_call>", &job, NULL, true); /* holds behind </think> */
    assert_true(accepts(made, "\n\ntrue"));
    qn_constraint_unref(made);
    made = forced(c, "<tool_call>", &job, tools, false); /* or a call */
    assert_true(accepts(made, "false"));
    assert_true(accepts(made, "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"));
    qn_constraint_unref(made);
    made = forced(c, "<|start|><|channel|>analysis functions.", &job, NULL, false);
    assert_true(
        accepts(made, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final "
                      "<|constrain|>json<|message|>true"));
    assert_false(accepts(made, "true"));
    qn_constraint_unref(made);
    /* Nothing that has to be: no constraint. */
    job.constrain.schema = NULL;
    assert_null(forced(c, "<tool_call>", &job, tools, false));
    job.chat.tool_choice = QN_TOOLS_NONE;
    assert_null(forced(c, "<tool_call>", &job, NULL, false));
    qn_tools_free(tools);
    qn_constrainer_free(c);
}

static void strict_tools(void **state)
{
    (void)state;
    struct qn_tools *tools;
    struct qn_constrainer *c = constrainer();
    struct qn_error e = {0};
    assert_int_equal(
        qn_tools_new("[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true,"
                     "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                     "\"integer\"}},\"required\":[\"a\"],\"additionalProperties\":false}}}]",
                     &tools, NULL),
        QN_OK);
    struct qn_job job;
    qn_job_init(&job);
    struct qn_constraint *made = forced(c, "<tool_call>", &job, tools, false);
    assert_true(accepts(made, "Hello."));
    assert_true(accepts(
        made, "So:\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>"));
    assert_false(accepts(
        made, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":\"1\"}}\n</tool_call>"));
    qn_constraint_unref(made);
    /* A tool that there is not. */
    job.chat.tool_choice = QN_TOOLS_NAMED;
    job.chat.tool_name = "g";
    struct qn_forcing f = {.syntax = qn_syntax_find("<tool_call>", NULL, NULL), .tools = tools};
    assert_int_equal(qn_force(c, &job, &f, &made, &e), QN_EINVAL);
    assert_string_equal(e.param, "tool_choice");
    qn_tools_free(tools);
    qn_constrainer_free(c);
}

/* One strict tool with these members of its parameters' schema, in a syntax with a tag for each. */
static qn_err strict_tags(struct qn_constrainer *c, const char *members,
                          struct qn_constraint **made, struct qn_error *e)
{
    struct qn_job job;
    struct qn_tools *tools;
    struct qn_buf b;
    qn_job_init(&job);
    qn_buf_init(&b, 1 << 16);
    qn_buf_fmt(&b,
               "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true,"
               "\"parameters\":{\"type\":\"object\",%s}}}]",
               members);
    assert_int_equal(qn_tools_new(qn_buf_cstr(&b), &tools, NULL), QN_OK);
    struct qn_forcing f = {.syntax =
                               qn_syntax_find("<tool_call><function=f><parameter=p>", NULL, NULL),
                           .tools = tools};
    assert_string_equal(qn_syntax_calls(&f.syntax), "qwen3-coder");
    *made = NULL;
    qn_err err = qn_force(c, &job, &f, made, e);
    qn_tools_free(tools);
    qn_buf_deinit(&b);
    return err;
}

#define P(schema) "\"properties\":{\"a\":" schema "},\"required\":[\"a\"]"

/* Strings stand there without quotes: what the schema says of them holds, and none of them is read
 * as a value of another type. */
static void strict_tags_hold_values(void **state)
{
    static const struct {
        const char *members;
        const char *good[4], *bad[4];
    } rows[] = {
        {P("{\"type\":\"string\",\"maxLength\":3}"),
         {"abc", "", "\xc3\xa9\"<"},
         {"abcd", "a\n</parameter>"}},
        {P("{\"type\":\"string\",\"pattern\":\"^[0-9]{2}$\"}"), {"12"}, {"1", "123", "ab"}},
        {P("{\"type\":\"string\",\"minLength\":2,\"enum\":[\"a\",\"bc\"]}"), {"bc"}, {"a", "b"}},
        {P("{\"anyOf\":[{\"type\":\"string\",\"maxLength\":4},{\"type\":\"null\"}]}"),
         {"abc", "null", "5"},
         {"abcde", "None "}},
        {P("{\"type\":[\"integer\",\"string\"],\"minimum\":10}"),
         {"12", "5x", "x"},
         {"5", "5.5", " 7"}},
        {P("{\"allOf\":[{\"type\":\"string\"}],\"const\":\"x\"}"), {"x"}, {"\"x\"", "y"}},
        {"\"properties\":{\"a\":{\"$ref\":\"#/$defs/s\"}},\"required\":[\"a\"],"
         "\"$defs\":{\"s\":{\"type\":\"string\",\"format\":\"uuid\"}}",
         {"123e4567-e89b-12d3-a456-426614174000"},
         {"1"}},
    };
    struct qn_constrainer *c = constrainer();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_constraint *made;
        struct qn_error e = {0};
        if (strict_tags(c, rows[i].members, &made, &e))
            fail_msg("%s: %s", rows[i].members, e.message);
        for (int bad = 0; bad < 2; bad++) {
            const char *const *values = bad ? rows[i].bad : rows[i].good;
            for (size_t k = 0; k < 4 && values[k]; k++) {
                char text[300];
                snprintf(text, sizeof text,
                         "<tool_call>\n<function=f>\n<parameter=a>\n%s\n</parameter>\n</function>\n"
                         "</tool_call>",
                         values[k]);
                if (accepts(made, text) != !bad)
                    fail_msg("%s: %s", rows[i].members, values[k]);
            }
        }
        qn_constraint_unref(made);
    }
    qn_constrainer_free(c);
}

/* What cannot be held where each argument has a tag of its own is refused by name. */
static void strict_tags_refuse_the_rest(void **state)
{
    static const struct {
        const char *members, *says; /* says NULL: it holds */
    } rows[] = {
        {P("{\"type\":\"string\"}") ",\"minProperties\":1", NULL},
        {P("{\"type\":\"string\"}") ",\"minProperties\":2", "f: minProperties"},
        {"\"properties\":{\"a\":{},\"b\":{}},\"maxProperties\":1", "f: maxProperties"},
        {P("{\"type\":\"string\"}") ",\"if\":{\"properties\":{\"a\":{\"const\":\"x\"}}},"
                                    "\"then\":{\"required\":[\"b\"]}",
         "f: if"},
        {P("{\"type\":\"string\"}") ",\"dependentRequired\":{\"a\":[\"b\"]}", "dependentRequired"},
        {"\"properties\":{\"a\\nb\":{\"type\":\"string\"}}", "the name of a property"},
        {"\"properties\":{},\"required\":[\"z\"]", "f: required"},
        {P("{\"oneOf\":[{\"type\":\"string\",\"maxLength\":3},{\"type\":\"null\"}]}"), "oneOf"},
    };
    struct qn_constrainer *c = constrainer();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_constraint *made;
        struct qn_error e = {0};
        qn_err err = strict_tags(c, rows[i].members, &made, &e);
        if (err != (rows[i].says ? QN_EUNSUPPORTED : QN_OK) ||
            (rows[i].says && !strstr(e.message, rows[i].says)))
            fail_msg("%s: %s", rows[i].members, e.message);
        qn_constraint_unref(made);
    }
    qn_constrainer_free(c);
}

/* Tools whose schemas are more than a constraint may be are refused; definitions that nothing
 * refers to count once at most. */
static void too_much(void **state)
{
    (void)state;
    struct qn_job job;
    qn_job_init(&job);
    job.chat.tool_choice = QN_TOOLS_REQUIRED;
    for (int refers = 0; refers < 2; refers++) {
        struct qn_constrainer *c = constrainer();
        struct qn_constraint *made;
        struct qn_tools *tools;
        struct qn_error e = {0};
        struct qn_buf b;
        qn_buf_init(&b, 1 << 20);
        qn_buf_str(&b, "[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\",\"$defs\":{"
                       "\"d\":{\"type\":\"integer\",\"description\":\"");
        for (int i = 0; i < 45000; i++)
            qn_buf_char(&b, 'x');
        qn_buf_str(&b, "\"}},\"properties\":{");
        for (int i = 0; i < 100; i++)
            qn_buf_fmt(&b, "%s\"p%d\":%s", i ? "," : "", i,
                       refers ? "{\"$ref\":\"#/$defs/d\"}" : "{\"type\":\"integer\"}");
        qn_buf_str(&b, "}}}]");
        assert_int_equal(qn_tools_new(qn_buf_cstr(&b), &tools, NULL), QN_OK);
        struct qn_forcing f = {
            .syntax = qn_syntax_find("<tool_call><function=f><parameter=p>", NULL, NULL),
            .tools = tools};
        assert_string_equal(qn_syntax_calls(&f.syntax), "qwen3-coder");
        assert_int_equal(qn_force(c, &job, &f, &made, &e), refers ? QN_ELIMIT : QN_OK);
        if (refers)
            assert_string_equal(e.param, "tools");
        else
            qn_constraint_unref(made);
        qn_tools_free(tools);
        qn_constrainer_free(c);
        qn_buf_deinit(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_answers_call),
        cmocka_unit_test(calls_by_hand),
        cmocka_unit_test(answers_by_schema),
        cmocka_unit_test(strict_tools),
        cmocka_unit_test(strict_tags_hold_values),
        cmocka_unit_test(strict_tags_refuse_the_rest),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
