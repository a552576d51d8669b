/* What users type for models. Expected values follow from the forms that ref.h lists and from how
 * Hugging Face, ModelScope and Ollama write the addresses of their pages and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "registry/ref.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct {
    const char *text;
    enum qn_hub_kind hub;
    const char *repo, *variant, *revision, *url;
} good[] = {
    {"unsloth/Qwen3-8B-GGUF", QN_HUB_HF, "unsloth/Qwen3-8B-GGUF", "", "", ""},
    {"unsloth/Qwen3-8B-GGUF:Q4_K_M", QN_HUB_HF, "unsloth/Qwen3-8B-GGUF", "Q4_K_M", "", ""},
    {"unsloth/Qwen3-8B-GGUF@v1.0", QN_HUB_HF, "unsloth/Qwen3-8B-GGUF", "", "v1.0", ""},
    {"o/r:Q8_0@refs/pr/7", QN_HUB_HF, "o/r", "Q8_0", "refs/pr/7", ""},
    {"o/r@refs/pr/7:Q8_0", QN_HUB_HF, "o/r", "Q8_0", "refs/pr/7", ""},
    {"o/r:*", QN_HUB_HF, "o/r", "*", "", ""},
    {"o/r:sub/dir/m.gguf", QN_HUB_HF, "o/r", "sub/dir/m.gguf", "", ""},
    {"o/r:m@q4.gguf", QN_HUB_HF, "o/r", "m@q4.gguf", "", ""},
    {"o/r/sub/m.gguf", QN_HUB_HF, "o/r", "sub/m.gguf", "", ""},
    {"mistralai/Devstral-Small-2507_gguf:Q4_K_M", QN_HUB_HF, "mistralai/Devstral-Small-2507_gguf",
     "Q4_K_M", "", ""},
    {"hf.co/o/r:Q8_0", QN_HUB_HF, "o/r", "Q8_0", "", ""},
    {"HF.co/o/r", QN_HUB_HF, "o/r", "", "", ""},
    {"huggingface.co/o/r", QN_HUB_HF, "o/r", "", "", ""},
    {"huggingface.co/o/r/", QN_HUB_HF, "o/r", "", "", ""},
    {"https://huggingface.co/o/r", QN_HUB_HF, "o/r", "", "", ""},
    {"https://huggingface.co/o/r/tree/main", QN_HUB_HF, "o/r", "", "main", ""},
    {"https://huggingface.co/o/r/tree/main/Q4_0", QN_HUB_HF, "o/r", "Q4_0", "main", ""},
    {"https://huggingface.co/o/r/tree/refs%2Fpr%2F7", QN_HUB_HF, "o/r", "", "refs/pr/7", ""},
    {"https://huggingface.co/o/r/blob/main/a%20b.gguf?download=true", QN_HUB_HF, "o/r", "a b.gguf",
     "main", ""},
    {"https://huggingface.co/o/r/resolve/0123abc/d/m.gguf#x", QN_HUB_HF, "o/r", "d/m.gguf",
     "0123abc", ""},
    {"http://hf.co/o/r:Q4_0", QN_HUB_HF, "o/r", "Q4_0", "", ""},
    {"https://huggingface.co/o/r/discussions/3", QN_HUB_HF, "o/r", "", "", ""},
    {"hf.co/library/x", QN_HUB_HF, "library/x", "", "", ""},
    {"hf.co/o/r.gguf", QN_HUB_HF, "o/r.gguf", "", "", ""},
    {"hf.co/models/o/r", QN_HUB_HF, "o/r", "", "", ""},
    {"hf.co/models/x:Q4_0", QN_HUB_HF, "models/x", "Q4_0", "", ""},
    {"modelscope.cn/Qwen/Qwen3-8B-GGUF:Q4_K_M", QN_HUB_MODELSCOPE, "Qwen/Qwen3-8B-GGUF", "Q4_K_M",
     "", ""},
    {"modelscope.cn/models/Qwen/Qwen3-8B-GGUF", QN_HUB_MODELSCOPE, "Qwen/Qwen3-8B-GGUF", "", "",
     ""},
    {"https://modelscope.cn/models/Qwen/Qwen3-8B-GGUF/files", QN_HUB_MODELSCOPE,
     "Qwen/Qwen3-8B-GGUF", "", "", ""},
    {"https://www.modelscope.cn/models/o/r/file/view/master/m.gguf?status=2", QN_HUB_MODELSCOPE,
     "o/r", "m.gguf", "master", ""},
    {"https://modelscope.cn/models/o/r/resolve/master/m.gguf", QN_HUB_MODELSCOPE, "o/r", "m.gguf",
     "master", ""},
    {"llama3.2", QN_HUB_OLLAMA, "library/llama3.2", "latest", "", ""},
    {"qwen3:8b", QN_HUB_OLLAMA, "library/qwen3", "8b", "", ""},
    {"library/qwen3:8b-q4_K_M", QN_HUB_OLLAMA, "library/qwen3", "8b-q4_K_M", "", ""},
    {"ollama.com/library/gemma3", QN_HUB_OLLAMA, "library/gemma3", "latest", "", ""},
    {"https://ollama.com/library/gemma3:1b", QN_HUB_OLLAMA, "library/gemma3", "1b", "", ""},
    {"https://ollama.com/library/gemma3/tags", QN_HUB_OLLAMA, "library/gemma3", "latest", "", ""},
    {"ollama.com/someone/model:x", QN_HUB_OLLAMA, "someone/model", "x", "", ""},
    {"registry.ollama.ai/library/qwen3:0.6b", QN_HUB_OLLAMA, "library/qwen3", "0.6b", "", ""},
    {"https://registry.ollama.ai/v2/library/qwen3/manifests/0.6b", QN_HUB_OLLAMA, "library/qwen3",
     "0.6b", "", ""},
    {"https://example.com/models/x.gguf?sig=1#frag", QN_HUB_URL, "", "", "",
     "https://example.com/models/x.gguf?sig=1"},
    {"http://127.0.0.1:8000/x.zip", QN_HUB_URL, "", "", "", "http://127.0.0.1:8000/x.zip"},
    {"https://huggingface.co.example.com/o/r", QN_HUB_URL, "", "", "",
     "https://huggingface.co.example.com/o/r"},
    {"/srv/m.gguf", QN_HUB_LOCAL, "", "", "", "/srv/m.gguf"},
    {"./m.gguf", QN_HUB_LOCAL, "", "", "", "./m.gguf"},
    {"../m", QN_HUB_LOCAL, "", "", "", "../m"},
    {"~/m.gguf", QN_HUB_LOCAL, "", "", "", "~/m.gguf"},
    {"m.gguf", QN_HUB_LOCAL, "", "", "", "m.gguf"},
    {"models/M.GGUF", QN_HUB_LOCAL, "", "", "", "models/M.GGUF"},
    {"pack.tar.zst", QN_HUB_LOCAL, "", "", "", "pack.tar.zst"},
    {"file://m", QN_HUB_LOCAL, "", "", "", "m"},
    {"file:///srv/m.gguf", QN_HUB_LOCAL, "", "", "", "/srv/m.gguf"},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct qn_ref ref;
        struct qn_error e = {0};
        if (qn_ref_parse(good[i].text, QN_HUB_HF, &ref, &e))
            fail_msg("%s: %s", good[i].text, e.message);
        if (ref.hub != good[i].hub)
            fail_msg("%s: hub %s", good[i].text, qn_hub_kind_name(ref.hub));
        assert_string_equal(ref.repo, good[i].repo);
        assert_string_equal(ref.variant, good[i].variant);
        assert_string_equal(ref.revision, good[i].revision);
        assert_string_equal(ref.url, good[i].url);
    }
}

/* What is printed means the same. */
static void test_print(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct qn_ref ref, again;
        struct qn_buf text;
        qn_buf_init(&text, 8192);
        assert_int_equal(qn_ref_parse(good[i].text, QN_HUB_HF, &ref, NULL), QN_OK);
        qn_ref_print(&ref, &text);
        assert_int_equal(qn_ref_parse(qn_buf_cstr(&text), QN_HUB_HF, &again, NULL), QN_OK);
        if (memcmp(&ref, &again, sizeof ref) != 0)
            fail_msg("%s is printed as %s", good[i].text, qn_buf_cstr(&text));
        qn_buf_deinit(&text);
    }
}

