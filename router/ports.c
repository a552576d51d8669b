/* See ports.h. */
#include "router/ports.h"

#include "base/log.h"
#include "base/str.h"
#include "router/profile.h"

/* What each opening needs. */
struct opening {
    struct qn_ports *ports;
    struct qn_loop *loop;
    struct qn_http_server *server;
    const struct qn_settings *settings;
    bool may_be_public;
};

/* How each setting's port is set, for whom it is taken. */
static const char *port_set(const char *setting)
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

/* setting: one of those above, that asks for it. */
static qn_err open_one(const struct opening *o, const char *setting, const char *host, int port,
                       enum qn_profile profile, struct qn_listen **out, struct qn_error *e)
{
    const struct qn_place place = {.host = host,
                                   .port = port,
                                   .host_set = setting,
                                   .port_set = port_set(setting),
                                   .guarded = o->may_be_public,
                                   .tag = (int)profile};
    return qn_listen_open(o->loop, o->server, &place, out, e);
}

/* Opens a listener over the sockets that were passed for it; *out stays NULL when there are none.
 */
static qn_err adopt(const struct opening *o, bool for_main, enum qn_profile profile,
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
    qn_err err =
        qn_listen_adopt(o->loop, o->server, fds, n, o->may_be_public, (int)profile, out, e);
    if (!err)
        qn_info("listen", "passed=%zu port=%d profile=%s", n, qn_listen_port(*out),
                qn_profile_name(profile));
    return err;
}

/* From the service manager or by the settings. */
static qn_err open_main(const struct opening *o, struct qn_error *e)
{
    enum qn_profile profile = qn_profile_parse(o->settings->profile);
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
        err = adopt(o, false, (enum qn_profile)i, &o->ports->adopted[i], e);
    return err;
}

/* Those besides the main one. */
static qn_err open_more(const struct opening *o, struct qn_error *e)
{
    struct qn_ports *p = o->ports;
    const struct qn_settings *s = o->settings;
    qn_err err = s->listen ? qn_listeners_read(s->listen, s->host, &p->places, e) : QN_OK;
    if (!err)
        err = qn_listeners_ollama(s->ollama_port, s->host, &p->places, e);
    for (size_t i = 0; i < p->places.n && !err; i++) {
        const struct qn_listener *l = &p->places.v[i];
        if (qn_activation_has_port(&p->passed, l->port))
            continue;
        err = open_one(o, l->setting, l->host, l->port, l->profile, &p->more[i], e);
        if (err && l->optional) {
            qn_info("listen",
                    "port=%d not_used=1 message=\"%s\" (programs made for Ollama can use port %d)",
                    l->port, e->message, qn_listen_port(p->main));
            err = QN_OK;
        } else if (!err) {
            qn_info("listen", "address=%s port=%d profile=%s", l->host, qn_listen_port(p->more[i]),
                    qn_profile_name(l->profile));
        }
    }
    return err;
}

static qn_err open_websocket(const struct opening *o, struct qn_error *e)
{
    const struct qn_settings *s = o->settings;
    int64_t port = 0;
    if (qn_str_eq(s->websocket_port, "off"))
        return QN_OK;
    qn_parse_i64(s->websocket_port, &port); /* stays 0 for auto */
    return open_one(o, "websocket-port", s->host, (int)port, qn_profile_parse(s->profile),
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
    qn_listen_close(p->sockets);
}

bool qn_ports_open_to_others(const struct qn_ports *p)
{
    bool any =
        qn_listen_open_to_others(p->main) || (p->sockets && qn_listen_open_to_others(p->sockets));
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
