/* How model files are read: the program quince-inspect over real files, programs that behave badly
 * in its place, and what the server accepts as an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/inspect.h"

#include "gguf_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORT_MS = 300 };

static char dir[64];
static atomic_bool stop;

static int setup(void **state)
{
    (void)state;
    atomic_store(&stop, false);
    strcpy(dir, "/tmp/qn-inspect-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static char *put(const char *name, const void *data, size_t n)
{
    char *path = qn_path_join(dir, name);
    assert_int_equal(qn_file_write_atomic(path, data, n, 0700, NULL), QN_OK);
    return path;
}

/* The real program: it lies beside the folder of tests. */
static char *real_program(void)
{
    char *self = qn_path_self_dir(), *path = qn_path_join(self, "../bin/quince-inspect");
    free(self);
    return path;
}

static qn_err inspect(const char *program, int64_t limit_ms, const char *path,
                      struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e)
{
    const struct qn_inspector by = {.program = program, .stop = &stop, .limit_ms = limit_ms};
    *e = (struct qn_error){0};
    qn_buf_clear(facts);
    return qn_registry_inspect(&by, path, out, facts, e);
}

/* ---- the real program ---- */

static void a_header_tells_what_a_model_is(void **state)
{
    (void)state;
    struct gguf_file f;
    struct qn_inspection in;
    struct qn_error e;
    struct qn_buf facts, details;
    char *program = real_program();
    gguf_begin(&f);
    gguf_str(&f, "general.architecture", "llama");
    gguf_u32(&f, "llama.context_length", 512);
    /* 28 layers x 2 heads x (key 128 + value 128) x 2 bytes: the key's length is 1024 / 8. */
    gguf_u32(&f, "llama.block_count", 28);
    gguf_u32(&f, "llama.embedding_length", 1024);
    gguf_u32(&f, "llama.attention.head_count", 8);
    gguf_u32(&f, "llama.attention.head_count_kv", 2);
    gguf_u32(&f, "general.file_type", 15);
    gguf_str(&f, "general.name", "\xff\xfe\x01n");
    gguf_end(&f);
    char *path = put("m.gguf", f.b.data, f.b.len);
    qn_buf_init(&facts, QN_FACTS_MAX);
    qn_buf_init(&details, 1000);
    if (inspect(program, QN_INSPECT_LIMIT_MS, path, &in, &facts, &e))
        fail_msg("%s", e.message);
    qn_inspection_json(&in, &details);
    assert_string_equal(details.data,
                        "{\"architecture\":\"llama\",\"title\":\"?? n\","
                        "\"quantization\":\"Q4_K_M\",\"parameters\":0,\"context_length\":512,"
                        "\"kv_token_bytes\":28672,\"chat_template\":false}");
    assert_int_equal(in.size_bytes, f.b.len);
    assert_string_equal(qn_buf_cstr(&facts),
                        "{\"info\":{\"general.parameter_count\":0,"
                        "\"general.architecture\":\"llama\",\"llama.context_length\":512,"
                        "\"llama.block_count\":28,\"llama.embedding_length\":1024,"
                        "\"llama.attention.head_count\":8,\"llama.attention.head_count_kv\":2,"
                        "\"general.file_type\":15,"
                        "\"general.name\":\"\xef\xbf\xbd\xef\xbf\xbd\\u0001n\"},\"capabilities\":["
                        "\"chat\",\"complete\"]}");
    /* Cut off, gone, a folder, a pipe: each is an error that names the file. */
    free(put("m.gguf", f.b.data, 40));
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, path, &in, &facts, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, path));
    unlink(path);
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, path, &in, &facts, &e), QN_ENOTFOUND);
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, dir, &in, &facts, &e), QN_EFORMAT);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, path, &in, &facts, &e), QN_EFORMAT);
    qn_buf_deinit(&f.b);
    qn_buf_deinit(&facts);
    qn_buf_deinit(&details);
    free(path);
    free(program);
}

static char *put_part(const char *name, uint32_t no, uint32_t count)
{
    struct gguf_file f;
    gguf_begin(&f);
    gguf_str(&f, "general.architecture", "llama");
    gguf_u32(&f, "split.no", no);
    gguf_u32(&f, "split.count", count);
    gguf_end(&f);
    char *path = put(name, f.b.data, f.b.len);
    qn_buf_deinit(&f.b);
    return path;
}

