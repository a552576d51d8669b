/* Any bytes as the answer of quince-inspect: whatever is accepted keeps every limit, and read again
 * after it was written it is the same. */
#include "base/json.h"
#include "formats/inspection.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool yes)
{
    if (!yes)
        abort();
}

static bool bounded(const char *s, size_t size)
{
    return memchr(s, 0, size) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_inspection in, again;
    struct qn_error e = {0};
    struct qn_buf facts, text, second;
    char lacking[QN_INSPECTION_LACKING_MAX + 1];
    qn_buf_init(&facts, QN_FACTS_MAX);
    qn_buf_init(&second, QN_FACTS_MAX);
    qn_buf_init(&text, QN_INSPECTION_MAX);
    qn_err err = qn_inspection_read((const char *)data, n, &in, &facts, lacking, &e);
    must(bounded(lacking, sizeof lacking));
    if (err) {
        must(e.code == err && *e.message && facts.len == 0 && !*in.architecture);
    } else {
        must(bounded(in.architecture, sizeof in.architecture) && *in.architecture);
        must(bounded(in.title, sizeof in.title) &&
             bounded(in.quantization, sizeof in.quantization));
        must(in.parameters >= 0 && in.size_bytes >= 0 && in.kv_token_bytes >= 0);
        e = (struct qn_error){0};
        qn_inspection_write(&in, &facts, lacking, &e, &text);
        must(!qn_inspection_read(text.data, text.len, &again, &second, lacking, &e));
        must(memcmp(&in, &again, sizeof in) == 0 && facts.len == second.len);
        must(!facts.len || memcmp(facts.data, second.data, facts.len) == 0);
    }
    qn_buf_deinit(&facts);
    qn_buf_deinit(&second);
    qn_buf_deinit(&text);
    return 0;
}
