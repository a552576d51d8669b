/* The program quinced: reads its settings, opens everything in order, runs the loop until a signal
 * says stop, and closes everything in reverse. */
#include "router/settings.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "catalog/keys.h"
#include "contract/backend_types.h"
#include "io/http_client.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "registry/hub.h"
#include "registry/packs.h"
#include "registry/registry.h"
#include "registry/store.h"
#include "registry/web.h"
#include "router/auth.h"
#include "router/blobs.h"
#include "router/devices.h"
#include "router/discovery.h"
#include "router/engine_choice.h"
#include "router/inquiry.h"
#include "router/intake.h"
#include "router/inventory.h"
#include "router/inventory_config.h"
#include "router/keys.h"
#include "router/live.h"
#include "router/logs.h"
#include "router/metrics.h"
#include "router/notify.h"
#include "router/pack_jobs.h"
#include "router/ports.h"
#include "router/preload.h"
#include "router/pull_world.h"
#include "router/rate_limit.h"
#include "router/remote.h"
#include "router/routes.h"
#include "router/stats.h"
#include "router/survey.h"
#include "router/sysinfo.h"
#include "router/updates.h"
#include "router/ws.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

extern char **environ;

enum { DRAIN_CHECK_MS = 20, CHILDREN_LIMIT_MS = 13000, DESCRIPTORS = 4 * QN_HTTP_CONNECTIONS_MAX };
enum { LOAD_OPTIONS_MAX = 4096 };

struct program {
    struct qn_settings settings;
    struct qn_settings_layers layers;
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    struct qn_http_client *client;
    struct qn_inventory *inventory;
    struct qn_preload *preload; /* NULL: nothing to load at start */
    struct qn_http_server *server;
    struct qn_ports ports;
    struct qn_notify *notify; /* NULL: no service manager asks */
    struct qn_services services;
    struct qn_rate rate;          /* of all downloads */
    struct qn_registry *registry; /* NULL: the list cannot be read */
    struct qn_packs *packs;       /* NULL: likewise */
    struct qn_web web;
    atomic_bool offline; /* the setting, for those who ask other machines from threads */
    struct qn_hubs hubs;
    char *hf_token;
    struct qn_pull_world world;
    char *unpacker;
    struct qn_stats stats;
    struct qn_auth auth;
    struct qn_keys *keys;
    struct qn_live *live;
    struct qn_routes routes;
    int lock_fd, signal_fd;
    struct qn_watch *signal_watch;
    struct qn_timer *drain;
    int64_t drain_until_ms;
    bool children_told;
    char starter[QN_MODEL_NAME_MAX + 1];
};

static void on_request(void *ctx, struct qn_http *h)
{
    qn_routes_serve(&((struct program *)ctx)->routes, h);
}

static bool on_upgrade(void *ctx, struct qn_http_upgrade *u)
{
    return qn_routes_upgrade(&((struct program *)ctx)->routes, u);
}

static const char *large_body(void *ctx, const struct qn_http *h, int64_t *reserve_bytes)
{
    const struct program *p = ctx;
    *reserve_bytes = p->settings.disk_reserve_mb * INT64_C(1048576);
    return qn_routes_large_body(&p->routes, h);
}

static bool unwanted_body(void *ctx, const struct qn_http *h)
{
    return qn_routes_unwanted_body(&((const struct program *)ctx)->routes, h);
}

static void on_refuse(void *ctx, int status, const char *method, const char *path,
                      struct qn_buf *body)
{
    (void)ctx;
    (void)method;
    qn_routes_refuse(status, path, body);
}

static void catalog_post(void *ctx, void (*fn)(void *), void *arg)
{
    qn_loop_post(ctx, fn, arg);
}

static void children_gone(void *ctx)
{
    struct program *p = ctx;
    qn_loop_stop(p->loop);
}

/* The HTTP server does not say when its last request ends, so this looks, during the shutdown
 * only. Then the children are told to stop; the loop ends when they have. */
static void on_drain(void *ctx)
{
    struct program *p = ctx;
    bool late = qn_now_ms() >= p->drain_until_ms;
    if (p->children_told) {
        if (late)
            qn_loop_stop(p->loop);
        return;
    }
    if ((qn_http_server_active(p->server) > 0 || qn_live_busy(p->live)) && !late)
        return;
    struct qn_error e;
    p->children_told = true;
    p->drain_until_ms = qn_now_ms() + CHILDREN_LIMIT_MS;
    if (qn_inventory_unload(p->inventory, NULL, children_gone, p, &e))
        qn_loop_stop(p->loop);
}

