/* GET system-info and system-stats: the machine, its devices, which engines can use them, and their
 * load. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/clock.h"
#include "base/str.h"
#include "models/devices.h"
#include "models/inventory.h"
#include "models/recipes.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 512 };

static const double gb = 1e9, gib = 1024.0 * 1024 * 1024;

/* The view is made whether or not the client is still connected. */
struct asker {
    const struct qn_engines_api *api;
    struct qn_waiting client;
};

static const char *text_of(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

static double number_of(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_f64(&v);
}

static void write_system(struct qn_jw *w, const struct qn_jref *root)
{
    struct qn_jref cpu = qn_json_get(root, "cpu"), board = qn_json_get(root, "board");
    const char *vendor = text_of(&board, "vendor"), *product = text_of(&board, "product");
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.200s (Linux %.200s)", text_of(root, "os"),
             text_of(root, "kernel"));
    qn_jw_kstr(w, "OS Version", text);
    qn_jw_kstr(w, "Processor", text_of(&cpu, "name"));
    snprintf(text, sizeof text, "%.1f GB", number_of(root, "memory_bytes") / gib);
    qn_jw_kstr(w, "Physical Memory", text);
    if (*vendor || *product) {
        snprintf(text, sizeof text, "%.200s%s%.200s", vendor, *vendor && *product ? " " : "",
                 product);
        qn_jw_kstr(w, "OEM System", text);
    }
    if (*text_of(&board, "bios"))
        qn_jw_kstr(w, "BIOS Version", text_of(&board, "bios"));
    if (number_of(&cpu, "max_mhz") > 0) {
        snprintf(text, sizeof text, "%.0f MHz", number_of(&cpu, "max_mhz"));
        qn_jw_kstr(w, "CPU Max Clock", text);
    }
    if (*text_of(root, "power"))
        qn_jw_kstr(w, "Power Setting", text_of(root, "power"));
}

static void write_cpu(struct qn_jw *w, const struct qn_jref *root)
{
    struct qn_jref cpu = qn_json_get(root, "cpu"), features = qn_json_get(&cpu, "features"), it;
    qn_jw_key(w, "cpu");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", text_of(&cpu, "name"));
    qn_jw_ki64(w, "cores", (int64_t)number_of(&cpu, "cores"));
    qn_jw_ki64(w, "threads", (int64_t)number_of(&cpu, "threads"));
    qn_jw_kbool(w, "available", true);
    qn_jw_kstr(w, "family", text_of(&cpu, "machine"));
    qn_jw_key(w, "features");
    qn_jw_arr(w);
    for (bool more = qn_json_first(&features, &it); more; more = qn_json_next(&it))
        qn_jw_str(w, qn_json_raw_str(&it));
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void write_device(struct qn_jw *w, const struct qn_jref *d)
{
    struct qn_jref vulkan = qn_json_get(d, "vulkan");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", text_of(d, "name"));
    if (number_of(d, "vram_bytes") > 0)
        qn_jw_kf64(w, "vram_gb", (double)(int64_t)(number_of(d, "vram_bytes") / gib * 10) / 10);
    qn_jw_kbool(w, "available", true);
    qn_jw_kstr(w, "family", text_of(d, "family"));
    if (*text_of(d, "pci"))
        qn_jw_kstr(w, "pci", text_of(d, "pci"));
    qn_jw_kstr(w, "driver",
               *text_of(&vulkan, "driver") ? text_of(&vulkan, "driver") : text_of(d, "driver"));
    if (*text_of(&vulkan, "api"))
        qn_jw_kstr(w, "vulkan", text_of(&vulkan, "api"));
    qn_jw_obj_end(w);
}

/* Graphics processors by vendor and by being integrated or not. */
struct kind {
    const char *key;
    bool several; /* a list, even if it is empty */
};

static const struct kind kinds[] = {
    {"amd_igpu", false},   {"amd_dgpu", true},   {"nvidia_dgpu", true},
    {"intel_igpu", false}, {"intel_dgpu", true}, {"other_gpu", true},
};

static void write_kind(struct qn_jw *w, const struct qn_jref *gpus, const struct kind *k)
{
    struct qn_jref it;
    bool opened = k->several;
    if (opened) {
        qn_jw_key(w, k->key);
        qn_jw_arr(w);
    }
    for (bool more = qn_json_first(gpus, &it); more; more = qn_json_next(&it)) {
        if (!qn_str_eq(qn_device_key(&it), k->key))
            continue;
        if (!opened) {
            qn_jw_key(w, k->key);
            write_device(w, &it);
            return;
        }
        write_device(w, &it);
    }
    if (opened)
        qn_jw_arr_end(w);
}

static void write_devices(struct qn_jw *w, const struct qn_jref *root)
{
    struct qn_jref gpus = qn_json_get(root, "gpus"), npus = qn_json_get(root, "npus"), it;
    qn_jw_key(w, "devices");
    qn_jw_obj(w);
    write_cpu(w, root);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        write_kind(w, &gpus, &kinds[i]);
    for (bool more = qn_json_first(&npus, &it); more; more = qn_json_next(&it)) {
        if (!qn_str_eq(text_of(&it, "vendor"), "amd"))
            continue;
        qn_jw_key(w, "amd_npu");
        write_device(w, &it);
        break;
    }
    qn_jw_obj_end(w);
}

/* Presets share the files of their base, so each file is counted once, and only if it exists. */
static int64_t bytes_of_models(const struct qn_engines_api *api)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    int64_t sum = 0;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (row->n_files > 0 && !*row->base)
            sum += row->size_bytes;
    }
    qn_snapshot_unref(snap);
    return sum;
}

