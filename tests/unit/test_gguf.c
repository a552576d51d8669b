/* The GGUF reader over files that are written here byte by byte. */
#include "base/buf.h"
#include "base/path.h"
#include "formats/gguf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct qn_buf b; /* the file under construction */

static void u32(uint32_t v)
{
    assert_int_equal(qn_buf_add(&b, &v, sizeof v), QN_OK);
}

static void u64(uint64_t v)
{
    assert_int_equal(qn_buf_add(&b, &v, sizeof v), QN_OK);
}

static void bytes(const void *p, size_t n)
{
    assert_int_equal(qn_buf_add(&b, p, n), QN_OK);
}

static void str(const char *s)
{
    u64(strlen(s));
    bytes(s, strlen(s));
}

static void start(uint32_t version, uint64_t tensors, uint64_t kvs)
{
    qn_buf_deinit(&b);
    qn_buf_init(&b, 1 << 24);
    bytes("GGUF", 4);
    u32(version);
    u64(tensors);
    u64(kvs);
}

static void kv(const char *key, uint32_t type)
{
    str(key);
    u32(type);
}

static void kv_u32(const char *key, uint32_t v)
{
    kv(key, QN_GGUF_U32);
    u32(v);
}

static void tensor(const char *name, uint64_t ne0, uint64_t ne1, uint64_t offset)
{
    str(name);
    u32(2);
    u64(ne0);
    u64(ne1);
    u32(0);
    u64(offset);
}

static void pad(size_t align)
{
    while (b.len % align != 0) {
        bytes("", 1);
    }
}

/* Every value type, two arrays and two tensors of 8 floats. */
static void build_good(uint32_t version)
{
    start(version, 2, 15);
    kv("u8", QN_GGUF_U8), bytes("\xff", 1);
    kv("i8", QN_GGUF_I8), bytes("\xff", 1);
    kv("u16", QN_GGUF_U16), bytes("\xff\xff", 2);
    kv("i16", QN_GGUF_I16), bytes("\xff\xff", 2);
    kv("u32", QN_GGUF_U32), u32(UINT32_MAX);
    kv("i32", QN_GGUF_I32), u32(UINT32_MAX);
    kv("u64", QN_GGUF_U64), u64(UINT64_MAX);
    kv("i64", QN_GGUF_I64), u64(UINT64_MAX);
    kv("f32", QN_GGUF_F32), bytes(&(float){1.5f}, 4);
    kv("f64", QN_GGUF_F64), bytes(&(double){-0.1}, 8);
    kv("yes", QN_GGUF_BOOL), bytes("\1", 1);
    kv("name", QN_GGUF_STRING), str("quince \xc3\xa4");
    kv("words", QN_GGUF_ARRAY), u32(QN_GGUF_STRING), u64(3), str("a"), str(""), str("ccc");
    kv("numbers", QN_GGUF_ARRAY), u32(QN_GGUF_I32), u64(2), u32(7), u32((uint32_t)-8);
    kv("none", QN_GGUF_ARRAY), u32(QN_GGUF_STRING), u64(0);
    tensor("a.weight", 4, 2, 0);
    tensor("b.weight", 8, 1, 32);
    pad(32);
    for (int i = 0; i < 16; i++) {
        bytes(&(float){(float)i}, 4);
    }
}

/* A copy of exactly n bytes, so that the sanitizer sees a read past them. */
static qn_err parse_prefix(size_t n, struct qn_gguf **g, struct qn_error *e, void **copy)
{
    *copy = malloc(n ? n : 1);
    memcpy(*copy, b.data, n);
    return qn_gguf_parse(*copy, n, g, e);
}

static void assert_fails(qn_err code, const char *message)
{
    struct qn_gguf *g = NULL;
    struct qn_error e = {0};
    void *copy;
    qn_err err = parse_prefix(b.len, &g, &e, &copy);
    if (err != code || strstr(e.message, message) == NULL) {
        fail_msg("got %s \"%s\", expected %s \"%s\"", qn_err_name(err), e.message,
                 qn_err_name(code), message);
    }
    assert_null(g);
    free(copy);
}

