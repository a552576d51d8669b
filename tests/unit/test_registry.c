/* The built-in list: what is accepted, and which entry a message blames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/path.h"
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

/* What an entry says in the list's several forms comes out in one. */
static void entries_in_all_forms(void **state)
{
    (void)state;
    struct qn_registry *r;
    struct qn_error e = {0};
    if (open_list("{\"Flux\":{\"checkpoints\":{\"vae\":\"c/d:split/vae.safetensors\",\"main\":\"a/"
                  "b:m.safetensors\"},"
                  "\"recipe\":\"sd-cpp\",\"size\":16.1,\"labels\":[\"image\",\"edit\"],"
                  "\"suggested\":true,"
                  "\"image_defaults\":{\"steps\":4},\"recipe_options\":{\"steps\":4}},"
                  "\"Seeing\":{\"checkpoint\":\"o/"
                  "r:Q4_0\",\"mmproj\":\"mmproj-F16.gguf\",\"recipe\":\"llamacpp\","
                  "\"source\":\"modelscope\",\"labels\":[\"chat\",\"vision\"]},"
                  "\"Npu\":{\"checkpoint\":\"amd/x\",\"recipe\":\"ryzenai-llm\"}}",
                  &r, &e))
        fail_msg("%s", e.message);
    const struct qn_registry_entry *x = qn_registry_find(r, "Flux");
    assert_string_equal(x->checkpoint, "a/b:m.safetensors");
    assert_int_equal(x->n_parts, 2);
    assert_string_equal(x->parts[0].role, "main");
    assert_string_equal(x->parts[1].role, "vae");
    assert_string_equal(x->parts[1].checkpoint, "c/d:split/vae.safetensors");
    assert_string_equal(x->checkpoints,
                        "{\"main\":\"a/b:m.safetensors\",\"vae\":\"c/d:split/vae.safetensors\"}");
    assert_string_equal(x->labels, "[\"image\",\"edit\"]");
    assert_string_equal(x->extras, "{\"image_defaults\":{\"steps\":4}}");
    assert_string_equal(x->options, "{\"steps\":4}");
    assert_int_equal(x->size_bytes, 16100000000);
    assert_true(x->suggested);
    x = qn_registry_find(r, "builtin.seeing"); /* neither the prefix nor case matters */
    assert_string_equal(x->name, "Seeing");
    assert_string_equal(x->checkpoint, "modelscope.cn/o/r:Q4_0");
    assert_string_equal(x->hub, "modelscope");
    assert_string_equal(x->mmproj, "mmproj-F16.gguf");
    assert_string_equal(x->checkpoints,
                        "{\"main\":\"modelscope.cn/o/r:Q4_0\",\"mmproj\":\"mmproj-F16.gguf\"}");
    assert_non_null(strstr(qn_recipe_unsupported(qn_registry_find(r, "Npu")->recipe), "NPU"));
    assert_string_equal(qn_registry_find(r, "Seeing:latest")->name, "Seeing");
    assert_null(qn_registry_find(r, "Seein"));
    assert_null(qn_registry_find(r, "Seeing2"));
    assert_null(qn_registry_find(r, ""));
    assert_null(qn_registry_find(r, "nobody"));
    assert_null(qn_registry_find(NULL, "Flux"));
    qn_registry_close(r);
}

