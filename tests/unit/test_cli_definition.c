/* Definitions of models: out of the server's entries, into requests to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/definition.h"

#include <string.h>

static void assert_export(const char *entry, const char *expected)
{
    struct qn_json *doc;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    assert_int_equal(qn_json_parse(entry, strlen(entry), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    struct qn_jw w = qn_jw_to(&out);
    qn_definition_write(&root, &w);
    assert_string_equal(out.data, expected);
    qn_buf_deinit(&out);
    qn_json_free(doc);
}

static void out_of_entries(void **state)
{
    (void)state;
    assert_export("{\"id\":\"Qwen3-0.6B-GGUF\",\"object\":\"model\",\"created\":1,"
                  "\"checkpoint\":\"o/r:Q4_0\",\"checkpoints\":{\"main\":\"o/r:Q4_0\"},"
                  "\"recipe\":\"llamacpp\",\"size\":0.38,\"downloaded\":true,\"labels\":[],"
                  "\"recipe_options\":{},\"image_defaults\":null}",
                  "{\"model_name\":\"Qwen3-0.6B-GGUF\",\"checkpoint\":\"o/r:Q4_0\","
                  "\"recipe\":\"llamacpp\",\"size\":0.38}");
    assert_export("{\"id\":\"user.x\",\"checkpoint\":\"a\",\"checkpoints\":{\"main\":\"a\","
                  "\"vae\":\"b\"},\"recipe\":\"sd-cpp\",\"labels\":[\"image\"],"
                  "\"image_defaults\":{\"steps\":4},\"recipe_options\":{\"width\":512}}",
                  "{\"model_name\":\"user.x\",\"checkpoints\":{\"main\":\"a\",\"vae\":\"b\"},"
                  "\"recipe\":\"sd-cpp\",\"labels\":[\"image\"],\"image_defaults\":{\"steps\":4},"
                  "\"recipe_options\":{\"width\":512}}");
}

/* What a file's definitions become, one after the other; "!" before what is refused. */
static void assert_import(const char *file, const char *name, const char *const *expected)
{
    struct qn_json *doc;
    struct qn_jref d;
    assert_int_equal(qn_json_parse(file, strlen(file), &doc, NULL), QN_OK);
    struct qn_definition_walk walk = {.root = qn_json_root(doc)};
    size_t n = 0;
    while (qn_definition_next(&walk, &d)) {
        struct qn_buf out;
        struct qn_error e = {0};
        qn_buf_init(&out, 4096);
        assert_non_null(expected[n]);
        if (qn_definition_register(&d, name, &out, &e)) {
            assert_int_equal(expected[n][0], '!');
            if (!strstr(e.message, expected[n] + 1))
                fail_msg("refused with: %s", e.message);
        } else {
            assert_string_equal(out.data, expected[n]);
        }
        qn_buf_deinit(&out);
        n++;
    }
    assert_null(expected[n]);
    qn_json_free(doc);
}

static void into_requests(void **state)
{
    (void)state;
    static const char one[] = "{\"model_name\":\"Phi\",\"checkpoint\":\"o/r:Q4_0\","
                              "\"recipe\":\"llamacpp\",\"labels\":[\"hot\"]}";
    assert_import(one, NULL,
                  (const char *const[]){"{\"model_name\":\"user.Phi\",\"checkpoint\":\"o/r:Q4_0\","
                                        "\"recipe\":\"llamacpp\",\"labels\":[\"hot\"]}",
                                        NULL});
    assert_import(one, "user.mine",
                  (const char *const[]){"{\"model_name\":\"user.mine\",\"checkpoint\":\"o/r:Q4_0\","
                                        "\"recipe\":\"llamacpp\",\"labels\":[\"hot\"]}",
                                        NULL});
    /* Many by name, as user_models.json has them; several in an array. */
    assert_import("{\"A\":{\"checkpoint\":\"o/a\",\"recipe\":\"llamacpp\"},"
                  "\"user.B\":{\"checkpoints\":{\"main\":\"o/b\"},\"suggested\":true}}",
                  NULL,
                  (const char *const[]){
                      "{\"model_name\":\"user.A\",\"checkpoint\":\"o/a\",\"recipe\":\"llamacpp\"}",
                      "{\"model_name\":\"user.B\",\"checkpoints\":{\"main\":\"o/b\"},"
                      "\"suggested\":true}",
                      NULL});
    assert_import("[{\"id\":\"user.C\",\"checkpoint\":\"o/c\"},{\"checkpoint\":\"o/d\"}]", NULL,
                  (const char *const[]){"{\"model_name\":\"user.C\",\"checkpoint\":\"o/c\"}",
                                        "!has no name", NULL});
    assert_import("{\"foo\":1}", NULL,
                  (const char *const[]){"!foo: expected the definition", NULL});
    assert_import("{\"a\":{}}", NULL, (const char *const[]){"!a: expected", NULL});
    assert_import("[]", NULL, (const char *const[]){NULL});
    assert_import("7", NULL, (const char *const[]){NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_entries),
        cmocka_unit_test(into_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