static void reads_every_type(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        build_good(version);
        struct qn_gguf *g;
        struct qn_error e = {0};
        assert_int_equal(qn_gguf_parse(b.data, b.len, &g, &e), QN_OK);
        assert_int_equal(qn_gguf_version(g), version);
        assert_int_equal(qn_gguf_file_bytes(g), b.len);
        assert_ptr_equal(qn_gguf_data(g), b.data);
        assert_int_equal(qn_gguf_kv_count(g), 15);
        assert_memory_equal(qn_gguf_kv_key(g, 12).s, "words", 5);
        static const struct {
            const char *key;
            int64_t value;
        } integers[] = {{"u8", 255}, {"i8", -1},  {"u16", 65535},     {"i16", -1},
                        {"i32", -1}, {"i64", -1}, {"u32", UINT32_MAX}};
        for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
            int64_t v;
            assert_int_equal(qn_gguf_i64(g, integers[i].key, INT64_MIN, INT64_MAX, &v, &e), QN_OK);
            assert_int_equal(v, integers[i].value);
        }
        int64_t v = 42;
        assert_int_equal(qn_gguf_i64(g, "u64", 0, INT64_MAX, &v, &e), QN_EFORMAT);
        assert_int_equal(qn_gguf_i64(g, "u8", 0, 254, &v, &e), QN_EFORMAT);
        assert_string_equal(e.message, "metadata u8: 255 is not within 0 to 254");
        assert_int_equal(qn_gguf_i64(g, "f32", 0, 254, &v, &e), QN_EFORMAT);
        assert_int_equal(qn_gguf_i64(g, "llama.block_count", 0, 9, &v, &e), QN_ENOTFOUND);
        assert_string_equal(e.message, "metadata key llama.block_count is missing");
        assert_int_equal(v, 42);
        double d;
        assert_int_equal(qn_gguf_f64(g, "f32", &d, &e), QN_OK);
        assert_true(d == 1.5);
        assert_int_equal(qn_gguf_f64(g, "f64", &d, &e), QN_OK);
        assert_true(d == -0.1);
        assert_int_equal(qn_gguf_f64(g, "u8", &d, &e), QN_EFORMAT);
        assert_int_equal(qn_gguf_f64(g, "x", &d, &e), QN_ENOTFOUND);
        bool yes = false;
        assert_int_equal(qn_gguf_bool(g, "yes", &yes, &e), QN_OK);
        assert_true(yes);
        assert_int_equal(qn_gguf_bool(g, "u8", &yes, &e), QN_EFORMAT);
        assert_int_equal(qn_gguf_bool(g, "x", &yes, &e), QN_ENOTFOUND);
        struct qn_gguf_str s;
        assert_int_equal(qn_gguf_str(g, "name", &s, &e), QN_OK);
        assert_int_equal(s.n, 9);
        assert_memory_equal(s.s, "quince \xc3\xa4", 9);
        assert_int_equal(qn_gguf_str(g, "words", &s, &e), QN_EFORMAT);
        assert_string_equal(e.message, "metadata words: expected a string, it is an array");
        assert_int_equal(qn_gguf_str(g, "x", &s, &e), QN_ENOTFOUND);
        enum qn_gguf_type item;
        size_t count;
        assert_int_equal(qn_gguf_array(g, "words", &item, &count, &e), QN_OK);
        assert_int_equal(item, QN_GGUF_STRING);
        assert_int_equal(count, 3);
        assert_int_equal(qn_gguf_array_str(g, "words", 2).n, 3);
        assert_memory_equal(qn_gguf_array_str(g, "words", 2).s, "ccc", 3);
        assert_int_equal(qn_gguf_array_str(g, "words", 1).n, 0);
        assert_memory_equal(qn_gguf_array_str(g, "words", 0).s, "a", 1);
        assert_int_equal(qn_gguf_array(g, "numbers", &item, &count, &e), QN_OK);
        assert_int_equal(item, QN_GGUF_I32);
        assert_int_equal(count, 2);
        int32_t numbers[2];
        memcpy(numbers, qn_gguf_array_raw(g, "numbers"), sizeof numbers);
        assert_int_equal(numbers[1], -8);
        assert_int_equal(qn_gguf_array(g, "none", &item, &count, &e), QN_OK);
        assert_int_equal(count, 0);
        assert_int_equal(qn_gguf_array(g, "u8", &item, &count, &e), QN_EFORMAT);
        assert_int_equal(qn_gguf_array(g, "x", &item, &count, &e), QN_ENOTFOUND);
        assert_true(qn_gguf_has(g, "u8"));
        assert_false(qn_gguf_has(g, "u9"));
        assert_int_equal(qn_gguf_kv_type(g, "none"), QN_GGUF_ARRAY);

        assert_int_equal(qn_gguf_tensor_count(g), 2);
        const struct qn_gguf_tensor *t = qn_gguf_tensor_find(g, "b.weight");
        assert_ptr_equal(t, qn_gguf_tensor_at(g, 1));
        assert_int_equal(t->ndim, 2);
        assert_int_equal(t->ne[0], 8);
        assert_int_equal(t->ne[1], 1);
        assert_int_equal(t->ne[3], 1);
        assert_int_equal(t->max_bytes, 32);
        float f;
        memcpy(&f, t->data, sizeof f);
        assert_true(f == 8.0f);
        assert_int_equal(qn_gguf_tensor_at(g, 0)->max_bytes, 64);
        assert_null(qn_gguf_tensor_find(g, "c.weight"));
        qn_gguf_close(g);
    }
}

