/* The table of endpoints, and the steps of serving a request: access checks, lookup in the table,
 * handler. */
#ifndef QN_ROUTER_ROUTES_H
#define QN_ROUTER_ROUTES_H

#include "access/auth.h"
#include "answers/answer.h"
#include "api/topics.h"
#include "io/http_server.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_dialect;
struct qn_ws_route;

enum qn_topic {
    QN_TOPIC_MODELS,
    QN_TOPIC_PULLS,
    QN_TOPIC_DISK,
    QN_TOPIC_HUBS,
    QN_TOPIC_ENGINES,
    QN_TOPIC_WATCH,
    QN_TOPIC_SETTINGS,
    QN_TOPIC_OLLAMA,
    QN_TOPIC_PAGE,
    QN_TOPIC_CHATS,
    QN_TOPIC_ANSWERING,
    QN_TOPIC_MCP
};

/* A handler; it gets the context of its topic (api/topics.h). id: the text at {id} of the pattern,
 * NULL if the pattern has none. */
struct qn_route_handler {
    enum qn_topic topic; /* which member of fn is set: */
    union {
        void (*models)(const struct qn_models_api *api, struct qn_http *h, const char *id);
        void (*pulls)(const struct qn_pulls_api *api, struct qn_http *h, const char *id);
        void (*disk)(const struct qn_disk_api *api, struct qn_http *h, const char *id);
        void (*hubs)(const struct qn_hubs_api *api, struct qn_http *h, const char *id);
        void (*engines)(const struct qn_engines_api *api, struct qn_http *h, const char *id);
        void (*watch)(const struct qn_watch_api *api, struct qn_http *h, const char *id);
        void (*settings)(const struct qn_settings_api *api, struct qn_http *h, const char *id);
        void (*ollama)(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
        void (*page)(struct qn_http *h, const char *id); /* needs no context */
        void (*chats)(const struct qn_chats_api *api, struct qn_http *h, const char *id);
        void (*answering)(const struct qn_answering_api *api, struct qn_http *h, const char *id);
        void (*mcp)(const struct qn_mcp_api *api, struct qn_http *h, const char *id);
    } fn;
};

/* Special properties of a row. */
enum qn_route_flags {
    QN_WORK = 1,      /* causes inference or a load, and counts towards the rate limit */
    QN_ANY_TYPE = 2,  /* accepts any Content-Type */
    QN_KEPT_BODY = 4, /* the body is stored in a file that is kept */
    QN_VITAL = 8      /* is served even if there are too many connections */
};

/* The paths at which a row is available. */
enum qn_places {
    QN_AT_ROOT = 1,     /* /live */
    QN_AT_PREFIXES = 2, /* /api/v0 /api/v1 /v0 /v1 */
    QN_AT_BOTH = QN_AT_ROOT | QN_AT_PREFIXES
};

struct qn_route {
    const char *method;
    /* "/models/{id}": {id} matches any text, including slashes, and further text may follow it. */
    const char *pattern;
    enum qn_places places;
    struct qn_route_handler handle;   /* either this, */
    const struct qn_dialect *dialect; /* or inference with this dialect */
    enum qn_route_class class;        /* default: QN_KEY */
    const struct qn_ws_route *socket; /* MAY. Serves WebSockets to this path */
    unsigned flags;                   /* enum qn_route_flags */
    size_t kept_max;                  /* QN_KEPT_BODY: bytes of the body; 0: no limit */
};

/* Row i of the table, NULL past the last. */
const struct qn_route *qn_route_at(size_t i);

enum qn_route_found { QN_ROUTE_FOUND, QN_ROUTE_NO_PATH, QN_ROUTE_NO_METHOD };

enum { QN_ALLOW_MAX = 64 };

struct qn_route_hit {
    const struct qn_route *row; /* FOUND */
    const char *id;             /* FOUND: the text at {id}, borrowed from the path; NULL: no {id} */
    size_t id_len;
    char allow[QN_ALLOW_MAX]; /* FOUND, NO_METHOD: the methods of the path, "GET, HEAD, OPTIONS" */
    char use[QN_ALLOW_MAX];   /* the same for messages, "GET or POST" */
};

/* Looks up method and path; HEAD counts as GET. */
enum qn_route_found qn_route_find(const char *method, const char *path, struct qn_route_hit *hit);

/* Serves a request: access checks, table, handler. */
struct qn_routes {
    const struct qn_apis *apis;
    const struct qn_inference *inference;
    const struct qn_serving *serving;
    struct qn_metrics *metrics;
    struct qn_rate_limit *rate_limit;
    struct qn_ws *ws;
};
void qn_routes_serve(struct qn_routes *r, struct qn_http *h);
/* Calls the handler of a request that has been served before and is not yet answered. ctx: the
 * struct qn_routes. */
void qn_routes_again(void *ctx, struct qn_http *h);

/* Accepts the WebSocket handshake of a request's head. False: the path has no WebSocket, or this
 * client may not open one; the request is then served by qn_routes_serve, which answers with the
 * reason. For qn_http_events. */
bool qn_routes_upgrade(struct qn_routes *r, struct qn_http_upgrade *u);

/* Returns the folder for a request's body if the body is to be kept as a file; NULL for most
 * requests. *max: the most bytes that it may have, 0: no limit. For qn_http_events. */
const char *qn_routes_large_body(const struct qn_routes *r, const struct qn_http *h, size_t *max);

/* Returns how many more bytes the request's owner may store, if an owner may have at most max bytes
 * of files that no model uses. For qn_http_events. */
int64_t qn_routes_upload_left(const struct qn_routes *r, const struct qn_http *h, int64_t max,
                              int64_t wanted, const char **why);

/* Returns a hash of the request's owner (owner.h), keyed with seed. For qn_http_events. */
uint64_t qn_routes_owner(const struct qn_routes *r, const struct qn_http *h, uint64_t seed);

/* Whether the request's body is not needed, because the request will be refused or its method
 * ignores bodies. Such a body is discarded, so that clients without a key cannot fill the disk. For
 * qn_http_events. */
bool qn_routes_unwanted_body(const struct qn_routes *r, const struct qn_http *h);

/* Whether the request must be served even if there are too many connections: liveness checks and
 * requests of administrators. For qn_http_events. */
bool qn_routes_vital(const struct qn_routes *r, const struct qn_http *h);

/* Writes the body of an error that the HTTP server itself answers, in the error family of the path
 * and the listener's profile. */
void qn_routes_refuse(const struct qn_http_refusal *r, struct qn_buf *body);

#endif
