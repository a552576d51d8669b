/* Real vocabularies against the ids that the reference tokenizer gives (QUINCE_TEST_DATA), and small
 * vocabularies written here for the rules about special tokens, bytes and hostile metadata. */
#include "base/buf.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "nets/detokenize.h"
#include "nets/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char separator[] = "\n__ggml_vocab_test__\n";

static struct qn_tokenizer *load(const char *name)
{
    const char *dir = getenv("QUINCE_TEST_DATA");
    if (dir == NULL || *dir == '\0') {
        skip();
    }
    char path[512];
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf", dir, name);
    struct qn_gguf *g;
    struct qn_tokenizer *t = NULL;
    struct qn_error e = {0};
    if (qn_gguf_open(path, &g, &e) != QN_OK || qn_tokenizer_new(g, &t, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
    qn_gguf_close(g);
    return t;
}

static void read_file(const char *name, const char *suffix, struct qn_buf *out)
{
    char path[512];
    struct qn_error e = {0};
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf.%s", getenv("QUINCE_TEST_DATA"), name,
             suffix);
    qn_buf_init(out, 1 << 20);
    if (qn_file_read(path, out, &e) != QN_OK) {
        fail_msg("%s", e.message);
    }
}

static void real_vocabulary(void **state)
{
    const char *name = *state;
    struct qn_tokenizer *t = load(name);
    struct qn_buf texts, ids;
    read_file(name, "inp", &texts);
    read_file(name, "out", &ids);
    char *text = qn_buf_cstr(&texts), *line = qn_buf_cstr(&ids);
    int count = 0;
    for (char *end; (end = strstr(text, separator)) != NULL; text = end + strlen(separator)) {
        struct qn_tokens out = {0};
        struct qn_error e = {0};
        assert_int_equal(qn_tokenize(t, text, (size_t)(end - text), 0, 1 << 16, &out, &e), QN_OK);
        char *line_end = strchr(line, '\n');
        if (line_end == NULL) {
            line_end = line + strlen(line);
        }
        size_t n = 0;
        for (char *p = line; p < line_end; n++) {
            long expected = strtol(p, &p, 10);
            if (n >= out.n || out.v[n] != expected) {
                fail_msg("%s text %d (%.*s): token %zu is %d, expected %ld", name, count,
                         (int)(end - text), text, n, n < out.n ? out.v[n] : -1, expected);
            }
            while (p < line_end && *p == ' ') {
                p++;
            }
        }
        assert_int_equal(out.n, n);
        qn_tokens_deinit(&out);
        line = line_end + (*line_end == '\n');
        count++;
    }
    assert_true(count >= 40);
    qn_buf_deinit(&texts);
    qn_buf_deinit(&ids);
    qn_tokenizer_free(t);
}

int main(void)
{
    static char bge[] = "bert-bge", coder[] = "deepseek-coder", gpt2[] = "gpt-2",
                spm[] = "llama-spm", phi3[] = "phi-3";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(real_vocabulary, bge),
        cmocka_unit_test_prestate(real_vocabulary, coder),
        cmocka_unit_test_prestate(real_vocabulary, gpt2),
        cmocka_unit_test_prestate(real_vocabulary, spm),
        cmocka_unit_test_prestate(real_vocabulary, phi3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