static void cut_anywhere_is_an_error_or_a_whole_table(void **state)
{
    (void)state;
    build_good(3);
    size_t data_end = b.len;
    for (size_t n = 0; n < data_end; n++) {
        struct qn_gguf *g = NULL;
        struct qn_error e = {0};
        void *copy;
        qn_err err = parse_prefix(n, &g, &e, &copy);
        if (err == QN_OK) { /* only the last tensor's own bytes are short: its reader sees that */
            assert_true(n > data_end - 32);
            assert_int_equal(qn_gguf_tensor_at(g, 1)->max_bytes, n - (data_end - 32));
        } else {
            assert_int_equal(err, QN_EFORMAT);
            assert_true(e.message[0] != '\0');
        }
        qn_gguf_close(g);
        free(copy);
    }
}

static void refuses_bad_headers(void **state)
{
    (void)state;
    start(3, 0, 0);
    b.data[0] = 'g';
    assert_fails(QN_EFORMAT, "not a GGUF file");
    start(1, 0, 0);
    assert_fails(QN_EUNSUPPORTED, "GGUF version 1");
    start(4, 0, 0);
    assert_fails(QN_EUNSUPPORTED, "GGUF version 4");
    start(0x03000000, 0, 0);
    assert_fails(QN_EUNSUPPORTED, "big-endian");
    start(3, 0, UINT64_C(1) << 63);
    assert_fails(QN_ELIMIT, "9223372036854775808 metadata entries, at most 65536");
    start(3, UINT64_C(1) << 63, 0);
    assert_fails(QN_ELIMIT, "9223372036854775808 tensors, at most 65536");
    start(3, 0, 65536);
    assert_fails(QN_EFORMAT, "65536 metadata entries do not fit");
    start(3, 65536, 0);
    assert_fails(QN_EFORMAT, "65536 tensors do not fit");
}

static void refuses_bad_metadata(void **state)
{
    (void)state;
    start(3, 0, 1), u64(70000), pad(65536), pad(65536 * 2);
    assert_fails(QN_ELIMIT, "metadata 0: key of 70000 bytes, at most 65535");
    start(3, 0, 1), u64(UINT64_MAX), pad(64);
    assert_fails(QN_ELIMIT, "metadata 0: key of 18446744073709551615 bytes");
    start(3, 0, 1), u64(1000), pad(64);
    assert_fails(QN_EFORMAT, "metadata 0: the file ends too early");
    start(3, 0, 1), kv("", QN_GGUF_U32), pad(64);
    assert_fails(QN_EFORMAT, "metadata 0: the key is empty");
    start(3, 0, 1), kv("x", 13), pad(64);
    assert_fails(QN_EFORMAT, "metadata x: unknown value type 13");
    start(3, 0, 1), kv("x", QN_GGUF_BOOL), bytes("\2", 1);
    assert_fails(QN_EFORMAT, "metadata x: a bool of 2");
    start(3, 0, 1), kv("x", QN_GGUF_STRING), u64(QN_GGUF_STRING_MAX + 1ull), pad(64);
    assert_fails(QN_ELIMIT, "metadata 0: string of 16777217 bytes");
    start(3, 0, 1), kv("x", QN_GGUF_STRING), u64(9), bytes("12345678", 8);
    assert_fails(QN_EFORMAT, "metadata 0: the file ends too early");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(QN_GGUF_ARRAY), u64(1), u32(0), u64(1), pad(64);
    assert_fails(QN_EUNSUPPORTED, "metadata x: arrays of arrays are not supported");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(99), u64(1), pad(64);
    assert_fails(QN_EFORMAT, "metadata x: unknown array item type 99");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(QN_GGUF_U64), u64(UINT64_C(1) << 61), pad(64);
    assert_fails(QN_ELIMIT, "metadata x: array of 2305843009213693952 items, at most 16777216");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(QN_GGUF_U64), u64(3), u64(0), u64(0);
    assert_fails(QN_EFORMAT, "metadata 0: the file ends too early");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(QN_GGUF_STRING), u64(2), u64(3),
        bytes("abcd1234", 8);
    assert_fails(QN_EFORMAT, "metadata 0: the file ends too early");
    start(3, 0, 1), kv("x", QN_GGUF_ARRAY), u32(QN_GGUF_STRING), u64(1), u64(1 << 25), pad(64);
    assert_fails(QN_ELIMIT, "metadata 0: array string of 33554432 bytes");
    start(3, 0, 2), kv_u32("x", 1), kv_u32("x", 1);
    assert_fails(QN_EFORMAT, "metadata 1: the key x occurs twice");
}

