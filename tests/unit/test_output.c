/* Text assembly: UTF-8, stop strings and log-probabilities, in every way of cutting a text into
 * tokens. */
#include "llm/output.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    struct qn_buf text;   /* all TEXT events */
    struct qn_buf tokens; /* the ids in their logprobs, "1 2 " */
    int events, done;
    enum qn_finish finish;
    char stop[64];
    bool whole; /* every event was valid and not empty */
};

static void see(void *ctx, const struct qn_event *ev)
{
    struct seen *s = ctx;
    if (ev->kind == QN_EV_TEXT) {
        s->events++;
        qn_buf_str(&s->text, ev->text);
        if (ev->logprobs) {
            struct qn_json *doc;
            assert_int_equal(qn_json_parse(ev->logprobs, strlen(ev->logprobs), &doc, NULL), QN_OK);
            struct qn_jref root = qn_json_root(doc), it;
            for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
                struct qn_jref id = qn_json_get(&it, "id");
                qn_buf_fmt(&s->tokens, "%d ", (int)qn_json_raw_f64(&id));
            }
            qn_json_free(doc);
        }
    } else {
        assert_int_equal(ev->kind, QN_EV_DONE);
        s->done++;
        s->finish = ev->finish;
        strcpy(s->stop, ev->stop ? ev->stop : "");
    }
}

static bool never_full(void *ctx)
{
    (void)ctx;
    return false;
}

static void seen_init(struct seen *s)
{
    memset(s, 0, sizeof *s);
    qn_buf_init(&s->text, 1 << 20);
    qn_buf_init(&s->tokens, 1 << 20);
}

static void seen_deinit(struct seen *s)
{
    qn_buf_deinit(&s->text);
    qn_buf_deinit(&s->tokens);
}

/* Runs the pieces as tokens 1, 2, ... and finishes; stops may be NULL. */
static void run(struct seen *s, const char *const *pieces, size_t n, const char **stops,
                size_t n_stops)
{
    seen_init(s);
    struct qn_strings list = {stops, n_stops};
    struct qn_output o;
    qn_output_init(&o, 0, &(struct qn_out){s, see, never_full}, &list, true, NULL);
    bool over = false;
    for (size_t i = 0; i < n && !over; i++) {
        struct qn_logprob self = {(int32_t)i + 1, pieces[i], strlen(pieces[i]), -0.5};
        over = qn_output_token(&o, pieces[i], strlen(pieces[i]), &self, NULL, 0);
    }
    qn_output_finish(&o, over ? QN_FINISH_STOP : QN_FINISH_LENGTH, NULL);
    qn_output_deinit(&o);
    assert_int_equal(s->done, 1);
}

static void plain_text_passes_at_once(void **state)
{
    (void)state;
    struct seen s;
    run(&s, (const char *[]){"Hel", "lo", " world"}, 3, NULL, 0);
    assert_string_equal(qn_buf_cstr(&s.text), "Hello world");
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 3 ");
    assert_int_equal(s.events, 3);
    assert_int_equal(s.finish, QN_FINISH_LENGTH);
    seen_deinit(&s);
}

static void characters_are_never_split(void **state)
{
    (void)state;
    struct seen s;
    /* U+1F600 is f0 9f 98 80, U+00E9 is c3 a9. */
    run(&s,
        (const char *[]){"a\xf0\x9f", "\x98",
                         "\x80"
                         "b\xc3",
                         "\xa9"},
        4, NULL, 0);
    assert_string_equal(qn_buf_cstr(&s.text), "a\xf0\x9f\x98\x80"
                                              "b\xc3\xa9");
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 3 4 ");
    assert_int_equal(s.events, 3); /* "a", emoji and b, é */
    seen_deinit(&s);
    /* Half a character at the end is left out; bytes that can never be text become U+FFFD. */
    run(&s, (const char *[]){"a\xff", "b\xf0\x9f"}, 2, NULL, 0);
    assert_string_equal(qn_buf_cstr(&s.text), "a\xef\xbf\xbd"
                                              "b");
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 ");
    seen_deinit(&s);
}

