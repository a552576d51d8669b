/* The router's settings: one table, four layers. A flag beats an environment variable beats a key
 * in DATA_DIR/config.json beats the table's default. What is not in the table is an error. */
#ifndef QN_ROUTER_SETTINGS_H
#define QN_ROUTER_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_CONFIG_FILE_MAX = 1024 * 1024 };

/* Meanings, ranges and defaults are in the table of settings.c. */
struct qn_settings {
    char *host;
    int64_t port;
    bool insecure;
    char *profile;
    char *ollama_port;
    char *listen;
    bool no_presets;
    char *allow_hosts;
    char *allow_origins;
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
    int64_t auto_evict_percent;
    int64_t body_limit_mb;
    int64_t disk_reserve_mb;
    int64_t queue_limit;
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
    bool no_fetch_executables;
    char *backend_dir;
};

enum qn_settings_wish { QN_WISH_RUN, QN_WISH_HELP, QN_WISH_VERSION };

/* Reads all layers. args: the words after the program's name; env: NAME=VALUE words ending in
 * NULL. QN_EINVAL names the setting, where it was given and what is allowed. The strings belong to
 * *s. With a wish other than RUN nothing but defaults has been read. */
qn_err qn_settings_read(struct qn_settings *s, size_t n_args, const char *const *args,
                        const char *const *env, enum qn_settings_wish *wish, struct qn_error *e);
void qn_settings_deinit(struct qn_settings *s);

/* Appends what --help prints. */
void qn_settings_help(struct qn_buf *out);

#endif
