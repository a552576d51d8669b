/* What constraints cost: long lists of values are found by hash and are one small automaton, and
 * work without an end is refused by a count of steps. Expected values follow from the
 * specification of JSON Schema (validation 6.1: equality of values). */
#include "constrain_says.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* "prefix0","prefix1", ... */
static void put_values(struct qn_buf *b, const char *prefix, int from, int to)
{
    for (int i = from; i < to; i++)
        qn_buf_fmt(b, "%s\"%s%d\"", i > from ? "," : "", prefix, i);
}

static qn_err compile(struct qn_constrainer *c, struct qn_buf *schema, struct qn_constraint **k,
                      struct qn_error *e)
{
    *k = NULL;
    return qn_constraint_of_job(c, &(struct qn_constrain){.schema = qn_buf_cstr(schema)}, k, e);
}

static void forty_thousand_values_compile(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_error e = {0};
    struct qn_buf b;
    (void)state;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "{\"properties\":{\"a\":{\"enum\":[");
    put_values(&b, "value", 0, 40000);
    qn_buf_str(&b, "]}},\"required\":[\"a\"]}");
    assert_int_equal(compile(c, &b, &k, &e), QN_OK);
    assert_true(says(k, "{\"a\":\"value0\"}"));
    assert_true(says(k, "{\"a\": \"value39999\"}"));
    assert_true(says(k, "{\"a\":\"value12345\"}"));
    assert_false(says(k, "{\"a\":\"value40000\"}"));
    assert_false(says(k, "{\"a\":\"value\"}"));
    assert_false(says(k, "{\"a\":\"value012\"}"));
    qn_constraint_unref(k);
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
}

/* Of two long lists only what is in both, also where a value is written in another way. */
static void long_lists_meet_by_value(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_error e = {0};
    struct qn_buf b;
    (void)state;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "{\"allOf\":[{\"enum\":[7,-0,{\"x\":1,\"y\":[2,null]},true,");
    put_values(&b, "v", 0, 20000);
    qn_buf_str(&b, "]},{\"enum\":[");
    put_values(&b, "v", 19000, 39000);
    qn_buf_str(&b, ",7.0,0,{\"y\":[2,null],\"x\":1},false]}]}");
    assert_int_equal(compile(c, &b, &k, &e), QN_OK);
    assert_true(says(k, "\"v19000\""));
    assert_true(says(k, "\"v19999\""));
    assert_true(says(k, "7"));
    assert_true(says(k, "{\"x\":1,\"y\":[2,null]}"));
    assert_true(says(k, "0") || says(k, "-0"));
    assert_false(says(k, "\"v18999\""));
    assert_false(says(k, "\"v20000\""));
    assert_false(says(k, "true"));
    assert_false(says(k, "false"));
    qn_constraint_unref(k);
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
}

/* Beside a pattern, each of which would be compiled for each value. */
static void long_lists_stand_beside_patterns(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k;
    struct qn_error e = {0};
    struct qn_buf b;
    (void)state;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "{\"pattern\":\"7$\",\"maxLength\":5,\"enum\":[");
    put_values(&b, "v", 0, 40000);
    qn_buf_str(&b, "]}");
    assert_int_equal(compile(c, &b, &k, &e), QN_OK);
    assert_true(says(k, "\"v7\""));
    assert_true(says(k, "\"v1237\""));
    assert_false(says(k, "\"v1238\""));
    assert_false(says(k, "\"v12347\""));
    qn_constraint_unref(k);
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
}

/* Each in another part of the compiler: all end in the same sentence. */
static void too_much_work_names_the_limit(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_buf b;
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct qn_constraint *k = NULL;
        struct qn_error e = {0};
        struct qn_constrain job = {0};
        qn_buf_init(&b, 1 << 20);
        if (which == 0) { /* automata of patterns */
            qn_buf_str(&b, "{\"allOf\":[");
            for (int i = 0; i < 40; i++)
                qn_buf_fmt(&b, "%s{\"pattern\":\"^(a|b|%d)*a(a|b){11}$\"}", i ? "," : "", i);
            qn_buf_str(&b, "]}");
        } else if (which == 1) { /* values next to schemas with many members */
            qn_buf_str(&b, "{");
            for (int i = 0; i < 20000; i++)
                qn_buf_fmt(&b, "\"x-%d\":0,", i);
            qn_buf_str(&b, "\"enum\":[");
            put_values(&b, "v", 0, 20000);
            qn_buf_str(&b, "]}");
        } else { /* a grammar's rules, each of which needs the one before it */
            qn_buf_str(&b, "root ::= r0");
            for (int i = 1; i <= 20000; i++)
                qn_buf_fmt(&b, " | r%d", i);
            qn_buf_str(&b, "\nr0 ::= \"z\" r0 | \"z\"\n");
            for (int i = 1; i <= 20000; i++)
                qn_buf_fmt(&b, "r%d ::= \"a\" r%d\n", i, i - 1);
        }
        *(which == 2 ? &job.grammar : &job.schema) = qn_buf_cstr(&b);
        qn_err err = qn_constraint_of_job(c, &job, &k, &e);
        if (err != QN_ELIMIT || !strstr(e.message, "200 million steps"))
            fail_msg("case %d: %s (%s)", which, e.message, qn_err_name(err));
        qn_buf_deinit(&b);
    }
    qn_constrainer_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forty_thousand_values_compile),
        cmocka_unit_test(long_lists_meet_by_value),
        cmocka_unit_test(long_lists_stand_beside_patterns),
        cmocka_unit_test(too_much_work_names_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
