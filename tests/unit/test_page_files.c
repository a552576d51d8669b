/* router/api/page_files.c: which form of a file a request gets, and what the build has embedded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/page_files.h"
#include "base/buf.h"
#include "digest/base64.h"
#include "digest/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void encodings(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        bool gzip;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"GZip", true},
        {"x-gzip", true},
        {"gzip, deflate, br, zstd", true},
        {"br;q=1.0, gzip;q=0.8, *;q=0.1", true},
        {"deflate,gzip", true},
        {"*", true},
        {"*;q=0.5", true},
        {"identity", false},
        {"br", false},
        {"gzipped", false},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0.001", true},
        {"gzip ; q=1.000 ", true},
        {"gzip;Q=0.5", true},
        {"gzip;q=0, *", false},
        {"*;q=0", false},
        {"identity, gzip;q=0.5", false},
        {"identity;q=0.5, gzip;q=1", true},
        {"identity;q=0, gzip", true},
        {"identity;q=0, *", true},
        {"identity, gzip", true},
        /* malformed weights */
        {"gzip;q=2", false},
        {"gzip;q=1.001", false},
        {"gzip;q=-1", false},
        {"gzip;q=0.1234", false},
        {"gzip;q=", false},
        {"gzip;q", false},
        {"gzip;level=9", false},
        {",,;;,", false},
        {", gzip", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_page_prefers_gzip(rows[i].field) != rows[i].gzip)
            fail_msg("%s", rows[i].field ? rows[i].field : "no field");
}

static void tags(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        bool same;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"\"a\"", true},
        {"W/\"a\"", true},
        {"*", true},
        {"\"b\", \"a\"", true},
        {"\"b\",W/\"a\" ", true},
        {" \"a\"", true},
        {"\"x, \"a\"", false}, /* the first tag is `x, ` */
        {"a", false},
        {"\"a", false},
        {"\"aa\"", false},
        {"\"b\" \"a\"", false},
        {"\"b\"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_page_has_tag(rows[i].field, "\"a\"") != rows[i].same)
            fail_msg("%s", rows[i].field ? rows[i].field : "no field");
    char plain[QN_PAGE_TAG_MAX + 1], gzip[QN_PAGE_TAG_MAX + 1];
    qn_page_tag(false, plain);
    qn_page_tag(true, gzip);
    assert_string_not_equal(plain, gzip); /* two forms of one file are two representations */
    assert_true(qn_page_has_tag(gzip, gzip));
}

static char *text_of(const struct qn_page_file *f)
{
    char *text = malloc(f->size + 1);
    memcpy(text, qn_page_bytes + f->at, f->size);
    text[f->size] = '\0';
    return text;
}

static void table(void **state)
{
    (void)state;
    assert_int_equal(strlen(qn_page_build), QN_PAGE_BUILD_DIGITS);
    uint32_t end = 0;
    for (size_t i = 0; i < qn_page_file_count; i++) {
        const struct qn_page_file *f = &qn_page_files[i];
        assert_ptr_equal(qn_page_find(f->path, f->at_root), f);
        assert_null(qn_page_find(f->path, !f->at_root));
        assert_int_equal(f->at, end);
        end += f->size + f->gzip_size;
        if (f->gzip_size) {
            assert_int_equal(f->gzip_at, f->at + f->size);
            assert_true(f->gzip_size < f->size);
            assert_memory_equal(qn_page_bytes + f->gzip_at, "\x1f\x8b\x08", 3); /* RFC 1952 */
        }
    }
    assert_int_equal(qn_page_bytes_count, end);
    assert_null(qn_page_find("vendor/LOCK", false)); /* of the source alone */
    assert_null(qn_page_find("package.json", false));
    assert_null(qn_page_find("", false));
}

/* A file of the source is embedded unchanged. */
static void contents(void **state)
{
    (void)state;
    const struct qn_page_file *f = qn_page_find("vendor/htm.mjs", false);
    assert_non_null(f);
    assert_string_equal(f->type, "text/javascript; charset=utf-8");
    char *source = malloc(f->size + 1);
    FILE *in = fopen("ui/vendor/htm.mjs", "rb");
    assert_non_null(in);
    assert_int_equal(fread(source, 1, f->size + 1, in), f->size);
    fclose(in);
    assert_memory_equal(qn_page_bytes + f->at, source, f->size);
    free(source);
}

/* The checksum for the Content-Security-Policy is that of the import map which is served. */
static void import_map(void **state)
{
    (void)state;
    static const char tag[] = "<script type=\"importmap\">";
    const struct qn_page_file *f = qn_page_find("index.html", true);
    assert_non_null(f);
    char *text = text_of(f);
    const char *map = strstr(text, tag);
    assert_non_null(map);
    map += sizeof tag - 1;
    assert_null(strstr(text, "@BUILD@"));
    assert_non_null(strstr(map, qn_page_build));
    unsigned char sum[QN_SHA256_BYTES];
    struct qn_sha256 s;
    struct qn_buf hash;
    qn_sha256_init(&s);
    qn_sha256_add(&s, map, (size_t)(strstr(map, "</script>") - map));
    qn_sha256_end(&s, sum);
    qn_buf_init(&hash, 64);
    assert_int_equal(qn_base64_add(&hash, sum, sizeof sum), 0);
    assert_string_equal(qn_buf_cstr(&hash), qn_page_map_hash);
    qn_buf_deinit(&hash);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings), cmocka_unit_test(tags),       cmocka_unit_test(table),
        cmocka_unit_test(contents),  cmocka_unit_test(import_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
