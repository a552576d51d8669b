/* Chat templates in Go's language: whatever is translated is a template of ours. */
#include "dialects/ollama/ollama_template.h"
#include "jinja/template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_buf out;
    struct qn_error e = {0};
    struct qn_template *t;
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = '\0';
    qn_buf_init(&out, 1024 * 1024);
    if (qn_ollama_template(text, &out, &e) == QN_OK &&
        qn_template_new(qn_buf_cstr(&out), out.len, &t, &e) == QN_OK)
        qn_template_free(t);
    qn_buf_deinit(&out);
    free(text);
    return 0;
}
