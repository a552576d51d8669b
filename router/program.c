/* All parts of a running server: opened, connected with each other, closed. */
#include "router/program.h"

#include "access/keys.h"
#include "answering/answering.h"
#include "api/chats_events.h"
#include "api/chats_load.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "catalog/catalog.h"
#include "catalog/keys.h"
#include "chats/chats.h"
#include "contract/backend_types.h"
#include "downloads/pack_jobs.h"
#include "downloads/updates.h"
#include "http/ports_try.h"
#include "http/rate_limit.h"
#include "http/ws.h"
#include "io/http_client.h"
#include "library/blobs.h"
#include "library/discovery.h"
#include "library/inquiry.h"
#include "library/preload.h"
#include "mcp_servers/servers.h"
#include "models/devices.h"
#include "models/engine_choice.h"
#include "models/inventory_config.h"
#include "models/metadata_scan.h"
#include "models/registration.h"
#include "registry/packs.h"
#include "registry/registry.h"
#include "registry/store.h"
#include "settings/data_folder.h"
#include "settings/remote.h"
#include "telemetry/log_file.h"
#include "telemetry/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { LOAD_OPTIONS_MAX = 4096 };

static void on_request(void *ctx, struct qn_http *h)
{
    qn_routes_serve(&((struct qn_program *)ctx)->routes, h);
}

static bool on_upgrade(void *ctx, struct qn_http_upgrade *u)
{
    return qn_routes_upgrade(&((struct qn_program *)ctx)->routes, u);
}

static const char *large_body(void *ctx, const struct qn_http *h, size_t *max,
                              int64_t *reserve_bytes)
{
    const struct qn_program *p = ctx;
    *reserve_bytes = p->settings.disk_reserve_mb * INT64_C(1048576);
    return qn_routes_large_body(&p->routes, h, max);
}

static int64_t upload_left(void *ctx, const struct qn_http *h, int64_t wanted, const char **why)
{
    const struct qn_program *p = ctx;
    int64_t max = p->settings.upload_limit_mb * INT64_C(1048576);
    return qn_routes_upload_left(&p->routes, h, max > 0 ? max : INT64_MAX, wanted, why);
}

static bool unwanted_body(void *ctx, const struct qn_http *h)
{
    return qn_routes_unwanted_body(&((const struct qn_program *)ctx)->routes, h);
}

static uint64_t crowd(void *ctx, const struct qn_http_ends *ends)
{
    return qn_crowds_of(&((const struct qn_program *)ctx)->crowds, ends);
}

static uint64_t owner(void *ctx, const struct qn_http *h)
{
    const struct qn_program *p = ctx;
    return qn_routes_owner(&p->routes, h, p->crowds.seed);
}

static bool vital(void *ctx, const struct qn_http *h)
{
    return qn_routes_vital(&((const struct qn_program *)ctx)->routes, h);
}

static void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    qn_routes_refuse(r, body);
}

static void post_to_loop(void *ctx, void (*fn)(void *), void *arg)
{
    qn_loop_post(ctx, fn, arg);
}

static void chats_changed(void *ctx, const struct qn_chats_event *event)
{
    struct qn_program *p = ctx;
    qn_chats_events_tell(p->chats_events, event);
    qn_answering_changed(p->answering, event);
}

/* Sets up how model files are registered. */
static void open_registration(struct qn_program *p)
{
    p->inspector = qn_path_join(p->settings.backend_dir, "quince-inspect");
    atomic_init(&p->stop_reading, false);
    p->registration = (struct qn_registration_world){
        .loop = p->loop,
        .catalog = p->catalog,
        .closed = &p->serving.closed,
        .inspector = {
            .program = p->inspector, .stop = &p->stop_reading, .limit_ms = QN_INSPECT_LIMIT_MS}};
}

/* Reads the built-in list. Without a valid list the server still runs the user's own models. */
static void read_builtin(struct qn_program *p)
{
    struct qn_error e = {0};
    qn_err err = qn_registry_open(p->settings.builtin_dir, &p->registry, &e);
    if (!err)
        err = qn_registration_builtin(&p->registration, p->registry, p->starter, sizeof p->starter,
                                      &e);
    if (err) {
        qn_error_log("main", "builtin_dir=%s builtin_models=unusable message=\"%s\"",
                     p->settings.builtin_dir, e.message);
        p->starter[0] = '\0';
    }
    qn_remote_review(p->catalog);
    qn_catalog_flush(p->catalog); /* so that the first request finds them */
}

