/* The one table of endpoints and the way a request takes through it: guards, row, handler. */
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
    QN_TOPIC_OLLAMA
};

/* A handler, which is given what its topic works with (api/topics.h). id: what stood in the
 * pattern's {id}, NULL for patterns without. */
struct qn_route_handler {
    enum qn_topic topic; /* which of these it is: */
    union {
        void (*models)(const struct qn_models_api *api, struct qn_http *h, const char *id);
        void (*pulls)(const struct qn_pulls_api *api, struct qn_http *h, const char *id);
        void (*disk)(const struct qn_disk_api *api, struct qn_http *h, const char *id);
        void (*hubs)(const struct qn_hubs_api *api, struct qn_http *h, const char *id);
        void (*engines)(const struct qn_engines_api *api, struct qn_http *h, const char *id);
        void (*watch)(const struct qn_watch_api *api, struct qn_http *h, const char *id);
        void (*settings)(const struct qn_settings_api *api, struct qn_http *h, const char *id);
        void (*ollama)(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
    } fn;
};

/* What else is special about a row. */
enum qn_route_flags {
    QN_WORK = 1, /* gives a model work, or has one loaded, which is more work than most answers */
    QN_ANY_TYPE = 2,  /* its body needs not say that it is JSON */
    QN_KEPT_BODY = 4, /* its body is collected in a file that is kept */
    QN_VITAL = 8      /* is answered when connections are too many */
};

/* Where a row's path may stand. */
enum qn_places {
    QN_AT_ROOT = 1,     /* /live */
    QN_AT_PREFIXES = 2, /* /api/v0 /api/v1 /v0 /v1 */
    QN_AT_BOTH = QN_AT_ROOT | QN_AT_PREFIXES
};

struct qn_route {
    const char *method;
    const char
        *pattern; /* "/models/{id}": {id} stands for anything, slashes too; more may follow */
    enum qn_places places;
    struct qn_route_handler handle;   /* this, or */
    const struct qn_dialect *dialect; /* inference in this dialect */
    enum qn_route_class class;        /* left out: QN_KEY */
    const struct qn_ws_route *socket; /* MAY. What a WebSocket to this path is */
    unsigned flags;                   /* enum qn_route_flags */
};

/* Row i of the table, NULL behind the last. */
const struct qn_route *qn_route_at(size_t i);

enum qn_route_found { QN_ROUTE_FOUND, QN_ROUTE_NO_PATH, QN_ROUTE_NO_METHOD };

enum { QN_ALLOW_MAX = 64 };

struct qn_route_hit {
    const struct qn_route *row; /* FOUND */
    const char *id;             /* FOUND: what stands at {id}, lent from the path; NULL: no {id} */
    size_t id_len;
    char allow[QN_ALLOW_MAX]; /* FOUND, NO_METHOD: what the path takes, "GET, HEAD, OPTIONS" */
    char use[QN_ALLOW_MAX];   /* the same for people, "GET or POST" */
};

/* Looks the table up; HEAD counts as GET. */
enum qn_route_found qn_route_find(const char *method, const char *path, struct qn_route_hit *hit);

/* Takes a request through guards and table to its handler. */
struct qn_routes {
    const struct qn_apis *apis;
    const struct qn_inference *inference;
    const struct qn_serving *serving;
    struct qn_metrics *metrics;
    struct qn_rate_limit *rate_limit;
    struct qn_ws *ws;
};
void qn_routes_serve(struct qn_routes *r, struct qn_http *h);

/* Begins the WebSocket that a head asks for. False: there is none at this path, or this client may
 * not, or cannot, have it; then the request is to be served like others, which says why. For
 * qn_http_events. */
bool qn_routes_upgrade(struct qn_routes *r, struct qn_http_upgrade *u);

/* The folder in which a request's body is collected because it shall be kept, whatever its size;
 * NULL for most requests. For qn_http_events. */
const char *qn_routes_large_body(const struct qn_routes *r, const struct qn_http *h);

/* Bytes that the request's owner may still have kept, where max may lie there that no model has;
 * for qn_http_events. */
int64_t qn_routes_upload_left(const struct qn_routes *r, const struct qn_http *h, int64_t max,
                              int64_t wanted, const char **why);

/* A hash of the request's owner (owner.h), keyed with seed. For qn_http_events. */
uint64_t qn_routes_owner(const struct qn_routes *r, const struct qn_http *h, uint64_t seed);

/* True when the request's body will not be looked at, because it is refused or its method has no
 * use for one: who has no key fills no disk. For qn_http_events. */
bool qn_routes_unwanted_body(const struct qn_routes *r, const struct qn_http *h);

/* True for what has to be answered when connections are too many: whether the server is alive, and
 * what administrators do. For qn_http_events. */
bool qn_routes_vital(const struct qn_routes *r, const struct qn_http *h);

/* Renders the body of an answer that the HTTP server gives by itself, in the family of the path and
 * the listener's profile. */
void qn_routes_refuse(const struct qn_http_refusal *r, struct qn_buf *body);

#endif
