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

/* Appends the listener for Ollama's port: "auto" (if the port is free), "off", or a number.
 * QN_EINVAL (param "ollama-port"). */
qn_err qn_listeners_ollama(const char *text, const char *host, struct qn_listeners *out,
                           struct qn_error *e);

/* Converts the form of config.json, an array of {"bind","port","profile"}, to such a text. */
qn_err qn_listeners_text(const struct qn_jref *list, struct qn_buf *out, struct qn_error *e);

#endif
