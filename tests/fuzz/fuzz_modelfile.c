/* Modelfiles: whatever is accepted is JSON. */
#include "base/json.h"
#include "dialects/ollama/modelfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_buf out;
    struct qn_error e = {0};
    struct qn_json *doc = NULL;
    qn_buf_init(&out, QN_MODELFILE_MAX);
    if (qn_modelfile_read((const char *)data, n, &out, &e) == QN_OK &&
        qn_json_parse(qn_buf_cstr(&out), out.len, &doc, &e) && e.code != QN_ELIMIT &&
        !memchr(data, 0, n))
        abort();
    qn_json_free(doc);
    qn_buf_deinit(&out);
    return 0;
}
