/* GBNF, by llama.cpp's grammars/README.md: what each construct allows, written by hand. */
#include "constrain_says.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define S(...)                                                                                     \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct {
    const char *grammar;
    const char *const *texts; /* allowed, NULL, not allowed, NULL */
} cases[] = {
    {"root ::= \"yes\" | \"no\"", S("yes", "no", NULL, "", "y", "yesno", "maybe", NULL)},
    {"root ::= \"a\"", S("a", NULL, "b", "aa", "", NULL)},
    {"root ::= [a-c]+", S("a", "abc", "cccc", NULL, "", "d", "abd", NULL)},
    {"root ::= [^a-c]", S("d", "\xc3\xa9", "\xf0\x9f\x98\x80", "\n", NULL, "a", "", "dd", NULL)},
    {"root ::= .", S("x", "\xe2\x82\xac", NULL, "", "xx", "\xff", NULL)},
    {"root ::= [\\u00e0-\\u00ff]{2}", S("\xc3\xa0\xc3\xbf", NULL, "\xc3\xa0", "ab", NULL)},
    {"root ::= \"\\x41\\u00e9\\U0001F600\\n\\\"\\\\\"",
     S("A\xc3\xa9\xf0\x9f\x98\x80\n\"\\", NULL, "A", NULL)},
    {"root ::= \"a\"* \"b\"? \"c\"+", S("c", "aabcc", "bc", NULL, "", "ab", "bbc", "a", NULL)},
    {"root ::= \"a\"{3}", S("aaa", NULL, "aa", "aaaa", NULL)},
    {"root ::= \"a\"{2,}", S("aa", "aaaaaaaaaa", NULL, "a", "", NULL)},
    {"root ::= \"a\"{0,2}", S("", "a", "aa", NULL, "aaa", NULL)},
    {"root ::= (\"ab\" | \"c\"){2,3}", S("abab", "cc", "ccab", NULL, "c", "cccc", "aba", NULL)},
    {"root ::= (item){12,14}\nitem ::= \"(\" item? \")\"",
     S("()()()()()()()()()()()()", "()()()()()()()()()()()()((()))", NULL, "()()()()()()()()()()()",
       "()()()()()()()()()()()()()()()", NULL)},
    {"# a comment\nroot ::= (\n  \"a\" # one\n | \"b\"\n)\n\n# end", S("a", "b", NULL, "", NULL)},
    {"root ::=\n  first second\nfirst ::= \"1\" |\n  \"2\"\nsecond ::= [x-z]",
     S("1x", "2z", NULL, "1", "x", "12", NULL)},
    {"root ::= \"x\" empty \"y\"\nempty ::=", S("xy", NULL, "x", "x y", NULL)},
    {"root ::= expr\nexpr ::= term ([-+*/] term)*\nterm ::= num | \"(\" expr \")\"\nnum ::= [0-9]+",
     S("1", "1+2*3", "(1+(2))*3", "((((1))))", NULL, "1+", "()", "(1", "1)", NULL)},
    {"root ::= \"(\" root \")\" | \"\"", S("", "()", "(((())))", NULL, "(", "())", NULL)},
    /* Nullable bodies of counted repetitions. */
    {"root ::= (a b?){10,20} \"!\"\na ::= \"a\"?\nb ::= \"(\" root \")\"",
     S("!", "aaaaaaaaaa!", "a(!)!", "aaaaaaaaaaaaaaaaaaaa!", NULL, "aaaaaaaaaaaaaaaaaaaaa!", "a",
       NULL)},
    /* The same text on two ways. */
    {"root ::= x | y\nx ::= \"ab\" x | \"ab\"\ny ::= \"aba\" y2\ny2 ::= \"c\"",
     S("ab", "abab", "abac", NULL, "aba", "abc", "ababc", NULL)},
    {"root ::= [a-z]{1,3000}", S("a", "zzzz", NULL, "", "A", NULL)},
    {"root ::= \"\\\"\" ([^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" "
     "[0-9a-fA-F]{4}))* \"\\\"\"",
     S("\"\"", "\"a\\n\\u00e9\xc3\xa9\"", NULL, "\"", "\"\n\"", "\"\\x\"", NULL)},
};

static void each_construct_allows_what_it_says(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        wrong += says_wrong(c, &(struct qn_constrain){.grammar = cases[i].grammar}, cases[i].texts);
    assert_int_equal(wrong, 0);
    qn_constrainer_free(c);
}

