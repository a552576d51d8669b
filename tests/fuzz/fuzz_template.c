/* Chat templates from strangers: compiled, then rendered with a small conversation. */
#include "base/json.h"
#include "jinja/template.h"

#include <stdlib.h>
#include <string.h>

static const char vars[] = "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"},"
                           "{\"role\":\"user\",\"content\":\"h\\u00e9 \\ud83d\\ude00\\n\"},"
                           "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":"
                           "{\"name\":\"f\",\"arguments\":{\"a\":[1,2.5,true]}}}]}],"
                           "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
                           "\"bos_token\":\"<s>\",\"add_generation_prompt\":true,\"a\":[3,1,2],"
                           "\"s\":\"hello\",\"n\":null}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qn_json *doc;
    struct qn_template *t = NULL;
    struct qn_error e = {0};
    if (!doc && qn_json_parse(vars, strlen(vars), &doc, &e))
        abort();
    if (qn_template_new((const char *)data, size, &t, &e)) {
        if (e.message[0] == 0)
            abort();
        return 0;
    }
    struct qn_jref root = qn_json_root(doc);
    struct qn_buf out;
    qn_buf_init(&out, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = qn_template_render(t, &root, 0, &out, &e);
    if (err && out.len > 0)
        abort();
    qn_buf_deinit(&out);
    qn_template_free(t);
    return 0;
}
