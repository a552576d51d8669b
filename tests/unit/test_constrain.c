/* Masks, states and the cache of constraints. */
#include "constrain_says.h"

#include "grammar/constrain_machine.h"

#include "base/rand.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct qn_constrainer *maker;

static int set_up(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    (void)state;
    maker = qn_constrainer_new(&v);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    qn_constrainer_free(maker);
    return 0;
}

static struct qn_constraint *grammar(const char *text)
{
    struct qn_constraint *k;
    struct qn_error e = {0};
    if (qn_constraint_of_job(maker, &(struct qn_constrain){.grammar = text}, &k, &e))
        fail_msg("%s: %s", text, e.message);
    return k;
}

static struct qn_constraint *schema(const char *text)
{
    struct qn_constraint *k;
    struct qn_error e = {0};
    if (qn_constraint_of_job(maker, &(struct qn_constrain){.schema = text}, &k, &e))
        fail_msg("%s: %s", text, e.message);
    return k;
}

/* The mask against walking every token by itself, along random texts. */
static void check_masks(struct qn_constraint *k, uint64_t seed)
{
    struct qn_rng r;
    qn_rng_init(&r, seed);
    struct qn_constraint_state s = {0};
    qn_constraint_begin(&s, k);
    for (int step = 0; step < 200 && !qn_constraint_done(&s); step++) {
        float logits[BYTE_VOCAB_N + 3];
        int32_t allowed[BYTE_VOCAB_N];
        size_t n = 0;
        for (int i = 0; i < BYTE_VOCAB_N + 3; i++)
            logits[i] = (float)i;
        assert_true(qn_constraint_mask(&s, logits, BYTE_VOCAB_N + 3));
        for (int i = BYTE_VOCAB_N; i < BYTE_VOCAB_N + 3; i++)
            assert_true(logits[i] == -INFINITY);
        for (int32_t id = 0; id < BYTE_VOCAB_N; id++) {
            struct qn_constraint_state copy = {0};
            qn_constraint_copy(&copy, &s);
            bool walked = qn_constraint_accept(&copy, id);
            qn_constraint_end(&copy);
            if (walked != (logits[id] == (float)id))
                fail_msg("token %d: %d by itself", (int)id, walked);
            if (walked && id != BYTE_VOCAB_END)
                allowed[n++] = id;
        }
        if (n == 0)
            break;
        assert_true(qn_constraint_accept(&s, allowed[qn_rng_u64(&r) % n]));
    }
    qn_constraint_end(&s);
}

static void masks_agree_with_single_tokens(void **state)
{
    static const char *const grammars[] = {
        "root ::= \"{\" pair (\", \" pair)* \"}\"\npair ::= \"\\\"\" [a-z]+ \"\\\":\" value\n"
        "value ::= root | [0-9]{1,3} | \"true\" | \"\\\"\" [^\"]{0,5} \"\\\"\"",
        "root ::= ([a-z]{2,4} \" \"?){3,30} [.!]",
        "root ::= .{0,6} \"\\n\" root? | \"name\"",
        "root ::= (x | y | z){9,12} \"{}\"\nx ::= \"a\" x? \"b\"\ny ::= [a-b]{2,3}\nz ::= "
        "\"hello\"",
    };
    static const char *const schemas[] = {
        "{}",
        "{\"type\":\"string\",\"minLength\":3,\"maxLength\":6}",
        "{\"type\":\"string\",\"minLength\":2}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":2},\"minItems\":2,"
        "\"maxItems\":30}",
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"a\":{\"enum\":[12,"
        "\"hello\",null]},\"b\":{\"type\":\"number\"}},\"required\":[\"a\"],"
        "\"additionalProperties\":{\"type\":\"integer\",\"minimum\":-5,\"maximum\":1234}}",
    };
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        for (size_t i = 0; i < sizeof grammars / sizeof grammars[0]; i++) {
            struct qn_constraint *k = grammar(grammars[i]);
            check_masks(k, seed);
            qn_constraint_unref(k);
        }
        for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
            struct qn_constraint *k = schema(schemas[i]);
            check_masks(k, seed);
            qn_constraint_unref(k);
        }
    }
}