/* Byte 0 is a token of every byte-level vocabulary; C strings and the frames cannot carry it. */
static void a_zero_byte_is_replaced(void **state)
{
    (void)state;
    struct seen s;
    seen_init(&s);
    struct qn_strings none = {NULL, 0};
    struct qn_output o;
    qn_output_init(&o, 0, &(struct qn_out){&s, see, never_full}, &none, true, NULL);
    struct qn_logprob zero = {7, "\0", 1, -0.5}, top[] = {{7, "\0", 1, -0.5}};
    qn_output_token(&o, "a\0b", 3, &zero, top, 1);
    qn_output_finish(&o, QN_FINISH_LENGTH, NULL);
    qn_output_deinit(&o);
    assert_string_equal(qn_buf_cstr(&s.text), "a\xef\xbf\xbd"
                                              "b");
    assert_string_equal(qn_buf_cstr(&s.tokens), "7 ");
    seen_deinit(&s);
}

static void stop_strings_never_show(void **state)
{
    (void)state;
    struct seen s;
    const char *stops[] = {"<end>"};
    run(&s, (const char *[]){"one<", "en", "two<e", "n", "d>three", "four"}, 6, stops, 1);
    assert_string_equal(qn_buf_cstr(&s.text), "one<entwo");
    assert_string_equal(s.stop, "<end>");
    assert_int_equal(s.finish, QN_FINISH_STOP);
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 3 "); /* those that show something */
    seen_deinit(&s);
    /* Ends while the beginning of a stop string is held: it was text after all. */
    run(&s, (const char *[]){"one<", "en"}, 2, stops, 1);
    assert_string_equal(qn_buf_cstr(&s.text), "one<en");
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 ");
    seen_deinit(&s);
}

static void stop_at_the_very_beginning(void **state)
{
    (void)state;
    struct seen s;
    const char *stops[] = {"\n"};
    run(&s, (const char *[]){"\n\n"}, 1, stops, 1);
    assert_string_equal(qn_buf_cstr(&s.text), "");
    assert_string_equal(qn_buf_cstr(&s.tokens), "");
    assert_int_equal(s.events, 0);
    seen_deinit(&s);
}

static void overlapping_prefixes(void **state)
{
    (void)state;
    struct seen s;
    const char *stops[] = {"aab"};
    run(&s, (const char *[]){"a", "a", "a", "a", "b", "c"}, 6, stops, 1);
    assert_string_equal(qn_buf_cstr(&s.text), "aa");
    seen_deinit(&s);
}

/* Whatever the cut into tokens, the text and the stop are the same. */
static void every_cut_gives_the_same(void **state)
{
    (void)state;
    static const char text[] = "x ab\xc3\xa9 abcab abd\xe2\x82\xac END";
    static const struct {
        const char *stops[3];
        size_t n;
        const char *shown, *stop;
    } cases[] = {
        {{"abd"}, 1, "x ab\xc3\xa9 abcab ", "abd"},
        {{"abd", "cab"}, 2, "x ab\xc3\xa9 ab", "cab"},
        {{"b\xc3\xa9", "ab\xc3\xa9"}, 2, "x ", "ab\xc3\xa9"}, /* same end: the longer */
        {{"\xe2\x82\xac"}, 1, "x ab\xc3\xa9 abcab abd", "\xe2\x82\xac"},
        {{"abcab abdX", "ab a"}, 2, "x ab\xc3\xa9 abc", "ab a"}, /* the first to be complete */
        {{"never"}, 1, text, ""},
    };
    size_t len = sizeof text - 1;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (size_t a = 1; a < len; a++) {
            for (size_t b = a; b < len; b++) {
                char one[64] = "", two[64] = "", three[64] = "";
                memcpy(one, text, a);
                memcpy(two, text + a, b - a);
                memcpy(three, text + b, len - b);
                const char *stops[3] = {cases[c].stops[0], cases[c].stops[1], cases[c].stops[2]};
                struct seen s;
                run(&s, (const char *[]){one, two, three}, 3, stops, cases[c].n);
                assert_string_equal(qn_buf_cstr(&s.text), cases[c].shown);
                assert_string_equal(s.stop, cases[c].stop);
                seen_deinit(&s);
            }
        }
    }
}

static void logprob_objects(void **state)
{
    (void)state;
    struct qn_buf b;
    qn_buf_init(&b, 4096);
    struct qn_jw w = qn_jw_to(&b);
    struct qn_logprob self = {5, "\xc3", 1, -0.25};
    struct qn_logprob top[1] = {{6, "a\"", 2, -1.5}};
    qn_logprob_write(&w, &self, top, 1);
    assert_string_equal(
        qn_buf_cstr(&b),
        "{\"id\":5,\"token\":\"\xef\xbf\xbd\",\"bytes\":[195],\"logprob\":-0.25,"
        "\"top\":[{\"id\":6,\"token\":\"a\\\"\",\"bytes\":[97,34],\"logprob\":-1.5}]}");
    qn_buf_deinit(&b);
}

