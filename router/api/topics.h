/* The structs that handlers of endpoints get, one for each topic. Created at the start, and
 * borrowed. Loop thread only. */
#ifndef QN_API_TOPICS_H
#define QN_API_TOPICS_H

#include "downloads/pull_request.h"
#include "http/serving.h"
#include "infer/infer.h"
#include "library/custody.h"
#include "library/may_open.h"
#include "models/models.h"
#include "telemetry/telemetry.h"

#include <stdbool.h>

/* Known and loaded models. */
struct qn_models_api {
    const struct qn_serving *serving;
    const struct qn_models *models;
    struct qn_open_rule *open_rule;
    const struct qn_puller *puller;
    const struct qn_inference *inference;
    const struct qn_custody *custody;
    const struct qn_updates *updates; /* results of checks for newer files */
};

/* Downloads of models. */
struct qn_pulls_api {
    const struct qn_serving *serving;
    const struct qn_puller *puller;
    struct qn_open_rule *open_rule;
};

/* Files of models on this disk. */
struct qn_disk_api {
    const struct qn_serving *serving;
    const struct qn_custody *custody;
    struct qn_discovery *discovery;
};

/* Queries to hubs. */
struct qn_hubs_api {
    const struct qn_serving *serving;
    const struct qn_puller *puller;
    const struct qn_hubs *hubs; /* addresses of the hubs */
    struct qn_inquiries *inquiries;
    struct qn_updates *updates;
    struct qn_store *store;
};

/* The machine, and engines for it. */
struct qn_engines_api {
    const struct qn_serving *serving;
    const struct qn_models *models;
    const struct qn_puller *puller;
    struct qn_telemetry *telemetry;
    struct qn_devices *devices;
    const struct qn_packs *packs; /* engines of other projects; NULL: the list cannot be read */
    struct qn_pack_jobs *pack_jobs;
    const char *models_dir;    /* the setting */
    bool no_fetch_executables; /* the setting */
};

/* Health, log and metrics. */
struct qn_watch_api {
    const struct qn_serving *serving;
    const struct qn_models *models;
    struct qn_telemetry *telemetry;
    struct qn_keys *keys;
    const struct qn_ports *ports;
    const struct qn_service_unit *unit; /* the systemd unit that started the server */
    int websocket_port;    /* reported by health; all other ports accept WebSockets as well */
    bool socket_activated; /* a service manager has passed sockets to the server */
};

/* Settings and keys. */
struct qn_settings_api {
    const struct qn_serving *serving;
    struct qn_catalog *catalog;
    struct qn_telemetry *telemetry;
    struct qn_keys *keys;
    struct qn_live *live;
    struct qn_chats *chats;
    const struct qn_answering *answering;
};

/* Answers that the server writes into stored conversations. */
struct qn_answering_api {
    const struct qn_serving *serving;
    struct qn_keys *keys;
    struct qn_chats *chats;
    struct qn_answering *answering;
};

/* Context of the endpoints for MCP servers. */
struct qn_mcp_api {
    const struct qn_serving *serving;
    struct qn_chats *chats;
    struct qn_mcp *mcp;
};

/* What only Ollama's API needs. */
struct qn_ollama_api {
    const struct qn_serving *serving;
    const struct qn_models *models;
    const struct qn_custody *custody;
    bool no_presets; /* the setting: clients may not make presets */
};

/* Stored chats. */
struct qn_chats_api {
    const struct qn_serving *serving;
    struct qn_chats *chats;
    struct qn_chats_events *events;
    struct qn_chats_load *load; /* what is being done with much memory */
};

struct qn_apis {
    struct qn_models_api models;
    struct qn_pulls_api pulls;
    struct qn_disk_api disk;
    struct qn_hubs_api hubs;
    struct qn_engines_api engines;
    struct qn_watch_api watch;
    struct qn_settings_api settings;
    struct qn_ollama_api ollama;
    struct qn_chats_api chats;
    struct qn_answering_api answering;
    struct qn_mcp_api mcp;
};

#endif
