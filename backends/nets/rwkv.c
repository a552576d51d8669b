/* RWKV's tokenizer: at every place the longest token that begins there. Its tokens are any bytes,
 * which the file writes as Python does ("\n", "\xff"). Source: RWKV's "world" vocabulary. */
#include "nets/pieces.h"

void qn_rwkv_init(struct qn_rwkv *r, const struct qn_vocab *v)
{
    qn_special_init(&r->tokens, v, 1u << QN_TOKEN_NORMAL | 1u << QN_TOKEN_BYTE);
}

void qn_rwkv_deinit(struct qn_rwkv *r)
{
    qn_special_deinit(&r->tokens);
}

qn_err qn_rwkv_text(const struct qn_rwkv *r, struct qn_tokenizing *z, const char *text, size_t len,
                    struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0; i < len && err == QN_OK;) {
        int32_t k = qn_special_longest(&r->tokens, z->vocab, text + i, len - i);
        int32_t id = k < 0 ? z->unknown : r->tokens.entry[k].id;
        err = qn_tokenizing_push(z, id, e);
        i += k < 0 ? 1 : z->vocab->token[id].n;
    }
    return err;
}