/* Opens Hugging Face's cache, and the folders for models of other hubs. */
static struct qn_store *open_store(const struct qn_settings *s)
{
    char *own = qn_path_join(s->data_dir, "hub");
    struct qn_store *store = qn_store_new(s->models_dir, own);
    free(own);
    return store;
}

static qn_err open_inventory(struct qn_program *p, struct qn_error *e)
{
    struct qn_buf options;
    qn_buf_init(&options, LOAD_OPTIONS_MAX);
    struct qn_inventory_config config = qn_inventory_config_of(&p->settings, &options);
    config.registry = p->registry;
    config.metrics = p->telemetry.metrics;
    config.packs = p->packs;
    qn_err err = qn_inventory_new(p->loop, p->catalog, p->client, &config, &p->inventory, e);
    qn_buf_deinit(&options);
    return err;
}

static void open_hubs(struct qn_program *p)
{
    const struct qn_settings *s = &p->settings;
    p->hf_token = qn_hub_token((const char *const *)environ);
    /* downloads resume before apply_settings is called */
    p->rate.bytes_s = s->bandwidth_limit_kib * 1024;
    atomic_init(&p->offline, s->offline);
    p->web = (struct qn_web){
        .offline = &p->offline,
        .allow_private = s->allow_private_hubs,
        .endpoints = {s->hf_endpoint, s->modelscope_endpoint, s->ollama_registry},
        .rate = &p->rate,
    };
    p->hubs = (struct qn_hubs){
        .hf_endpoint = s->hf_endpoint,
        .modelscope_endpoint = s->modelscope_endpoint,
        .ollama_registry = s->ollama_registry,
        .hf_token = p->hf_token,
        .modelscope_token = getenv("MODELSCOPE_API_TOKEN"),
    };
    p->inquiries = qn_inquiries_new(p->loop, &p->web);
    p->updates = qn_updates_new();
    p->puller = (struct qn_puller){
        .models = &p->models, .web = &p->web, .model_source = s->default_model_source};
}

/* Resumes the downloads that were running when the server stopped. */
static void open_pulls(struct qn_program *p)
{
    p->unpacker = qn_path_join(p->settings.backend_dir, "quince-unpack");
    p->world = (struct qn_pull_world){.loop = p->loop,
                                      .catalog = p->catalog,
                                      .closed = &p->serving.closed,
                                      .registration = &p->registration,
                                      .web = &p->web,
                                      .hubs = &p->hubs,
                                      .store = p->custody.store,
                                      .metadata_scan = p->models.metadata_scan,
                                      .unpacker = p->unpacker};
    p->puller.pulls = qn_pulls_new(&(struct qn_pulls_config){
        .loop = p->loop,
        .catalog = p->catalog,
        .closed = &p->serving.closed,
        .steps = qn_pull_world_steps(&p->world),
        .threads = (int)p->settings.download_threads,
        .offline = p->settings.offline,
    });
    qn_catalog_flush(p->catalog); /* so that the first request finds them */
}

/* Reads the list of packs. Without a valid list only quince's own engines are available. */
static void open_packs(struct qn_program *p)
{
    const struct qn_settings *s = &p->settings;
    struct qn_error e = {0};
    char *engines = qn_path_join(s->data_dir, "engines");
    if (qn_packs_open(&(struct qn_packs_config){.table = s->packs,
                                                .engines = engines,
                                                .path = getenv("PATH"),
                                                .prefer_system = s->prefer_system},
                      &p->packs, &e))
        qn_warn("main", "packs=unusable message=\"%s\"", e.message);
    qn_engines_look(p->packs, s->backend_dir);
    free(engines);
}

static void take_key(void *ctx, const struct qn_stored_key *stored)
{
    struct qn_program *p = ctx;
    struct qn_key_row row = {.admin = stored->admin, .created_s = stored->created_s};
    struct qn_error e;
    memcpy(row.name, stored->name, sizeof row.name);
    memcpy(row.sum, stored->sum, sizeof row.sum);
    if (qn_keys_add(p->keys, &row, &e))
        qn_error_log("auth", "key=%s left_out=1 message=\"%s\"", row.name, e.message);
}

