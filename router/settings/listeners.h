/* The addresses on which the server listens besides its main port, each with a profile: parses the
 * settings `listen` and `ollama-port`. Pure. */
#ifndef QN_SETTINGS_LISTENERS_H
#define QN_SETTINGS_LISTENERS_H

#include "answers/profile.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_LISTENERS_MAX = 16, QN_LISTENER_HOST_MAX = 255, QN_OLLAMA_PORT = 11434 };

struct qn_listener {
    char host[QN_LISTENER_HOST_MAX + 1];
    int port;
    const struct qn_profile *profile;
    bool optional;       /* if the port is taken, the server starts without it */
    const char *setting; /* name of the setting that asks for this listener */
};

struct qn_listeners {
    struct qn_listener v[QN_LISTENERS_MAX];
    size_t n;
};

/* Appends the listeners of a text: items "[ADDRESS:]PORT=PROFILE", separated by commas; IPv6
 * addresses are in brackets. host: address of items without one. QN_EINVAL (param "listen"). */
qn_err qn_listeners_read(const char *text, const char *host, struct qn_listeners *out,
                         struct qn_error *e);

/* Reads the setting ollama-port and appends the listener for that port. text: "auto" (the usual
 * port, if it is free), a port number, or "off" or "0", which append nothing. host: the address to
 * listen on. QN_EINVAL (param "ollama-port"): any other text, or too many listeners. */
qn_err qn_listeners_ollama(const char *text, const char *host, struct qn_listeners *out,
                           struct qn_error *e);

/* Converts the value of "listen" in config.json, an array of {"bind","port","profile"}, to a text
 * for qn_listeners_read. */
qn_err qn_listeners_text(const struct qn_jref *list, struct qn_buf *out, struct qn_error *e);

#endif