/* The hub that is meant when none is named. */
static void test_plain_hub(void **state)
{
    struct qn_ref ref;
    (void)state;
    assert_int_equal(qn_ref_parse("o/r:Q4_0", QN_HUB_MODELSCOPE, &ref, NULL), QN_OK);
    assert_int_equal(ref.hub, QN_HUB_MODELSCOPE);
    assert_int_equal(qn_ref_parse("hf.co/o/r", QN_HUB_MODELSCOPE, &ref, NULL), QN_OK);
    assert_int_equal(ref.hub, QN_HUB_HF);
    assert_int_equal(qn_ref_parse("qwen3:8b", QN_HUB_MODELSCOPE, &ref, NULL), QN_OK);
    assert_int_equal(ref.hub, QN_HUB_OLLAMA);
}

static void test_refused(void **state)
{
    static const char *const refused[] = {
        "",
        "o/",
        "/o/r:",
        "o/r:",
        "o/r@",
        "o/r@:Q4_0",
        "o/r:Q4_0@",
        "o/r:a@b@c",
        "o/r/a@main",
        "o/r@../../x",
        "o/r@-x",
        "o/r:../x",
        "o/r:a//b",
        "o/r:a\\b",
        "o/../r",
        "../r/..:x",
        ".o/r",
        "o/-r",
        "o o/r",
        "o/r r",
        "o/r\n",
        "o/r:\x01",
        "o/r:\302\2331m",
        "\xff/r",
        "hf.co",
        "hf.co/",
        "hf.co/o",
        "https://huggingface.co",
        "https://huggingface.co/",
        "https://huggingface.co/o",
        "https://huggingface.co/datasets/o/r",
        "https://huggingface.co/spaces/o/r",
        "https://huggingface.co/o/r/blob/main/..%2f..%2fx",
        "https://huggingface.co/o/r/resolve/../x",
        "https://user:secret@example.com/x.gguf",
        "https:///x.gguf",
        "https://:80/x",
        "https://example.com/a b",
        "ftp://example.com/x.gguf",
        "javascript://x",
        "qwen3:",
        "qwen3:a/b",
        "llama 3",
        "ollama.com/a/b/c",
        "file://",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct qn_ref ref;
        struct qn_error e = {0};
        qn_err err = qn_ref_parse(refused[i], QN_HUB_HF, &ref, &e);
        /* "/o/r:" and "../r/..:x" are paths, which may hold anything. */
        if (*refused[i] == '/' || qn_str_starts(refused[i], "../")) {
            assert_int_equal(ref.hub, QN_HUB_LOCAL);
            continue;
        }
        if (!err)
            fail_msg("%s was taken: hub %d repo %s variant %s", refused[i], (int)ref.hub, ref.repo,
                     ref.variant);
        assert_true(*e.message);
        assert_null(strstr(e.message, "secret"));
    }
}