static void refuses_bad_tensors(void **state)
{
    (void)state;
    start(3, 1, 0), u64(256), pad(512);
    assert_fails(QN_ELIMIT, "tensor 0: name of 256 bytes, at most 255");
    start(3, 1, 0), tensor("", 1, 1, 0), pad(64);
    assert_fails(QN_EFORMAT, "tensor 0: the name is empty");
    for (uint32_t ndim = 0; ndim <= 5; ndim += 5) {
        start(3, 1, 0), str("t"), u32(ndim), pad(256);
        assert_fails(QN_EFORMAT, ndim == 0 ? "tensor t: 0 dimensions" : "tensor t: 5 dimensions");
    }
    start(3, 1, 0), tensor("t", 4, 0, 0), pad(64);
    assert_fails(QN_EFORMAT, "tensor t: dimension 1 is 0");
    start(3, 1, 0), tensor("t", UINT64_C(1) << 32, UINT64_C(1) << 31, 0), pad(64);
    assert_fails(QN_EFORMAT, "tensor t: the product of its dimensions overflows");
    start(3, 1, 0), tensor("t", UINT64_MAX, 1, 0), pad(64);
    assert_fails(QN_EFORMAT, "overflows");
    start(3, 1, 0), tensor("t", 1, 1, 33), pad(256);
    assert_fails(QN_EFORMAT, "tensor t: offset 33 is not a multiple of 32");
    start(3, 1, 0), tensor("t", 1, 1, 0), pad(32);
    assert_fails(QN_EFORMAT, "tensor t: begins at byte 0 of the data, which has 0");
    start(3, 1, 0), tensor("t", 1, 1, UINT64_MAX - 31), pad(64), u64(0);
    assert_fails(QN_EFORMAT, "tensor t: begins at byte 18446744073709551584");
    start(3, 2, 0), tensor("t", 1, 1, 0), tensor("t", 1, 1, 0), pad(32), u64(0);
    assert_fails(QN_EFORMAT, "tensor 1: the name t occurs twice");
}

static void checks_the_alignment(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0, 4, 12, 24, 2 * 1024 * 1024, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start(3, 0, 1), kv_u32("general.alignment", bad[i]);
        assert_fails(QN_EFORMAT, "general.alignment");
    }
    start(3, 1, 1), kv_u32("general.alignment", 128), tensor("t", 2, 1, 128), pad(128);
    size_t data = b.len;
    pad(128), u64(0), pad(128), u64(0x1122334455667788), u64(5);
    struct qn_gguf *g;
    struct qn_error e = {0};
    assert_int_equal(qn_gguf_parse(b.data, b.len, &g, &e), QN_OK);
    assert_ptr_equal(qn_gguf_tensor_at(g, 0)->data, b.data + data + 128);
    assert_int_equal(qn_gguf_tensor_at(g, 0)->max_bytes, 16);
    qn_gguf_close(g);
    /* Without tensors nothing lies behind the table, not even padding. */
    start(3, 0, 0);
    assert_int_equal(qn_gguf_parse(b.data, b.len, &g, &e), QN_OK);
    qn_gguf_close(g);
}

