/* Where the server listens besides its main port, and which profile each place has: the settings
 * `listen` and `ollama-port`, read. Pure. */
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
    bool optional;       /* when the port is taken the server does without it */
    const char *setting; /* that asks for it */
};

struct qn_listeners {
    struct qn_listener v[QN_LISTENERS_MAX];
    size_t n;
};

/* Appends what a text says: "[ADDRESS:]PORT=PROFILE" and more of them after commas, where an IPv6
 * address stands in brackets. host: for those that name none. QN_EINVAL (param "listen"). */
qn_err qn_listeners_read(const char *text, const char *host, struct qn_listeners *out,
                         struct qn_error *e);

/* Appends Ollama's port: "auto" (where it is free), "off", or a number. QN_EINVAL (param
 * "ollama-port"). */
qn_err qn_listeners_ollama(const char *text, const char *host, struct qn_listeners *out,
                           struct qn_error *e);

/* Writes config.json's form, an array of {"bind","port","profile"}, as such a text. */
qn_err qn_listeners_text(const struct qn_jref *list, struct qn_buf *out, struct qn_error *e);

#endif