static qn_err read_keys(struct qn_program *p, struct qn_error *e)
{
    p->keys = qn_keys_new();
    qn_err err = qn_keys_from_env(p->keys, (const char *const *)environ, e);
    return err ? err : qn_catalog_read_keys(p->catalog, take_key, p, e);
}

/* Whether the server may listen on addresses that other machines can reach: there are keys, or the
 * user has set `insecure`. */
static bool may_be_public(const struct qn_program *p)
{
    return p->settings.insecure || qn_keys_count(p->keys) > 0;
}

/* Updates what depends on whether other machines can reach the server: whether keys are needed. */
static void note_openness(struct qn_program *p)
{
    p->open_rule.open_to_others = p->auth.open_to_others = qn_ports_open_to_others(&p->ports);
    p->auth.needs_key = p->auth.open_to_others && !p->settings.insecure;
}

static void *look(void *ctx)
{
    const struct qn_program *p = ctx;
    struct qn_ports_trial *t = qn_xcalloc(1, sizeof *t);
    t->n_own = qn_ports_own(&p->ports, t->own);
    t->may_be_public = qn_keys_count(p->keys) > 0;
    return t;
}

/* Called on a worker. */
static qn_err can_start(const void *looked, const struct qn_settings *s,
                        const struct qn_jref *changes, struct qn_error *e)
{
    struct qn_ports_trial t = *(const struct qn_ports_trial *)looked;
    t.port = qn_live_changes(changes, "port");
    t.listen = qn_live_changes(changes, "listen");
    t.ollama_port = qn_live_changes(changes, "ollama-port");
    t.websocket_port = qn_live_changes(changes, "websocket-port");
    t.may_be_public = t.may_be_public || s->insecure;
    bool any =
        t.port || t.listen || t.ollama_port || t.websocket_port || qn_live_changes(changes, "host");
    return any ? qn_ports_try(&t, s, e) : QN_OK;
}

/* Puts the settings that may change while the server runs into effect. */
static void apply_settings(void *ctx)
{
    struct qn_program *p = ctx;
    const struct qn_settings *s = &p->settings;
    enum qn_log_level level;
    if (qn_log_level_parse(s->log_level, &level))
        qn_log_set_level(level);
    qn_ports_follow_ollama(&p->ports, p->loop, p->server, s, may_be_public(p));
    qn_mcp_ports_changed(p->mcp);
    note_openness(p);
    p->rate.bytes_s = s->bandwidth_limit_kib * 1024;
    qn_pulls_set(p->puller.pulls, (int)s->download_threads, s->offline);
    atomic_store(&p->offline, s->offline);
    p->auth.allow_hosts = s->allow_hosts;
    p->auth.allow_origins = s->allow_origins;
    p->auth.metrics_closed = s->metrics_auth;
    qn_auth_warn(&p->auth);
    p->apis.ollama.no_presets = s->no_presets;
    p->inference.request_timeout_ms = s->request_timeout_s * 1000;
    qn_rate_limit_set(p->rate_limit, s->rate_limit, s->rate_burst);
    struct qn_buf options;
    struct qn_error e = {0};
    qn_buf_init(&options, LOAD_OPTIONS_MAX);
    const struct qn_inventory_config config = qn_inventory_config_of(s, &options);
    if (qn_inventory_reconfigure(p->inventory, &config, &e))
        qn_error_log("main", "settings=not_applied message=\"%s\"", e.message);
    qn_buf_deinit(&options);
}

/* Opens what all other parts need: the data folder, the loop, the catalog, the keys. */
static qn_err open_ground(struct qn_program *p, struct qn_error *e)
{
    const struct qn_settings *s = &p->settings;
    qn_err err = qn_activation_read((const char *const *)environ, QN_ACTIVATION_FIRST_FD,
                                    &p->ports.passed, e);
    if (!err)
        err = qn_data_folder_take(s->data_dir, &p->lock_fd, e);
    if (err)
        return err;
    char *log = qn_path_join(s->data_dir, "server.log");
    p->log_file = qn_log_file_watch(log, QN_LOG_FILE_LIMIT);
    free(log);
    err = qn_loop_new(&p->loop, e);
    if (err)
        return err;
    char *catalog = qn_path_join(s->data_dir, "catalog.db");
    err = qn_catalog_open(catalog, post_to_loop, p->loop, &p->catalog, e);
    free(catalog);
    if (!err)
        err = qn_owner_key_open(s->data_dir, &p->owner_key, e);
    return err ? err : read_keys(p, e);
}

