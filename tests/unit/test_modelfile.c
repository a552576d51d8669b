/* router/dialects/ollama/modelfile.c against the forms that docs/modelfile.mdx of Ollama shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dialects/ollama/modelfile.h"

#include <string.h>

static void becomes(const char *text, const char *json)
{
    struct qn_buf out;
    struct qn_error e = {0};
    qn_buf_init(&out, QN_MODELFILE_MAX);
    if (qn_modelfile_read(text, strlen(text), &out, &e))
        fail_msg("%s: %s", text, e.message);
    assert_string_equal(qn_buf_cstr(&out), json);
    qn_buf_deinit(&out);
}

static void forms(void **state)
{
    (void)state;
    becomes("", "{}");
    becomes("# only a remark\n\n", "{}");
    becomes("FROM llama3.2\n# sets the temperature to 1 [higher is more creative]\n"
            "PARAMETER temperature 1\nPARAMETER num_ctx 4096\n\n"
            "SYSTEM You are Mario from super mario bros, acting as an assistant.\n",
            "{\"from\":\"llama3.2\",\"system\":\"You are Mario from super mario bros, acting as an "
            "assistant.\",\"parameters\":{\"temperature\":1,\"num_ctx\":4096}}");
    becomes("from x\r\nsystem \"  kept \"\r\n", "{\"from\":\"x\",\"system\":\"  kept \"}");
    becomes(
        "FROM x\nTEMPLATE \"\"\"{{ a }}\n# no remark\nlast\"\"\"\nLICENSE \"\"\"\nMIT\n\"\"\"\n",
        "{\"from\":\"x\",\"template\":\"{{ a }}\\n# no remark\\nlast\",\"license\":[\"\\nMIT\\n"
        "\"]}");
    becomes("FROM x\nPARAMETER stop \"<|im_end|>\"\nPARAMETER seed 1\nPARAMETER stop 5\n"
            "PARAMETER seed 2\nPARAMETER use_mmap true\nPARAMETER name text 1",
            "{\"from\":\"x\",\"parameters\":{\"stop\":[\"<|im_end|>\",\"5\"],\"seed\":2,"
            "\"use_mmap\":true,\"name\":\"text 1\"}}");
    becomes("FROM x\nMESSAGE user Is Toronto in Canada?\nMESSAGE assistant yes\nLICENSE a\nLICENSE "
            "b\nADAPTER ./lora.gguf\nPARSER p\n",
            "{\"from\":\"x\",\"license\":[\"a\",\"b\"],\"adapters\":[\"./lora.gguf\"],\"messages\":"
            "[{\"role\":\"user\",\"content\":\"Is Toronto in Canada?\"},{\"role\":\"assistant\","
            "\"content\":\"yes\"}]}");
}

static void complaints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
    } rows[] = {
        {"FROM x\nDANCE\n", "line 2"},
        {"SYSTEM \"\"\"a\nb", "line 1"},
        {"SYSTEM \"\"\"a\nb\"\"\" c\n", "line 2"},
        {"PARAMETER\n", "line 1"},
        {"\n\nPARAMETER stop\n", "line 3"},
        {"MESSAGE king hi\n", "line 1"},
        {"MESSAGE\n", "line 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_buf out;
        struct qn_error e = {0};
        qn_buf_init(&out, QN_MODELFILE_MAX);
        assert_int_equal(qn_modelfile_read(rows[i].text, strlen(rows[i].text), &out, &e),
                         QN_EINVAL);
        assert_string_equal(e.param, "modelfile");
        if (!strstr(e.message, rows[i].line))
            fail_msg("%s: %s", rows[i].text, e.message);
        qn_buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(complaints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
