/* What files are said to be able to do (tools/inspect/facts.c), and their sums, also in parts
 * (registry/digest.c). Expected sums are those of the published examples of SHA-256. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/path.h"
#include "inspect/facts.h"
#include "inspect/header.h"
#include "registry/digest.h"

#include "gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/qn-facts-XXXXXX");
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
    assert_int_equal(qn_file_write_atomic(path, data, n, 0600, NULL), QN_OK);
    return path;
}

/* The facts of a file that says these things. */
static struct qn_json *facts_of(struct gguf_file *f)
{
    struct qn_json *doc;
    struct qn_buf out;
    struct qn_error e = {0};
    struct qn_gguf *g;
    struct qn_inspection in;
    gguf_end(f);
    if (qn_gguf_parse(f->b.data, f->b.len, &g, &e) || qn_inspect_header(&g, 1, &in, &e))
        fail_msg("%s", e.message);
    qn_buf_init(&out, QN_FACTS_MAX);
    if (qn_inspect_facts(g, &in, &out, &e))
        fail_msg("%s", e.message);
    assert_int_equal(qn_json_parse(qn_buf_cstr(&out), out.len, &doc, NULL), QN_OK);
    qn_buf_deinit(&out);
    qn_gguf_close(g);
    qn_buf_deinit(&f->b);
    return doc;
}

static uint32_t pooling = 1; /* what a network that pools says */

static void capable(const char *template, const char *const *tokens, size_t n_tokens,
                    const char *extra, const char *wanted)
{
    struct gguf_file f;
    struct qn_buf text;
    gguf_begin(&f);
    gguf_str(&f, "general.architecture", "llama");
    if (template)
        gguf_str(&f, "tokenizer.chat_template", template);
    if (extra)
        gguf_u32(&f, extra, pooling);
    if (n_tokens) {
        gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, n_tokens);
        for (size_t i = 0; i < n_tokens; i++)
            gguf_text(&f, tokens[i], strlen(tokens[i]));
    }
    struct qn_json *doc = facts_of(&f);
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "capabilities");
    qn_buf_init(&text, 4096);
    qn_json_print(&v, &text);
    assert_string_equal(qn_buf_cstr(&text), wanted);
    qn_buf_deinit(&text);
    qn_json_free(doc);
}

static void capabilities(void **state)
{
    static const char *const qwen[] = {"a", "<|fim_middle|>"}, *const none[] = {"a", "b"};
    (void)state;
    capable(NULL, NULL, 0, NULL, "[\"chat\",\"complete\"]");
    capable("{{ messages }}", none, 2, NULL, "[\"chat\",\"complete\"]");
    capable("{% if tools %}{{ tools }}{% endif %}", NULL, 0, NULL,
            "[\"chat\",\"complete\",\"tools\"]");
    capable("{{ '<think>' }}", qwen, 2, NULL, "[\"chat\",\"complete\",\"insert\",\"reasoning\"]");
    capable("{% if enable_thinking %}{{ tools }}{% endif %}", NULL, 0,
            "tokenizer.ggml.fim_mid_token_id",
            "[\"chat\",\"complete\",\"tools\",\"insert\",\"reasoning\"]");
    capable("{{ tools }}", NULL, 0, "llama.pooling_type", "[\"embed\"]");
    pooling = 4; /* llama.cpp: LLAMA_POOLING_TYPE_RANK */
    capable("{{ tools }}", NULL, 0, "llama.pooling_type", "[\"rerank\"]");
    pooling = 1;
}

