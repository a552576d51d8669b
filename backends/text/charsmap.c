/* See charsmap.h. A node has 32 bits: bits 0 to 7 hold the byte that leads to it, bit 8 tells
 * whether a string ends there, and bits 10 to 30 hold the offset of its children (times 256 if bit
 * 9 is set). If node i has the offset o, its child for byte b is node i ^ o ^ b. Where a string
 * ends, the child for byte 0 has bit 31 set, and its other bits hold the start of the replacement
 * text. Source: Darts-clone; Kanda, "Space- and time-efficient string dictionaries" (2018). */
#include "text/charsmap.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static uint32_t offset(uint32_t node)
{
    return node >> 10 << ((node & 1u << 9) >> 6);
}

/* Whether byte c leads to node `at`. The file is not trusted: an index outside the map counts as
 * the end of the string. */
static bool leads(const struct qn_charsmap *m, uint32_t at, uint32_t c)
{
    return at < m->nodes && (m->node[at] & (1u << 31 | 0xff)) == c;
}

qn_err qn_charsmap_init(struct qn_charsmap *m, const void *blob, size_t n, struct qn_error *e)
{
    *m = (struct qn_charsmap){.nodes = 0};
    const unsigned char *b = blob;
    size_t trie =
        n < 4 ? 0 : (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
    if (n < 4 || trie % 4 != 0 || trie == 0 || trie >= n - 4 || b[n - 1] != 0) {
        return qn_fail(e, QN_EFORMAT,
                       "the tokenizer's precompiled_charsmap is broken; get the model "
                       "again, or convert it again");
    }
    m->nodes = trie / 4;
    m->text_n = n - 4 - trie;
    m->node = qn_alloc_sized(m->nodes, sizeof *m->node, SIZE_MAX);
    m->text = qn_alloc_sized(m->text_n, 1, SIZE_MAX);
    if (m->node == NULL || m->text == NULL) {
        qn_charsmap_deinit(m);
        return qn_fail(e, QN_ENOMEM, "no memory for %zu bytes of the tokenizer", n);
    }
    for (size_t i = 0; i < m->nodes; i++) {
        const unsigned char *p = b + 4 + 4 * i;
        m->node[i] =
            (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    }
    memcpy(m->text, b + 4 + trie, m->text_n);
    for (uint32_t c = 1; c < 128; c++) {
        uint32_t at = offset(m->node[0]) ^ c;
        m->plain[c] = true;
        if (leads(m, at, c)) {
            uint32_t node = m->node[at];
            m->plain[c] = (node >> 8 & 1) == 0;
            for (uint32_t next = 1; next < 128 && m->plain[c]; next++) {
                m->plain[c] = !leads(m, at ^ offset(node) ^ next, next);
            }
        }
    }
    return QN_OK;
}

void qn_charsmap_deinit(struct qn_charsmap *m)
{
    free(m->node);
    free(m->text);
    *m = (struct qn_charsmap){.nodes = 0};
}

size_t qn_charsmap_longest(const struct qn_charsmap *m, const char *s, size_t n, const char **to)
{
    size_t longest = 0;
    uint32_t at = m->nodes > 0 ? offset(m->node[0]) : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = (unsigned char)s[i];
        at ^= c;
        if (c == 0 || !leads(m, at, c)) {
            break;
        }
        uint32_t node = m->node[at];
        at ^= offset(node);
        if ((node >> 8 & 1) != 0) {
            if (at >= m->nodes || (m->node[at] & ~(1u << 31)) >= m->text_n) {
                break;
            }
            longest = i + 1;
            *to = m->text + (m->node[at] & ~(1u << 31));
        }
    }
    return longest;
}
