/* See ports.h. */
#include "http/ports.h"

#include "answers/profile.h"
#include "base/log.h"
#include "base/str.h"
#include "http/ollama_service.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The parameters of each opening. */
struct opening {
    struct qn_ports *ports;
    struct qn_loop *loop;
    struct qn_http_server *server;
    const struct qn_settings *settings;
    bool may_be_public;
};

const char *qn_ports_set_by(const char *setting)
{
    static const struct {
        const char *setting, *set;
    } known[] = {{"host", "--port N (0 picks a free port)"},
                 {"listen", "--listen [ADDRESS:]PORT=PROFILE"},
                 {"ollama-port", "--ollama-port N (or do without: off)"},
                 {"websocket-port", "--websocket-port N (auto picks a free port)"}};
    size_t i = 0;
    while (!qn_str_eq(known[i].setting, setting))
        i++;
    return known[i].set;
}

/* setting: one of the settings above, which defines the port. */
static qn_err open_one(const struct opening *o, const char *setting, const char *host, int port,
                       const struct qn_profile *profile, struct qn_listen **out, struct qn_error *e)
{
    const struct qn_listen_address place = {.host = host,
                                            .port = port,
                                            .host_set = setting,
                                            .port_set = qn_ports_set_by(setting),
                                            .guarded = o->may_be_public,
                                            .tag = qn_profile_index(profile)};
    return qn_listen_open(o->loop, o->server, &place, out, e);
}

/* Opens a listener for the sockets passed for it; *out stays NULL when there are none. */
static qn_err adopt(const struct opening *o, bool for_main, const struct qn_profile *profile,
                    struct qn_listen **out, struct qn_error *e)
{
    const struct qn_activation *passed = &o->ports->passed;
    int fds[QN_ACTIVATION_MAX];
    size_t n = 0;
    for (size_t i = 0; i < passed->n; i++)
        if (passed->v[i].main == for_main && (for_main || passed->v[i].profile == profile))
            fds[n++] = passed->v[i].fd;
    if (!n)
        return QN_OK;
    qn_err err = qn_listen_adopt(o->loop, o->server, fds, n, o->may_be_public,
                                 qn_profile_index(profile), out, e);
    if (!err)
        qn_info("listen", "passed=%zu port=%d profile=%s", n, qn_listen_port(*out), profile->name);
    return err;
}

/* Opens the main port, from the service manager or by the settings. */
static qn_err open_main(const struct opening *o, struct qn_error *e)
{
    const struct qn_profile *profile = qn_profile_find(o->settings->profile);
    struct qn_listen **at = &o->ports->main;
    qn_err err = adopt(o, true, profile, at, e);
    if (err || *at)
        return err;
    return open_one(o, "host", o->settings->host, (int)o->settings->port, profile, at, e);
}

static qn_err open_passed(const struct opening *o, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (int i = 0; i < QN_PROFILE_COUNT && !err; i++)
        err = adopt(o, false, qn_profile_at(i), &o->ports->adopted[i], e);
    return err;
}

/* Opens the additional ports. */
static qn_err open_more(const struct opening *o, struct qn_error *e)
{
    struct qn_ports *p = o->ports;
    const struct qn_settings *s = o->settings;
    qn_err err = s->listen ? qn_listeners_read(s->listen, s->host, &p->places, e) : QN_OK;
    for (size_t i = 0; i < p->places.n && !err; i++) {
        const struct qn_listener *l = &p->places.v[i];
        if (qn_activation_has_port(&p->passed, l->port))
            continue;
        err = open_one(o, l->setting, l->host, l->port, l->profile, &p->more[i], e);
        if (!err)
            qn_info("listen", "address=%s port=%d profile=%s", l->host, qn_listen_port(p->more[i]),
                    l->profile->name);
    }
    return err;
}

/* With auto, the port is left free for an Ollama that is installed as a service: otherwise that
 * service would fail to start, now or after the next boot, with an error that does not name the
 * cause. */
static bool leave_to_service(struct qn_ports *p, const struct qn_listener *l)
{
    char unit[QN_OLLAMA_UNIT_PATH_MAX];
    if (!l->optional || !qn_ollama_service_find((const char *const *)environ, unit))
        return false;
    snprintf(p->ollama_message, sizeof p->ollama_message,
             "port %d is left to Ollama, which is installed as a service (%s); `quince config set "
             "ollama-port=%d` uses it nevertheless",
             l->port, unit, l->port);
    qn_info("listen", "port=%d not_used=1 unit=%s (programs made for Ollama can use port %d)",
            l->port, unit, qn_listen_port(p->main));
    return true;
}