static void silent_tokens_come_with_the_text(void **state)
{
    (void)state;
    struct seen s;
    run(&s, (const char *[]){"", "a", "", "b", ""}, 5, NULL, 0);
    assert_string_equal(qn_buf_cstr(&s.text), "ab");
    assert_string_equal(qn_buf_cstr(&s.tokens), "1 2 3 4 5 ");
    seen_deinit(&s);
}

/* ---- Reasoning and calls ---- */

struct heard {
    struct qn_buf log; /* T<text> R<reasoning> C0<name:arguments> D<finish,stop>, the ids of their
                          tokens behind */
};

static void hear(void *ctx, const struct qn_event *ev)
{
    struct heard *h = ctx;
    static const char kinds[QN_EV_COUNT] = {
        [QN_EV_TEXT] = 'T', [QN_EV_REASONING] = 'R', [QN_EV_TOOL_CALL] = 'C', [QN_EV_DONE] = 'D'};
    qn_buf_fmt(&h->log, "%c<", kinds[ev->kind]);
    if (ev->kind == QN_EV_TOOL_CALL)
        qn_buf_fmt(&h->log, "%d %s:%s", (int)ev->call, ev->name ? ev->name : "", ev->arguments);
    else if (ev->kind == QN_EV_DONE)
        qn_buf_fmt(&h->log, "%s,%s,%s", qn_finish_name(ev->finish), ev->stop ? ev->stop : "",
                   ev->tokens ? ev->tokens : "");
    else
        qn_buf_str(&h->log, ev->text);
    qn_buf_char(&h->log, '>');
    struct qn_json *doc = NULL;
    if (ev->logprobs && qn_json_parse(ev->logprobs, strlen(ev->logprobs), &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc), it;
        for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
            struct qn_jref id = qn_json_get(&it, "id");
            qn_buf_fmt(&h->log, "%d ", (int)qn_json_raw_f64(&id));
        }
    }
    qn_json_free(doc);
}

/* Tokens 1, 2, ... of a model with think tags and Hermes' calls. */
static void hears(const char *const *pieces, size_t n, const char *stop, bool single,
                  enum qn_finish finish, const char *expected)
{
    struct heard h;
    struct qn_tools *tools;
    struct qn_output o;
    qn_buf_init(&h.log, 1 << 20);
    assert_int_equal(qn_tools_new("[{\"function\":{\"name\":\"f\"}}]", &tools, NULL), QN_OK);
    struct qn_parse_config c = {.syntax = qn_syntax_find("<think><tool_call>", NULL, NULL),
                                .tools = tools,
                                .single_call = single};
    struct qn_strings stops = {&stop, stop != NULL};
    qn_output_init(&o, 0, &(struct qn_out){&h, hear, never_full}, &stops, true, &c);
    bool over = false;
    for (size_t i = 0; i < n && !over; i++) {
        struct qn_logprob self = {(int32_t)i + 1, pieces[i], strlen(pieces[i]), -0.5};
        over = qn_output_token(&o, pieces[i], strlen(pieces[i]), &self, NULL, 0);
    }
    qn_output_finish(&o, over ? QN_FINISH_STOP : finish, "[1]");
    assert_string_equal(qn_buf_cstr(&h.log), expected);
    qn_output_deinit(&o);
    qn_tools_free(tools);
    qn_buf_deinit(&h.log);
}

