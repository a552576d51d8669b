/* Schemas and grammars from strangers: compiled, then walked at random over a small vocabulary. No
 * text may come to a dead end, masks agree with single tokens, and a finished text of a schema is
 * JSON. The first byte chooses between schema and grammar and seeds the walks. */
#include "base/json.h"
#include "base/rand.h"

#include "../unit/byte_vocab.h"

#include <math.h>
#include <stdlib.h>

enum { WALKS = 2, STEPS = 48, SIZE_LIMIT = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct qn_constraint *k, struct qn_rng *r, bool json)
{
    struct qn_constraint_state s = {0};
    struct qn_buf text;
    float logits[BYTE_VOCAB_N];
    qn_buf_init(&text, 1 << 20);
    qn_constraint_begin(&s, k);
    for (int step = 0; step < STEPS && !qn_constraint_done(&s); step++) {
        int32_t allowed[BYTE_VOCAB_N];
        size_t n = 0, len;
        memset(logits, 0, sizeof logits);
        if (!qn_constraint_mask(&s, logits, BYTE_VOCAB_N)) {
            if (s.too_hard)
                break;
            abort(); /* every byte is a token: there is always a way on */
        }
        for (int32_t id = 0; id < BYTE_VOCAB_N; id++)
            if (logits[id] == 0)
                allowed[n++] = id;
        int32_t id = allowed[qn_rng_u64(r) % n], other = (int32_t)(qn_rng_u64(r) % BYTE_VOCAB_N);
        if ((logits[other] == 0) != qn_constraint_allows(&s, other))
            abort();
        if (id == BYTE_VOCAB_END)
            break;
        if (!qn_constraint_accept(&s, id))
            abort();
        const char *bytes = byte_vocab_bytes(NULL, id, &len);
        qn_buf_add(&text, bytes, len);
    }
    if (json && qn_constraint_complete(&s)) {
        struct qn_json *doc;
        struct qn_error e = {0};
        if (qn_json_parse(qn_buf_cstr(&text), text.len, &doc, &e))
            abort();
        qn_json_free(doc);
    }
    qn_constraint_end(&s);
    qn_buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constraint *k;
    struct qn_error e = {0};
    if (size < 2 || size > SIZE_LIMIT)
        return 0;
    struct qn_constrainer *c = qn_constrainer_new(&v);
    char *source = qn_xstrndup((const char *)data + 1, size - 1);
    bool json = data[0] & 1;
    struct qn_constrain job = {json ? source : NULL, json ? NULL : source};
    if (qn_constraint_of_job(c, &job, &k, &e)) {
        if (e.message[0] == 0 || e.param[0] == 0)
            abort();
    } else {
        struct qn_rng r;
        qn_rng_init(&r, data[0]);
        for (int i = 0; i < WALKS; i++)
            walk(k, &r, json);
        qn_constraint_unref(k);
    }
    free(source);
    qn_constrainer_free(c);
    return 0;
}
