/* What the handlers of endpoints may ask for. Made by main.c, lent to every handler; nothing below
 * the handlers sees it. */
#ifndef QN_SERVICES_SERVICES_H
#define QN_SERVICES_SERVICES_H

#include "telemetry/sysinfo.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_services {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const struct qn_registry *registry; /* the built-in list; NULL: it cannot be read */
    struct qn_inventory *inventory;
    struct qn_logs *logs;
    struct qn_ws *ws;
    int websocket_port; /* that health tells; every other port takes WebSockets as well */
    const struct qn_ports *ports;
    struct qn_stats *stats;
    struct qn_metrics *metrics;
    struct qn_auth *auth; /* who may ask */
    struct qn_keys *keys;
    const struct qn_owner_key *owner_key; /* see access/owner_salt.h */
    struct qn_live *live;                 /* the settings, to be changed */
    struct qn_rate_limit *rate_limit;
    const char *builtin_dir, *models_dir,
        *extra_models_dir; /* the settings; the last MAY be NULL */
    struct qn_store *store;
    struct qn_discovery *discovery;
    const struct qn_web *web;   /* how other machines are asked; copy it to give it a stop flag */
    const struct qn_hubs *hubs; /* where they are */
    struct qn_inquiries *inquiries;     /* questions to them */
    struct qn_updates *updates;         /* what was found out about newer files */
    const char *model_source;           /* the setting: which of them plain names mean */
    bool open_to_others;                /* bound beyond loopback */
    const struct qn_service_unit *unit; /* of systemd, that has started the server */
    bool socket_activated;              /* a service manager has passed sockets in */
    int64_t started_ms;
    struct qn_cpu_meter cpu;
    struct qn_intake_world *intake;
    struct qn_survey *survey;
    struct qn_pulls *pulls;
    struct qn_blobs *blobs;
    struct qn_devices *devices;
    const struct qn_packs *packs; /* engines of others; NULL: the list cannot be read */
    bool no_fetch_executables;    /* the setting */
    struct qn_pack_jobs *pack_jobs;
    int64_t request_timeout_ms; /* that an answer may take; 0: any */
    bool no_presets;            /* clients may not make models of others */
    bool stopping;              /* SIGTERM has come: nothing new is begun */
    bool closed;                /* the catalog has been closed */
};

#endif
