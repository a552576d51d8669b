/* All ports of the server: the main one, additional ones, those passed by a service manager, the
 * one published for WebSockets. Loop thread only. */
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
    struct qn_listeners places; /* additional ports */
    struct qn_listen *more[QN_LISTENERS_MAX];
    struct qn_listen *ollama;                    /* NULL: off, or unavailable */
    char ollama_setting[QN_PORTS_SETTING_MAX];   /* value of the setting ollama-port */
    char ollama_message[QN_PORTS_MESSAGE_MAX];   /* why it is not open; "": it is open, or off */
    struct qn_listen *adopted[QN_PROFILE_COUNT]; /* passed, and not for the main port */
    struct qn_listen *sockets; /* the port for WebSockets; NULL: the setting is off */
};

/* Opens the ports of the settings and of the service manager; connections go to server.
 * may_be_public: addresses that other machines can reach are allowed. Call qn_ports_close also
 * after an error. */
qn_err qn_ports_open(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                     const struct qn_settings *s, bool may_be_public, struct qn_error *e);
void qn_ports_close(struct qn_ports *p);

/* Applies a change of the setting ollama-port while the server runs: closes its port, or opens
 * another one. An error is logged and kept in ollama_message. */
void qn_ports_follow_ollama(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                            const struct qn_settings *s, bool may_be_public);

/* Writes the member "ollama": {"port","message"}: the port for Ollama's clients (null: none), and a
 * message for the user (null: none). */
void qn_ports_write_ollama(struct qn_jw *w, const struct qn_ports *p);

/* The numbers of all open ports; returns how many. */
enum { QN_PORTS_OWN_MAX = QN_LISTENERS_MAX + QN_PROFILE_COUNT + 3 };
size_t qn_ports_own(const struct qn_ports *p, int out[static QN_PORTS_OWN_MAX]);

/* How the port of a setting ("host", "listen", "ollama-port", "websocket-port") is set, for
 * messages: "--port N". */
const char *qn_ports_set_by(const char *setting);

/* True when other machines can reach any of the server's ports. */
bool qn_ports_open_to_others(const struct qn_ports *p);
/* The port where Lemonade's clients expect WebSockets. */
int qn_ports_websocket(const struct qn_ports *p);

#endif