#define PIECES(...)                                                                                \
    (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static void reasoning_and_calls_have_events_of_their_own(void **state)
{
    (void)state;
    hears(PIECES("<think>", "\n", "Hm", "\n", "</think>", "\n\n", "So", "\n", "<tool_call>",
                 "{\"name\": \"f\", ", "\"arguments\": {", "}}", "</tool_call>"),
          NULL, false, QN_FINISH_STOP, "R<Hm>3 T<So>7 C<0 f:>C<0 :{>C<0 :}>D<tool_calls,,[1]>");
    /* Marks in pieces; a token that begins in a text is that text's. */
    hears(PIECES("<th", "ink>a", "b</thi", "nk>c"), NULL, false, QN_FINISH_STOP,
          "R<a>R<b>3 T<c>D<stop,,[1]>");
    /* It was cut off in the middle of a call: no part of the mark is text. */
    static const char cut[] = "So\n<tool_call>\n{\"name\": \"f\", \"arguments\": ";
    for (size_t n = strlen("So\n<tool_call>"); n < sizeof cut; n++) {
        char text[sizeof cut] = "";
        memcpy(text, cut, n);
        hears(PIECES(text), NULL, false, QN_FINISH_LENGTH, "T<So>1 D<length,,[1]>");
    }
    /* The model ended within the arguments itself: no call that may be run. */
    hears(PIECES("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1"), NULL, false,
          QN_FINISH_STOP, "C<0 f:>C<0 :{\"a\": 1>D<stop,,[1]>");
    hears(PIECES("<tool_call>{\"name\": \"f\"}</tool_call>"
                 "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": "),
          NULL, false, QN_FINISH_STOP, "C<0 f:>C<0 :{}>C<1 f:>C<1 :{\"a\": >D<stop,,[1]>");
    /* What ends by itself has said it, and nothing is lost. */
    hears(PIECES("So\n<tool_call>\n{\"name\": \"f"), NULL, false, QN_FINISH_STOP,
          "T<So>1 T<\n<tool_call>\n{\"name\": \"f>D<stop,,[1]>");
    hears(PIECES("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1"), NULL, false,
          QN_FINISH_LENGTH, "C<0 f:>C<0 :{\"a\": 1>D<length,,[1]>");
    hears(PIECES("<tool_call>{\"name\": \"f\"}</tool_call>", "<tool_call>"), NULL, true,
          QN_FINISH_LENGTH, "C<0 f:>C<0 :{}>D<tool_calls,,[1]>");
}

static void stop_strings_are_looked_for_in_text(void **state)
{
    (void)state;
    hears(PIECES("<think>a END b</think>", "c EN", "D d"), "END", false, QN_FINISH_LENGTH,
          "R<a END b>T<c >2 D<stop,END,[1]>");
    /* Neither in calls nor across them. */
    hears(PIECES("E", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"END\"}}</tool_call>",
                 "ND"),
          "END", false, QN_FINISH_STOP,
          "T<E>1 C<0 f:>C<0 :{\"a\": \"END\"}>T<ND>3 D<tool_calls,,[1]>");
}

static void ignore(void *ctx, const struct qn_event *ev)
{
    (void)ctx;
    (void)ev;
}

/* Tokens are counted as reasoning from the mark that opens it to the one that closes it. */
static void reasoning_is_counted(void **state)
{
    (void)state;
    static const char *const pieces[] = {"<think>", "a", " b", "</think>", "c", "d"};
    struct qn_strings none = {NULL, 0};
    struct qn_output o;
    struct qn_parse_config config = {
        .syntax = qn_syntax_find("{{ '<think>' }}{{ '</think>' }}", NULL, NULL)};
    assert_non_null(config.syntax.think);
    for (int begun = 0; begun < 2; begun++) { /* the prompt may have begun it */
        config.thinking = begun;
        qn_output_init(&o, 0, &(struct qn_out){NULL, ignore, never_full}, &none, false, &config);
        for (size_t i = (size_t)begun; i < sizeof pieces / sizeof *pieces; i++)
            qn_output_token(&o, pieces[i], strlen(pieces[i]), NULL, NULL, 0);
        assert_int_equal(o.reasoned, begun ? 3 : 4);
        qn_output_finish(&o, QN_FINISH_STOP, NULL);
        qn_output_deinit(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasoning_and_calls_have_events_of_their_own),
        cmocka_unit_test(stop_strings_are_looked_for_in_text),
        cmocka_unit_test(reasoning_is_counted),
        cmocka_unit_test(plain_text_passes_at_once),
        cmocka_unit_test(characters_are_never_split),
        cmocka_unit_test(a_zero_byte_is_replaced),
        cmocka_unit_test(stop_strings_never_show),
        cmocka_unit_test(stop_at_the_very_beginning),
        cmocka_unit_test(overlapping_prefixes),
        cmocka_unit_test(every_cut_gives_the_same),
        cmocka_unit_test(logprob_objects),
        cmocka_unit_test(silent_tokens_come_with_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