/* Reports a change of an MCP server to the clients that follow their chats: they use the same event
 * stream. */
static void mcp_changed(void *ctx, const char *owner)
{
    struct qn_program *p = ctx;
    qn_chats_events_tell(p->chats_events,
                         &(struct qn_chats_event){.change = QN_CHATS_MCP, .owner = owner});
}

static size_t own_ports(void *ctx, int out[static QN_MCP_PORTS_MAX])
{
    const struct qn_program *p = ctx;
    _Static_assert((int)QN_PORTS_OWN_MAX <= (int)QN_MCP_PORTS_MAX, "all own ports have room");
    return qn_ports_own(&p->ports, out);
}

static void sweep_mcp(void *ctx, const struct qn_chats_found *found)
{
    struct qn_program *p = ctx;
    if (!found->e && p->mcp)
        qn_mcp_sweep(p->mcp, found->mcp, found->n_mcp);
}

static void open_mcp(struct qn_program *p)
{
    char *program = qn_path_join(p->settings.backend_dir, "quince-mcp"),
         *folder = qn_path_join(p->settings.data_dir, "mcp");
    p->mcp = qn_mcp_new(&(struct qn_mcp_config){.loop = p->loop,
                                                .program = program,
                                                .folder = folder,
                                                .changed = mcp_changed,
                                                .ports = own_ports,
                                                .data_dir = p->settings.data_dir,
                                                .ctx = p});
    free(program);
    free(folder);
    if (qn_mcp_has_folders(p->mcp)) /* without folders, the database need not be opened yet */
        qn_chats_mcp_list_ids(p->chats, sweep_mcp, p);
}

/* Opens the services that handlers of requests use. */
static void open_services(struct qn_program *p)
{
    const struct qn_settings *s = &p->settings;
    p->auth = (struct qn_auth){.keys = p->keys, .host = s->host};
    p->serving = (struct qn_serving){
        .loop = p->loop, .auth = &p->auth, .watchers = &p->watchers, .started_ms = qn_now_ms()};
    p->chats_events = qn_chats_events_new(p->loop, p->keys);
    p->chats_load = qn_chats_load_new();
    p->chats = qn_chats_new(&(struct qn_chats_config){.dir = s->data_dir,
                                                      .post = post_to_loop,
                                                      .post_ctx = p->loop,
                                                      .changed = chats_changed,
                                                      .ctx = p});
    p->ws = qn_ws_new(p->loop, p->telemetry.metrics, &p->apis.watch, &qn_ws_limits);
    p->rate_limit = qn_rate_limit_new();
    struct qn_store *store = open_store(s);
    p->models = (struct qn_models){.catalog = p->catalog,
                                   .inventory = p->inventory,
                                   .registry = p->registry,
                                   .registration = &p->registration,
                                   .metadata_scan = qn_metadata_scan_new(&p->registration)};
    open_hubs(p);
    char *blobs = qn_path_join(s->data_dir, "blobs");
    p->custody = (struct qn_custody){.serving = &p->serving,
                                     .models = &p->models,
                                     .blobs = qn_blobs_new(p->loop, blobs),
                                     .store = store};
    qn_blobs_watch(p->custody.blobs, p->catalog);
    free(blobs);
    char *probe = qn_path_join(s->backend_dir, "quince-probe");
    p->devices = qn_devices_new(p->loop, probe, s->models_dir);
    free(probe);
    p->discovery =
        qn_discovery_new(&(struct qn_discovery_config){.serving = &p->serving,
                                                       .models = &p->models,
                                                       .store = store,
                                                       .env = (const char *const *)environ,
                                                       .folders = s->extra_models_dir,
                                                       .programs = !s->no_discovery});
    open_pulls(p);
    p->custody.pulls = p->puller.pulls;
    p->open_rule = (struct qn_open_rule){.loop = p->loop,
                                         .again = qn_routes_again,
                                         .again_ctx = &p->routes,
                                         .auth = &p->auth,
                                         .inventory = p->inventory,
                                         .builtin_dir = s->builtin_dir,
                                         .models_dir = s->models_dir,
                                         .extra_models_dir = s->extra_models_dir};
    p->inference = (struct qn_inference){.serving = &p->serving,
                                         .models = &p->models,
                                         .puller = &p->puller,
                                         .telemetry = &p->telemetry,
                                         .owner_key = &p->owner_key};
    open_mcp(p);
    p->answering = qn_answering_new(&(struct qn_answering_config){
        .inference = &p->inference, .chats = p->chats, .mcp = p->mcp});
    p->pack_jobs = qn_pack_jobs_new(&(struct qn_pack_jobs_config){.serving = &p->serving,
                                                                  .packs = p->packs,
                                                                  .web = &p->web,
                                                                  .inventory = p->inventory,
                                                                  .unpacker = p->unpacker});
}

