/* The parts of the server and their lifetime: opened in order, and closed. main.c has the
 * only instance. */
#ifndef QN_ROUTER_PROGRAM_H
#define QN_ROUTER_PROGRAM_H

#include "access/auth.h"
#include "access/owner_salt.h"
#include "downloads/pull_world.h"
#include "http/crowds.h"
#include "http/ports.h"
#include "http/watchers.h"
#include "models/inventory.h"
#include "models/registration.h"
#include "router/routes.h"
#include "settings/live.h"
#include "settings/settings.h"
#include "telemetry/service_unit.h"
#include "telemetry/stats.h"

#include <stdatomic.h>

struct qn_program {
    struct qn_settings settings;
    struct qn_settings_layers layers;
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    struct qn_chats *chats;
    struct qn_chats_events *chats_events;
    struct qn_chats_load *chats_load;
    struct qn_http_client *client;
    struct qn_inventory *inventory;
    struct qn_preload *preload; /* NULL: no model to load at start */
    struct qn_http_server *server;
    struct qn_crowds crowds; /* finds the client that a connection belongs to */
    struct qn_ports ports;
    struct qn_service_unit unit;
    struct qn_notify *notify; /* NULL: no service manager expects messages */
    struct qn_serving serving;
    struct qn_watchers watchers;
    struct qn_models models;
    struct qn_telemetry telemetry;
    struct qn_open_rule open_rule;
    struct qn_puller puller;
    struct qn_custody custody;
    struct qn_inference inference;
    struct qn_answering *answering;
    struct qn_mcp *mcp;
    struct qn_ws *ws;
    struct qn_rate_limit *rate_limit;
    struct qn_discovery *discovery;
    struct qn_inquiries *inquiries; /* pending queries to hubs */
    struct qn_updates *updates;
    struct qn_devices *devices;
    struct qn_pack_jobs *pack_jobs;
    struct qn_apis apis;
    struct qn_rate rate;          /* shared by all downloads */
    struct qn_registry *registry; /* NULL: the built-in list cannot be read */
    struct qn_packs *packs;       /* NULL: the list of packs cannot be read */
    struct qn_web web;
    atomic_bool offline; /* the setting `offline`, for threads that query other machines */
    struct qn_hubs hubs;
    char *hf_token;
    struct qn_pull_world world;
    char *unpacker, *inspector;
    atomic_bool stop_reading; /* stops the reading of model files when the server ends */
    struct qn_registration_world registration;
    struct qn_stats stats;
    struct qn_auth auth;
    struct qn_keys *keys;
    struct qn_owner_key owner_key;
    struct qn_live *live;
    struct qn_routes routes;
    int lock_fd, signal_fd;
    /* NULL: the log does not go to server.log; set before threads start */
    struct qn_log_file *log_file;
    struct qn_watch *signal_watch;
    struct qn_timer *drain;
    int64_t drain_until_ms;
    bool children_told;
    char starter[QN_MODEL_NAME_MAX + 1];
};

/* In program.c. The caller has created logs and metrics, read the settings and called
 * qn_program_take_signals; lock_fd and signal_fd are -1 if they are not open. After a failure the
 * caller calls qn_program_close, which closes what was opened. */
qn_err qn_program_open(struct qn_program *p, struct qn_error *e);
void qn_program_close(struct qn_program *p);

/* In program_signals.c. SIGTERM and SIGINT stop the server when running requests have ended, or at
 * once if the signal is repeated; SIGHUP reads the settings again. qn_program_take_signals is
 * called before any thread starts. */
qn_err qn_program_take_signals(struct qn_program *p, struct qn_error *e);
qn_err qn_program_watch_signals(struct qn_program *p, struct qn_error *e);

#endif
