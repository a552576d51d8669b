/* Definitions of remote models, and arguments for servers that quince runs. */
#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "contract/remote.h"
#include "contract/server_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static qn_err read_text(const char *text, const char *key, struct qn_arena *arena,
                        struct qn_remote *out, struct qn_error *e)
{
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(text, strlen(text), &doc, e), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_err err = qn_remote_read(&root, key, arena, out, e);
    qn_json_free(doc);
    return err;
}

static void a_definition(void **state)
{
    (void)state;
    struct qn_arena *arena = qn_arena_new(1 << 20);
    struct qn_remote def;
    struct qn_error e = {0};
    assert_int_equal(
        read_text("{\"quince_remote\":1,\"model\":\"m\",\"flavour\":\"vllm\",\"context\":9,"
                  "\"upstreams\":[{\"url\":\"https://a.example/v1/\",\"weight\":3,"
                  "\"api_key\":\"own\"},{\"url\":\"http://[::1]:8000/v1\",\"model\":\"n\"}]}",
                  "given", arena, &def, &e),
        QN_OK);
    assert_int_equal(def.n, 2);
    assert_string_equal(def.v[0].url, "https://a.example/v1");
    assert_string_equal(def.v[0].key, "own");
    assert_string_equal(def.v[0].model, "m");
    assert_int_equal(def.v[0].weight, 3);
    assert_string_equal(def.v[1].key, "given");
    assert_string_equal(def.v[1].model, "n");
    assert_int_equal(def.v[1].weight, 1);
    assert_int_equal(def.flavour, QN_FLAVOUR_VLLM);
    assert_int_equal(def.context, 9);
    assert_int_equal(def.slots, QN_REMOTE_SLOTS);
    qn_arena_free(arena);
}

static void definitions_that_are_refused(void **state)
{
    static const char *const bad[] = {
        "{}",
        "{\"quince_remote\":2,\"upstreams\":[{\"url\":\"http://x\"}]}",
        "{\"quince_remote\":1}",
        "{\"quince_remote\":1,\"upstreams\":[]}",
        "{\"quince_remote\":1,\"upstreams\":[{\"url\":\"x\"}]}",
        "{\"quince_remote\":1,\"upstreams\":[{\"url\":\"http://x\",\"weight\":1001}]}",
        "{\"quince_remote\":1,\"upstreams\":[{\"url\":\"http://x\",\"api_key\":\"a b\"}]}",
        "{\"quince_remote\":1,\"api_key\":\"x\\nHost: y\",\"upstreams\":[{\"url\":\"http://x\"}]}",
        "{\"quince_remote\":1,\"key_env\":\"path\",\"upstreams\":[{\"url\":\"http://x\"}]}",
        "{\"quince_remote\":1,\"key_env\":\"QUINCE_X\",\"upstreams\":[{\"url\":\"http://x\"}]}",
        "{\"quince_remote\":1,\"slots\":0,\"upstreams\":[{\"url\":\"http://x\"}]}",
        "[]",
    };
    (void)state;
    struct qn_arena *arena = qn_arena_new(1 << 20);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qn_remote def;
        struct qn_error e = {0};
        assert_int_equal(read_text(bad[i], NULL, arena, &def, &e), QN_EINVAL);
        assert_null(strstr(e.message, "Host: y"));
    }
    qn_arena_free(arena);
}

static void addresses(void **state)
{
    static const char *const good[] = {"http://x", "https://a.b:8/v1", "http://[::1]:80/v1"};
    static const char *const bad[] = {"",           "http://",       "http:///v1",   "ftp://x",
                                      "http://u@x", "http://x/?a=b", "http://x#f",   "http://x y",
                                      "file:///x",  "HTTP://x",      "http://x\\@y", "http://:80"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(qn_remote_url_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(qn_remote_url_ok(bad[i]));
}

static void flavours(void **state)
{
    (void)state;
    for (enum qn_flavour f = QN_FLAVOUR_AUTO; f < QN_FLAVOURS; f++)
        assert_int_equal(qn_flavour_parse(qn_flavour_name(f)), f);
    assert_int_equal(qn_flavour_parse("x"), QN_FLAVOURS);
    assert_int_equal(qn_flavour_of_owner("llamacpp"), QN_FLAVOUR_LLAMA);
    assert_int_equal(qn_flavour_of_owner("sglang"), QN_FLAVOUR_VLLM);
    assert_int_equal(qn_flavour_of_owner("openai"), QN_FLAVOUR_OPENAI);
}

static void words_of_a_line(void **state)
{
    (void)state;
    const struct qn_server_kind *kind = qn_server_kind_of_type("llm");
    struct qn_arena *arena = qn_arena_new(1 << 20);
    struct qn_strings words;
    struct qn_error e = {0};
    assert_int_equal(
        qn_server_args_read(kind, "  -ub 99 --x 'a b' \"c\\\"d\"e\\ f '' ", arena, &words, &e),
        QN_OK);
    static const char *const expected[] = {"-ub", "99", "--x", "a b", "c\"de f", ""};
    assert_int_equal(words.n, 6);
    for (size_t i = 0; i < words.n; i++)
        assert_string_equal(words.v[i], expected[i]);
    static const char *const bad[] = {"--port 1",  "--host=0.0.0.0",  "-m x",    "'open",
                                      "--rpc h:1", "\"--api-key\" x", "-hf a/b", "--log_file x",
                                      "-ngl 5",    "--n_gpu_layers=5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(qn_server_args_read(kind, bad[i], arena, &words, &e), QN_EINVAL);
        assert_string_equal(e.param, "llamacpp_args");
    }
    assert_int_equal(qn_server_args_read(kind, "--port-like --mirostat 2", arena, &words, &e),
                     QN_OK);
    assert_null(qn_server_kind_of_type("tts"));
    assert_ptr_equal(qn_server_kind_of_program("llama-server"), kind);
    qn_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition),    cmocka_unit_test(definitions_that_are_refused),
        cmocka_unit_test(addresses),       cmocka_unit_test(flavours),
        cmocka_unit_test(words_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
