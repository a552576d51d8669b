/* See websocket.h. A frame is a header and a payload. The header's length is known after its second
 * byte, so the header is collected completely before it is parsed. */
#include "formats/websocket.h"

#include "base/str.h"
#include "digest/base64.h"
#include "digest/sha1.h"

#include <string.h>

enum { CONTINUATION = 0, FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0F, MASKED = 0x80, LENGTH = 0x7F };
enum { LENGTH_16 = 126, LENGTH_64 = 127, MASK_BYTES = 4 };

bool qn_websocket_key_ok(const char *key)
{
    char bytes[QN_WEBSOCKET_KEY_LEN + 3];
    size_t n;
    return key && strlen(key) == QN_WEBSOCKET_KEY_LEN && key[QN_WEBSOCKET_KEY_LEN - 1] == '=' &&
           !strpbrk(key, " \t\r\n") && qn_base64_decode(key, QN_WEBSOCKET_KEY_LEN, bytes, &n) &&
           n == 16;
}

void qn_websocket_accept(const char *key, char out[static QN_WEBSOCKET_ACCEPT_LEN + 1])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* section 1.3 */
    unsigned char sum[QN_SHA1_BYTES];
    struct qn_sha1 sha;
    struct qn_buf text;
    qn_sha1_init(&sha);
    qn_sha1_add(&sha, key, strlen(key));
    qn_sha1_add(&sha, guid, sizeof guid - 1);
    qn_sha1_end(&sha, sum);
    qn_buf_init(&text, QN_WEBSOCKET_ACCEPT_LEN + 4);
    qn_base64_add(&text, sum, sizeof sum);
    memcpy(out, qn_buf_cstr(&text), QN_WEBSOCKET_ACCEPT_LEN + 1);
    qn_buf_deinit(&text);
}

size_t qn_websocket_header(enum qn_websocket_kind kind, bool first, bool last, size_t n,
                           uint8_t out[static QN_WEBSOCKET_HEADER_MAX])
{
    size_t extra = n < LENGTH_16 ? 0 : n <= UINT16_MAX ? 2 : 8;
    out[0] = (uint8_t)((last ? FIN : 0) | (first ? (int)kind : CONTINUATION));
    out[1] = (uint8_t)(extra == 0 ? n : extra == 2 ? LENGTH_16 : LENGTH_64);
    for (size_t i = 0; i < extra; i++)
        out[2 + i] = (uint8_t)((uint64_t)n >> (8 * (extra - 1 - i)));
    return 2 + extra;
}

void qn_websocket_reader_init(struct qn_websocket_reader *r, size_t message_max, qn_websocket_fn fn,
                              void *ctx)
{
    *r = (struct qn_websocket_reader){.fn = fn, .ctx = ctx};
    qn_buf_init(&r->message, message_max);
}

void qn_websocket_reader_deinit(struct qn_websocket_reader *r)
{
    qn_buf_deinit(&r->message);
}

static void fail(struct qn_websocket_reader *r, int code, const char *why)
{
    r->closed = true;
    r->error = code;
    r->why = why;
}

static bool is_control(int opcode)
{
    return (opcode & 8) != 0;
}

/* The length of the whole header, as far as the received bytes determine it. */
static size_t head_wanted(const struct qn_websocket_reader *r)
{
    if (r->head_len < 2)
        return 2;
    size_t length = r->head[1] & LENGTH;
    return 2 + (length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0) + MASK_BYTES;
}

/* Checks the first two bytes, so that errors in them are reported before more is read. */
static void check_start(struct qn_websocket_reader *r)
{
    r->fin = (r->head[0] & FIN) != 0;
    r->opcode = r->head[0] & OPCODE;
    size_t length = r->head[1] & LENGTH;
    bool known = r->opcode == CONTINUATION || r->opcode == QN_WEBSOCKET_TEXT ||
                 r->opcode == QN_WEBSOCKET_BINARY || r->opcode == QN_WEBSOCKET_CLOSE ||
                 r->opcode == QN_WEBSOCKET_PING || r->opcode == QN_WEBSOCKET_PONG;
    if (r->head[0] & RESERVED)
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "a reserved bit is set, and no extension was agreed");
    else if (!known)
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "unknown opcode");
    else if (!(r->head[1] & MASKED))
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "frames of a client must be masked");
    else if (is_control(r->opcode) && (!r->fin || length > QN_WEBSOCKET_CONTROL_MAX))
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "a control frame is fragmented or too long");
    else if (r->opcode == CONTINUATION && !r->begun)
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "there is no message to continue");
    else if (!is_control(r->opcode) && r->opcode != CONTINUATION && r->begun)
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "a message begins before the last one has ended");
}

