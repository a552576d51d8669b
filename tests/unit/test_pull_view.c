/* router/downloads/pull_view.c and pull_order.c: the members that clients know, percents, speeds;
 * orders that come back from the catalog as they went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "downloads/pull_order.h"
#include "downloads/pull_view.h"

#include <string.h>

static struct qn_pull_view_file files[] = {
    {"a.gguf", "", 1000, 1000, 200, true},
    {"b.gguf", "", 3000, 1500, 0, false},
    {"c.gguf", "", 4000, 0, 0, false},
};

static struct qn_pull_view view(void)
{
    struct qn_pull_view v = {.id = "model:m",
                             .model = "m",
                             .status = "downloading",
                             .phase = "fetching",
                             .running = true,
                             .error = "",
                             .error_name = "",
                             .main_ref = "o/r:Q4_0",
                             .files = files,
                             .n = 3,
                             .rate_bytes_s = 500,
                             .created_s = 7,
                             .changed_s = 8};
    qn_pull_view_add_up(&v);
    return v;
}

static void expect(void (*write)(const struct qn_pull_view *v, struct qn_jw *w),
                   const struct qn_pull_view *v, const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 1 << 16);
    struct qn_jw w = qn_jw_to(&out);
    write(v, &w);
    assert_string_equal(qn_buf_cstr(&out), expected);
    qn_buf_deinit(&out);
}

static void second_file(const struct qn_pull_view *v, struct qn_jw *w)
{
    qn_jw_obj(w);
    qn_pull_view_progress(v, 1, w);
    qn_jw_obj_end(w);
}

/* 2500 of 8000 bytes; the rest takes 11 s at 500 bytes a second. */
static void what_clients_read(void **state)
{
    (void)state;
    struct qn_pull_view v = view();
    expect(second_file, &v,
           "{\"file\":\"b.gguf\",\"file_index\":2,\"total_files\":3,\"bytes_downloaded\":1500,"
           "\"bytes_total\":3000,\"bytes_previously_downloaded\":0,\"completed_files_bytes\":1000,"
           "\"percent\":50,\"cumulative_bytes_downloaded\":2500,\"overall_bytes_downloaded\":2500,"
           "\"total_download_size\":8000,\"total_percent\":31,\"bytes_per_second\":500,"
           "\"seconds_left\":11}");
    v.n = 0;
    qn_pull_view_add_up(&v);
    v.status = v.phase = "completed";
    v.running = false;
    expect(
        qn_pull_view_job, &v,
        "{\"id\":\"model:m\",\"type\":\"model\",\"model_name\":\"m\",\"checkpoint\":\"o/r:Q4_0\","
        "\"status\":\"completed\",\"phase\":\"completed\",\"running\":false,\"complete\":true,"
        "\"priority\":0,\"jobs_ahead\":0,\"created\":7,\"changed\":8,\"file\":\"\","
        "\"file_index\":0,\"total_files\":0,\"bytes_downloaded\":0,\"bytes_total\":0,"
        "\"bytes_previously_downloaded\":0,\"completed_files_bytes\":0,\"percent\":100,"
        "\"cumulative_bytes_downloaded\":0,\"overall_bytes_downloaded\":0,"
        "\"total_download_size\":0,\"total_percent\":0,\"bytes_per_second\":500,"
        "\"seconds_left\":0}");
}

static void unknown_sizes(void **state)
{
    (void)state;
    files[2].size_bytes = -1;
    struct qn_pull_view v = view();
    assert_int_equal(v.here_bytes, 2500);
    assert_true(v.total_bytes < 0);
    assert_true(qn_pull_view_left_s(&v) < 0);
    files[2].size_bytes = 4000;
    v = view();
    assert_int_equal(v.total_bytes, 8000);
    assert_int_equal(v.current, 1);
    v.rate_bytes_s = 0;
    assert_true(qn_pull_view_left_s(&v) < 0);
}

static void a_speed(void **state)
{
    (void)state;
    struct qn_pull_rate r = {0};
    qn_pull_rate_look(&r, 0, 1000);
    assert_true(r.bytes_s == 0);
    for (int i = 1; i <= 5; i++) /* steady from the beginning */
        qn_pull_rate_look(&r, 200 * i, 1000 + 200 * i);
    assert_true(r.bytes_s > 999 && r.bytes_s < 1001);
    qn_pull_rate_look(&r, 1000, 32000); /* half a minute of nothing */
    assert_true(r.bytes_s < 50);
    qn_pull_rate_look(&r, 0, 33000); /* it has begun anew */
    assert_true(r.bytes_s == 0);
}

static void orders(void **state)
{
    (void)state;
    struct qn_arena *a = qn_arena_new(1 << 16);
    struct qn_buf text;
    struct qn_pull_order back,
        o = {.model = "user.\"x\"",
             .recipe = "llamacpp",
             .source = "",
             .mmproj = "auto",
             .labels = "[\"custom\",\"vision\"]",
             .extras = "{\"image_defaults\":{\"steps\":4}}",
             .options = "",
             .local = true,
             .checkpoints = {{"main", "o/r:Q4_0"}, {"vae", "o/s:v.safetensors"}},
             .n = 2};
    qn_buf_init(&text, QN_PULL_ORDER_MAX);
    qn_pull_order_write(&o, &text);
    assert_int_equal(qn_pull_order_read(qn_buf_cstr(&text), a, &back, NULL), QN_OK);
    assert_string_equal(back.model, o.model);
    assert_string_equal(back.recipe, o.recipe);
    assert_string_equal(back.labels, o.labels);
    assert_string_equal(back.extras, o.extras);
    assert_string_equal(back.options, "");
    assert_true(qn_pull_order_same(&o, &back));
    assert_string_equal(back.checkpoints[1].role, "vae");
    back.labels = "[]"; /* not what is downloaded */
    assert_true(qn_pull_order_same(&o, &back));
    back.checkpoints[1].ref = "o/s:w.safetensors";
    assert_false(qn_pull_order_same(&o, &back));
    struct qn_error e = {0};
    assert_int_equal(qn_pull_order_read("{\"model\":3}", a, &back, &e), QN_EINVAL);
    assert_int_equal(qn_pull_order_read("[", a, &back, &e), QN_EFORMAT);
    qn_buf_deinit(&text);
    qn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_clients_read),
        cmocka_unit_test(unknown_sizes),
        cmocka_unit_test(a_speed),
        cmocka_unit_test(orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
