/* The router's settings: one table, four layers. A flag beats an environment variable beats a key
 * in DATA_DIR/config.json beats the table's default. What is not in the table is an error. */
#ifndef QN_SETTINGS_SETTINGS_H
#define QN_SETTINGS_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_CONFIG_FILE_MAX = 1024 * 1024, QN_SETTINGS_MAX = 128 };

/* Which layer a setting's value comes from; later ones beat earlier ones. */
enum qn_settings_layer {
    QN_FROM_DEFAULT,
    QN_FROM_FILE,
    QN_FROM_ENV,
    QN_FROM_FLAG,
    QN_FROM_REQUEST, /* of the running server only, and not to be kept */
    QN_LAYERS
};

/* Meanings, ranges and defaults are in the table of settings.c. */
struct qn_settings {
    char *host;
    int64_t port;
    bool insecure;
    char *profile;
    char *ollama_port;
    char *websocket_port;
    char *listen;
    bool no_presets;
    char *allow_hosts;
    char *allow_origins;
    bool metrics_auth;
    int64_t rate_limit;
    int64_t rate_burst;
    char *data_dir;
    char *log_level;
    char *max_loaded_models; /* see qn_kind_limits_parse */
    char *groups;            /* see qn_groups_parse */
    char *preload;           /* names with commas between */
    int64_t threads;
    int64_t context;
    int64_t slots;
    char *cache_type;
    bool no_speculation;
    bool context_shift;
    bool prefix_cache;
    int64_t weight_cache_gib;
    int64_t memory_limit_mb;
    int64_t gpu_memory_limit_mb;
    int64_t idle_s;
    bool auto_evict;
    char *auto_evict_threshold; /* a number */
    int64_t body_limit_mb;
    int64_t disk_reserve_mb;
    int64_t upload_limit_mb;
    int64_t queue_limit, max_concurrent, max_queue, batch_wait_s, request_timeout_s;
    int64_t drain_s;
    char *builtin_dir;
    char *models_dir;
    char *extra_models_dir;
    bool no_discovery;
    bool offline;
    char *hf_endpoint;
    char *modelscope_endpoint;
    char *ollama_registry;
    char *default_model_source;
    bool allow_private_hubs;
    int64_t bandwidth_limit_kib;
    int64_t download_threads;
    char *packs;
    bool prefer_system;
    char *llamacpp_backend, *llamacpp_args, *whispercpp_backend, *sdcpp_backend;
    bool no_fetch_executables;
    char *backend_dir;
    unsigned char from[QN_SETTINGS_MAX]; /* enum qn_settings_layer of each row */
};

/* Where the layers are, so that they can be read again. */
struct qn_settings_layers {
    size_t n_args;
    const char *const *args; /* the words after the program's name */
    const char *const *env;  /* NAME=VALUE words ending in NULL */
    const char *file;        /* config.json's text; NULL: it is read */
    const char *request;     /* a JSON object; NULL: none */
};

enum qn_settings_wish { QN_WISH_RUN, QN_WISH_HELP, QN_WISH_VERSION };

/* Reads all layers. args: the words after the program's name; env: NAME=VALUE words ending in
 * NULL. QN_EINVAL names the setting, where it was given and what is allowed. The strings belong to
 * *s. With a wish other than RUN nothing but defaults has been read. */
qn_err qn_settings_read(struct qn_settings *s, size_t n_args, const char *const *args,
                        const char *const *env, enum qn_settings_wish *wish, struct qn_error *e);
/* The same once more, without wishes. */
qn_err qn_settings_read_again(struct qn_settings *s, const struct qn_settings_layers *layers,
                              struct qn_error *e);
void qn_settings_deinit(struct qn_settings *s);

/* The settings one by one, by their place in the table. Names are as in config.json; to find one, _
 * and . are taken for -. */
struct qn_setting {
    const char *name;
    bool live;    /* takes effect while the server runs */
    bool by_hand; /* no request may change it */
};
bool qn_setting_at(size_t i, struct qn_setting *out); /* false: there are only i */
bool qn_setting_find(const char *name, size_t *i);
/* QN_EINVAL with the nearest name. where: what it stands in, for the message. */
qn_err qn_setting_unknown(const char *name, const char *where, struct qn_error *e);
bool qn_setting_same(const struct qn_settings *a, const struct qn_settings *b, size_t i);
void qn_setting_copy(struct qn_settings *to, const struct qn_settings *from, size_t i);
void qn_setting_print(const struct qn_settings *s, size_t i, struct qn_jw *w);
const char *qn_settings_layer_name(enum qn_settings_layer layer);

/* Nothing but the table's defaults. */
void qn_settings_presets(struct qn_settings *s);
/* Sets what a JSON object says, text also where a number or truth is meant: "8000". null: nothing.
 * QN_EINVAL says which name or value is wrong. */
qn_err qn_settings_take(struct qn_settings *s, const struct qn_jref *object, struct qn_error *e);

/* Appends what --help prints. */
void qn_settings_help(struct qn_buf *out);

#endif