static void begin_payload(struct qn_websocket_reader *r)
{
    size_t length = r->head[1] & LENGTH, at = 2;
    uint64_t n = length;
    if (length >= LENGTH_16) {
        size_t extra = length == LENGTH_16 ? 2 : 8;
        n = 0;
        for (; at < 2 + extra; at++)
            n = n << 8 | r->head[at];
        if (n >> 63 || n < (length == LENGTH_16 ? LENGTH_16 : UINT64_C(65536))) {
            fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "a length is not in its shortest form");
            return;
        }
    }
    r->in_payload = true;
    r->left = n;
    r->at = 0;
    if (is_control(r->opcode))
        return;
    if (r->opcode != CONTINUATION) {
        r->begun = true;
        r->kind = (enum qn_websocket_kind)r->opcode;
        qn_buf_clear(&r->message);
    }
    /* The announced length is checked, so that no byte of the payload has to be read. */
    if (n > r->message.limit - r->message.len)
        fail(r, QN_WEBSOCKET_TOO_BIG, "the message is too large");
}

/* Unmasks and stores the available bytes of the payload. */
static size_t take_payload(struct qn_websocket_reader *r, const uint8_t *p, size_t n)
{
    const uint8_t *mask = r->head + r->head_len - MASK_BYTES;
    char piece[1024];
    size_t used = 0;
    if (n > r->left)
        n = (size_t)r->left;
    while (used < n) {
        size_t m = n - used < sizeof piece ? n - used : sizeof piece;
        for (size_t i = 0; i < m; i++)
            piece[i] = (char)(p[used + i] ^ mask[(r->at + i) % MASK_BYTES]);
        if (is_control(r->opcode))
            memcpy(r->control + r->at, piece, m);
        else
            qn_buf_add(&r->message, piece, m); /* fits: begin_payload has checked the length */
        r->at += m;
        used += m;
    }
    r->left -= n;
    return n;
}

/* True for codes that are allowed in a close frame (section 7.4 and the IANA registry). */
static bool code_ok(int code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

static bool end_close(struct qn_websocket_reader *r, size_t n)
{
    int code = QN_WEBSOCKET_NO_CODE;
    size_t skip = n >= 2 ? 2 : 0;
    if (n >= 2)
        code = (uint8_t)r->control[0] << 8 | (uint8_t)r->control[1];
    if (n == 1 || (n >= 2 && !code_ok(code)))
        fail(r, QN_WEBSOCKET_PROTOCOL_ERROR, "the close frame has an invalid code");
    else if (!qn_utf8_valid(r->control + skip, n - skip))
        fail(r, QN_WEBSOCKET_NOT_UTF8, "the close frame's reason is not UTF-8");
    if (r->closed)
        return false;
    r->closed = true;
    r->fn(r->ctx, QN_WEBSOCKET_CLOSE, code, r->control + skip, n - skip);
    return false;
}

/* Handles a complete frame. False: stop reading after it. */
static bool end_frame(struct qn_websocket_reader *r)
{
    size_t n = (size_t)r->at;
    r->in_payload = false;
    r->head_len = 0;
    if (is_control(r->opcode)) {
        r->control[n] = '\0';
        return r->opcode == QN_WEBSOCKET_CLOSE
                   ? end_close(r, n)
                   : r->fn(r->ctx, (enum qn_websocket_kind)r->opcode, 0, r->control, n);
    }
    if (!r->fin)
        return true;
    r->begun = false;
    if (r->kind == QN_WEBSOCKET_TEXT && !qn_utf8_valid(qn_buf_cstr(&r->message), r->message.len)) {
        fail(r, QN_WEBSOCKET_NOT_UTF8, "the text is not UTF-8");
        return false;
    }
    return r->fn(r->ctx, r->kind, 0, qn_buf_cstr(&r->message), r->message.len);
}

size_t qn_websocket_feed(struct qn_websocket_reader *r, const void *p, size_t n)
{
    const uint8_t *bytes = p;
    size_t used = 0;
    while (!r->closed) {
        if (r->in_payload) {
            used += take_payload(r, bytes + used, n - used);
            if (r->left > 0 || !end_frame(r))
                break;
            continue;
        }
        if (used == n)
            break;
        r->head[r->head_len++] = bytes[used++];
        if (r->head_len == 2)
            check_start(r);
        if (!r->closed && r->head_len >= 2 && r->head_len == head_wanted(r))
            begin_payload(r);
    }
    return used;
}