static void parts_of_a_model(void **state)
{
    (void)state;
    struct qn_inspection in;
    struct qn_error e;
    struct qn_buf facts;
    char *program = real_program();
    qn_buf_init(&facts, QN_FACTS_MAX);
    char *first = put_part("m-00001-of-00003.gguf", 0, 3);
    char *second = put_part("m-00002-of-00003.gguf", 1, 3);
    /* The third is missing: the message says which, and what to do. */
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, first, &in, &facts, &e), QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "part 3 is missing"));
    free(put_part("m-00003-of-00003.gguf", 1, 3));
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, first, &in, &facts, &e), QN_EFORMAT);
    assert_non_null(strstr(e.message, "part 3 says it is part 2 of 3"));
    free(put_part("m-00003-of-00003.gguf", 2, 3));
    if (inspect(program, QN_INSPECT_LIMIT_MS, first, &in, &facts, &e))
        fail_msg("%s", e.message);
    struct stat st;
    assert_int_equal(stat(first, &st), 0);
    assert_int_equal(in.size_bytes, 3 * st.st_size);
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, second, &in, &facts, &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "give part 1"));
    free(first);
    first = put_part("other-name.gguf", 0, 3);
    assert_int_equal(inspect(program, QN_INSPECT_LIMIT_MS, first, &in, &facts, &e), QN_ENOTFOUND);
    assert_non_null(strstr(e.message, "-00001-of-00003.gguf"));
    qn_buf_deinit(&facts);
    free(first);
    free(second);
    free(program);
}

/* ---- programs that behave badly ---- */

static void *set_stop(void *unused)
{
    (void)unused;
    atomic_store(&stop, true);
    return NULL;
}

static void whatever_the_program_does(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        qn_err err;
        const char *says;
    } cases[] = {
        {"exec sleep 1000", QN_ETIMEOUT, "no answer"},
        {"while :; do printf '%070000d' 0 >&4; done", QN_ECHILD, "signal 9"},
        {"exit 0", QN_ECHILD, "status 0"},
        {"printf '{\"details\":1}' >&4", QN_ECHILD, "invalid report"},
        {"printf '{\"code\":\"format\",\"error\":\"key 7\"}' >&4", QN_EFORMAT, "m.gguf: key 7"},
        {"kill -BUS $$", QN_EIO, "became shorter"},
        {"kill -XCPU $$", QN_ELIMIT, "too long"},
        {"kill -ABRT $$", QN_ECHILD, "signal 6"},
        /* Of its process's files it has the model's, its pipe and its standard error. */
        {"test ! -e /proc/self/fd/5 && printf '{\"code\":\"io\",\"error\":\"alone\"}' >&4", QN_EIO,
         "alone"},
    };
    struct qn_inspection in;
    struct qn_error e;
    struct qn_buf facts, script;
    char *path = put("m.gguf", "x", 1), *program = qn_path_join(dir, "program");
    qn_buf_init(&facts, QN_FACTS_MAX);
    qn_buf_init(&script, 4096);
    int taken = dup(0); /* a descriptor that it must not get */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_buf_clear(&script);
        qn_buf_fmt(&script, "#!/bin/bash\n%s\n", cases[i].script);
        free(put("program", script.data, script.len));
        int64_t limit = cases[i].err == QN_ETIMEOUT ? SHORT_MS : QN_INSPECT_LIMIT_MS;
        qn_err err = inspect(program, limit, path, &in, &facts, &e);
        if (err != cases[i].err || !strstr(e.message, cases[i].says))
            fail_msg("%s: %s \"%s\"", cases[i].script, qn_err_name(err), e.message);
        assert_int_equal(facts.len, 0);
    }
    close(taken);
    unlink(program);
    assert_int_equal(inspect(program, SHORT_MS, path, &in, &facts, &e), QN_EIO);
    assert_non_null(strstr(e.message, "cannot be started"));
    /* A server that ends does not wait for it. */
    pthread_t thread;
    free(put("program", "#!/bin/sh\nexec sleep 1000\n", 26));
    assert_int_equal(pthread_create(&thread, NULL, set_stop, NULL), 0);
    assert_int_equal(inspect(program, 0, path, &in, &facts, &e), QN_ECANCELLED);
    pthread_join(thread, NULL);
    qn_buf_deinit(&facts);
    qn_buf_deinit(&script);
    free(program);
    free(path);
}

/* ---- the answer ---- */