static void write_storage(struct qn_jw *w, const struct qn_engines_api *api,
                          const struct qn_devices_view *view, bool paths)
{
    qn_jw_key(w, "model_storage");
    qn_jw_obj(w);
    qn_jw_kstr(w, "path", qn_api_shown_path(api->models_dir, paths));
    qn_jw_ki64(w, "used_bytes", bytes_of_models(api));
    if (view->disk_bytes >= 0) {
        qn_jw_ki64(w, "total_bytes", view->disk_bytes);
        qn_jw_ki64(w, "free_bytes", view->disk_free_bytes);
    }
    qn_jw_obj_end(w);
}

/* What models may use of the machine's memory. */
static void write_model_memory(struct qn_jw *w, const struct qn_engines_api *api)
{
    const struct qn_model_memory m = qn_inventory_memory(api->models->inventory);
    qn_jw_key(w, "model_memory");
    qn_jw_obj(w);
    if (m.limit_bytes > 0)
        qn_jw_ki64(w, "limit_bytes", m.limit_bytes);
    else
        qn_jw_knull(w, "limit_bytes");
    if (m.free_bytes >= 0)
        qn_jw_ki64(w, "free_bytes", m.free_bytes);
    else
        qn_jw_knull(w, "free_bytes");
    qn_jw_ki64(w, "used_bytes", m.used_bytes);
    qn_jw_obj_end(w);
}

static void answer(void *ctx, const struct qn_devices_view *view)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, NULL)) {
        struct qn_jref root = {0};
        struct qn_buf body;
        if (view->doc)
            root = qn_json_root(view->doc);
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        if (view->doc) {
            write_system(&w, &root);
            write_devices(&w, &root);
        } else {
            char text[QN_ERROR_MESSAGE_MAX + TEXT_MAX];
            snprintf(text, sizeof text, "quince-probe cannot detect the hardware: %s", view->error);
            qn_jw_kstr(&w, "message", text);
            qn_jw_key(&w, "devices");
            qn_jw_obj(&w);
            qn_jw_obj_end(&w);
        }
        qn_recipes_write(
            &w, &(struct qn_recipes){
                    .backend_dir = qn_inventory_config(a->api->models->inventory)->backend_dir,
                    .packs = a->api->packs,
                    .devices = view->doc,
                    .no_fetch = a->api->no_fetch_executables,
                });
        qn_jw_kbool(&w, "no_fetch_executables", a->api->no_fetch_executables);
        write_storage(&w, a->api, view, qn_api_sees_paths(a->api->serving, a->client.http));
        write_model_memory(&w, a->api);
        qn_jw_key(&w, "cloud"); /* remote servers are models here, with the recipe remote */
        qn_jw_obj(&w);
        qn_jw_key(&w, "providers");
        qn_jw_arr(&w);
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
        qn_jw_obj_end(&w);
        qn_answer_json(a->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    free(a);
}

void qn_api_system_info(const struct qn_engines_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    (void)id;
    a->api = api;
    qn_waiting_begin(&a->client, h);
    qn_devices_ask(api->devices, answer, a);
}

static void write_share(struct qn_jw *w, const char *key, int64_t value, double unit)
{
    if (value < 0)
        qn_jw_knull(w, key);
    else
        qn_jw_kf64(w, key, (double)(int64_t)((double)value / unit * 10) / 10);
}

void qn_api_system_stats(const struct qn_engines_api *api, struct qn_http *h, const char *id)
{
    struct qn_gpu_use gpu = qn_gpu_use();
    double watts = qn_cpu_power(&api->telemetry->power, qn_now_us());
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kf64(&w, "cpu_percent",
               (double)(int64_t)(qn_cpu_percent(&api->telemetry->cpu, qn_now_ms()) * 10) / 10);
    write_share(&w, "memory_gb", qn_used_memory(), gb);
    write_share(&w, "memory_total_gb", qn_total_memory(), gb);
    write_share(&w, "gpu_percent", gpu.percent, 1);
    write_share(&w, "vram_gb", gpu.used_bytes, gb);
    qn_jw_knull(&w, "npu_percent"); /* no driver reports it */
    write_share(&w, "cpu_power_w", watts < 0 ? -1 : (int64_t)(watts * 1e6), 1e6);
    write_share(&w, "gpu_power_w", gpu.power_uw, 1e6);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