static void metadata(void **state)
{
    (void)state;
    struct gguf_file f;
    float tiny = 1e-5f, fine = 1.2345678f;
    gguf_begin(&f);
    gguf_str(&f, "general.architecture", "llama");
    gguf_str(&f, "general.license", "MIT");
    gguf_str(&f, "tokenizer.chat_template", "{{ messages }}");
    gguf_u32(&f, "llama.block_count", 7);
    gguf_bool(&f, "llama.flag", true);
    gguf_key(&f, "llama.epsilon", QN_GGUF_F32);
    gguf_raw(&f, &tiny, sizeof tiny);
    gguf_key(&f, "llama.fine", QN_GGUF_F32);
    gguf_raw(&f, &fine, sizeof fine);
    gguf_array(&f, "tokenizer.ggml.tokens", QN_GGUF_STRING, 1);
    gguf_text(&f, "x", 1);
    char long_text[5000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    gguf_str(&f, "general.description", long_text);
    gguf_key(&f, "general.zero", QN_GGUF_STRING); /* JSON's readers take no zero byte */
    gguf_text(&f, "a\0b", 3);
    struct qn_json *doc = facts_of(&f);
    struct qn_jref root = qn_json_root(doc), info = qn_json_get(&root, "info"), v;
    v = qn_json_get(&info, "general.zero");
    assert_int_equal(qn_json_type(&v), QN_JSON_ABSENT);
    v = qn_json_get(&root, "license");
    assert_string_equal(qn_json_raw_str(&v), "MIT");
    v = qn_json_get(&root, "template");
    assert_string_equal(qn_json_raw_str(&v), "{{ messages }}");
    v = qn_json_get(&info, "llama.block_count");
    assert_true(qn_json_raw_f64(&v) == 7);
    v = qn_json_get(&info, "llama.flag");
    assert_true(qn_json_raw_bool(&v));
    v = qn_json_get(&info, "llama.epsilon");
    assert_true(qn_json_raw_f64(&v) == 1e-5);
    v = qn_json_get(&info, "llama.fine");
    assert_true(qn_json_raw_f64(&v) == 1.2345678);
    v = qn_json_get(&info, "tokenizer.ggml.tokens");
    assert_int_equal(qn_json_type(&v), QN_JSON_NULL);
    v = qn_json_get(&info, "tokenizer.chat_template");
    assert_int_equal(qn_json_type(&v), QN_JSON_ABSENT);
    v = qn_json_get(&info, "general.description"); /* too long to be of use */
    assert_int_equal(qn_json_type(&v), QN_JSON_ABSENT);
    qn_json_free(doc);
}

static void sums(void **state)
{
    (void)state;
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    atomic_bool stop;
    char hex[QN_SHA256_HEX + 1];
    struct qn_error e = {0};
    struct qn_stamp one, two;
    atomic_init(&stop, false);
    char *whole = put("whole.gguf", "abc", 3);
    char *first = put("m-00001-of-00002.gguf", "a", 1);
    char *second = put("m-00002-of-00002.gguf", "bc", 2);
    assert_int_equal(qn_registry_digest(whole, &stop, hex, &e), QN_OK);
    assert_string_equal(hex, abc);
    assert_int_equal(qn_registry_digest(first, &stop, hex, &e), QN_OK);
    assert_string_equal(hex, abc);
    assert_int_equal(qn_registry_stamp(first, &one, &e), QN_OK);
    assert_true(one.modified_s > 1700000000);
    assert_int_equal(qn_registry_stamp(first, &two, &e), QN_OK);
    assert_string_equal(one.text, two.text);
    free(put("m-00002-of-00002.gguf", "bcd", 3)); /* the second part is looked at, too */
    assert_int_equal(qn_registry_stamp(first, &two, &e), QN_OK);
    assert_string_not_equal(one.text, two.text);
    unlink(second);
    assert_int_equal(mkfifo(second, 0600), 0); /* a pipe in its place does not block */
    assert_int_equal(qn_registry_digest(first, &stop, hex, &e), QN_EIO);
    unlink(second);
    assert_int_equal(qn_registry_digest(first, &stop, hex, &e), QN_ENOTFOUND);
    assert_int_equal(qn_registry_stamp(first, &two, &e), QN_ENOTFOUND);
    atomic_store(&stop, true);
    assert_int_equal(qn_registry_digest(whole, &stop, hex, &e), QN_ECANCELLED);
    free(whole);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(capabilities, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata, setup, teardown),
        cmocka_unit_test_setup_teardown(sums, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
