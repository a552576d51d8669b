/* See client_id.h. */
#include "router/client_id.h"

#include "router/auth.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* False: there is nothing in it. */
static bool take(const char *text, char out[static QN_CLIENT_ID_MAX + 1])
{
    size_t n = 0;
    if (!text)
        return false;
    while (*text == ' ' || *text == '\t')
        text++;
    for (; *text && n < QN_CLIENT_ID_MAX; text++)
        out[n++] = *text >= 0x20 && *text < 0x7f ? *text : '_';
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    return n > 0;
}

void qn_client_name(const char *key_name, const char *named, const char *agent,
                    char out[static QN_CLIENT_ID_MAX + 1])
{
    if (!take(key_name, out) && !take(named, out) && !take(agent, out))
        take("anonymous", out);
}

const char *qn_client_request_id(struct qn_http *h)
{
    char name[QN_CLIENT_ID_MAX + 1];
    if (!take(qn_http_header(h, "X-Client-Request-Id"), name) &&
        !take(qn_http_header(h, "X-Request-Id"), name))
        return NULL;
    return qn_arena_strdup(qn_http_arena(h), name);
}

const char *qn_client_id(struct qn_http *h)
{
    char name[QN_CLIENT_ID_MAX + 1];
    const struct qn_key *key = qn_auth_key(h);
    qn_client_name(key ? key->name : NULL, qn_http_header(h, "X-Client-Id"),
                   qn_http_header(h, "User-Agent"), name);
    return qn_arena_strdup(qn_http_arena(h), name);
}
