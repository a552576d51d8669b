/* Named tensors of a GGUF made here byte by byte: shapes reversed, sizes checked against the file,
 * metadata with its types and ranges; and the views, scratch and device that tensors live in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "engine/ops.h"
#include "engine/scratch.h"
#include "engine/weights.h"

static struct qn_device *dev;
static struct qn_buf file;

static void u32(uint32_t v)
{
    qn_buf_add(&file, &v, 4);
}

static void u64(uint64_t v)
{
    qn_buf_add(&file, &v, 8);
}

static void str(const char *s)
{
    u64(strlen(s));
    qn_buf_str(&file, s);
}

static void tensor(const char *name, uint32_t type, uint64_t ne0, uint64_t ne1, uint64_t offset)
{
    str(name);
    u32(2);
    u64(ne0);
    u64(ne1);
    u32(type);
    u64(offset);
}

/* Metadata of each kind, four good tensors and three bad ones. The data section holds 4096 bytes.
 */
static void make_file(void)
{
    qn_buf_clear(&file);
    qn_buf_str(&file, "GGUF");
    u32(3);
    u64(7);
    u64(4);
    str("llama.block_count"), u32(4), u32(22); /* u32 */
    str("llama.eps"), u32(6), u32(0x3f000000); /* f32 0.5 */
    str("general.architecture"), u32(8), str("llama");
    str("llama.flag"), u32(7), qn_buf_char(&file, 1); /* bool */
    tensor("f32.0", 0, 4, 3, 0);
    tensor("q8.1", 8, 64, 2, 64);
    tensor("q4k", 12, 256, 2, 256);
    tensor("odd", 8, 40, 2, 0);      /* 40 is no multiple of 32 */
    tensor("beyond", 0, 1024, 2, 0); /* 8192 bytes */
    tensor("strange", 9, 256, 1, 0); /* Q8_1 */
    tensor("last", 0, 1024, 1, 0);   /* exactly all there is */
    while (file.len % 32)
        qn_buf_char(&file, 0);
    for (int i = 0; i < 1024; i++) {
        float f = (float)i;
        qn_buf_add(&file, &f, 4);
    }
}

static struct qn_weights *open_file(void)
{
    struct qn_gguf *g;
    struct qn_weights *w;
    struct qn_error e;
    if (qn_gguf_parse(file.data, file.len, &g, &e))
        fail_msg("%s", e.message);
    assert_int_equal(qn_weights_from_gguf(&w, g, &e), QN_OK);
    return w;
}

static void test_tensors(void **state)
{
    struct qn_weights *w = open_file();
    struct qn_tensor t;
    struct qn_error e;
    float x[12];
    (void)state;
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "f32.%d", 0), QN_OK);
    assert_int_equal(t.dtype, QN_F32);
    assert_int_equal(t.ndim, 2);
    assert_int_equal(t.shape[0], 3); /* outermost first */
    assert_int_equal(t.shape[1], 4);
    assert_int_equal(qn_read(dev, x, &t), QN_OK);
    for (int i = 0; i < 12; i++)
        assert_true(x[i] == (float)i);
    assert_int_equal(qn_weights_expect(&t, "f32.0", &e, QN_SHAPE(3, 4)), QN_OK);
    assert_int_equal(qn_weights_expect(&t, "f32.0", &e, QN_SHAPE(4, 3)), QN_EFORMAT);
    assert_non_null(strstr(e.message, "[3, 4]"));
    assert_non_null(strstr(e.message, "[4, 3]"));
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "q8.1"), QN_OK);
    assert_int_equal(qn_tensor_bytes(&t), 4 * 34);
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "last"), QN_OK);

    assert_true(qn_weights_has(w, "q%d.1", 8));
    assert_false(qn_weights_has(w, "q9.1"));
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "q9.1"), QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "q9.1"));
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "odd"), QN_EFORMAT);
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "beyond"), QN_EFORMAT);
    assert_non_null(strstr(e.message, "beyond"));
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "strange"), QN_EUNSUPPORTED);
    assert_non_null(strstr(e.message, "Q8_1"));
    qn_weights_close(w);
}

static void test_prepare(void **state)
{
    struct qn_weights *w = open_file();
    struct qn_tensor t, raw;
    struct qn_error e;
    (void)state;
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "q4k"), QN_OK);
    raw = t;
    assert_int_equal(qn_weights_prepare(w, dev, &t, &e), QN_OK);
    assert_true(t.mem != raw.mem && t.mem->layout != 0);
    assert_true(qn_tensor_same_shape(&t, &raw));
    int64_t bytes = qn_weights_prepared_bytes(w);
    assert_true(bytes >= 2 * 144);
    assert_int_equal(qn_weights_get(w, dev, &t, &e, "f32.0"), QN_OK);
    raw = t;
    assert_int_equal(qn_weights_prepare(w, dev, &t, &e), QN_OK);
    assert_true(t.mem == raw.mem && t.offset == raw.offset); /* no copy of what can be read there */
    assert_int_equal(qn_weights_prepared_bytes(w), bytes + 4 * 12);
    assert_int_equal(qn_weights_parameters(w), 12 + 128 + 512 + 80 + 2048 + 256 + 1024);
    qn_weights_close(w);
}

