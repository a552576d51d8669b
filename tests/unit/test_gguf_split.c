/* Models in several files: found beside each other, and refused with a name when one is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/gguf_split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/quince-split-XXXXXX";

static void u32(struct qn_buf *b, uint32_t v)
{
    qn_buf_add(b, &v, sizeof v);
}

static void u64(struct qn_buf *b, uint64_t v)
{
    qn_buf_add(b, &v, sizeof v);
}

static void text(struct qn_buf *b, const char *s)
{
    u64(b, strlen(s));
    qn_buf_str(b, s);
}

static void number(struct qn_buf *b, const char *key, uint32_t v)
{
    text(b, key);
    u32(b, 4); /* u32 */
    u32(b, v);
}

/* A file with one tensor of four floats, that says it is part `no` of `count` with `tensors` in
 * all. */
static void write_part(const char *name, const char *tensor, uint32_t no, uint32_t count,
                       uint32_t tensors)
{
    struct qn_buf b;
    char path[128];
    qn_buf_init(&b, 4096);
    qn_buf_add(&b, "GGUF", 4);
    u32(&b, 3);
    u64(&b, 1);
    u64(&b, 3);
    number(&b, "split.no", no);
    number(&b, "split.count", count);
    number(&b, "split.tensors.count", tensors);
    text(&b, tensor);
    u32(&b, 1); /* dimensions */
    u64(&b, 4);
    u32(&b, 0); /* f32 */
    u64(&b, 0);
    while (b.len % 32)
        qn_buf_char(&b, 0);
    for (int i = 0; i < 16; i++)
        qn_buf_char(&b, 0);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
    fclose(f);
    qn_buf_deinit(&b);
}

static void refused(const char *name, qn_err want, const char *says)
{
    struct qn_gguf *parts[QN_GGUF_PARTS_MAX];
    struct qn_error e = {0};
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    qn_err got = qn_gguf_open_parts(path, parts, &n, &e);
    if (got != want || !strstr(e.message, says))
        fail_msg("%s: %s \"%s\", expected %s with \"%s\"", name, qn_err_name(got), e.message,
                 qn_err_name(want), says);
}

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_part("good-00001-of-00003.gguf", "a", 0, 3, 3);
    write_part("good-00002-of-00003.gguf", "b", 1, 3, 3);
    write_part("good-00003-of-00003.gguf", "c", 2, 3, 3);
    write_part("lost-00001-of-00002.gguf", "a", 0, 2, 2);
    write_part("few-00001-of-00002.gguf", "a", 0, 2, 5);
    write_part("few-00002-of-00002.gguf", "b", 1, 2, 5);
    write_part("wrong-00001-of-00002.gguf", "a", 0, 2, 2);
    write_part("wrong-00002-of-00002.gguf", "b", 1, 3, 2);
    write_part("renamed.gguf", "a", 0, 2, 2);
    write_part("many-00001-of-60000.gguf", "a", 0, 60000, 60000);
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void test_parts(void **state)
{
    (void)state;
    struct qn_gguf *parts[QN_GGUF_PARTS_MAX];
    struct qn_error e = {0};
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/good-00001-of-00003.gguf", folder);
    assert_int_equal(qn_gguf_open_parts(path, parts, &n, &e), QN_OK);
    assert_int_equal(n, 3);
    assert_non_null(qn_gguf_tensor_find(parts[0], "a"));
    assert_non_null(qn_gguf_tensor_find(parts[1], "b"));
    assert_non_null(qn_gguf_tensor_find(parts[2], "c"));
    for (size_t i = 0; i < n; i++)
        qn_gguf_close(parts[i]);
    refused("good-00002-of-00003.gguf", QN_EINVAL, "is part 2 of 3: give part 1");
    refused("lost-00001-of-00002.gguf", QN_ENOTFOUND, "lost-00002-of-00002.gguf is missing");
    refused("few-00001-of-00002.gguf", QN_EFORMAT, "have 2 tensors, not 5");
    refused("wrong-00001-of-00002.gguf", QN_EFORMAT, "says it is part 2 of 3, not 2 of 2");
    refused("renamed.gguf", QN_EINVAL, "must end in -00001-of-00002.gguf");
    refused("many-00001-of-60000.gguf", QN_EFORMAT, "split.count");
}

static void test_names(void **state)
{
    (void)state;
    char out[64];
    assert_true(qn_gguf_part_path("/m/x-00001-of-00012.gguf", 11, 12, out, sizeof out));
    assert_string_equal(out, "/m/x-00012-of-00012.gguf");
    assert_false(qn_gguf_part_path("/m/x-00001-of-00012.gguf", 1, 2, out, sizeof out));
    assert_false(qn_gguf_part_path("x.gguf", 1, 2, out, sizeof out));
    assert_false(qn_gguf_part_path("", 1, 2, out, sizeof out));
    assert_false(qn_gguf_part_path("/m/x-00001-of-00012.gguf", 1, 12, out, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
