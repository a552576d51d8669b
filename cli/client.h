/* Requests to the server: whole replies and event streams. Blocking; the only user of libcurl here.
 */
#ifndef QN_CLI_CLIENT_H
#define QN_CLI_CLIENT_H

#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdbool.h>

enum { QN_CLIENT_REPLY_MAX = 64 * 1024 * 1024 };

/* What goes on while a reply is awaited. */
struct qn_client_wait {
    const volatile sig_atomic_t *stop; /* MAY be NULL. Not 0 (a signal handler sets it): the call
                                 ends with QN_ECANCELLED */
    void (*tick)(void *ctx); /* MAY be NULL. Called several times a second; may make other calls */
    void *ctx;
};

/* Sends the request and parses the reply. body NULL: GET, else POST of JSON text. A reply of 400 or
 * more is an error that carries the server's own message (QN_ECONTEXT: the prompt does not fit the
 * model); no connection is QN_EIO saying how to start the server. *out is the caller's to free.
 * timeout_s 0: as long as it takes. wait MAY be NULL. */
qn_err qn_client_call(const struct qn_cli *cli, const char *path, const char *body, long timeout_s,
                      const struct qn_client_wait *wait, struct qn_json **out, struct qn_error *e);

/* The same with a method of its own ("DELETE"); body MAY be NULL. */
qn_err qn_client_send(const struct qn_cli *cli, const char *method, const char *path,
                      const char *body, long timeout_s, struct qn_json **out, struct qn_error *e);

/* Appends text as a part of a path or a query: what is not a letter, a digit or one of -._~ is
 * percent-encoded (RFC 3986, section 2.3). keep_slash: '/' stays, too. */
void qn_client_escape(struct qn_buf *out, const char *text, bool keep_slash);

enum qn_presence {
    QN_NOBODY,   /* nothing listens there */
    QN_SERVER,   /* a quince server */
    QN_STRANGER, /* another program answers */
    QN_SILENT    /* something listens and does not answer */
};

/* Who is at cli's address? */
enum qn_presence qn_client_probe(const struct qn_cli *cli);

/* One event's name ("message" when it has none) and data ("[DONE]" included). Return false to stop
 * the stream: the connection is closed and the call answers QN_ECANCELLED. */
typedef bool (*qn_client_event)(void *ctx, const char *event, const char *data, size_t n);

/* POSTs and hands over the reply's events. wait MAY be NULL. */
qn_err qn_client_stream(const struct qn_cli *cli, const char *path, const char *body,
                        qn_client_event fn, void *ctx, const struct qn_client_wait *wait,
                        struct qn_error *e);

#endif
