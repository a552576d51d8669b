/* See inputs.h. */
#include "contract/inputs.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES = 4, ALIGNMENT = 4 };

#define TOKENS_MARK 0x80000000u

/* ---- Writing: the router's side ---- */

void qn_inputs_begin(const struct qn_embed *m, struct qn_input_cursor *c)
{
    *c = (struct qn_input_cursor){.list = m->inputs};
    if (m->one) {
        c->at = c->list;
        c->more = true;
    } else {
        c->more = qn_json_first(&c->list, &c->at);
    }
}

static void advance(struct qn_input_cursor *c)
{
    c->more = c->at.node != c->list.node && qn_json_next(&c->at);
}

/* Returns the text of an input that is a string, or an object with a member "text". */
static const char *text_of(const struct qn_jref *item)
{
    struct qn_jref text = qn_json_get(item, "text");
    return qn_json_raw_str(qn_json_type(item) == QN_JSON_OBJECT ? &text : item);
}

static bool is_tokens(const struct qn_jref *item)
{
    return qn_json_type(item) == QN_JSON_ARRAY;
}

static size_t length_of(const struct qn_jref *item)
{
    return is_tokens(item) ? qn_json_count(item) * TOKEN_BYTES : strlen(text_of(item));
}

static void add_u32(struct qn_buf *out, uint32_t v)
{
    const char bytes[] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
    qn_buf_add(out, bytes, sizeof bytes);
}

static void add_input(const struct qn_jref *item, struct qn_buf *out)
{
    uint32_t n = (uint32_t)length_of(item);
    struct qn_jref it;
    if (!is_tokens(item)) {
        add_u32(out, n);
        qn_buf_add(out, text_of(item), n);
        return;
    }
    add_u32(out, n | TOKENS_MARK);
    for (bool more = qn_json_first(item, &it); more; more = qn_json_next(&it))
        add_u32(out, (uint32_t)qn_json_raw_f64(&it));
}

void qn_inputs_pack(struct qn_input_cursor *c, struct qn_buf *out)
{
    struct qn_input_cursor ahead = *c;
    size_t n = 0, bytes = 0;
    for (; ahead.more && n < QN_INPUTS_BATCH_MAX; advance(&ahead), n++) {
        size_t more = QN_INPUT_HEAD + length_of(&ahead.at);
        if (n && bytes + more > QN_INPUTS_BATCH_BYTES)
            break;
        bytes += more;
    }
    if (!n)
        return;
    qn_buf_reserve(out, bytes + 64);
    qn_buf_fmt(out, "{\"inputs\":%zu,\"bytes\":%zu}\n", n, bytes);
    for (; n > 0; n--, advance(c))
        add_input(&c->at, out);
}

/* ---- Reading: the child's side ---- */

static uint32_t read_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static size_t aligned(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Copies one text of n bytes to *at and advances *at. */
static qn_err take_text(const char *p, size_t n, char **at, struct qn_input *out,
                        struct qn_error *e)
{
    if (memchr(p, 0, n) || !qn_utf8_valid(p, n))
        return qn_fail(e, QN_EINVAL, "the text of an input is not UTF-8 without zero bytes");
    memcpy(*at, p, n);
    (*at)[n] = '\0';
    *out = (struct qn_input){.text = *at, .len = n};
    *at += aligned(n + 1);
    return QN_OK;
}

static qn_err take_tokens(const char *p, size_t n, char **at, struct qn_input *out,
                          struct qn_error *e)
{
    int32_t *tokens = (int32_t *)(void *)*at;
    if (n == 0 || n % TOKEN_BYTES)
        return qn_fail(e, QN_EINVAL, "the tokens of an input have %zu bytes", n);
    for (size_t i = 0; i < n / TOKEN_BYTES; i++) {
        uint32_t id = read_u32(p + i * TOKEN_BYTES);
        if (id > INT32_MAX)
            return qn_fail(e, QN_EINVAL, "a token of an input is negative");
        tokens[i] = (int32_t)id;
    }
    *out = (struct qn_input){.tokens = tokens, .n_tokens = n / TOKEN_BYTES};
    *at += n;
    return QN_OK;
}

/* Reads the consecutive inputs from the frame's bytes; there must be exactly as many as b->n. */
static qn_err take_all(const struct qn_frame *f, struct qn_input_batch *b, struct qn_error *e)
{
    const char *p = f->bytes, *end = f->bytes + f->bytes_len;
    char *at = (char *)&b->v[b->n];
    for (size_t i = 0; i < b->n; i++) {
        if (end - p < QN_INPUT_HEAD)
            return qn_fail(e, QN_EINVAL, "a batch of inputs is cut off");
        uint32_t head = read_u32(p);
        size_t n = head & ~TOKENS_MARK;
        p += QN_INPUT_HEAD;
        if (n > (size_t)(end - p) || n > QN_JOB_PROMPT_BYTES_MAX)
            return qn_fail(e, QN_EINVAL, "an input is longer than its batch");
        qn_err err = head & TOKENS_MARK ? take_tokens(p, n, &at, &b->v[i], e)
                                        : take_text(p, n, &at, &b->v[i], e);
        if (err)
            return err;
        p += n;
    }
    return p == end ? QN_OK : qn_fail(e, QN_EINVAL, "bytes follow the last input of a batch");
}

qn_err qn_inputs_take(const struct qn_frame *f, size_t first, struct qn_input_batch **out,
                      struct qn_error *e)
{
    struct qn_jref root = qn_json_root(f->json), v = qn_json_get(&root, "inputs");
    int64_t n;
    qn_err err = qn_json_i64(&v, 1, QN_INPUTS_BATCH_MAX, &n, e);
    if (err)
        return err;
    if (!f->bytes || f->bytes_len > QN_INPUTS_FRAME_MAX)
        return qn_fail(e, QN_ELIMIT, "a batch of inputs has %zu bytes", f->bytes_len);
    /* Each input needs at most its NUL byte and the alignment of the next input on top. */
    size_t bytes = sizeof(struct qn_input_batch) +
                   (size_t)n * (sizeof(struct qn_input) + 2 * ALIGNMENT) + f->bytes_len;
    struct qn_input_batch *b = qn_xmalloc(bytes);
    *b = (struct qn_input_batch){.first = first, .n = (size_t)n, .bytes = bytes};
    err = take_all(f, b, e);
    if (err)
        free(b);
    else
        *out = b;
    return err;
}