static void reloaded(void *ctx, const struct qn_error *e)
{
    struct program *p = ctx;
    if (!p->services.stopping)
        qn_notify_ready(p->notify, p->loop,
                        e ? "Settings could not be read again: see the log"
                          : "Settings read again");
    if (e)
        qn_error_log("main", "signal=%d settings=unchanged message=\"%s\"", SIGHUP, e->message);
    else
        qn_info("main", "signal=%d settings=read_again", SIGHUP);
    qn_metric_add(p->services.metrics, QN_M_RELOADS, 1);
}

static void reload(struct program *p)
{
    if (p->services.stopping)
        return;
    qn_notify_reloading(p->notify);
    qn_live_reload(p->live, reloaded, p);
}

static void on_signal(void *ctx, uint32_t events)
{
    struct program *p = ctx;
    struct signalfd_siginfo info;
    (void)events;
    if (read(p->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGHUP) {
        reload(p);
        return;
    }
    if (p->services.stopping) {
        qn_warn("main", "signal=%u stopping=at_once", info.ssi_signo);
        qn_loop_stop(p->loop);
        return;
    }
    qn_info("main", "signal=%u stopping=when_idle running=%zu limit_s=%lld", info.ssi_signo,
            qn_http_server_active(p->server), (long long)p->settings.drain_s);
    p->services.stopping = true;
    qn_notify_stopping(p->notify, p->settings.drain_s * 1000 + CHILDREN_LIMIT_MS,
                       "Finishing what runs");
    qn_ws_stop(p->services.ws);
    qn_logs_wake(p->services.logs); /* who follows over HTTP sees the end */
    qn_pulls_drain(p->services.pulls);
    qn_pack_jobs_drain(p->services.pack_jobs);
    qn_live_drain(p->live);
    p->drain_until_ms = qn_now_ms() + p->settings.drain_s * 1000;
    p->drain = qn_timer_start(p->loop, 0, DRAIN_CHECK_MS, on_drain, p);
}

/* Before any thread starts, so that every thread inherits the mask. */
static qn_err take_signals(struct program *p, struct qn_error *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* who ignores it is not told how a model's process ended */
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return qn_fail(e, QN_EIO, "cannot block signals");
    p->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return p->signal_fd < 0 ? qn_fail_errno(e, "signalfd") : QN_OK;
}

/* The data folder belongs to one server at a time; the lock goes with the process. */
static qn_err take_data_dir(struct program *p, struct qn_error *e)
{
    const char *dir = p->settings.data_dir;
    qn_err err = qn_mkdirs(dir, 0700, e);
    if (err)
        return err;
    char *path = qn_path_join(dir, "quinced.lock");
    p->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (p->lock_fd < 0)
        err = qn_fail_errno(e, "open %s", path);
    else if (flock(p->lock_fd, LOCK_EX | LOCK_NB))
        err = errno == EWOULDBLOCK
                  ? qn_fail(e, QN_ECONFLICT,
                            "another quinced uses the data folder %s: stop it, or give this one "
                            "another folder with --data-dir DIR",
                            dir)
                  : qn_fail_errno(e, "lock %s", path);
    free(path);
    return err;
}

/* Each connection costs a descriptor, each running answer another, each model's process three. The
 * usual limit of 1024 is too few for the connections the server means to accept. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        qn_warn("main", "descriptors=%llu raising the limit failed: %s",
                (unsigned long long)limit.rlim_cur, strerror(errno));
}

/* A server whose shipped models are damaged or missing can still run the user's own. */
static void read_builtin(struct program *p)
{
    struct qn_error e = {0};
    qn_err err = qn_registry_open(p->settings.builtin_dir, &p->registry, &e);
    if (!err)
        err = qn_intake_builtin(p->catalog, p->registry, p->starter, sizeof p->starter, &e);
    if (err) {
        qn_error_log("main", "builtin_dir=%s builtin_models=unusable message=\"%s\"",
                     p->settings.builtin_dir, e.message);
        p->starter[0] = '\0';
    }
    qn_remote_review(p->catalog);
    qn_catalog_flush(p->catalog); /* the first request must find them */
}

/* Hugging Face's cache, and folders of our own for other hubs. */
static struct qn_store *open_store(const struct qn_settings *s)
{
    char *own = qn_path_join(s->data_dir, "hub");
    struct qn_store *store = qn_store_new(s->models_dir, own);
    free(own);
    return store;
}

static qn_err open_inventory(struct program *p, struct qn_error *e)
{
    struct qn_buf options;
    qn_buf_init(&options, LOAD_OPTIONS_MAX);
    struct qn_inventory_config config = qn_inventory_config_of(&p->settings, &options);
    config.registry = p->registry;
    config.metrics = p->services.metrics;
    config.packs = p->packs;
    qn_err err = qn_inventory_new(p->loop, p->catalog, p->client, &config, &p->inventory, e);
    qn_buf_deinit(&options);
    return err;
}

static void open_hubs(struct program *p)
{
    const struct qn_settings *s = &p->settings;
    p->hf_token = qn_hub_token((const char *const *)environ);
    p->rate.bytes_s = s->bandwidth_limit_kib * 1024; /* downloads go on before settings apply */
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
    p->services.web = &p->web;
    p->services.inquiries = qn_inquiries_new(p->loop, &p->web);
    p->services.updates = qn_updates_new();
    p->services.hubs = &p->hubs;
    p->services.model_source = s->default_model_source;
}

/* Downloads go on where the last run left them. */
static void open_pulls(struct program *p)
{
    p->unpacker = qn_path_join(p->settings.backend_dir, "quince-unpack");
    p->world = (struct qn_pull_world){.loop = p->loop,
                                      .catalog = p->catalog,
                                      .closed = &p->services.closed,
                                      .web = &p->web,
                                      .hubs = &p->hubs,
                                      .store = p->services.store,
                                      .survey = p->services.survey,
                                      .unpacker = p->unpacker};
    p->services.pulls = qn_pulls_new(&(struct qn_pulls_config){
        .loop = p->loop,
        .catalog = p->catalog,
        .closed = &p->services.closed,
        .steps = qn_pull_world_steps(&p->world),
        .threads = (int)p->settings.download_threads,
        .offline = p->settings.offline,
    });
    qn_catalog_flush(p->catalog); /* the first request must find them */
}

/* A server without the list computes with its own engine. */
static void open_packs(struct program *p)
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
    p->services.packs = p->packs;
    qn_engines_look(p->packs, s->backend_dir);
    p->services.no_fetch_executables = s->no_fetch_executables;
    free(engines);
}

