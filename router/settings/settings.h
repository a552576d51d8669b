/* The router's settings: one table, four layers. A flag overrides an environment variable, which
 * overrides a key in DATA_DIR/config.json, which overrides the table's default. A setting that is
 * not in the table is an error. */
#ifndef QN_SETTINGS_SETTINGS_H
#define QN_SETTINGS_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_CONFIG_FILE_MAX = 1024 * 1024, QN_SETTINGS_MAX = 128 };

/* The layer that a setting's value comes from; later ones override earlier ones. */
enum qn_settings_layer {
    QN_FROM_DEFAULT,
    QN_FROM_FILE,
    QN_FROM_ENV,
    QN_FROM_FLAG,
    QN_FROM_REQUEST, /* set in the running server by a request, and not kept */
    QN_LAYERS
};

/* Meanings, ranges and defaults are in settings_table.c. */
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
    char *preload;           /* names separated by commas */
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

/* The sources of the layers, so that they can be read again. */
struct qn_settings_layers {
    size_t n_args;
    const char *const *args; /* the program's arguments */
    const char *const *env;  /* NAME=VALUE strings, ends with NULL */
    const char *file;        /* the text of config.json; NULL: the file is read */
    const char *request;     /* a JSON object; NULL: none */
};

enum qn_settings_wish { QN_WISH_RUN, QN_WISH_HELP, QN_WISH_VERSION };

/* Reads all layers. args: the program's arguments; env: NAME=VALUE strings ending with NULL.
 * QN_EINVAL: a value is invalid; the message names the setting, its source and the allowed values.
 * The strings belong to *s. If *wish is not RUN, only the defaults have been read. */
qn_err qn_settings_read(struct qn_settings *s, size_t n_args, const char *const *args,
                        const char *const *env, enum qn_settings_wish *wish, struct qn_error *e);
/* Like qn_settings_read, from given layers and without a wish (--help, --version). */
qn_err qn_settings_read_again(struct qn_settings *s, const struct qn_settings_layers *layers,
                              struct qn_error *e);
void qn_settings_deinit(struct qn_settings *s);

/* Access to single settings by their index in the table. Names are those of config.json;
 * qn_setting_find treats _ and . as -. */
struct qn_setting {
    const char *name;
    bool live;    /* takes effect while the server runs */
    bool by_hand; /* cannot be changed by a request */
};
bool qn_setting_at(size_t i, struct qn_setting *out); /* false: i is past the last */
bool qn_setting_find(const char *name, size_t *i);
/* Returns QN_EINVAL with a message that suggests the most similar name. where: the source, for the
 * message. */
qn_err qn_setting_unknown(const char *name, const char *where, struct qn_error *e);
bool qn_setting_same(const struct qn_settings *a, const struct qn_settings *b, size_t i);
void qn_setting_copy(struct qn_settings *to, const struct qn_settings *from, size_t i);
void qn_setting_print(const struct qn_settings *s, size_t i, struct qn_jw *w);
const char *qn_settings_layer_name(enum qn_settings_layer layer);

/* Sets all settings to the table's defaults. */
void qn_settings_presets(struct qn_settings *s);
/* Sets the settings of a JSON object. Numbers and booleans may also be texts: "8000". null is
 * ignored. QN_EINVAL: a name or a value is invalid; the message names it. */
qn_err qn_settings_take(struct qn_settings *s, const struct qn_jref *object, struct qn_error *e);

/* Appends the text of --help. */
void qn_settings_help(struct qn_buf *out);

#endif
