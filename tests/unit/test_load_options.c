/* What a child is told to load with: which layer wins, and what only the house can fill in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/str.h"
#include "models/load_options.h"

#include <string.h>

static qn_err file_of(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e)
{
    (void)ctx;
    if (!qn_str_eq(name, "small"))
        return qn_fail_param(e, QN_ENOTFOUND, "model", "model '%s' is not known here", name);
    qn_buf_str(path, "/models/small.gguf");
    return QN_OK;
}

static const struct qn_load_places places = {
    .model_file = file_of, .data_dir = "/data", .name = "user.a/b c"};

static qn_err merge(const char *asked, const char *saved, const char *settings, char out[256],
                    struct qn_error *e)
{
    const char *layers[] = {asked, saved, settings};
    struct qn_buf text;
    qn_buf_init(&text, 4096);
    qn_err err = qn_load_options_merge(qn_backend_type_find("llm"), layers, 3, &places, &text, e);
    strncpy(out, qn_buf_cstr(&text), 255);
    qn_buf_deinit(&text);
    return err;
}

static void the_strongest_layer_wins(void **state)
{
    (void)state;
    char out[256] = "";
    assert_int_equal(merge("{}", "{}", "{}", out, NULL), QN_OK);
    assert_string_equal(out, "{}");
    assert_int_equal(merge("{\"cache_type\":\"q4_0\",\"speculate\":null}",
                           "{\"ctx_size\":9,\"cache_type\":\"q8_0\",\"speculate\":false}",
                           "{\"slots\":3,\"speculate\":true}", out, NULL),
                     QN_OK);
    assert_string_equal(out, "{\"slots\":3,\"cache_type\":\"q4_0\",\"speculate\":false}");
}

static void names_and_wishes_become_files(void **state)
{
    (void)state;
    char out[256] = "";
    struct qn_error e = {0};
    assert_int_equal(merge("{\"draft_model\":\"small\"}", "{\"prefix_cache\":true}", "{}", out, &e),
                     QN_OK);
    assert_string_equal(out, "{\"draft_model\":\"/models/small.gguf\","
                             "\"prefix_cache\":\"/data/prefixes/user.a_b_c.prefix\"}");
    /* What is switched off by a stronger layer is left out. */
    assert_int_equal(merge("{\"draft_model\":\"\",\"prefix_cache\":false}",
                           "{\"draft_model\":\"small\",\"prefix_cache\":true}", "{}", out, &e),
                     QN_OK);
    assert_string_equal(out, "{}");
    assert_int_equal(merge("{\"draft_model\":\"nobody\"}", "{}", "{}", out, &e), QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "nobody"));
    assert_int_equal(merge("{\"prefix_cache\":\"/etc/passwd\"}", "{}", "{}", out, &e), QN_EINVAL);
    assert_string_equal(e.param, "prefix_cache");
}

static void a_limit_of_disk_becomes_a_folder(void **state)
{
    (void)state;
    char out[256] = "";
    struct qn_error e = {0};
    assert_int_equal(merge("{}", "{}", "{\"weight_cache\":16}", out, &e), QN_OK);
    assert_string_equal(out, "{\"weight_cache\":{\"folder\":\"/data/weights\",\"gib\":16}}");
    assert_int_equal(merge("{\"weight_cache\":0}", "{}", "{\"weight_cache\":16}", out, &e), QN_OK);
    assert_string_equal(out, "{}");
    assert_int_equal(merge("{\"weight_cache\":-1}", "{}", "{}", out, &e), QN_EINVAL);
    assert_string_equal(e.param, "weight_cache");
}