static void take_key(void *ctx, const struct qn_stored_key *stored)
{
    struct program *p = ctx;
    struct qn_key_row row = {.admin = stored->admin, .created_s = stored->created_s};
    struct qn_error e;
    memcpy(row.name, stored->name, sizeof row.name);
    memcpy(row.sum, stored->sum, sizeof row.sum);
    if (qn_keys_add(p->keys, &row, &e))
        qn_error_log("auth", "key=%s left_out=1 message=\"%s\"", row.name, e.message);
}

static qn_err read_keys(struct program *p, struct qn_error *e)
{
    p->keys = qn_keys_new();
    qn_err err = qn_keys_from_env(p->keys, (const char *const *)environ, e);
    return err ? err : qn_catalog_read_keys(p->catalog, take_key, p, e);
}

/* Strangers are kept out by keys, or they are wanted. */
static bool may_be_public(const struct program *p)
{
    return p->settings.insecure || qn_keys_count(p->keys) > 0;
}

/* What of the running server follows from settings that may change while it runs. */
static void apply_settings(void *ctx)
{
    struct program *p = ctx;
    const struct qn_settings *s = &p->settings;
    enum qn_log_level level;
    if (qn_log_level_parse(s->log_level, &level))
        qn_log_set_level(level);
    p->rate.bytes_s = s->bandwidth_limit_kib * 1024;
    qn_pulls_set(p->services.pulls, (int)s->download_threads, s->offline);
    atomic_store(&p->offline, s->offline);
    p->auth.allow_hosts = s->allow_hosts;
    p->auth.allow_origins = s->allow_origins;
    p->auth.metrics_closed = s->metrics_auth;
    qn_auth_warn(&p->auth);
    p->services.no_presets = s->no_presets;
    p->services.request_timeout_ms = s->request_timeout_s * 1000;
    qn_rate_limit_set(p->services.rate_limit, s->rate_limit, s->rate_burst);
    struct qn_buf options;
    struct qn_error e = {0};
    qn_buf_init(&options, LOAD_OPTIONS_MAX);
    const struct qn_inventory_config config = qn_inventory_config_of(s, &options);
    if (qn_inventory_reconfigure(p->inventory, &config, &e))
        qn_error_log("main", "settings=not_applied message=\"%s\"", e.message);
    qn_buf_deinit(&options);
}