static qn_err open_ollama(const struct opening *o, struct qn_error *e)
{
    struct qn_ports *p = o->ports;
    struct qn_listeners one = {0};
    const struct qn_listener *l = &one.v[0];
    qn_err err = qn_listeners_ollama(o->settings->ollama_port, o->settings->host, &one, e);
    p->ollama_message[0] = '\0';
    snprintf(p->ollama_setting, sizeof p->ollama_setting, "%s", o->settings->ollama_port);
    if (err || !one.n || qn_activation_has_port(&p->passed, l->port) || leave_to_service(p, l))
        return err;
    err = open_one(o, l->setting, l->host, l->port, l->profile, &p->ollama, e);
    if (!err) {
        qn_info("listen", "address=%s port=%d profile=%s", l->host, l->port, l->profile->name);
        return QN_OK;
    }
    snprintf(p->ollama_message, sizeof p->ollama_message, "port %d is not served: %s", l->port,
             e->message);
    if (!l->optional)
        return err;
    qn_info("listen",
            "port=%d not_used=1 message=\"%s\" (programs made for Ollama can use port %d)", l->port,
            e->message, qn_listen_port(p->main));
    return QN_OK;
}

void qn_ports_follow_ollama(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                            const struct qn_settings *s, bool may_be_public)
{
    const struct opening o = {p, l, server, s, may_be_public};
    struct qn_error e = {0};
    if (strncmp(p->ollama_setting, s->ollama_port, sizeof p->ollama_setting - 1) == 0)
        return;
    if (p->ollama)
        qn_info("listen", "port=%d closed=1", qn_listen_port(p->ollama));
    qn_listen_close(p->ollama);
    p->ollama = NULL;
    if (open_ollama(&o, &e))
        qn_warn("listen", "setting=ollama-port message=\"%s\"", e.message);
}

void qn_ports_write_ollama(struct qn_jw *w, const struct qn_ports *p)
{
    char unit[QN_OLLAMA_UNIT_PATH_MAX], wanted[QN_PORTS_MESSAGE_MAX];
    const char *message = p->ollama_message;
    if (p->ollama && qn_listen_port(p->ollama) == QN_OLLAMA_PORT &&
        qn_ollama_service_find((const char *const *)environ, unit)) {
        snprintf(wanted, sizeof wanted,
                 "Ollama is installed as a service (%s) and cannot start while this server has its "
                 "port %d: `quince config set ollama-port=off` gives it back at once",
                 unit, QN_OLLAMA_PORT);
        message = wanted;
    }
    qn_jw_key(w, "ollama");
    qn_jw_obj(w);
    if (p->ollama)
        qn_jw_ki64(w, "port", qn_listen_port(p->ollama));
    else
        qn_jw_knull(w, "port");
    qn_jw_kstr(w, "message", *message ? message : NULL);
    qn_jw_obj_end(w);
}

static qn_err open_websocket(const struct opening *o, struct qn_error *e)
{
    const struct qn_settings *s = o->settings;
    int64_t port = 0;
    if (qn_str_eq(s->websocket_port, "off"))
        return QN_OK;
    qn_parse_i64(s->websocket_port, &port); /* stays 0 for auto */
    return open_one(o, "websocket-port", s->host, (int)port, qn_profile_find(s->profile),
                    &o->ports->sockets, e);
}

qn_err qn_ports_open(struct qn_ports *p, struct qn_loop *l, struct qn_http_server *server,
                     const struct qn_settings *s, bool may_be_public, struct qn_error *e)
{
    const struct opening o = {p, l, server, s, may_be_public};
    qn_err err = open_main(&o, e);
    if (!err)
        err = open_passed(&o, e);
    if (!err)
        err = open_more(&o, e);
    if (!err)
        err = open_ollama(&o, e);
    if (!err)
        err = open_websocket(&o, e);
    return err;
}

void qn_ports_close(struct qn_ports *p)
{
    qn_listen_close(p->main);
    for (size_t i = 0; i < p->places.n; i++)
        qn_listen_close(p->more[i]);
    for (int i = 0; i < QN_PROFILE_COUNT; i++)
        qn_listen_close(p->adopted[i]);
    qn_listen_close(p->ollama);
    qn_listen_close(p->sockets);
}

size_t qn_ports_own(const struct qn_ports *p, int out[static QN_PORTS_OWN_MAX])
{
    const struct qn_listen *one[] = {p->main, p->ollama, p->sockets};
    size_t n = 0;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (one[i])
            out[n++] = qn_listen_port(one[i]);
    for (size_t i = 0; i < p->places.n; i++)
        if (p->more[i])
            out[n++] = qn_listen_port(p->more[i]);
    for (int i = 0; i < QN_PROFILE_COUNT; i++)
        if (p->adopted[i])
            out[n++] = qn_listen_port(p->adopted[i]);
    return n;
}

bool qn_ports_open_to_others(const struct qn_ports *p)
{
    bool any =
        qn_listen_open_to_others(p->main) || (p->sockets && qn_listen_open_to_others(p->sockets));
    any = any || (p->ollama && qn_listen_open_to_others(p->ollama));
    for (size_t i = 0; i < p->places.n; i++)
        any = any || (p->more[i] && qn_listen_open_to_others(p->more[i]));
    for (int i = 0; i < QN_PROFILE_COUNT; i++)
        any = any || (p->adopted[i] && qn_listen_open_to_others(p->adopted[i]));
    return any;
}

int qn_ports_websocket(const struct qn_ports *p)
{
    return qn_listen_port(p->sockets ? p->sockets : p->main);
}
