/* Parses the fields of an HTTP head that delimit the message and name its host (RFC 9112, 6).
 * Request smuggling relies on two programs disagreeing about these, so malformed or contradictory
 * fields are refused. For requests and replies. Pure. */
#ifndef QN_IO_HTTP_FRAMING_H
#define QN_IO_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must be zeroed before the first line. */
struct qn_framing {
    bool has_length, chunked, has_host;
    bool upgrade, expects_continue, close, keep_alive; /* other fields parsed in the same pass */
    int64_t length;
    const char *host; /* lent from the line, without surrounding white space */
    size_t host_len;
    const char *why; /* a string constant: the reason why a field was refused */
};

/* Parses one line of a head, without its line end. False (see why): the line is malformed or
 * contradicts another one: no name, white space before the colon, a folded line, a control
 * character, a length that is no number, a list of lengths, an unknown transfer coding, a second
 * Host. */
bool qn_framing_line(struct qn_framing *f, const char *line, size_t n);
/* Called after the last field. False (see why): a length together with a transfer coding. */
bool qn_framing_ok(struct qn_framing *f);

/* True for the characters of a method or a field name (RFC 9110, 5.6.2). */
bool qn_http_is_token(char c);
/* True for the characters of a field value (RFC 9110, 5.5): no control characters except the tab.
 */
bool qn_http_is_text(char c);

#endif
