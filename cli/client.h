/* Requests to the server: whole replies and event streams. Blocking; the only user of libcurl here.
 */
#ifndef QN_CLI_CLIENT_H
#define QN_CLI_CLIENT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <stdbool.h>

enum { QN_CLIENT_REPLY_MAX = 64 * 1024 * 1024 };

/* Sends the request and parses the reply. body NULL: GET, else POST of JSON text. A reply of 400 or
 * more is an error that carries the server's own message; no connection is QN_EIO saying how to
 * start the server. *out is the caller's to free. timeout_s 0: wait as long as it takes. */
qn_err qn_client_call(const struct qn_cli *cli, const char *path, const char *body, long timeout_s,
                      struct qn_json **out, struct qn_error *e);

/* True when a server answers at cli's address. */
bool qn_client_alive(const struct qn_cli *cli);

/* One event's data ("[DONE]" included). Return false to stop the stream: the connection is closed
 * and the call answers QN_ECANCELLED. */
typedef bool (*qn_client_event)(void *ctx, const char *data, size_t n);

/* POSTs and hands over the reply's events. *stop is looked at several times a second, and ends the
 * call with QN_ECANCELLED when it is not 0 (a signal handler sets it); NULL: never. */
qn_err qn_client_stream(const struct qn_cli *cli, const char *path, const char *body,
                        qn_client_event fn, void *ctx, const volatile int *stop,
                        struct qn_error *e);

#endif
