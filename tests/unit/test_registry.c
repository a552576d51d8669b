/* The built-in list: what is accepted, and which entry a message blames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/path.h"
#include "registry/inspect.h"
#include "registry/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-registry-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static qn_err open_list(const char *text, struct qn_registry **r, struct qn_error *e)
{
    char *path = qn_path_join(dir, "models.json");
    assert_int_equal(qn_file_write_atomic(path, text, strlen(text), 0644, NULL), QN_OK);
    free(path);
    return qn_registry_open(dir, r, e);
}

static void shipped_files_become_absolute(void **state)
{
    (void)state;
    char *file = qn_path_join(dir, "a.gguf");
    assert_int_equal(qn_file_write_atomic(file, "x", 1, 0644, NULL), QN_OK);
    struct qn_registry *r;
    struct qn_error e = {0};
    assert_int_equal(open_list("{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a.gguf\","
                               "\"shipped\":true,\"labels\":[\"chat\"]},"
                               "\"n\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"owner/repo\"}}",
                               &r, &e),
                     QN_OK);
    assert_int_equal(qn_registry_count(r), 2);
    assert_string_equal(qn_registry_at(r, 0)->file, file);
    assert_string_equal(qn_registry_at(r, 0)->labels, "[\"chat\"]");
    assert_null(qn_registry_at(r, 1)->file);
    qn_registry_close(r);
    free(file);
}

static void a_wrong_entry_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        qn_err err;
        const char *said;
    } cases[] = {
        {"[]", QN_EINVAL, "models.json"},
        {"{", QN_EFORMAT, "JSON"},
        {"{\"m\":5}", QN_EINVAL, "m.recipe"},
        {"{\"m\":{\"recipe\":\"x\"}}", QN_EINVAL, "m.checkpoint"},
        {"{\"m\":{\"recipe\":\"x\",\"checkpoint\":\"y\",\"labels\":[1]}}", QN_EINVAL,
         "m.labels[0]"},
        {"{\"m\":{\"recipe\":\"x\",\"checkpoint\":\"gone.gguf\",\"shipped\":true}}", QN_ENOTFOUND,
         "gone.gguf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_registry *r = NULL;
        struct qn_error e = {0};
        assert_int_equal(open_list(cases[i].text, &r, &e), cases[i].err);
        assert_null(r);
        assert_non_null(strstr(e.message, cases[i].said));
    }
}

/* A GGUF of metadata alone, by hand from the format's description. */
static size_t put_string(unsigned char *p, const char *s)
{
    size_t n = strlen(s);
    memset(p, 0, 8);
    p[0] = (unsigned char)n;
    memcpy(p + 8, s, n);
    return 8 + n;
}

static size_t put_u32(unsigned char *p, unsigned v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
    return 4;
}

static void a_header_tells_what_a_model_is(void **state)
{
    (void)state;
    unsigned char f[512] = "GGUF";
    size_t n = 4;
    n += put_u32(f + n, 3);
    n += put_u32(f + n, 0) + put_u32(f + n + 4, 0); /* tensors */
    n += put_u32(f + n, 7) + put_u32(f + n + 4, 0); /* entries */
    n += put_string(f + n, "general.architecture");
    n += put_u32(f + n, 8);
    n += put_string(f + n, "llama");
    n += put_string(f + n, "llama.context_length");
    n += put_u32(f + n, 4);
    n += put_u32(f + n, 512);
    /* 28 layers x 2 heads x (key 128 + value 128) x 2 bytes: the key's length is 1024 / 8. */
    static const struct {
        const char *key;
        uint32_t value;
    } facts[] = {{"llama.block_count", 28},
                 {"llama.embedding_length", 1024},
                 {"llama.attention.head_count", 8},
                 {"llama.attention.head_count_kv", 2}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        n += put_string(f + n, facts[i].key);
        n += put_u32(f + n, 4);
        n += put_u32(f + n, facts[i].value);
    }
    n += put_string(f + n, "general.file_type");
    n += put_u32(f + n, 4);
    n += put_u32(f + n, 15);
    char *path = qn_path_join(dir, "m.gguf");
    assert_int_equal(qn_file_write_atomic(path, f, n, 0644, NULL), QN_OK);
    struct qn_inspection in;
    struct qn_error e = {0};
    if (qn_registry_inspect(path, &in, &e))
        fail_msg("%s", e.message);
    struct qn_buf b;
    qn_buf_init(&b, 1000);
    qn_inspection_json(&in, &b);
    assert_string_equal(b.data, "{\"architecture\":\"llama\",\"quantization\":\"Q4_K_M\","
                                "\"parameters\":0,\"context_length\":512,"
                                "\"kv_token_bytes\":28672,\"chat_template\":false}");
    assert_int_equal(in.size_bytes, n);
    qn_buf_deinit(&b);
    assert_int_equal(qn_file_write_atomic(path, f, 40, 0644, NULL), QN_OK);
    assert_int_equal(qn_registry_inspect(path, &in, &e), QN_EFORMAT);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shipped_files_become_absolute, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_entry_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_header_tells_what_a_model_is, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