static void test_too_long(void **state)
{
    char text[4096];
    struct qn_ref ref;
    (void)state;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(qn_ref_parse(text, QN_HUB_HF, &ref, NULL), QN_EINVAL);
    memcpy(text, "o/r:", 4);
    text[4 + QN_REF_VARIANT_MAX + 1] = '\0';
    assert_int_equal(qn_ref_parse(text, QN_HUB_HF, &ref, NULL), QN_EINVAL);
    text[4 + QN_REF_VARIANT_MAX] = '\0';
    assert_int_equal(qn_ref_parse(text, QN_HUB_HF, &ref, NULL), QN_OK);
    memcpy(text, "o/rr", 4);
    assert_int_equal(qn_ref_parse(text, QN_HUB_HF, &ref, NULL),
                     QN_EINVAL); /* a part of more than 96 */
}

static void test_paths(void **state)
{
    static const char *const fine[] = {"a", "a/b.gguf", "a b", "...", "a..b", "\xc3\xa9/x"};
    static const char *const not [] = {"",     "/a",     "a/",        "a//b", ".",
                                       "..",   "a/../b", "a/./b",     "a\\b", "a\nb",
                                       "\xff", "a/..",   "a\302\233b"};
    (void)state;
    for (size_t i = 0; i < COUNT(fine); i++)
        assert_true(qn_ref_path_ok(fine[i]));
    for (size_t i = 0; i < COUNT(not ); i++)
        if (qn_ref_path_ok(not [i]))
            fail_msg("'%s'", not [i]);
}

static void test_kinds(void **state)
{
    (void)state;
    for (int k = 0; k < QN_HUB_COUNT; k++)
        assert_int_equal(qn_hub_kind_parse(qn_hub_kind_name((enum qn_hub_kind)k)), k);
    assert_int_equal(qn_hub_kind_parse("HF"), QN_HUB_HF);
    assert_int_equal(qn_hub_kind_parse("nowhere"), QN_HUB_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),     cmocka_unit_test(test_print),
        cmocka_unit_test(test_plain_hub), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_long),  cmocka_unit_test(test_paths),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
