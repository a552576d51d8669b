/* See inventory_config.h. */
#include "models/inventory_config.h"

#include "base/json.h"
#include "base/str.h"
#include "telemetry/sysinfo.h"

#include <unistd.h>

static const int64_t MIB = 1024 * 1024;

/* Writes the settings that are load options, where they differ from the default. */
static void write_load_options(const struct qn_settings *s, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    if (s->slots > 0)
        qn_jw_ki64(&w, "slots", s->slots);
    if (!qn_str_eq(s->cache_type, "f16"))
        qn_jw_kstr(&w, "cache_type", s->cache_type);
    if (s->no_speculation)
        qn_jw_kbool(&w, "speculate", false);
    if (s->context_shift)
        qn_jw_kbool(&w, "context_shift", true);
    if (s->prefix_cache)
        qn_jw_kbool(&w, "prefix_cache", true);
    if (s->weight_cache_gib > 0)
        qn_jw_ki64(&w, "weight_cache", s->weight_cache_gib);
    const struct {
        const char *option, *value;
    } engines[] = {
        {"llamacpp_backend", s->llamacpp_backend},
        {"llamacpp_args", s->llamacpp_args},
        {"whispercpp_backend", s->whispercpp_backend},
        {"sd-cpp_backend", s->sdcpp_backend},
    };
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (engines[i].value && *engines[i].value && !qn_str_eq(engines[i].value, "auto"))
            qn_jw_kstr(&w, engines[i].option, engines[i].value);
    qn_jw_obj_end(&w);
}

struct qn_inventory_config qn_inventory_config_of(const struct qn_settings *s,
                                                  struct qn_buf *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    struct qn_inventory_config config = {
        .backend_dir = s->backend_dir,
        .groups = s->groups,
        .memory_bytes = s->memory_limit_mb == 0 ? machine / 10 * 9 : s->memory_limit_mb * MIB,
        .gpu_bytes = s->gpu_memory_limit_mb * MIB,
        /* A limit that the user has set is final; the default must not make the machine swap. */
        .limit_is_wish = s->memory_limit_mb != 0,
        .free_memory = qn_free_memory,
        .machine_bytes = machine,
        .threads = s->threads > 0   ? (int)s->threads
                   : processors > 0 ? (int)processors
                                    : 1,
        .context = s->context,
        .slots = s->slots,
        .data_dir = s->data_dir,
        .queue_limit = s->queue_limit,
        .max_concurrent = s->max_concurrent,
        .max_queue = s->max_queue,
        .batch_ms = s->batch_wait_s * 1000,
        .idle_ms = s->idle_s * 1000,
        .auto_evict = s->auto_evict,
    };
    qn_parse_f64(s->auto_evict_threshold, &config.pressure);
    qn_kind_limits_parse(s->max_loaded_models, &config.max_loaded, NULL);
    write_load_options(s, options);
    config.load_options = qn_buf_cstr(options);
    return config;
}
