/* See client_id.h. */
#include "access/client_id.h"

#include "access/auth.h"
#include "access/owner.h"
#include "io/peer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* False: the text is NULL or blank. */
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

void qn_client_name(const struct qn_key *key, const char *named, const char *agent,
                    char out[static QN_CLIENT_ID_MAX + 1])
{
    bool own = key && !key->shared && take(key->name, out);
    if (own)
        return;
    bool any = take(named, out) || take(agent, out);
    if (key && key->shared) {
        char whole[2 * QN_CLIENT_ID_MAX + 2];
        snprintf(whole, sizeof whole, "%s%s%s", key->name, any ? "/" : "", any ? out : "");
        take(whole, out);
    } else if (!any) {
        take("anonymous", out);
    }
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
    qn_client_name(qn_auth_key(h), qn_http_header(h, "X-Client-Id"),
                   qn_http_header(h, "User-Agent"), name);
    return qn_arena_strdup(qn_http_arena(h), name);
}

const char *qn_client_proven(struct qn_http *h)
{
    const struct qn_key *key = qn_auth_key(h);
    struct qn_arena *arena = qn_http_arena(h);
    struct qn_http_ends ends;
    if (key && !key->shared)
        return key->name;
    bool known = qn_http_ends(h, &ends);
    if (known && qn_peer_is_here(&ends) && !qn_auth_is_relayed(h))
        return key ? key->name : "";
    char where[QN_OWNER_ADDRESS_MAX + 1] = "?";
    if (known)
        qn_owner_address(&ends.peer, where);
    return key ? qn_arena_fmt(arena, "%s@%s", key->name, where) : qn_arena_strdup(arena, where);
}

const char *qn_client_owner(struct qn_http *h)
{
    const struct qn_key *key = qn_auth_key(h);
    struct qn_arena *arena = qn_http_arena(h);
    struct qn_http_ends ends;
    uid_t uid;
    bool own_key = key && !key->shared;
    if (own_key || !qn_http_ends(h, &ends) || !qn_peer_is_here(&ends) || qn_auth_is_relayed(h))
        return qn_client_proven(h);
    const char *before = key ? qn_arena_fmt(arena, "%s/", key->name) : "";
    if (!qn_peer_user(&ends, &uid))
        return qn_arena_fmt(arena, "%suser/unknown", before);
    return qn_arena_fmt(arena, "%suser/%lu", before, (unsigned long)uid);
}