static void states_are_independent(void **state)
{
    struct qn_constraint *k = grammar("root ::= \"a\" (\"b\" | \"c\") \"d\"*");
    struct qn_constraint_state a = {0}, b = {0}, free_one = {0};
    (void)state;
    qn_constraint_begin(&a, k);
    qn_constraint_unref(k); /* the states hold it */
    assert_true(qn_constraint_accept(&a, 'a'));
    qn_constraint_copy(&b, &a);
    assert_true(qn_constraint_accept(&a, 'b'));
    assert_true(qn_constraint_accept(&b, 'c'));
    assert_false(qn_constraint_accept(&a, 'c'));
    assert_true(qn_constraint_complete(&a));
    assert_false(qn_constraint_done(&a));
    assert_true(qn_constraint_accept(&a, 'd'));
    assert_true(qn_constraint_accept(&a, BYTE_VOCAB_END));
    qn_constraint_end(&a);
    assert_true(qn_constraint_complete(&b));
    qn_constraint_end(&b);
    /* Without a constraint everything may come. */
    float logits[2] = {1, 2};
    assert_true(qn_constraint_mask(&free_one, logits, 2));
    assert_true(logits[0] == 1 && logits[1] == 2);
    assert_true(qn_constraint_accept(&free_one, 7));
    assert_false(qn_constraint_done(&free_one));
}

static void end_tokens_come_only_at_the_end(void **state)
{
    struct qn_constraint *k = grammar("root ::= \"ab\" \"c\"?");
    struct qn_constraint_state s = {0};
    (void)state;
    qn_constraint_begin(&s, k);
    assert_false(qn_constraint_allows(&s, BYTE_VOCAB_END));
    assert_true(qn_constraint_accept_bytes(&s, "ab", 2));
    assert_true(qn_constraint_allows(&s, BYTE_VOCAB_END));
    float logits[BYTE_VOCAB_N] = {0};
    assert_true(qn_constraint_mask(&s, logits, BYTE_VOCAB_N));
    assert_true(logits[BYTE_VOCAB_END] == 0 && logits['c'] == 0 && logits['a'] == -INFINITY);
    assert_true(qn_constraint_accept(&s, 'c'));
    assert_true(qn_constraint_done(&s));
    assert_false(qn_constraint_mask(&s, logits, BYTE_VOCAB_N));
    qn_constraint_end(&s);
    qn_constraint_unref(k);
}

static void the_same_source_is_compiled_once(void **state)
{
    struct qn_constraint *a = schema("{\"type\":\"integer\"}"),
                         *b = schema("{\"type\":\"integer\"}"),
                         *c = schema("{\"type\":\"number\"}");
    (void)state;
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_true(qn_constrainer_has_room(maker));
    qn_constraint_unref(a);
    qn_constraint_unref(b);
    qn_constraint_unref(c);
}

static void rules_of_a_grammar_may_be_schemas(void **state)
{
    static const struct qn_constrain_rule rules[] = {
        {"args-a", QN_RULE_SCHEMA,
         "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}},"
         "\"required\":[\"x\"]}"},
        {"args-b", QN_RULE_SCHEMA, "{\"type\":\"object\",\"properties\":{}}"},
        {"raw", QN_RULE_UNTIL, "</p>"},
    };
    const struct qn_constrain_source source = {
        .grammar = "root ::= call (\"\\n\" call)*\n"
                   "call ::= \"a(\" args-a \")\" | \"b(\" args-b \")\" | \"<p>\" raw \"</p>\"",
        .rules = rules,
        .n_rules = 3};
    struct qn_constraint *k;
    struct qn_error e = {0};
    (void)state;
    assert_int_equal(qn_constraint_compile(maker, &source, &k, &e), QN_OK);
    assert_true(says(k, "a({\"x\":1})"));
    assert_true(says(k, "a({\"x\":1})\nb({})"));
    assert_true(says(k, "<p>any <b>\xc3\xa9 </p</p>"));
    assert_true(says(k, "<p></p>\na({\"x\":-3})"));
    assert_false(says(k, "a({\"x\":\"1\"})"));
    assert_false(says(k, "b({\"x\":1})"));
    assert_false(says(k, "<p>a</p>b</p>"));
    assert_false(says(k, "a({\"x\":1})\n"));
    qn_constraint_unref(k);
    /* A mistake in a rule is the caller's, under the name it asked for. */
    const struct qn_constrain_rule bad = {"root", QN_RULE_SCHEMA, "{\"type\":\"thing\"}"};
    const struct qn_constrain_source wrong = {.rules = &bad, .n_rules = 1, .param = "tools[0]"};
    assert_int_equal(qn_constraint_compile(maker, &wrong, &k, &e), QN_EINVAL);
    assert_string_equal(e.param, "tools[0]");
}

