/* See ports_try.h. All addresses stay open until the last one has been opened, because two of them
 * may conflict with each other. */
#include "http/ports_try.h"

#include "base/arena.h"
#include "base/str.h"

enum { PLACES_MAX = QN_LISTENERS_MAX + 3, ARENA_MAX = 64 * 1024 };

struct place {
    const char *setting, *host;
    int port;
    struct qn_listen *listen;
};

struct trial {
    const struct qn_ports_trial *about;
    struct place places[PLACES_MAX];
    size_t n;
    struct qn_arena *arena;
};

static bool is_own(const struct qn_ports_trial *t, int port)
{
    for (size_t i = 0; i < t->n_own; i++)
        if (t->own[i] == port)
            return true;
    return false;
}

static bool is_any(const char *host)
{
    return qn_str_eq(host, "0.0.0.0") || qn_str_eq(host, "::") || qn_str_eq(host, "[::]");
}

/* Strings are lent until the trial is over. `changed` is true: tests this port; false: any port of
 * that address. */
static qn_err try_one(struct trial *t, const char *setting, const char *host, int64_t port,
                      bool changed, struct qn_error *e)
{
    struct place *p = &t->places[t->n];
    for (size_t i = 0; i < t->n && port; i++) {
        const struct place *q = &t->places[i];
        if (q->port == port && (qn_str_ieq(q->host, host) || is_any(q->host) || is_any(host)))
            return qn_fail_param(e, QN_ECONFLICT, setting,
                                 "port %d on %s would be asked for twice, by the settings %s and "
                                 "%s",
                                 (int)port, host, q->setting, setting);
    }
    *p = (struct place){setting, host, (int)port, NULL};
    t->n++;
    const struct qn_listen_address place = {.host = host,
                                            .port =
                                                changed && !is_own(t->about, p->port) ? p->port : 0,
                                            .host_set = setting,
                                            .port_set = qn_ports_set_by(setting),
                                            .guarded = t->about->may_be_public};
    qn_err err = qn_listen_open(NULL, NULL, &place, &p->listen, e);
    if (err == QN_EIO) /* the setting is at fault, not the server */
        err = qn_fail_param(e, QN_EINVAL, setting, "%s", qn_arena_strdup(t->arena, e->message));
    return err;
}

qn_err qn_ports_try(const struct qn_ports_trial *about, const struct qn_settings *s,
                    struct qn_error *e)
{
    struct trial t = {.about = about, .arena = qn_arena_new(ARENA_MAX)};
    struct qn_listeners listed = {0}, ollama = {0};
    int64_t sockets = 0;
    qn_err err = try_one(&t, "host", s->host, s->port, about->port, e);
    if (!err && s->listen)
        err = qn_listeners_read(s->listen, s->host, &listed, e);
    for (size_t i = 0; i < listed.n && !err; i++)
        err = try_one(&t, "listen", listed.v[i].host, listed.v[i].port, about->listen, e);
    if (!err)
        err = qn_listeners_ollama(s->ollama_port, s->host, &ollama, e);
    if (!err && ollama.n && !ollama.v[0].optional)
        err = try_one(&t, "ollama-port", ollama.v[0].host, ollama.v[0].port, about->ollama_port, e);
    if (!err && qn_parse_i64(s->websocket_port, &sockets))
        err = try_one(&t, "websocket-port", s->host, sockets, about->websocket_port, e);
    for (size_t i = 0; i < t.n; i++)
        qn_listen_close(t.places[i].listen);
    qn_arena_free(t.arena);
    return err;
}