static void mistakes_are_named_with_their_line(void **state)
{
    static const struct {
        const char *grammar;
        qn_err code;
        const char *says;
    } bad[] = {
        {"root ::= \"a", QN_EINVAL, "line 1: a text has no closing quote"},
        {"root ::= \"a\"\nother ::= [a", QN_EINVAL, "line 2: a class has no closing bracket"},
        {"root ::= x", QN_EINVAL, "the rule \"x\" is used, but not defined"},
        {"x ::= \"a\"", QN_EINVAL, "the rule \"root\" is used, but not defined"},
        {"root ::= \"a\"\nroot ::= \"b\"", QN_EINVAL, "line 2: a rule is defined a second time"},
        {"root \"a\"", QN_EINVAL, "line 1: expected ::="},
        {"root ::= (\"a\"", QN_EINVAL, "a group has no closing bracket"},
        {"root ::= \"a\" )", QN_EINVAL, "a closing bracket has no opening one"},
        {"root ::= [z-a]", QN_EINVAL, "out of order"},
        {"root ::= \"a\"{3,1}", QN_EINVAL, "out of order"},
        {"root ::= \"a\"{2000000}", QN_ELIMIT, "more than 1000000"},
        {"root ::= \"\\q\"", QN_EINVAL, "an escape is invalid"},
        {"root ::= \"\\x4\"", QN_EINVAL, "hexadecimal"},
        {"root ::= <nosuch>", QN_EINVAL, "not in the vocabulary"},
        {"root ::= <[99999]>", QN_EINVAL, "not in the vocabulary"},
        {"root ::= <|end|>", QN_EINVAL, "is an end token"},
        {"root ::= root \"a\" | \"a\"", QN_EUNSUPPORTED, "left recursion"},
        {"root ::= x | \"q\"\nx ::= y? root \"z\"\ny ::= \"y\"", QN_EUNSUPPORTED, "left recursion"},
        {"root ::= \"a\" root", QN_EINVAL, "no text can satisfy it"},
        {"", QN_EINVAL, "root"},
    };
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct qn_constraint *k = NULL;
        struct qn_error e = {0};
        qn_err err =
            qn_constraint_of_job(c, &(struct qn_constrain){.grammar = bad[i].grammar}, &k, &e);
        if (err != bad[i].code || !strstr(e.message, bad[i].says) || strcmp(e.param, "grammar"))
            fail_msg("%s: %s (%s)", bad[i].grammar, e.message, qn_err_name(err));
    }
    qn_constrainer_free(c);
}

/* A class of 4096 characters is compiled, one of 4097 is not. */
static void classes_are_bounded(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    (void)state;
    for (int n = 4096; n <= 4097; n++) {
        struct qn_constraint *k = NULL;
        struct qn_error e = {0};
        struct qn_buf text;
        qn_buf_init(&text, 1 << 20);
        qn_buf_str(&text, "root ::= [");
        for (int i = 0; i < n; i++)
            qn_buf_fmt(&text, "\\u%04x", 0x1000u + 2u * (unsigned)i);
        qn_buf_str(&text, "]");
        assert_int_equal(
            qn_constraint_of_job(c, &(struct qn_constrain){.grammar = qn_buf_cstr(&text)}, &k, &e),
            n == 4096 ? QN_OK : QN_ELIMIT);
        if (k)
            assert_true(says(k, "\xe1\x80\x82") && !says(k, "\xe1\x80\x81"));
        qn_constraint_unref(k);
        qn_buf_deinit(&text);
    }
    qn_constrainer_free(c);
}

static bool allows(struct qn_constraint_state *s, int32_t id)
{
    float logits[BYTE_VOCAB_N] = {0};
    qn_constraint_mask(s, logits, BYTE_VOCAB_N);
    bool masked = logits[id] == 0;
    assert_int_equal(masked, qn_constraint_allows(s, id));
    return masked;
}

static void control_tokens_come_only_where_the_grammar_names_them(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_constraint_state s = {0};
    struct qn_error e = {0};
    struct qn_buf b;
    (void)state;
    qn_buf_init(&b, 1000);
    qn_buf_str(&b, "root ::= ");
    qn_constrain_quote(c, "a\"\n<|call|>b", &b);
    assert_int_equal(
        qn_constraint_of_job(c, &(struct qn_constrain){.grammar = qn_buf_cstr(&b)}, &k, &e), QN_OK);
    qn_constraint_begin(&s, k);
    assert_false(allows(&s, BYTE_VOCAB_CONTROL));
    assert_true(qn_constraint_accept_bytes(&s, "a\"\n", 3));
    assert_false(allows(&s, '<'));
    assert_false(allows(&s, BYTE_VOCAB_END));
    assert_true(allows(&s, BYTE_VOCAB_CONTROL));
    assert_true(qn_constraint_accept(&s, BYTE_VOCAB_CONTROL));
    assert_false(qn_constraint_complete(&s));
    assert_true(allows(&s, 'b'));
    assert_true(qn_constraint_accept(&s, 'b'));
    assert_true(qn_constraint_done(&s));
    qn_constraint_end(&s);
    qn_constraint_unref(k);
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
}

/* Processor seconds that reading a grammar of n rules and a text of 20 n characters takes. */
static double seconds(int n)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k = NULL;
    struct qn_buf b;
    qn_buf_init(&b, QN_CONSTRAIN_BYTES_MAX);
    qn_buf_str(&b, "root ::= r0 | \"");
    for (int i = 0; i < n; i++)
        qn_buf_str(&b, "abcdefghijklmnopqrst");
    qn_buf_str(&b, "\"\n");
    for (int i = 0; i < n; i++)
        qn_buf_fmt(&b, "r%d ::= r%d\n", i, i + 1); /* the last is not defined: no more than read */
    assert_false(b.overflow);
    struct qn_constrain_source source = {.grammar = qn_buf_cstr(&b)};
    clock_t begun = clock();
    assert_int_equal(qn_constraint_compile(c, &source, &k, NULL), QN_EINVAL);
    double took = (double)(clock() - begun) / CLOCKS_PER_SEC;
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
    return took;
}

/* Names of rules that differ in their digits alone once fell into few slots. */
static void long_grammars_take_time_by_their_length(void **state)
{
    (void)state;
    double one = seconds(3000), eight = seconds(24000);
    if (eight > 20 * one + 0.1)
        fail_msg("%g s, and eight times as much %g s", one, eight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_construct_allows_what_it_says),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(classes_are_bounded),
        cmocka_unit_test(long_grammars_take_time_by_their_length),
        cmocka_unit_test(control_tokens_come_only_where_the_grammar_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
