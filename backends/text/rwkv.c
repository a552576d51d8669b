/* RWKV's tokenizer: at each position the longest token that matches. Tokens are arbitrary byte
 * strings, written in the file with Python's escapes ("\n", "\xff"). Source: RWKV's "world"
 * vocabulary. */
#include "text/pieces.h"

qn_err qn_rwkv_init(struct qn_rwkv *r, const struct qn_vocab *v, struct qn_error *e)
{
    return qn_token_trie_init(&r->tokens, v, 1u << QN_TOKEN_NORMAL | 1u << QN_TOKEN_BYTE, e);
}

void qn_rwkv_deinit(struct qn_rwkv *r)
{
    qn_token_trie_deinit(&r->tokens);
}

qn_err qn_rwkv_text(const struct qn_rwkv *r, struct qn_tokenizing *z, const char *text, size_t len,
                    struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0, longest; i < len && err == QN_OK; i += longest) {
        int32_t id = z->unknown;
        uint32_t node = 0;
        longest = 1;
        for (size_t k = i; k < len; k++) {
            node = qn_token_trie_step(&r->tokens, node, (unsigned char)text[k]);
            if (node == 0) {
                break;
            }
            if (r->tokens.leaf[node].id >= 0) {
                id = r->tokens.leaf[node].id;
                longest = k + 1 - i;
            }
        }
        err = qn_tokenizing_push(z, id, e);
    }
    return err;
}
