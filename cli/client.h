/* Requests to the server, for complete replies and event streams. Blocking. No other file of the
 * command line uses libcurl. */
#ifndef QN_CLI_CLIENT_H
#define QN_CLI_CLIENT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdbool.h>

enum { QN_CLIENT_REPLY_MAX = 64 * 1024 * 1024 };

/* What happens while the program waits for a reply. */
struct qn_client_wait {
    /* MAY be NULL. If it becomes nonzero (set by a signal handler), the call ends with
     * QN_ECANCELLED. */
    const volatile sig_atomic_t *stop;
    /* MAY be NULL. Called several times a second; may send other requests */
    void (*tick)(void *ctx);
    void *ctx;
};

/* Sends a request and parses the reply. body NULL: GET, else POST of this JSON text. A status of
 * 400 or more is an error with the server's message (QN_ECONTEXT: the prompt does not fit the
 * context). QN_EIO: no connection; the message says how to start the server. The caller frees *out.
 * timeout_s 0: no limit. wait MAY be NULL. */
qn_err qn_client_call(const struct qn_cli *cli, const char *path, const char *body, long timeout_s,
                      const struct qn_client_wait *wait, struct qn_json **out, struct qn_error *e);

/* Like qn_client_call, with any method ("DELETE"); body MAY be NULL. */
qn_err qn_client_send(const struct qn_cli *cli, const char *method, const char *path,
                      const char *body, long timeout_s, struct qn_json **out, struct qn_error *e);

/* POSTs this JSON text and appends the reply's bytes, whatever they are, to *out, which the caller
 * has initialised. Errors as in qn_client_call; QN_ELIMIT. wait MAY be NULL. */
qn_err qn_client_fetch(const struct qn_cli *cli, const char *path, const char *body,
                       const struct qn_client_wait *wait, struct qn_buf *out, struct qn_error *e);

/* A field of a form: a text, or the contents of a file, which are sent as they are read. */
struct qn_client_field {
    const char *name, *text;
    const char *file; /* its path, if it is not a text; "-": standard input */
};

/* Like qn_client_fetch, for a form (multipart/form-data). QN_EIO too if the file cannot be read. */
qn_err qn_client_upload(const struct qn_cli *cli, const char *path,
                        const struct qn_client_field *fields, size_t n,
                        const struct qn_client_wait *wait, struct qn_buf *out, struct qn_error *e);

/* Appends text as a component of a path or a query; characters other than letters, digits and -._~
 * are percent-encoded (RFC 3986, section 2.3). keep_slash: '/' is not encoded either. */
void qn_client_escape(struct qn_buf *out, const char *text, bool keep_slash);

enum qn_presence {
    QN_NO_SERVER, /* no program listens there */
    QN_SERVER,    /* a quince server */
    QN_STRANGER,  /* another program answered */
    QN_SILENT     /* a program listens and does not answer */
};

/* Finds out which kind of program listens at cli's address. */
enum qn_presence qn_client_probe(const struct qn_cli *cli);

/* Gets one event's name ("message" if it has none) and data ("[DONE]" included). Return false to
 * stop the stream: the connection is closed and the call returns QN_ECANCELLED. */
typedef bool (*qn_client_event)(void *ctx, const char *event, const char *data, size_t n);

/* POSTs a request and passes each event of the reply to fn. wait MAY be NULL. */
qn_err qn_client_stream(const struct qn_cli *cli, const char *path, const char *body,
                        qn_client_event fn, void *ctx, const struct qn_client_wait *wait,
                        struct qn_error *e);

#endif
