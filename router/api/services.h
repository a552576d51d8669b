/* What the handlers of endpoints may ask for. Made by main.c, lent to every handler; nothing below
 * the handlers sees it. */
#ifndef QN_API_SERVICES_H
#define QN_API_SERVICES_H

#include "downloads/pull_request.h"
#include "http/serving.h"
#include "infer/infer.h"
#include "library/custody.h"
#include "library/may_open.h"
#include "models/models.h"
#include "telemetry/telemetry.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_services {
    struct qn_serving serving;
    struct qn_models models;
    struct qn_telemetry telemetry;
    struct qn_open_rule open_rule;
    struct qn_puller puller;
    struct qn_custody custody;
    struct qn_inference inference;
    struct qn_ws *ws;
    int websocket_port; /* that health tells; every other port takes WebSockets as well */
    const struct qn_ports *ports;
    struct qn_keys *keys;
    struct qn_live *live; /* the settings, to be changed */
    struct qn_rate_limit *rate_limit;
    struct qn_discovery *discovery;
    const struct qn_hubs *hubs;         /* where they are */
    struct qn_inquiries *inquiries;     /* questions to them */
    struct qn_updates *updates;         /* what was found out about newer files */
    const struct qn_service_unit *unit; /* of systemd, that has started the server */
    bool socket_activated;              /* a service manager has passed sockets in */
    struct qn_devices *devices;
    const struct qn_packs *packs; /* engines of others; NULL: the list cannot be read */
    bool no_fetch_executables;    /* the setting */
    struct qn_pack_jobs *pack_jobs;
    bool no_presets; /* clients may not make models of others */
};

#endif