/* Fills the tables of what each topic's handlers may use. */
static void open_apis(struct qn_program *p)
{
    struct qn_apis *a = &p->apis;
    const struct qn_serving *serving = &p->serving;
    a->models = (struct qn_models_api){.serving = serving,
                                       .models = &p->models,
                                       .open_rule = &p->open_rule,
                                       .puller = &p->puller,
                                       .inference = &p->inference,
                                       .custody = &p->custody,
                                       .updates = p->updates};
    a->pulls =
        (struct qn_pulls_api){.serving = serving, .puller = &p->puller, .open_rule = &p->open_rule};
    a->disk =
        (struct qn_disk_api){.serving = serving, .custody = &p->custody, .discovery = p->discovery};
    a->hubs = (struct qn_hubs_api){.serving = serving,
                                   .puller = &p->puller,
                                   .hubs = &p->hubs,
                                   .inquiries = p->inquiries,
                                   .updates = p->updates,
                                   .store = p->custody.store};
    a->engines = (struct qn_engines_api){.serving = serving,
                                         .models = &p->models,
                                         .puller = &p->puller,
                                         .telemetry = &p->telemetry,
                                         .devices = p->devices,
                                         .packs = p->packs,
                                         .pack_jobs = p->pack_jobs,
                                         .models_dir = p->settings.models_dir,
                                         .no_fetch_executables = p->settings.no_fetch_executables};
    a->watch = (struct qn_watch_api){.serving = serving,
                                     .models = &p->models,
                                     .telemetry = &p->telemetry,
                                     .keys = p->keys,
                                     .ports = &p->ports,
                                     .unit = &p->unit,
                                     .websocket_port = qn_ports_websocket(&p->ports),
                                     .socket_activated = p->ports.passed.n > 0};
    a->settings = (struct qn_settings_api){.serving = serving,
                                           .catalog = p->catalog,
                                           .telemetry = &p->telemetry,
                                           .keys = p->keys,
                                           .live = p->live,
                                           .chats = p->chats,
                                           .answering = p->answering};
    a->ollama =
        (struct qn_ollama_api){.serving = serving, .models = &p->models, .custody = &p->custody};
    a->chats = (struct qn_chats_api){
        .serving = serving, .chats = p->chats, .events = p->chats_events, .load = p->chats_load};
    a->answering = (struct qn_answering_api){
        .serving = serving, .keys = p->keys, .chats = p->chats, .answering = p->answering};
    a->mcp = (struct qn_mcp_api){.serving = serving, .chats = p->chats, .mcp = p->mcp};
    p->routes = (struct qn_routes){.apis = a,
                                   .inference = &p->inference,
                                   .serving = serving,
                                   .metrics = p->telemetry.metrics,
                                   .rate_limit = p->rate_limit,
                                   .ws = p->ws};
}

/* Writes what `quince stop` reads: the port into the lock's file, and a record lock, from which a
 * program can learn the server's process id without taking the lock itself. */
static void write_lock(const struct qn_program *p)
{
    char text[32];
    int n = snprintf(text, sizeof text, "port %d\n", qn_listen_port(p->ports.main));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (ftruncate(p->lock_fd, 0) || pwrite(p->lock_fd, text, (size_t)n, 0) != n ||
        fcntl(p->lock_fd, F_SETLK, &lock))
        qn_warn("main", "lock=not_written message=\"%s\" (`quince stop` needs --port then)",
                strerror(errno));
}