static void test_metadata(void **state)
{
    struct qn_weights *w = open_file();
    struct qn_error e;
    uint32_t u = 9;
    float f = 9;
    bool b = false;
    const char *s = NULL;
    (void)state;
    assert_int_equal(qn_weights_u32(w, "llama.block_count", &u, &e), QN_OK);
    assert_int_equal(u, 22);
    assert_int_equal(qn_weights_f32(w, "llama.eps", &f, &e), QN_OK);
    assert_true(f == 0.5f);
    assert_int_equal(qn_weights_bool_opt(w, "llama.flag", &b, &e), QN_OK);
    assert_true(b);
    assert_int_equal(qn_weights_str(w, "general.architecture", &s, &e), QN_OK);
    assert_string_equal(s, "llama");
    assert_int_equal(qn_weights_u32(w, "absent", &u, &e), QN_ENOTFOUND);
    assert_int_equal(qn_weights_u32_opt(w, "absent", &u, &e), QN_OK);
    assert_int_equal(qn_weights_f32_opt(w, "absent", &f, &e), QN_OK);
    assert_int_equal(qn_weights_str_opt(w, "absent", &s, &e), QN_OK);
    assert_true(u == 22 && f == 0.5f);
    assert_int_equal(qn_weights_u32(w, "general.architecture", &u, &e), QN_EFORMAT);
    assert_int_equal(qn_weights_str(w, "llama.eps", &s, &e), QN_EFORMAT);
    qn_weights_close(w);
}

static void test_views(void **state)
{
    struct qn_tensor t = qn_tensor_make(QN_F32, 3, (int64_t[]){2, 3, 4}, NULL, 100), s, r;
    char text[64];
    (void)state;
    assert_int_equal(t.stride[0], 48);
    assert_int_equal(t.stride[2], 4);
    assert_true(qn_tensor_contiguous(&t));
    s = qn_tensor_slice(&t, 1, 1, 2);
    assert_int_equal(s.offset, 116);
    assert_false(qn_tensor_contiguous(&s));
    assert_int_equal(qn_tensor_elements(&s), 16);
    r = qn_tensor_reshape(&t, 2, (int64_t[]){6, 4});
    assert_int_equal(r.stride[0], 16);
    qn_tensor_describe(&t, text, sizeof text);
    assert_string_equal(text, "[2, 3, 4] F32");
    t = qn_tensor_make(QN_Q4_K, 2, (int64_t[]){2, 512}, NULL, 0);
    assert_int_equal(t.stride[0], 288);
    assert_int_equal(qn_tensor_slice(&t, 1, 256, 256).offset, 144);
    assert_int_equal(qn_tensor_bytes(&t), 576);
}

static void test_scratch(void **state)
{
    struct qn_scratch *s;
    struct qn_error e;
    (void)state;
    assert_int_equal(qn_scratch_need(QN_F32, 17), 128);
    assert_int_equal(qn_scratch_new(dev, 256, &s, &e), QN_OK);
    size_t mark = qn_scratch_mark(s);
    struct qn_tensor a = qn_scratch_tensor(s, QN_F32, QN_SHAPE(17));
    struct qn_tensor b = qn_scratch_tensor(s, QN_F32, QN_SHAPE(32));
    assert_int_equal(a.offset, 0);
    assert_int_equal(b.offset, 128);
    qn_scratch_reset(s, mark);
    assert_int_equal(qn_scratch_tensor(s, QN_F32, QN_SHAPE(1)).offset, 0);
    assert_int_equal(qn_scratch_peak(s), 256);
    qn_scratch_free(s);
}

static void test_device(void **state)
{
    struct qn_error e;
    struct qn_device *d;
    (void)state;
    assert_int_equal(qn_device_threads(dev), 2);
    qn_device_set_threads(dev, 3);
    assert_int_equal(qn_device_threads(dev), 3);
    qn_device_set_threads(dev, 0);
    assert_int_equal(qn_device_threads(dev), 1);
    qn_device_set_threads(dev, 2);
    assert_int_equal(qn_device_cpu_new(0, &d, &e), QN_EINVAL);
}

static int setup(void **state)
{
    struct qn_error e;
    (void)state;
    qn_buf_init(&file, 1 << 20);
    make_file();
    return qn_device_cpu_new(2, &dev, &e) != QN_OK;
}

static int teardown(void **state)
{
    (void)state;
    qn_device_free(dev);
    qn_buf_deinit(&file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),  cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_metadata), cmocka_unit_test(test_views),
        cmocka_unit_test(test_scratch),  cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
