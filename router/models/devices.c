/* See devices.h. One query runs at a time: a worker runs the probe, if its output is not known yet,
 * and reads the free space of the disk; callers that arrive meanwhile get the result of the same
 * query. */
#include "models/devices.h"

#include "base/buf.h"
#include "base/log.h"
#include "models/spawn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

struct asker {
    struct asker *next;
    qn_devices_fn fn;
    void *ctx;
};

struct qn_devices {
    struct qn_loop *loop;
    char *program, *models_dir;
    struct qn_json *doc;  /* NULL: unknown yet */
    struct asker *askers; /* of the running query */
    bool running;
    /* Owned by the worker until the query has ended. */
    struct qn_json *found;
    struct qn_error error;
    int64_t disk_bytes, disk_free_bytes;
};

struct qn_devices *qn_devices_new(struct qn_loop *l, const char *program, const char *models_dir)
{
    struct qn_devices *d = qn_xcalloc(1, sizeof *d);
    d->loop = l;
    d->program = qn_xstrdup(program);
    d->models_dir = qn_xstrdup(models_dir);
    return d;
}

void qn_devices_free(struct qn_devices *d)
{
    if (!d)
        return;
    qn_json_free(d->doc);
    free(d->program);
    free(d->models_dir);
    free(d);
}

/* The folder may not exist before the first download: then the nearest existing parent is used. */
static void look_at_disk(struct qn_devices *d)
{
    struct statvfs v;
    char *dir = qn_xstrdup(d->models_dir);
    int failed = statvfs(dir, &v);
    for (char *slash = strrchr(dir, '/'); failed && slash && slash != dir;
         slash = strrchr(dir, '/')) {
        *slash = '\0';
        failed = statvfs(dir, &v);
    }
    d->disk_bytes = failed ? -1 : (int64_t)(v.f_blocks * v.f_frsize);
    d->disk_free_bytes = failed ? -1 : (int64_t)(v.f_bavail * v.f_frsize);
    free(dir);
}

static qn_err probe(struct qn_devices *d, struct qn_error *e)
{
    char *argv[] = {d->program, NULL};
    struct qn_buf out;
    qn_buf_init(&out, QN_DEVICES_OUTPUT_MAX);
    qn_err err = qn_spawn_output(argv, QN_DEVICES_LIMIT_MS, &out, e);
    if (!err)
        err = qn_json_parse(out.data, out.len, &d->found, e);
    if (!err) {
        struct qn_jref root = qn_json_root(d->found);
        if (qn_json_type(&root) != QN_JSON_OBJECT)
            err = qn_fail(e, QN_EFORMAT, "not an object");
    }
    if (err) {
        qn_json_free(d->found);
        d->found = NULL;
    }
    qn_buf_deinit(&out);
    return err;
}

static void look(void *ctx)
{
    struct qn_devices *d = ctx;
    look_at_disk(d);
    if (!d->found)
        probe(d, &d->error);
}

static void looked(void *ctx)
{
    struct qn_devices *d = ctx;
    struct asker *askers = d->askers;
    if (d->error.code)
        qn_warn("devices", "probe failed: %s", d->error.message);
    d->running = false;
    d->askers = NULL; /* later callers begin another query */
    d->doc = d->found;
    struct qn_devices_view view = {
        .doc = d->doc,
        .error = d->doc ? "" : d->error.message,
        .disk_bytes = d->disk_bytes,
        .disk_free_bytes = d->disk_free_bytes,
    };
    while (askers) {
        struct asker *a = askers;
        askers = a->next;
        a->fn(a->ctx, &view);
        free(a);
    }
}

void qn_devices_ask(struct qn_devices *d, qn_devices_fn fn, void *ctx)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->fn = fn;
    a->ctx = ctx;
    a->next = d->askers;
    d->askers = a;
    if (d->running)
        return;
    d->running = true;
    d->error = (struct qn_error){0};
    qn_loop_work(d->loop, look, looked, d);
}
