/* The options of loading a language model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "llm/options.h"

#include <string.h>

static qn_err read_text(const char *text, struct qn_llm_options *o, struct qn_error *e)
{
    static struct qn_json *doc; /* the strings in *o are lent by it */
    qn_json_free(doc);
    doc = NULL;
    assert_int_equal(qn_json_parse(text, strlen(text), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    return qn_llm_options_read(&root, o, e);
}

static void every_option_is_read(void **state)
{
    (void)state;
    struct qn_llm_options o;
    struct qn_error e = {0};
    assert_int_equal(read_text("{}", &o, &e), QN_OK);
    assert_int_equal(o.slots, 0);
    assert_int_equal(o.cache, QN_F16);
    assert_true(o.speculate);
    assert_false(o.context_shift);
    assert_null(o.draft_model);
    assert_null(o.prefix_cache);
    assert_null(o.weights.folder);
    assert_int_equal(o.lora.n, 0);
    assert_int_equal(read_text("{\"slots\":3,\"cache_type\":\"Q8_0\",\"speculate\":false,"
                               "\"context_shift\":true,\"draft_model\":\"/a.gguf\","
                               "\"lora\":[{\"path\":\"/l.gguf\",\"scale\":-0.5,\"name\":\"n\"},"
                               "{\"path\":\"/m.gguf\"}],\"prefix_cache\":\"/b\","
                               "\"weight_cache\":{\"folder\":\"/w\",\"gib\":3}}",
                               &o, &e),
                     QN_OK);
    assert_int_equal(o.slots, 3);
    assert_int_equal(o.cache, QN_Q8_0);
    assert_string_equal(qn_llm_cache_name(o.cache), "q8_0");
    assert_false(o.speculate);
    assert_true(o.context_shift);
    assert_string_equal(o.draft_model, "/a.gguf");
    assert_string_equal(o.prefix_cache, "/b");
    assert_string_equal(o.weights.folder, "/w");
    assert_int_equal(o.weights.gib, 3);
    assert_int_equal(o.lora.n, 2);
    assert_string_equal(o.lora.v[0].path, "/l.gguf");
    assert_string_equal(o.lora.v[0].name, "n");
    assert_true(o.lora.v[0].scale == -0.5);
    assert_null(o.lora.v[1].name);
    assert_true(o.lora.v[1].scale == 1);
    assert_int_equal(read_text("{}", &o, &e), QN_OK); /* gives the document back */
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"slots\":0}", "slots"},
        {"{\"slots\":257}", "slots"},
        {"{\"cache_type\":\"q3\"}", "q8_0"},
        {"{\"cache_type\":8}", "cache_type"},
        {"{\"speculate\":1}", "speculate"},
        {"{\"draft_model\":true}", "draft_model"},
        {"{\"lora\":{}}", "lora"},
        {"{\"lora\":[{\"scale\":1}]}", "lora[0].path"},
        {"{\"lora\":[{\"path\":\"/a\",\"scale\":\"x\"}]}", "lora[0].scale"},
        {"{\"lora\":[{\"path\":\"/a\",\"name\":\"\"}]}", "lora[0].name"},
        {"{\"lora\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "at most 16"},
        {"{\"weight_cache\":{\"gib\":3}}", "folder"},
        {"{\"weight_cache\":{\"folder\":\"/w\",\"gib\":0}}", "gib"},
        {"{\"cache\":\"f16\"}", "cache_type"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_llm_options o;
        struct qn_error e = {0};
        assert_int_equal(read_text(wrong[i][0], &o, &e), QN_EINVAL);
        assert_non_null(strstr(e.message, wrong[i][1]));
    }
    struct qn_llm_options o;
    assert_int_equal(read_text("{}", &o, NULL), QN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
