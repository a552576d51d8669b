/* What the fields of an HTTP head declare about the message (RFC 9112, 6): where its body ends and
 * whom it is for. More than one opinion about either is how requests are smuggled, so fields that
 * contradict each other or are malformed are refused. For requests and replies. Pure. */
#ifndef QN_IO_HTTP_FRAMING_H
#define QN_IO_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with zeros. */
struct qn_framing {
    bool has_length, chunked, has_host;
    bool upgrade, expects_continue, close, keep_alive; /* other fields of the same look */
    int64_t length;
    const char *host; /* lent from the line, without white space around it */
    size_t host_len;
    const char *why; /* static: what was wrong with the field that was refused */
};

/* Takes one line of a head without its end. False: it is malformed, or contradicts another one
 * (why): no name, white space before the colon, a folded line, a control character, a length that
 * is no number, a list of lengths, an unknown transfer coding, a second Host. */
bool qn_framing_line(struct qn_framing *f, const char *line, size_t n);
/* All fields have been added. False (why): a length beside a transfer coding. */
bool qn_framing_ok(struct qn_framing *f);

/* Letters of a method or a field's name (RFC 9110, 5.6.2). */
bool qn_http_is_token(char c);
/* Letters of a field's value (RFC 9110, 5.5): no control character but the tab. */
bool qn_http_is_text(char c);

#endif
