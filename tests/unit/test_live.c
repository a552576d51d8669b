/* router/settings/live.c: what config.json becomes, and in which order changes are made. */
#include "config_dir.h"

#include "settings/live.h"

static struct qn_error e;

/* What `old` becomes with the changes, compared with `wanted`; NULL: an error. */
static void merge(const char *old, const char *changes, const char *wanted)
{
    struct qn_json *doc;
    struct qn_settings with;
    struct qn_buf out;
    assert_int_equal(qn_json_parse(changes, strlen(changes), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_settings_presets(&with);
    assert_int_equal(qn_settings_take(&with, &root, &e), QN_OK);
    qn_buf_init(&out, 4096);
    qn_err err = qn_live_merge(old, &root, &with, &out, &e);
    if (wanted)
        assert_string_equal(qn_buf_cstr(&out), wanted);
    else
        assert_int_equal(err, QN_ECONFLICT);
    qn_buf_deinit(&out);
    qn_settings_deinit(&with);
    qn_json_free(doc);
}

static void merging(void **state)
{
    (void)state;
    merge("", "{}", "{}\n");
    merge("", "{\"idle\": 5}", "{\n  \"idle\": 5\n}\n");
    merge("{\"idle\":1,\"port\":8}", "{\"idle\": 5}", "{\n  \"port\": 8,\n  \"idle\": 5\n}\n");
    /* Values are written as the file takes them, however the request wrote them. */
    merge("",
          "{\"log_level\": \"debug\", \"idle\": \"60\", \"offline\": \"1\", \"ollama.port\": 5}",
          "{\n  \"log-level\": \"debug\",\n  \"idle\": 60,\n  \"offline\": true,\n"
          "  \"ollama-port\": 5\n}\n");
    merge("{\"log_level\":\"warn\"}", "{\"log-level\": null}", "{}\n");
    merge("{\"listen\":[{\"port\":8080,\"profile\":\"auto\"}]}", "{\"idle\": 1}",
          "{\n  \"listen\": [{\"port\":8080,\"profile\":\"auto\"}],\n  \"idle\": 1\n}\n");
    /* What it does not know stays: a newer quince may have written it. */
    merge("{\"from the future\":[1]}", "{}", "{\n  \"from the future\": [1]\n}\n");
    merge("{", "{\"idle\": 5}", NULL);
}

static void names(void **state)
{
    (void)state;
    struct qn_setting about;
    size_t i, k;
    for (i = 0; qn_setting_at(i, &about); i++) {
        char other[64];
        size_t n = strlen(about.name) + 1;
        memcpy(other, about.name, n);
        assert_true(qn_setting_find(other, &k) && k == i);
        for (char *p = other; *p; p++)
            *p = *p == '-' ? '_' : *p;
        assert_true(qn_setting_find(other, &k) && k == i);
    }
    assert_false(qn_setting_find("", &k));
    assert_false(qn_setting_find("log level", &k));
    assert_false(qn_setting_find("log-levels", &k));
    assert_false(qn_setting_find("log", &k));
    assert_int_equal(qn_setting_unknown("log-levle", "the request", &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "log-level"));
}

/* Copying one by one gives the same settings. */
static void copies(void **state)
{
    (void)state;
    static const char text[] = "{\"log-level\": \"debug\", \"idle\": 7, \"offline\": true}";
    struct qn_json *doc;
    struct qn_settings a, b;
    struct qn_setting about;
    int differ = 0;
    assert_int_equal(qn_json_parse(text, strlen(text), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_settings_presets(&a);
    qn_settings_presets(&b);
    assert_int_equal(qn_settings_take(&a, &root, &e), QN_OK);
    for (size_t i = 0; qn_setting_at(i, &about); i++) {
        differ += !qn_setting_same(&a, &b, i);
        qn_setting_copy(&b, &a, i);
        assert_true(qn_setting_same(&a, &b, i));
        assert_int_equal(a.from[i], b.from[i]);
    }
    assert_int_equal(differ, 3);
    assert_string_equal(b.log_level, "debug");
    qn_settings_deinit(&a);
    assert_string_equal(b.log_level, "debug");
    qn_settings_deinit(&b);
    qn_json_free(doc);
}

/* ---- one after the other ---- */

static const char *args[] = {"--data-dir", dir};
static struct qn_loop *loop;
static struct qn_settings running;
static struct qn_live *live;
static char told[16]; /* one letter per change that is over, capital: it was refused */
static int applied;

static void apply(void *ctx)
{
    (void)ctx;
    applied++;
}

static void over(void *ctx, const struct qn_error *why)
{
    size_t n = strlen(told);
    told[n] = *(const char *)ctx;
    if (why)
        told[n] = (char)(told[n] - 'a' + 'A');
    if (!qn_live_busy(live))
        qn_loop_stop(loop);
}

static void config_is(const char *wanted)
{
    char *path = qn_path_join(dir, "config.json");
    struct qn_buf text;
    qn_buf_init(&text, 4096);
    assert_int_equal(qn_file_read(path, &text, &e), QN_OK);
    assert_string_equal(qn_buf_cstr(&text), wanted);
    qn_buf_deinit(&text);
    free(path);
}

static void set(const char *changes, bool keep, const char *name)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(changes, strlen(changes), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_live_set(live, &root, keep, over, (void *)(uintptr_t)name);
    qn_json_free(doc);
}

static void begin(const char *config)
{
    enum qn_settings_wish wish;
    memset(told, 0, sizeof told);
    applied = 0;
    write_config(config);
    assert_int_equal(qn_settings_read(&running, 2, args, NULL, &wish, &e), QN_OK);
    assert_int_equal(qn_loop_new(&loop, &e), QN_OK);
    live = qn_live_new(&(struct qn_live_config){
        .loop = loop, .running = &running, .layers = {.n_args = 2, .args = args}, .apply = apply});
}

static void end(void)
{
    qn_live_stop(live);
    qn_loop_free(loop);
    qn_live_free(live);
    qn_settings_deinit(&running);
}

/* What is read again after a change was asked for is not replaced by what that change had read. */
static void reading_again_waits_for_its_turn(void **state)
{
    (void)state;
    begin("{\"idle\": 1}");
    set("{\"drain\": 7}", false, "a");
    write_config("{\"idle\": 2}");
    qn_live_reload(live, over, "b");
    set("{\"drain\": 8, \"slots\": 3}", true, "c");
    set("{\"port\": 8, \"slots\": -1}", true, "d");
    assert_string_equal(told, ""); /* no listener is called from within */
    qn_loop_run(loop);
    assert_string_equal(told, "abcD");
    assert_int_equal(applied, 3);
    assert_int_equal(running.idle_s, 2);
    assert_int_equal(running.drain_s, 8);
    assert_int_equal(running.slots, 3);
    config_is("{\n  \"idle\": 2,\n  \"drain\": 8,\n  \"slots\": 3\n}\n");
    write_config("{\"idle\": \"soon\"}");
    qn_live_reload(live, over, "e");
    qn_loop_run(loop);
    assert_string_equal(told, "abcDE");
    assert_int_equal(running.idle_s, 2);
    end();
}

/* What was asked for before the server was told to stop is done; later, refused. */
static void draining(void **state)
{
    (void)state;
    begin("{}");
    set("{\"idle\": 5}", true, "a");
    qn_live_drain(live);
    set("{\"idle\": 6}", true, "b");
    qn_live_reload(live, over, "c");
    qn_loop_run(loop);
    assert_string_equal(told, "aBC");
    assert_false(qn_live_busy(live));
    assert_int_equal(running.idle_s, 5);
    config_is("{\n  \"idle\": 5\n}\n");
    end();
}

/* A server that ends at once: what a worker has begun is written, the rest refused, all are told.
 */
static void ending_at_once(void **state)
{
    (void)state;
    begin("{}");
    set("{\"idle\": 5}", true, "a");
    set("{\"idle\": 6}", true, "b");
    qn_live_reload(live, over, "c");
    set("{\"idle\": 7}", false, "d");
    end();
    assert_string_equal(told, "BCDa");
    config_is("{\n  \"idle\": 5\n}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging),  cmocka_unit_test(names),
        cmocka_unit_test(copies),   cmocka_unit_test(reading_again_waits_for_its_turn),
        cmocka_unit_test(draining), cmocka_unit_test(ending_at_once),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