/* A file of arrays whose items are zeros, which a sparse file has without having them on the disk:
 * zeros is what the items of each take. */
static void assert_sparse_fails(size_t arrays, uint32_t item, uint64_t count, size_t zeros,
                                const char *message)
{
    const size_t n = 4096 + arrays * (zeros + 64);
    struct qn_gguf *g = NULL;
    struct qn_error e = {0};
    char name[32];
    char *p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p != MAP_FAILED);
    start(3, 0, arrays);
    for (size_t i = 0, at = 0; i < arrays; i++) {
        snprintf(name, sizeof name, "array.%zu", i);
        kv(name, QN_GGUF_ARRAY), u32(item), u64(count);
        memcpy(p + at, b.data, b.len);
        at += b.len + zeros;
        qn_buf_clear(&b);
    }
    qn_err err = qn_gguf_parse(p, n, &g, &e);
    if (err != QN_ELIMIT || !strstr(e.message, message))
        fail_msg("got %s \"%s\", expected \"%s\"", qn_err_name(err), e.message, message);
    munmap(p, n);
}

static void wants_no_more_than_its_share(void **state)
{
    (void)state;
    const uint64_t strings = QN_GGUF_STRINGS_MAX / 4 + 1;
    assert_sparse_fails(4, QN_GGUF_STRING, strings, 8 * strings, "strings in all");
    assert_sparse_fails(5, QN_GGUF_U64, QN_GGUF_ARRAY_MAX, (size_t)8 * QN_GGUF_ARRAY_MAX,
                        "metadata and tensor table of more than");
}

static void finds_each_of_many_keys(void **state)
{
    (void)state;
    enum { N = 5000 };
    start(3, N, N);
    char name[32];
    for (uint32_t i = 0; i < N; i++) {
        snprintf(name, sizeof name, "key.%u", i);
        kv_u32(name, i);
    }
    for (uint32_t i = 0; i < N; i++) {
        snprintf(name, sizeof name, "blk.%u.weight", i);
        tensor(name, 1, 1, 0); /* all on the same bytes: allowed */
    }
    pad(32), u64(0);
    struct qn_gguf *g;
    struct qn_error e = {0};
    assert_int_equal(qn_gguf_parse(b.data, b.len, &g, &e), QN_OK);
    for (uint32_t i = 0; i < N; i++) {
        int64_t v;
        snprintf(name, sizeof name, "key.%u", i);
        assert_int_equal(qn_gguf_i64(g, name, 0, N, &v, &e), QN_OK);
        assert_int_equal(v, i);
        snprintf(name, sizeof name, "blk.%u.weight", i);
        assert_ptr_equal(qn_gguf_tensor_find(g, name), qn_gguf_tensor_at(g, i));
    }
    qn_gguf_close(g);
}

static void opens_files(void **state)
{
    (void)state;
    struct qn_gguf *g = NULL;
    struct qn_error e = {0};
    assert_int_equal(qn_gguf_open("/nonexistent/x.gguf", &g, &e), QN_ENOTFOUND);
    assert_int_equal(qn_gguf_open("/", &g, &e), QN_EFORMAT);
    assert_string_equal(e.message, "/: not a regular file");
    char path[] = "/tmp/quince-test-gguf-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(qn_gguf_open(path, &g, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, "the file is empty"));
    assert_int_equal(write(fd, "GGUF", 4), 4);
    assert_int_equal(qn_gguf_open(path, &g, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, path));
    build_good(3);
    assert_int_equal(pwrite(fd, b.data, b.len, 0), b.len);
    close(fd);
    assert_int_equal(qn_gguf_open(path, &g, &e), QN_OK);
    assert_int_equal(qn_gguf_tensor_count(g), 2);
    qn_gguf_close(g);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(cut_anywhere_is_an_error_or_a_whole_table),
        cmocka_unit_test(refuses_bad_headers),
        cmocka_unit_test(refuses_bad_metadata),
        cmocka_unit_test(refuses_bad_tensors),
        cmocka_unit_test(checks_the_alignment),
        cmocka_unit_test(finds_each_of_many_keys),
        cmocka_unit_test(wants_no_more_than_its_share),
        cmocka_unit_test(opens_files),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    qn_buf_deinit(&b);
    return failed;
}