#define DETAILS(more)                                                                              \
    "{\"size_bytes\":9,\"details\":{\"architecture\":\"llama\",\"quantization\":\"F16\","          \
    "\"parameters\":7,\"context_length\":8,\"kv_token_bytes\":0,\"chat_template\":true}" more "}"

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *facts; /* NULL: refused */
    } cases[] = {
        {DETAILS(""), ""},
        {DETAILS(",\"facts\":{\"capabilities\":[\"completion\"],\"unknown\":{\"a\":1}}"),
         "{\"capabilities\":[\"completion\"]}"},
        {DETAILS(",\"facts\":{\"info\":{\"a\":null,\"b\":1.5,\"c\":\"x\",\"d\":true}}"),
         "{\"info\":{\"a\":null,\"b\":1.5,\"c\":\"x\",\"d\":true}}"},
        {DETAILS(",\"facts\":[]"), NULL},
        {DETAILS(",\"facts\":{\"info\":{\"a\":[1]}}"), NULL},
        {DETAILS(",\"facts\":{\"info\":{\"\":1}}"), NULL},
        {DETAILS(",\"facts\":{\"info\":[]}"), NULL},
        {DETAILS(",\"facts\":{\"template\":1}"), NULL},
        {DETAILS(",\"facts\":{\"capabilities\":[\"a\\n\"]}"), NULL},
        {DETAILS(",\"facts\":{\"capabilities\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
                 "\"a\"]}"),
         NULL},
        {DETAILS(",\"facts\":{\"license\":\"\xff\"}"), NULL},
        {"{\"size_bytes\":9}", NULL},
        {"{\"size_bytes\":-1,\"details\":{\"architecture\":\"llama\",\"quantization\":\"F16\","
         "\"parameters\":7,\"context_length\":8,\"kv_token_bytes\":0,\"chat_template\":true}}",
         NULL},
        {"{\"size_bytes\":9,\"details\":{\"architecture\":\"a\\u001b\",\"quantization\":\"F16\","
         "\"parameters\":7,\"context_length\":8,\"kv_token_bytes\":0,\"chat_template\":true}}",
         NULL},
        {"{\"code\":\"cancelled\",\"error\":\"x\"}", NULL}, /* not for it to say */
        {"{\"code\":\"format\",\"error\":\"a\\nb\"}", NULL},
        {"[]", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_inspection in;
        struct qn_error e = {0};
        struct qn_buf facts;
        char lacking[QN_INSPECTION_LACKING_MAX + 1];
        qn_buf_init(&facts, QN_FACTS_MAX);
        qn_err err =
            qn_inspection_read(cases[i].text, strlen(cases[i].text), &in, &facts, lacking, &e);
        if (err != (cases[i].facts ? QN_OK : QN_ECHILD))
            fail_msg("%s: %s \"%s\"", cases[i].text, qn_err_name(err), e.message);
        assert_string_equal(qn_buf_cstr(&facts), cases[i].facts ? cases[i].facts : "");
        if (!err) {
            assert_string_equal(in.architecture, "llama");
            assert_int_equal(in.size_bytes, 9);
            assert_int_equal(in.parameters, 7);
            assert_int_equal(in.context_length, 8);
            assert_true(in.chat_template);
        }
        qn_buf_deinit(&facts);
    }
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct qn_inspection in = {.architecture = "gemma3",
                               .title = "A \"title\" \xc3\xa4",
                               .quantization = "Q8_0",
                               .parameters = QN_INSPECTION_NUMBER_MAX,
                               .context_length = 4096,
                               .kv_token_bytes = 12,
                               .size_bytes = 99,
                               .chat_template = true},
                         out;
    const struct qn_error fine = {0};
    struct qn_error bad = {0}, e = {0};
    struct qn_buf facts, text, read;
    char lacking[QN_INSPECTION_LACKING_MAX + 1];
    qn_buf_init(&facts, QN_FACTS_MAX);
    qn_buf_init(&text, QN_INSPECTION_MAX);
    qn_buf_init(&read, QN_FACTS_MAX);
    qn_buf_str(&facts, "{\"template\":\"{{ x }}\"}");
    qn_inspection_write(&in, &facts, "files and calls", &fine, &text);
    if (qn_inspection_read(text.data, text.len, &out, &read, lacking, &e))
        fail_msg("%s", e.message);
    assert_memory_equal(&in, &out, sizeof in);
    assert_string_equal(qn_buf_cstr(&read), "{\"template\":\"{{ x }}\"}");
    assert_string_equal(lacking, "files and calls");
    qn_buf_clear(&text);
    qn_fail(&bad, QN_EUNSUPPORTED, "GGUF version 9");
    qn_inspection_write(&in, &facts, "", &bad, &text);
    assert_int_equal(qn_inspection_read(text.data, text.len, &out, &read, lacking, &e),
                     QN_EUNSUPPORTED);
    assert_string_equal(e.message, "GGUF version 9");
    assert_int_equal(read.len, 0);
    qn_buf_deinit(&facts);
    qn_buf_deinit(&text);
    qn_buf_deinit(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_header_tells_what_a_model_is, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_of_a_model, setup, teardown),
        cmocka_unit_test_setup_teardown(whatever_the_program_does, setup, teardown),
        cmocka_unit_test(answers),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
