/* What was typed for `quince pull`, and the request made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "cli/wish.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void variants_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        bool takes;
        const char *variant, *with; /* NULL: none; with ":Q8_0" put in */
    } cases[] = {
        {"owner/repo", true, NULL, "owner/repo:Q8_0"},
        {"owner/repo:Q4_K_M", true, "Q4_K_M", NULL},
        {"owner/repo:", true, NULL, NULL},
        {"owner/repo@main", true, NULL, "owner/repo:Q8_0@main"},
        {"owner/repo:Q4_0@v1", true, "Q4_0", NULL},
        {"owner/repo:sub/file.gguf", true, "sub/file.gguf", NULL},
        {"hf.co/owner/repo:UD-Q4_K_XL", true, "UD-Q4_K_XL", NULL},
        {"hf.co/owner/repo", true, NULL, "hf.co/owner/repo:Q8_0"},
        {"ollama.com/llama3.2:1b", false, NULL, NULL},
        {"library/llama3.2", false, NULL, NULL},
        {"https://host:8080/m.gguf", false, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 0;
        const char *v = qn_wish_variant(cases[i].word, &n);
        assert_int_equal(qn_wish_takes_variant(cases[i].word), cases[i].takes);
        assert_int_equal(v != NULL, cases[i].variant != NULL);
        if (v) {
            assert_int_equal(n, strlen(cases[i].variant));
            assert_memory_equal(v, cases[i].variant, n);
        }
        if (cases[i].with) {
            struct qn_buf out;
            qn_buf_init(&out, 256);
            qn_wish_with_variant(cases[i].word, "Q8_0", &out);
            assert_string_equal(out.data, cases[i].with);
            qn_buf_deinit(&out);
        }
    }
}

static void references(void **state)
{
    (void)state;
    static const struct {
        const char *word, *reference;
        bool address;
    } cases[] = {
        {"owner/repo:Q4_0", "owner/repo:Q4_0", false},
        {"llama3.2:1b", "ollama.com/llama3.2:1b", false},
        {"https://huggingface.co/owner/repo", "huggingface.co/owner/repo", false},
        {"https://hf.co/owner/repo:Q8_0", "hf.co/owner/repo:Q8_0", false},
        {"https://huggingface.co/o/r/blob/main/x.gguf",
         "https://huggingface.co/o/r/blob/main/x.gguf", false},
        {"https://example.org/x.gguf", "https://example.org/x.gguf", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_buf out;
        qn_buf_init(&out, 256);
        qn_wish_reference(cases[i].word, &out);
        assert_string_equal(out.data, cases[i].reference);
        assert_int_equal(qn_wish_is_address(cases[i].word), cases[i].address);
        qn_buf_deinit(&out);
    }
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *suggested, *variant, *name;
    } cases[] = {
        {"Qwen3-8B-GGUF", "Q4_K_M", "user.Qwen3-8B-GGUF-Q4_K_M"},
        {"Qwen3-8B-GGUF", "", "user.Qwen3-8B-GGUF"},
        {"Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf", "user.Qwen3-8B-Q4_K_M"},
        {"whisper.cpp", "ggml-tiny.bin", "user.ggml-tiny"},
        {"x", "Q8_0/Qwen3-Q8_0-00001-of-00002.gguf", "user.Qwen3-Q8_0-00001-of-00002"},
        {"a b\xc3\xa9/c", "*", "user.a-b---c--"},
        {"", "My Model.gguf", "user.My-Model"},
        {"", "folder", "user.folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[QN_WISH_NAME_MAX];
        qn_wish_name(cases[i].suggested, cases[i].variant, out);
        assert_string_equal(out, cases[i].name);
    }
    char huge[5000], out[QN_WISH_NAME_MAX];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    qn_wish_name(huge, huge, out);
    assert_int_equal(strlen(out), QN_WISH_NAME_MAX - 1);
}

static void paths(void **state)
{
    (void)state;
    static const char *const yes[] = {"/a/b.gguf", "./b", "../b", "~/b", "file:///a/b"};
    static const char *const no[] = {"owner/repo", "docs/x.gguf", "nothing-here.gguf", "llama3.2"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(qn_wish_is_path(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(qn_wish_is_path(no[i]));
    char name[] = "wish-test-XXXXXX.gguf";
    int fd = mkstemps(name, 5);
    assert_true(fd >= 0);
    assert_true(qn_wish_is_path(name));
    close(fd);
    unlink(name);
}

static void assert_body(const struct qn_wish *w, const struct qn_wish_found *f,
                        const char *expected)
{
    struct qn_buf out;
    qn_buf_init(&out, 4096);
    qn_wish_write(w, f, &out);
    assert_string_equal(out.data, expected);
    qn_buf_deinit(&out);
}

static void bodies(void **state)
{
    (void)state;
    struct qn_json *doc;
    assert_int_equal(qn_json_parse("[\"vision\"]", 10, &doc, NULL), QN_OK);
    struct qn_jref labels = qn_json_root(doc);
    assert_body(&(struct qn_wish){0}, &(struct qn_wish_found){.name = "Qwen3-0.6B-GGUF"},
                "{\"model_name\":\"Qwen3-0.6B-GGUF\",\"stream\":true}");
    assert_body(
        &(struct qn_wish){.labels = {"hot"}, .n_labels = 1, .source = "modelscope"},
        &(struct qn_wish_found){
            .name = "user.x", .checkpoint = "o/r:Q4_0", .recipe = "llamacpp", .labels = &labels},
        "{\"model_name\":\"user.x\",\"checkpoint\":\"o/r:Q4_0\",\"recipe\":\"llamacpp\","
        "\"labels\":[\"vision\",\"hot\"],\"source\":\"modelscope\","
        "\"stream\":true}");
    assert_body(&(struct qn_wish){.checkpoints = {{"main", "o/r:a"}, {"vae", "o/v"}},
                                  .n_checkpoints = 2,
                                  .recipe = "sd-cpp"},
                &(struct qn_wish_found){.name = "user.y", .recipe = "llamacpp"},
                "{\"model_name\":\"user.y\",\"checkpoints\":{\"main\":\"o/r:a\",\"vae\":\"o/v\"},"
                "\"recipe\":\"sd-cpp\",\"stream\":true}");
    qn_json_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_in_words),
        cmocka_unit_test(references),
        cmocka_unit_test(names),
        cmocka_unit_test(paths),
        cmocka_unit_test(bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