static qn_err open_all(struct program *p, struct qn_error *e)
{
    static const struct qn_http_events events = {.request = on_request,
                                                 .refuse = on_refuse,
                                                 .large_body = large_body,
                                                 .unwanted_body = unwanted_body,
                                                 .upgrade = on_upgrade};
    const struct qn_settings *s = &p->settings;
    char *catalog = NULL;
    qn_err err = qn_activation_read((const char *const *)environ, QN_ACTIVATION_FIRST_FD,
                                    &p->ports.passed, e);
    if (!err)
        err = take_data_dir(p, e);
    qn_backend_types_look(s->backend_dir);
    if (!err)
        err = qn_loop_new(&p->loop, e);
    if (!err) {
        catalog = qn_path_join(s->data_dir, "catalog.db");
        err = qn_catalog_open(catalog, catalog_post, p->loop, &p->catalog, e);
    }
    if (!err)
        err = read_keys(p, e);
    if (!err)
        read_builtin(p);
    if (!err)
        qn_http_client_new(p->loop, &p->client);
    if (err)
        goto out;
    open_packs(p);
    err = open_inventory(p, e);
    if (err)
        goto out;
    p->services.loop = p->loop;
    p->services.catalog = p->catalog;
    p->services.registry = p->registry;
    p->services.inventory = p->inventory;
    p->services.stats = &p->stats;
    p->services.ws = qn_ws_new(p->loop, &p->services, &qn_ws_limits);
    p->auth = (struct qn_auth){.keys = p->keys, .host = s->host};
    p->services.auth = &p->auth;
    p->services.keys = p->keys;
    p->services.rate_limit = qn_rate_limit_new();
    p->services.builtin_dir = s->builtin_dir;
    p->services.models_dir = s->models_dir;
    p->services.extra_models_dir = s->extra_models_dir;
    p->services.store = open_store(s);
    open_hubs(p);
    p->services.started_ms = qn_now_ms();
    char *blobs = qn_path_join(s->data_dir, "blobs");
    p->services.blobs = qn_blobs_new(p->loop, blobs);
    free(blobs);
    char *probe = qn_path_join(s->backend_dir, "quince-probe");
    p->services.devices = qn_devices_new(p->loop, probe, s->models_dir);
    free(probe);
    p->services.survey = qn_survey_new(p->loop, p->catalog, &p->services.closed);
    p->services.discovery = qn_discovery_new(
        &p->services, &(struct qn_discovery_config){.env = (const char *const *)environ,
                                                    .folders = s->extra_models_dir,
                                                    .programs = !s->no_discovery});
    open_pulls(p);
    p->services.pack_jobs = qn_pack_jobs_new(&p->services, p->unpacker);
    err = qn_http_server_new(p->loop, &events, p, (size_t)s->body_limit_mb * 1024 * 1024,
                             &p->server, e);
    if (!err)
        err = qn_ports_open(&p->ports, p->loop, p->server, s, may_be_public(p), e);
    if (!err)
        err = qn_watch_add(p->loop, p->signal_fd, EPOLLIN, on_signal, p, &p->signal_watch, e);
    if (err)
        goto out;
    p->services.websocket_port = qn_ports_websocket(&p->ports);
    p->services.open_to_others = p->auth.open_to_others = qn_ports_open_to_others(&p->ports);
    p->auth.needs_key = p->auth.open_to_others && !s->insecure;
    p->routes = (struct qn_routes){.services = &p->services};
    p->live = qn_live_new(&(struct qn_live_config){.loop = p->loop,
                                                   .running = &p->settings,
                                                   .layers = p->layers,
                                                   .apply = apply_settings,
                                                   .ctx = p});
    p->services.live = p->live;
    apply_settings(p);
out:
    free(catalog);
    return err;
}

