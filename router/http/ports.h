/* Every port the server has: the main one, those besides it, those that a service manager has
 * passed in, the one published for WebSockets. Loop thread only. */
#ifndef QN_HTTP_PORTS_H
#define QN_HTTP_PORTS_H

#include "base/error.h"
#include "base/json.h"
#include "http/activation.h"
#include "http/listen.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "settings/listeners.h"
#include "settings/settings.h"

#include <stdbool.h>

enum { QN_PORTS_MESSAGE_MAX = 1536, QN_PORTS_SETTING_MAX = 64 };

struct qn_ports {
    struct qn_activation passed; /* from the service manager; read before qn_ports_open */
    struct qn_listen *main;
    struct qn_listeners places; /* besides the main port */
    struct qn_listen *more[QN_LISTENERS_MAX];
    struct qn_listen *ollama;                    /* NULL: off, or not to be had */
    char ollama_setting[QN_PORTS_SETTING_MAX];   /* that this comes from */
    char ollama_message[QN_PORTS_MESSAGE_MAX];   /* why it is not there; "": it is, or it is off */
    struct qn_listen *adopted[QN_PROFILE_COUNT]; /* passed, and not for the main port */
    struct qn_listen *sockets; /* the port for WebSockets; NULL: the setting says off */
};

/* Opens what the settings and the service manager say; connections go to server. may_be_public:
 * addresses that other machines can reach are not refused. After an error, too, qn_ports_close. */
qn_err qn_ports_open(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                     const struct qn_settings *s, bool may_be_public, struct qn_error *e);
void qn_ports_close(struct qn_ports *p);

/* Follows the setting ollama-port while the server runs: frees its port, or takes another one. What
 * fails is logged and kept in ollama_message. */
void qn_ports_follow_ollama(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                            const struct qn_settings *s, bool may_be_public);

/* Writes the member "ollama": {"port","message"}: the port for programs made for Ollama (null:
 * there is none), and what a person should know of it (null: nothing). */
void qn_ports_write_ollama(struct qn_jw *w, const struct qn_ports *p);

/* The numbers of all ports that are open; returns how many. */
enum { QN_PORTS_OWN_MAX = QN_LISTENERS_MAX + QN_PROFILE_COUNT + 3 };
size_t qn_ports_own(const struct qn_ports *p, int out[static QN_PORTS_OWN_MAX]);

/* How the port of a setting ("host", "listen", "ollama-port", "websocket-port") is set, for
 * messages: "--port N". */
const char *qn_ports_set_by(const char *setting);

/* True when other machines can reach any of them. */
bool qn_ports_open_to_others(const struct qn_ports *p);
/* The one that clients made for Lemonade look for WebSockets at. */
int qn_ports_websocket(const struct qn_ports *p);

#endif
