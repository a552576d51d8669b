/* router/settings/settings.c: the four layers and their order, ranges, misspelt names. */
#include "config_dir.h"

#include "settings/settings.h"

#include <stdio.h>

/* Reads with --data-dir dir and the given flag and environment word (either may be NULL). */
static qn_err read_with(struct qn_settings *s, const char *flag, const char *env,
                        struct qn_error *e)
{
    const char *args[] = {"--data-dir", dir, flag};
    const char *envs[] = {env, NULL};
    enum qn_settings_wish wish;
    qn_settings_deinit(s);
    return qn_settings_read(s, flag ? 3 : 2, args, envs, &wish, e);
}

static void layers(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    write_config("{}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_int_equal(s.port, 13305);
    assert_string_equal(s.host, "localhost");
    assert_string_equal(s.data_dir, dir);
    assert_string_equal(s.max_loaded_models, "1");
    assert_false(s.insecure);
    assert_non_null(s.backend_dir);
    write_config("{\"port\": 1001, \"insecure\": true, \"log-level\": \"debug\"}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_int_equal(s.port, 1001);
    assert_true(s.insecure);
    assert_string_equal(s.log_level, "debug");
    assert_int_equal(read_with(&s, NULL, "QUINCE_PORT=1002", &e), QN_OK);
    assert_int_equal(s.port, 1002);
    assert_int_equal(read_with(&s, "--port=1003", "QUINCE_PORT=1002", &e), QN_OK);
    assert_int_equal(s.port, 1003);
    assert_int_equal(read_with(&s, "--insecure=false", NULL, &e), QN_OK);
    assert_false(s.insecure);
    assert_int_equal(read_with(&s, NULL, "QUINCE_API_KEY=x", &e), QN_OK);
    assert_int_equal(read_with(&s, NULL, "QUINCE_TEST_DATA=/x", &e), QN_OK);
    qn_settings_deinit(&s);
}

static void hubs(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    write_config("{}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_string_equal(s.hf_endpoint, "https://huggingface.co");
    assert_string_equal(s.modelscope_endpoint, "https://modelscope.cn");
    assert_int_equal(read_with(&s, NULL, "HF_ENDPOINT=https://hf-mirror.com/", &e), QN_OK);
    assert_string_equal(s.hf_endpoint, "https://hf-mirror.com");
    assert_int_equal(
        read_with(&s, "--hf-endpoint=http://h:1//", "HF_ENDPOINT=https://hf-mirror.com", &e),
        QN_OK);
    assert_string_equal(s.hf_endpoint, "http://h:1");
    qn_settings_deinit(&s);
}

static void folders(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    write_config("{}");
    assert_int_equal(read_with(&s, NULL, "HF_HOME=/f", &e), QN_OK);
    assert_string_equal(s.models_dir, "/f/hub"); /* where Hugging Face's programs have it */
    assert_null(s.extra_models_dir);
    assert_false(s.no_discovery);
    assert_int_equal(read_with(&s, "--models-dir=/m", "HF_HOME=/f", &e), QN_OK);
    assert_string_equal(s.models_dir, "/m");
    char *here = getcwd(NULL, 0), *below = qn_path_join(here, "m");
    assert_int_equal(read_with(&s, "--models-dir=m", NULL, &e), QN_OK);
    assert_string_equal(s.models_dir, below);
    free(below);
    free(here);
    assert_int_equal(read_with(&s, "--extra-models-dir=/a:/b", NULL, &e), QN_OK);
    assert_string_equal(s.extra_models_dir, "/a:/b");
    write_config("{\"extra-models-dir\": [\"/a\", \"/b c\"]}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_string_equal(s.extra_models_dir, "/a:/b c");
    assert_int_equal(read_with(&s, "--extra-models-dir=", NULL, &e), QN_OK);
    assert_string_equal(s.extra_models_dir, "");
    write_config("{\"extra-models-dir\": [\"/a:b\"]}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_EINVAL);
    write_config("{\"extra-models-dir\": [5]}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_EINVAL);
    qn_settings_deinit(&s);
}

/* A key of a remote model under a name that only settings may have now. */
static void a_variable_that_a_model_names(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    static const char text[] = "{\"quince_remote\": 1, \"key_env\": \"QUINCE_FAR_KEY\"}";
    char *folder = qn_path_join(dir, "remotes"), *file = qn_path_join(folder, "a.json");
    write_config("{}");
    assert_int_equal(read_with(&s, NULL, "QUINCE_FAR_KEY=x", &e), QN_EINVAL);
    assert_int_equal(qn_mkdirs(folder, 0700, NULL), QN_OK);
    assert_int_equal(read_with(&s, NULL, "QUINCE_FAR_KEY=x", &e), QN_EINVAL);
    assert_int_equal(qn_file_write_atomic(file, text, strlen(text), 0600, NULL), QN_OK);
    assert_int_equal(read_with(&s, NULL, "QUINCE_FAR_KEY=x", &e), QN_OK);
    assert_int_equal(read_with(&s, NULL, "QUINCE_FAR_KEYS=x", &e), QN_EINVAL);
    assert_int_equal(read_with(&s, NULL, "QUINCE_FAR_KE=x", &e), QN_EINVAL);
    /* The folder is the flag's, also while the variables, which name another, are read. */
    const char *const args[] = {"--data-dir", dir};
    const char *const env[] = {"QUINCE_DATA_DIR=/nowhere", "QUINCE_FAR_KEY=x", NULL};
    enum qn_settings_wish wish;
    qn_settings_deinit(&s);
    assert_int_equal(qn_settings_read(&s, 2, args, env, &wish, &e), QN_OK);
    assert_string_equal(s.data_dir, dir);
    unlink(file);
    rmdir(folder);
    free(file);
    free(folder);
    qn_settings_deinit(&s);
}

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const char *config, *flag, *env, *says;
    } rows[] = {
        {"{}", "--prot=1", NULL, "did you mean --port?"},
        {"{}", "--zzzzzzzzzz=1", NULL, "--zzzzzzzzzz is not a setting (see --help)"},
        {"{}", "--port=70000", NULL, "--port must be a whole number from 0 to 65535, not '70000'"},
        {"{}", "--port=-1", NULL, "from 0 to 65535"},
        {"{}", "--port=1e3", NULL, "from 0 to 65535"},
        {"{}", "--port", NULL, "--port needs a value"},
        {"{}", "port", NULL, "'port' is not understood"},
        {"{}", "--insecure=maybe", NULL, "must be true or false"},
        {"{}", "--host=", NULL, "must not be empty"},
        {"{}", "--log-level=loud", NULL, "critical, error, warn, info, debug or trace"},
        {"{}", "--cache-type=q5_1", NULL, "must be f16, q8_0, q4_0 or f32, not 'q5_1'"},
        {"{}", "--default-model-source=ollama", NULL, "'ollama' is not a hub"},
        {"{}", NULL, "QUINCE_PROT=1", "did you mean QUINCE_PORT?"},
        {"{}", NULL, "QUINCE_PORT=x", "QUINCE_PORT must be a whole number"},
        {"{\"prot\": 1}", NULL, NULL, "'prot' is not a setting; did you mean port"},
        {"{\"port\": \"1\"}", NULL, NULL, "port must be a number"},
        {"{\"port\": 1.5}", NULL, NULL, "whole number"},
        {"{\"data-dir\": \"/x\"}", NULL, NULL, "as a flag or in the environment"},
        {"[]", NULL, NULL, "must hold a JSON object"},
        {"{", NULL, NULL, "config.json: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_settings s = {0};
        struct qn_error e = {0};
        write_config(rows[i].config);
        qn_err err = read_with(&s, rows[i].flag, rows[i].env, &e);
        if (err == QN_OK || !strstr(e.message, rows[i].says))
            fail_msg("row %zu: error %d, message '%s'", i, err, e.message);
        qn_settings_deinit(&s);
    }
}

/* As in load requests. */
static void cache_types_in_either_case(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    write_config("{}");
    assert_int_equal(read_with(&s, "--cache-type=Q8_0", NULL, &e), QN_OK);
    assert_string_equal(s.cache_type, "Q8_0");
    qn_settings_deinit(&s);
}

static void wishes(void **state)
{
    (void)state;
    struct qn_settings s;
    enum qn_settings_wish wish;
    const char *help[] = {"--port", "--help"}, *version[] = {"--version"};
    assert_int_equal(qn_settings_read(&s, 2, help, NULL, &wish, NULL), QN_OK);
    assert_int_equal(wish, QN_WISH_HELP);
    qn_settings_deinit(&s);
    assert_int_equal(qn_settings_read(&s, 1, version, NULL, &wish, NULL), QN_OK);
    assert_int_equal(wish, QN_WISH_VERSION);
    qn_settings_deinit(&s);
    struct qn_buf text;
    qn_buf_init(&text, 65536);
    qn_settings_help(&text);
    assert_non_null(strstr(text.data, "--max-loaded-models LIMITS"));
    assert_non_null(strstr(text.data, "QUINCE_MAX_LOADED_MODELS"));
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 80);
    qn_buf_deinit(&text);
}

/* What has a form of its own in the file means the same as the flag's text. */
static void forms_of_their_own(void **state)
{
    (void)state;
    struct qn_settings s = {0};
    struct qn_error e = {0};
    write_config("{\"max-loaded-models\":{\"llm\":2,\"audio\":-1},\"preload\":[\"a\",\"b\"],"
                 "\"groups\":{\"g\":{\"members\":[\"x\"],\"swap\":false}},"
                 "\"auto-evict-threshold-pct\":0.85,\"extra-models-dir\":[\"/a\",\"/b c\"]}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_string_equal(s.max_loaded_models, "llm=2,audio=-1");
    assert_string_equal(s.preload, "a,b");
    assert_string_equal(s.groups, "{\"g\":{\"members\":[\"x\"],\"swap\":false}}");
    assert_string_equal(s.auto_evict_threshold, "0.85");
    assert_string_equal(s.extra_models_dir, "/a:/b c");
    write_config("{\"max-loaded-models\":3}");
    assert_int_equal(read_with(&s, NULL, NULL, &e), QN_OK);
    assert_string_equal(s.max_loaded_models, "3");
    assert_null(s.groups);
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"{\"max-loaded-models\":{\"llms\":2}}", "max-loaded-models.llms"},
        {"{\"max-loaded-models\":{\"llm\":65}}", "llm"},
        {"{\"max-loaded-models\":1.5}", "'1.5'"},
        {"{\"max-loaded-models\":[1]}", "must be a string"},
        {"{\"groups\":{\"g\":{}}}", "groups is wrong: g.members"},
        {"{\"groups\":[]}", "must be a string"},
        {"{\"preload\":[\"a,b\"]}", "preload[0]"},
        {"{\"preload\":[1]}", "preload[0]"},
        {"{\"auto-evict-threshold-pct\":90}", "at most 1"},
        {"{\"extra-models-dir\":[\"/a:b\"]}", "extra-models-dir[0]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_config(wrong[i].text);
        assert_int_equal(read_with(&s, NULL, NULL, &e), QN_EINVAL);
        if (!strstr(e.message, wrong[i].says))
            fail_msg("%s: %s", wrong[i].text, e.message);
    }
    write_config("{}");
    qn_settings_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_their_own),
        cmocka_unit_test(hubs),
        cmocka_unit_test(layers),
        cmocka_unit_test(folders),
        cmocka_unit_test(a_variable_that_a_model_names),
        cmocka_unit_test(complaints),
        cmocka_unit_test(cache_types_in_either_case),
        cmocka_unit_test(wishes),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