static qn_err open_doors(struct qn_program *p, struct qn_error *e)
{
    static const struct qn_http_events events = {.request = on_request,
                                                 .refuse = on_refuse,
                                                 .large_body = large_body,
                                                 .upload_left = upload_left,
                                                 .unwanted_body = unwanted_body,
                                                 .crowd = crowd,
                                                 .owner = owner,
                                                 .vital = vital,
                                                 .upgrade = on_upgrade};
    const struct qn_settings *s = &p->settings;
    qn_crowds_init(&p->crowds);
    qn_err err = qn_http_server_new(p->loop, &events, p, (size_t)s->body_limit_mb * 1024 * 1024,
                                    &p->server, e);
    if (!err)
        err = qn_ports_open(&p->ports, p->loop, p->server, s, may_be_public(p), e);
    if (err)
        return err;
    write_lock(p);
    qn_service_unit_look((const char *const *)environ, &p->unit);
    note_openness(p);
    return QN_OK;
}

qn_err qn_program_open(struct qn_program *p, struct qn_error *e)
{
    qn_err err = open_ground(p, e);
    if (err)
        return err;
    qn_backend_types_look(p->settings.backend_dir);
    open_registration(p);
    read_builtin(p);
    qn_http_client_new(p->loop, &p->client);
    open_packs(p);
    err = open_inventory(p, e);
    if (err)
        return err;
    open_services(p);
    err = open_doors(p, e);
    if (!err)
        err = qn_program_watch_signals(p, e);
    if (err)
        return err;
    p->live = qn_live_new(&(struct qn_live_config){.loop = p->loop,
                                                   .running = &p->settings,
                                                   .layers = p->layers,
                                                   .look = look,
                                                   .can_start = can_start,
                                                   .apply = apply_settings,
                                                   .ctx = p});
    open_apis(p);
    apply_settings(p);
    return QN_OK;
}

/* Disconnects clients first, so that no lease and no job is left when the children are stopped. */
void qn_program_close(struct qn_program *p)
{
    qn_timer_stop(p->drain);
    qn_notify_free(p->notify);
    qn_ports_close(&p->ports);
    if (p->server) {
        qn_http_server_free(p->server);
        qn_crowds_deinit(&p->crowds);
    }
    qn_ws_free(p->ws);
    if (p->answering)
        qn_answering_stop(p->answering); /* releases leases */
    qn_mcp_stop(p->mcp);
    qn_preload_stop(p->preload);
    qn_inventory_free(p->inventory);
    if (p->client)
        qn_http_client_free(p->client);
    qn_watch_remove(p->signal_watch);
    qn_pulls_stop(p->puller.pulls);
    qn_pack_jobs_stop(p->pack_jobs);
    p->serving.closed = true;
    atomic_store(&p->stop_reading, true);
    qn_metadata_scan_stop(p->models.metadata_scan);
    qn_discovery_stop(p->discovery);
    qn_inquiries_stop(p->inquiries);
    qn_live_stop(p->live);
    qn_blobs_stop(p->custody.blobs);
    qn_chats_close(p->chats); /* pending writes are completed first, as by the next */
    if (p->catalog)
        qn_catalog_close(p->catalog);
    if (p->loop)
        qn_loop_free(p->loop);
    qn_chats_events_free(p->chats_events);
    qn_answering_free(p->answering);
    qn_mcp_free(p->mcp);
    qn_chats_load_free(p->chats_load);
    qn_preload_free(p->preload);
    qn_pulls_free(p->puller.pulls);
    qn_pack_jobs_free(p->pack_jobs);
    qn_metadata_scan_free(p->models.metadata_scan);
    qn_discovery_free(p->discovery);
    qn_inquiries_free(p->inquiries);
    qn_updates_free(p->updates);
    qn_blobs_free(p->custody.blobs);
    qn_devices_free(p->devices);
    qn_store_free(p->custody.store);
    qn_registry_close(p->registry);
    qn_packs_close(p->packs);
    qn_keys_free(p->keys);
    qn_rate_limit_free(p->rate_limit);
    qn_live_free(p->live);
    free(p->hf_token);
    free(p->unpacker);
    free(p->inspector);
    if (p->signal_fd >= 0)
        close(p->signal_fd);
    if (p->lock_fd >= 0)
        close(p->lock_fd);
}