static void names_of_ollama(void **state)
{
    (void)state;
    char *path = qn_path_join(dir, "ollama_names.json");
    const char *names = "{\"qwen3:8b\":\"unsloth/Qwen3-8B-GGUF:Q4_K_M\",\"qwen3\":\"o/r\"}";
    assert_int_equal(qn_file_write_atomic(path, names, strlen(names), 0644, NULL), QN_OK);
    struct qn_registry *r;
    assert_int_equal(open_list("{}", &r, NULL), QN_OK);
    static const struct {
        const char *name, *checkpoint;
    } cases[] = {
        {"qwen3:8b", "unsloth/Qwen3-8B-GGUF:Q4_K_M"},
        {"library/qwen3:8B", "unsloth/Qwen3-8B-GGUF:Q4_K_M"},
        {"qwen3", "o/r"},
        {"qwen3:latest", "o/r"},
        {"https://ollama.com/library/qwen3", "o/r"},
        {"qwen3:70b", NULL},
        {"someone/qwen3:8b", NULL},
        {"hf.co/library/qwen3", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = qn_registry_ollama(r, cases[i].name);
        if (!cases[i].checkpoint != !found)
            fail_msg("%s: %s", cases[i].name, found ? found : "none");
        if (found)
            assert_string_equal(found, cases[i].checkpoint);
    }
    qn_registry_close(r);
    names = "{\"a\":\"not a checkpoint\"}";
    assert_int_equal(qn_file_write_atomic(path, names, strlen(names), 0644, NULL), QN_OK);
    assert_int_equal(open_list("{}", &r, NULL), QN_EINVAL);
    free(path);
}

/* The list that quince comes with. tests/http/test_registry_list.py checks its form. */
static void the_list_that_ships(void **state)
{
    (void)state;
    static const struct {
        const char *name, *checkpoint, *label;
        int64_t size_bytes;
    } known[] = {
        {"Qwen3-0.6B-GGUF", "unsloth/Qwen3-0.6B-GGUF:Q4_0", "chat", 380000000},
        {"Gemma-3-4b-it-GGUF", "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M", "vision", 3340000000},
        {"gpt-oss-120b-mxfp-GGUF", "ggml-org/gpt-oss-120b-GGUF:*", "chat", 63400000000},
        {"nomic-embed-text-v1-GGUF", "nomic-ai/nomic-embed-text-v1-GGUF:Q4_K_S", "embeddings",
         78100000},
        {"bge-reranker-v2-m3-GGUF", "pqnet/bge-reranker-v2-m3-Q8_0-GGUF", "reranking", 636000000},
        {"Whisper-Tiny", "ggerganov/whisper.cpp:ggml-tiny.bin", "transcription", 75000000},
        {"SD-Turbo", "stabilityai/sd-turbo:sd_turbo.safetensors", "image", 5210000000},
        {"kokoro-v1", "mikkoph/kokoro-onnx", "tts", 354000000},
    };
    struct qn_registry *r;
    struct qn_error e = {0};
    if (qn_registry_open("registry", &r, &e))
        fail_msg("%s", e.message);
    assert_true(qn_registry_count(r) >= 110);
    assert_non_null(qn_registry_find(r, "quince-starter")->file);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct qn_registry_entry *x = qn_registry_find(r, known[i].name);
        if (!x)
            fail_msg("%s is missing", known[i].name);
        assert_string_equal(x->checkpoint, known[i].checkpoint);
        assert_non_null(strstr(x->labels, known[i].label));
        assert_int_equal(x->size_bytes, known[i].size_bytes);
    }
    for (size_t i = 0; i < qn_registry_count(r); i++) {
        const struct qn_registry_entry *x = qn_registry_at(r, i);
        bool npu = !strcmp(x->recipe, "flm") || !strcmp(x->recipe, "ryzenai-llm");
        assert_int_equal(qn_recipe_unsupported(x->recipe) != NULL, npu);
    }
    assert_string_equal(qn_registry_ollama(r, "llama3.2"),
                        "unsloth/Llama-3.2-3B-Instruct-GGUF:Q4_K_M");
    qn_registry_close(r);
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
        {"{\"m\":{\"recipe\":\"x\"}}", QN_EINVAL, "m.recipe"},
        {"{\"m\":{\"recipe\":\"llamacpp\"}}", QN_EINVAL, "m.checkpoint"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a b/c\"}}", QN_EINVAL, "m.checkpoint"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoints\":{\"vae\":\"a/b\"}}}", QN_EINVAL,
         "m.checkpoints.main"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoints\":{\"main\":\"a/b\",\"wing\":\"a/b\"}}}",
         QN_EINVAL, "m.checkpoints"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a/b\",\"labels\":[1]}}", QN_EINVAL,
         "m.labels[0]"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a/b\",\"mmproj\":\"../x\"}}", QN_EINVAL,
         "m.mmproj"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a/b\",\"size\":-1}}", QN_EINVAL,
         "m.size"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a/b\",\"source\":\"x\"}}", QN_EINVAL,
         "m.source"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"a/b\"},\"M\":{}}", QN_EINVAL, "twice"},
        {"{\"m\":{\"recipe\":\"llamacpp\",\"checkpoint\":\"gone.gguf\",\"shipped\":true}}",
         QN_ENOTFOUND, "gone.gguf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_registry *r = NULL;
        struct qn_error e = {0};
        assert_int_equal(open_list(cases[i].text, &r, &e), cases[i].err);
        assert_null(r);
        assert_non_null(strstr(e.message, cases[i].said));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shipped_files_become_absolute, setup, teardown),
        cmocka_unit_test_setup_teardown(entries_in_all_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_ollama, setup, teardown),
        cmocka_unit_test(the_list_that_ships),
        cmocka_unit_test_setup_teardown(a_wrong_entry_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