/* Texts so deep and so different that what is known of them has to be forgotten on the way. */
static void memory_stays_bounded(void **state)
{
    struct qn_constraint *k = grammar("root ::= \"(\" [a-z]{0,2000} root? \")\"{1,3000}");
    struct qn_constraint_state s[8] = {{0}};
    float logits[BYTE_VOCAB_N];
    struct qn_rng r;
    (void)state;
    qn_rng_init(&r, 5);
    for (int i = 0; i < 8; i++)
        qn_constraint_begin(&s[i], k);
    for (int step = 0; step < 60000; step++) {
        struct qn_constraint_state *at = &s[step % 8];
        bool opens = step < 8 || qn_rng_u64(&r) % 3 == 0;
        char c = opens ? '(' : (char)('a' + qn_rng_u64(&r) % 26);
        if (!qn_constraint_accept_bytes(at, &c, 1))
            fail_msg("%c at step %d", c, step);
        if (step % 50 == 0) {
            memset(logits, 0, sizeof logits);
            assert_true(qn_constraint_mask(at, logits, BYTE_VOCAB_N));
            assert_true(logits['('] == 0 && logits['1'] == -INFINITY);
        }
    }
    for (int i = 0; i < 8; i++)
        qn_constraint_end(&s[i]);
    qn_constraint_unref(k);
}

/* A vocabulary that cannot write what must come. */
static void a_missing_token_is_told(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    v.n = 100; /* no lower-case letter behind c */
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_error e = {0};
    struct qn_constraint_state s = {0};
    float logits[100] = {0};
    (void)state;
    assert_int_equal(
        qn_constraint_of_job(c, &(struct qn_constrain){.grammar = "root ::= \"z\""}, &k, &e),
        QN_OK);
    qn_constraint_begin(&s, k);
    assert_false(qn_constraint_done(&s));
    assert_false(qn_constraint_mask(&s, logits, 100));
    qn_constraint_end(&s);
    qn_constraint_unref(k);
    qn_constrainer_free(c);
}

/* Thousands of ways to read one text: the work of a mask is bounded, and the bound is told. */
static void too_many_ways_are_told(void **state)
{
    struct qn_buf text;
    struct qn_constraint_state s = {0};
    float logits[BYTE_VOCAB_N] = {0};
    (void)state;
    qn_buf_init(&text, 1 << 20);
    qn_buf_str(&text, "root ::= y0\n");
    for (int i = 0; i < 11; i++)
        qn_buf_fmt(&text, "y%d ::= y%d y%d\n", i, i + 1, i + 1);
    qn_buf_str(&text, "y11 ::= \"\" | [a-z] y0 \"z\"\n");
    struct qn_constraint *k = grammar(qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    qn_constraint_begin(&s, k);
    bool more = true;
    for (int i = 0; i < 4 && more; i++)
        more = qn_constraint_mask(&s, logits, BYTE_VOCAB_N) && qn_constraint_accept(&s, 'a');
    assert_false(more);
    assert_true(s.too_hard);
    for (int i = 0; i < 256; i++)
        assert_true(logits[i] == 0 || logits[i] == -INFINITY);
    qn_constraint_end(&s);
    qn_constraint_unref(k);
}

/* n ways behind one character, none of which can be told from the others before their own end. */
static struct qn_constraint *ways(int n, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_constraint *k = NULL;
    qn_buf_init(&text, 1 << 20);
    qn_buf_str(&text, "root ::= \"<\" (w0");
    for (int i = 1; i < n; i++)
        qn_buf_fmt(&text, " | w%d", i);
    qn_buf_str(&text, ")\n");
    for (int i = 0; i < n; i++)
        qn_buf_fmt(&text, "w%d ::= \"(\" w%d \")%d.\" | \"x\"\n", i, i, i);
    struct qn_constrain_source source = {.grammar = qn_buf_cstr(&text)};
    assert_int_equal(qn_constraint_compile(maker, &source, &k, e), QN_OK);
    qn_buf_deinit(&text);
    return k;
}

/* No way is left out in silence: as many as there may be are all followed, and of more the request
 * hears. */
static void no_way_is_left_out(void **state)
{
    struct qn_constraint_state s = {0};
    struct qn_error e = {0};
    float logits[BYTE_VOCAB_N] = {0};
    char text[32];
    (void)state;
    struct qn_constraint *k = ways(1500, &e);
    for (int i = 0; i < 1500; i += 1499) {
        qn_constraint_begin(&s, k);
        int n = snprintf(text, sizeof text, "<((x)%d.)%d.", i, i);
        assert_true(qn_constraint_accept_bytes(&s, text, (size_t)n));
        assert_true(qn_constraint_complete(&s));
        qn_constraint_end(&s);
    }
    qn_constraint_unref(k);
    k = ways(QN_MACHINE_PLACES_MAX + 10, &e);
    qn_constraint_begin(&s, k);
    assert_true(qn_constraint_mask(&s, logits, BYTE_VOCAB_N));
    assert_true(logits['<'] == 0);
    assert_false(qn_constraint_accept(&s, '<')); /* which ends the request */
    qn_constraint_end(&s);
    qn_constraint_unref(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(masks_agree_with_single_tokens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_are_independent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(end_tokens_come_only_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_source_is_compiled_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rules_of_a_grammar_may_be_schemas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_stays_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_token_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_ways_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_way_is_left_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
