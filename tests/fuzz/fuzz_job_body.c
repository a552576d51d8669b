/* The body of a POST /run from a hostile router: the first byte says in which pieces the rest
 * arrives. What becomes of it does not depend on them, and every byte of an input can be read. */
#include "child/job_body.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t read_input(const struct qn_input *in)
{
    uint32_t sum = 0;
    for (size_t i = 0; i <= in->len && in->text; i++)
        sum = sum * 31 + (uint8_t)in->text[i];
    for (size_t i = 0; i < in->n_tokens; i++) {
        if (in->tokens[i] < 0)
            abort();
        sum = sum * 31 + (uint32_t)in->tokens[i];
    }
    return sum;
}

static qn_err read_body(const uint8_t *data, size_t size, size_t piece, uint32_t *sum)
{
    struct qn_job_body body;
    struct qn_input_batch *batch;
    struct qn_error e = {0};
    qn_err err = QN_OK;
    size_t first = 0;
    qn_job_body_init(&body);
    for (size_t at = 0; at < size && !err; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        err = qn_job_body_add(&body, (const char *)data + at, n, &e);
        while ((batch = qn_job_body_take_inputs(&body)) != NULL) {
            if (batch->first != first || !body.has_job)
                abort();
            for (size_t i = 0; i < batch->n; i++)
                *sum += read_input(&batch->v[i]);
            first += batch->n;
            free(batch);
        }
    }
    if (!err)
        err = qn_job_body_end(&body, &e);
    if (!err && (!qn_job_body_is_ready(&body) || first != (size_t)body.job.embed.count))
        abort();
    qn_job_body_deinit(&body);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t whole = 0, cut = 0;
    if (size < 1)
        return 0;
    qn_err err = read_body(data + 1, size - 1, size, &whole);
    if (read_body(data + 1, size - 1, (size_t)data[0] % 64 + 1, &cut) != err || whole != cut)
        abort();
    return 0;
}
