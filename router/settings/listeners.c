/* See listeners.h. */
#include "settings/listeners.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static qn_err profile_of(const char *name, const char *param, const struct qn_profile **out,
                         struct qn_error *e)
{
    *out = qn_profile_find(name);
    if (*out)
        return QN_OK;
    return qn_fail_param(e, QN_EINVAL, param, "%s: '%.40s' is not a profile: " QN_PROFILE_NAMES,
                         param, name);
}

static qn_err add(struct qn_listeners *out, const char *host, size_t host_len, int64_t port,
                  const struct qn_profile *profile, const char *param, struct qn_error *e)
{
    if (out->n == QN_LISTENERS_MAX)
        return qn_fail_param(e, QN_EINVAL, param, "%s: at most %d listeners are possible", param,
                             QN_LISTENERS_MAX);
    if (host_len == 0 || host_len > QN_LISTENER_HOST_MAX)
        return qn_fail_param(e, QN_EINVAL, param, "%s: an address has 1 to %d letters", param,
                             QN_LISTENER_HOST_MAX);
    struct qn_listener *l = &out->v[out->n++];
    *l = (struct qn_listener){.port = (int)port, .profile = profile, .setting = param};
    memcpy(l->host, host, host_len);
    return QN_OK;
}

/* Parses "ADDRESS:PORT=PROFILE", "PORT=PROFILE" or "PORT", and appends the listener. If PROFILE is
 * left out, it is the default profile of additional ports. */
static qn_err read_one(const char *s, size_t n, const char *host, struct qn_listeners *out,
                       struct qn_error *e)
{
    char text[QN_LISTENER_HOST_MAX + 64];
    int64_t port;
    const struct qn_profile *profile = qn_profile_more();
    if (n >= sizeof text)
        return qn_fail_param(e, QN_EINVAL, "listen",
                             "listen: a listener is written as "
                             "[ADDRESS:]PORT=PROFILE");
    memcpy(text, s, n);
    text[n] = '\0';
    char *equals = strchr(text, '='), *colon;
    if (equals) {
        *equals = '\0';
        qn_err err = profile_of(equals + 1, "listen", &profile, e);
        if (err)
            return err;
    }
    colon = strrchr(text, ':');
    const char *number = colon ? colon + 1 : text;
    if (!qn_parse_i64(number, &port) || port < 0 || port > 65535)
        return qn_fail_param(e, QN_EINVAL, "listen",
                             "listen: '%.80s' is not a port from 0 to 65535; a listener is written "
                             "as [ADDRESS:]PORT=PROFILE",
                             number);
    if (!colon)
        return add(out, host, strlen(host), port, profile, "listen", e);
    return add(out, text, (size_t)(colon - text), port, profile, "listen", e);
}

qn_err qn_listeners_read(const char *text, const char *host, struct qn_listeners *out,
                         struct qn_error *e)
{
    qn_err err = QN_OK;
    while (*text && !err) {
        size_t n = strcspn(text, ",");
        const char *s = text;
        size_t len = n;
        while (len && *s == ' ')
            s++, len--;
        while (len && s[len - 1] == ' ')
            len--;
        if (len)
            err = read_one(s, len, host, out, e);
        text += n + (text[n] == ',');
    }
    return err;
}

qn_err qn_listeners_ollama(const char *text, const char *host, struct qn_listeners *out,
                           struct qn_error *e)
{
    int64_t port = QN_OLLAMA_PORT;
    bool any = qn_str_eq(text, "auto");
    if (qn_str_eq(text, "off") || qn_str_eq(text, "0"))
        return QN_OK;
    if (!any && (!qn_parse_i64(text, &port) || port < 1 || port > 65535))
        return qn_fail_param(e, QN_EINVAL, "ollama-port",
                             "ollama-port must be auto, off or a port from 1 to 65535, not '%.40s'",
                             text);
    qn_err err = add(out, host, strlen(host), port, qn_profile_ollama(), "ollama-port", e);
    if (!err)
        out->v[out->n - 1].optional = any;
    return err;
}

qn_err qn_listeners_text(const struct qn_jref *list, struct qn_buf *out, struct qn_error *e)
{
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref bind = qn_json_get(&it, "bind"), port = qn_json_get(&it, "port");
        struct qn_jref profile = qn_json_get(&it, "profile");
        const char *address = NULL, *name = qn_profile_more()->name;
        int64_t number = 0;
        if (qn_json_type(&it) != QN_JSON_OBJECT)
            return qn_json_fail(&it, e, "expected an object with port, bind and profile");
        qn_err err = qn_json_i64(&port, 0, 65535, &number, e);
        if (!err)
            err = qn_json_str_opt(&bind, &address, e);
        if (!err)
            err = qn_json_str_opt(&profile, &name, e);
        if (!err && (strpbrk(name, ",=") || (address && strpbrk(address, ",="))))
            err = qn_json_fail(&it, e, "an address or a profile with a comma or an equals sign");
        if (err)
            return err;
        qn_buf_fmt(out, "%s%s%s%d=%s", out->len ? "," : "", address ? address : "",
                   address ? ":" : "", (int)number, name);
    }
    return out->overflow ? qn_fail_param(e, QN_EINVAL, "listen", "listen: too long") : QN_OK;
}