static void adapters_are_files_named_in_full(void **state)
{
    (void)state;
    char out[256] = "";
    struct qn_error e = {0};
    assert_int_equal(merge("{\"lora\":[{\"path\":\"/a.gguf\",\"scale\":0.5}]}",
                           "{\"lora\":[{\"path\":\"/b.gguf\"}]}", "{}", out, &e),
                     QN_OK);
    assert_string_equal(out, "{\"lora\":[{\"path\":\"/a.gguf\",\"scale\":0.5}]}");
    static const char *const wrong[][2] = {
        {"{\"lora\":\"/a.gguf\"}", "lora"},
        {"{\"lora\":[\"/a.gguf\"]}", "lora[0].path"},
        {"{\"lora\":[{\"path\":\"/a\"},{\"path\":\"a.gguf\"}]}", "lora[1].path"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(merge(wrong[i][0], "{}", "{}", out, &e), QN_EINVAL);
        assert_string_equal(e.param, wrong[i][1]);
    }
}

static void a_request_names_options_of_its_type_only(void **state)
{
    (void)state;
    const char *body = "{\"model_name\":\"x\",\"cache_type\":\"q8_0\",\"speculate\":false,"
                       "\"slots\":null,\"secret\":1}";
    struct qn_json *doc;
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    assert_int_equal(qn_json_parse(body, strlen(body), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_load_options_of(qn_backend_type_find("llm"), &root, &out);
    assert_string_equal(qn_buf_cstr(&out), "{\"cache_type\":\"q8_0\",\"speculate\":false}");
    qn_buf_deinit(&out);
    qn_json_free(doc);
}

/* What the house obeys by itself is nothing for the child. */
static void pins_and_the_like_stay_in_the_house(void **state)
{
    (void)state;
    char out[256] = "";
    assert_int_equal(merge("{\"pinned\":true,\"auto_evict\":false}",
                           "{\"evict_idle_timeout\":5,\"slots\":2}", "{\"evict_weight_factor\":2}",
                           out, NULL),
                     QN_OK);
    assert_string_equal(out, "{\"slots\":2}");
}

static void a_report_shows_plain_values_of_the_strongest_layer(void **state)
{
    (void)state;
    static const char *const layers[] = {
        "{\"cache_type\":\"q8_0\",\"slots\":null}",
        "{\"cache_type\":\"q4_0\",\"slots\":3,\"llamacpp_backend\":\"cpu\",\"draft_model\":"
        "\"small\",\"pinned\":true,"
        "\"lora\":[{\"path\":\"/secret\"}]}",
        "no object",
    };
    struct qn_buf text;
    qn_buf_init(&text, 4096);
    qn_load_options_plain(qn_backend_type_find("llm"), layers, 3, &text);
    assert_string_equal(qn_buf_cstr(&text),
                        "{\"slots\":3,\"cache_type\":\"q8_0\",\"llamacpp_backend\":\"cpu\"}");
    qn_buf_deinit(&text);
}

static qn_err check(const char *options, struct qn_error *e)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(options, strlen(options), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_err err = qn_load_options_check(qn_backend_type_find("llm"), &root, e);
    qn_json_free(doc);
    return err;
}

static void values_are_judged_without_the_model(void **state)
{
    (void)state;
    static const char *const right[] = {
        "{}",
        "{\"slots\":1}",
        "{\"slots\":256,\"cache_type\":\"q8_0\"}",
        "{\"cache_type\":\"q5_1\"}", /* llama-server's */
        "{\"rope_scaling\":\"yarn:4:32768\",\"weight_cache\":0,\"lora\":[]}",
        "{\"lora\":[{\"path\":\"/a\",\"name\":\"a\",\"scale\":-1000}]}",
        "{\"llamacpp_args\":\"--mirostat 2\",\"unknown\":[]}",
        "{\"slots\":null,\"ctx_size\":-1}",
    };
    static const char *const wrong[][2] = {
        {"{\"slots\":0}", "slots"},
        {"{\"slots\":257}", "slots"},
        {"{\"slots\":1.5}", "slots"},
        {"{\"cache_type\":\"zz\"}", "cache_type"},
        {"{\"cache_type\":true}", "cache_type"},
        {"{\"rope_scaling\":\"spiral:2\"}", "rope_scaling"},
        {"{\"weight_cache\":-1}", "weight_cache"},
        {"{\"lora\":{}}", "lora"},
        {"{\"lora\":[{\"path\":\"/a\",\"name\":\"\"}]}", "lora[0].name"},
        {"{\"lora\":[{\"path\":\"/a\"},{\"path\":\"/b\",\"scale\":1001}]}", "lora[1].scale"},
        {"{\"lora\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]}", "lora"}, /* 17 */
        {"{\"llamacpp_args\":\"--port 1\"}", "llamacpp_args"},
        {"{\"ctx_size\":16777217}", "ctx_size"},
        {"{\"max_queue\":-2}", "max_queue"},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_int_equal(check(right[i], NULL), QN_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qn_error e = {0};
        assert_int_equal(check(wrong[i][0], &e), QN_EINVAL);
        assert_string_equal(e.param, wrong[i][1]);
    }
}

static void an_error_is_about_what_a_request_names(void **state)
{
    (void)state;
    const char *options = "{\"lora\":[],\"slots\":null}";
    assert_true(qn_load_options_name(options, "lora"));
    assert_true(qn_load_options_name(options, "lora[0].path"));
    assert_false(qn_load_options_name(options, "slots"));
    assert_false(qn_load_options_name(options, "model"));
    assert_false(qn_load_options_name(options, ""));
    assert_false(qn_load_options_name(NULL, "lora"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pins_and_the_like_stay_in_the_house),
        cmocka_unit_test(a_report_shows_plain_values_of_the_strongest_layer),
        cmocka_unit_test(the_strongest_layer_wins),
        cmocka_unit_test(values_are_judged_without_the_model),
        cmocka_unit_test(an_error_is_about_what_a_request_names),
        cmocka_unit_test(a_limit_of_disk_becomes_a_folder),
        cmocka_unit_test(names_and_wishes_become_files),
        cmocka_unit_test(adapters_are_files_named_in_full),
        cmocka_unit_test(a_request_names_options_of_its_type_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