/* Clients are cut off first, so that no lease and no job is left when the children go. */
static void close_all(struct program *p)
{
    qn_timer_stop(p->drain);
    qn_notify_free(p->notify);
    qn_ports_close(&p->ports);
    if (p->server)
        qn_http_server_free(p->server);
    qn_ws_free(p->services.ws);
    qn_preload_stop(p->preload);
    qn_inventory_free(p->inventory);
    if (p->client)
        qn_http_client_free(p->client);
    qn_watch_remove(p->signal_watch);
    qn_pulls_stop(p->services.pulls);
    qn_pack_jobs_stop(p->services.pack_jobs);
    p->services.closed = true;
    qn_survey_stop(p->services.survey);
    qn_discovery_stop(p->services.discovery);
    qn_inquiries_stop(p->services.inquiries);
    qn_live_stop(p->live);
    qn_blobs_stop(p->services.blobs);
    if (p->catalog)
        qn_catalog_close(p->catalog); /* what is on its way to the catalog is written first */
    if (p->loop)
        qn_loop_free(p->loop);
    qn_preload_free(p->preload);
    qn_pulls_free(p->services.pulls);
    qn_pack_jobs_free(p->services.pack_jobs);
    qn_survey_free(p->services.survey);
    qn_discovery_free(p->services.discovery);
    qn_inquiries_free(p->services.inquiries);
    qn_updates_free(p->services.updates);
    qn_blobs_free(p->services.blobs);
    qn_devices_free(p->services.devices);
    qn_store_free(p->services.store);
    qn_registry_close(p->registry);
    qn_packs_close(p->packs);
    qn_keys_free(p->keys);
    qn_rate_limit_free(p->services.rate_limit);
    qn_live_free(p->live);
    free(p->hf_token);
    free(p->unpacker);
    if (p->signal_fd >= 0)
        close(p->signal_fd);
    if (p->lock_fd >= 0)
        close(p->lock_fd);
}

static int print_help(void)
{
    struct qn_buf text;
    qn_buf_init(&text, 64 * 1024);
    qn_settings_help(&text);
    fputs(qn_buf_cstr(&text), stdout);
    qn_buf_deinit(&text);
    return 0;
}

static void print_ready(const struct program *p)
{
    const char *host = p->settings.host;
    bool v6 = strchr(host, ':') && host[0] != '[';
    printf("quinced is ready at http://%s%s%s:%d (%s%s)\n", v6 ? "[" : "", host, v6 ? "]" : "",
           qn_listen_port(p->ports.main), *p->starter ? "model " : "no built-in model", p->starter);
    fflush(stdout);
}

static void tell_ready(struct program *p)
{
    char text[128];
    snprintf(text, sizeof text, "Answering on port %d", qn_listen_port(p->ports.main));
    p->notify = qn_notify_new((const char *const *)environ);
    qn_notify_ready(p->notify, p->loop, text);
}

int main(int argc, char **argv)
{
    static struct program p = {.lock_fd = -1, .signal_fd = -1};
    struct qn_error e = {0};
    enum qn_settings_wish wish;
    int status = 1;
    p.layers = (struct qn_settings_layers){.n_args = argc > 0 ? (size_t)argc - 1 : 0,
                                           .args = (const char *const *)argv + 1,
                                           .env = (const char *const *)environ};
    qn_err err =
        qn_settings_read(&p.settings, p.layers.n_args, p.layers.args, p.layers.env, &wish, &e);
    if (err) {
        fprintf(stderr, "quinced: %s\n", e.message);
        qn_settings_deinit(&p.settings);
        return 2;
    }
    if (wish == QN_WISH_HELP || wish == QN_WISH_VERSION) {
        status = wish == QN_WISH_HELP ? print_help() : puts("quinced " QN_VERSION) < 0;
        qn_settings_deinit(&p.settings);
        return status;
    }
    enum qn_log_level level;
    if (qn_log_level_parse(p.settings.log_level, &level))
        qn_log_set_level(level);
    p.services.logs = qn_logs_new();
    p.services.metrics = qn_metrics_new();
    qn_log_set_sink(qn_logs_add, p.services.logs);
    raise_descriptor_limit();
    err = take_signals(&p, &e);
    if (!err)
        err = open_all(&p, &e);
    if (err) {
        fprintf(stderr, "quinced: %s\n", e.message);
    } else {
        qn_info("main", "version=%s pid=%d port=%d data_dir=%s models_dir=%s", QN_VERSION,
                (int)getpid(), qn_listen_port(p.ports.main), p.settings.data_dir,
                p.settings.models_dir);
        print_ready(&p);
        tell_ready(&p);
        p.preload = qn_preload_start(&p.services, p.settings.preload);
        qn_loop_run(p.loop);
        qn_info("main", "stopped=1");
        status = 0;
    }
    close_all(&p);
    qn_log_set_sink(NULL, NULL);
    qn_logs_free(p.services.logs);
    qn_metrics_free(p.services.metrics);
    qn_stats_deinit(&p.stats);
    qn_settings_deinit(&p.settings);
    return status;
}
