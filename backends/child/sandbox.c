/* See sandbox.h. */
#include "child/sandbox.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "formats/gguf_name.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096, ARENA_MAX = 16 * 1024 * 1024 };

/* Range -1000 to 1000; when memory runs out, the kernel kills the child before the router and
 * before a desktop's programs. */
static const char oom_score[] = "500";

/* Files that programs and their libraries read on any system, and those that give the size of
 * memory and the number of processors. */
static const struct qn_confine_path everywhere[] = {
    {"/proc", 0},
    {"/sys", 0},
    {"/dev/null", QN_CONFINE_WRITE},
    {"/dev/zero", QN_CONFINE_WRITE},
    {"/dev/urandom", 0},
    {"/usr/lib", 0},
    {"/lib", 0},
    {"/lib64", 0},
    {"/usr/local/lib", 0},
    {"/usr/share", 0},
    {"/etc/ld.so.cache", 0},
    {"/etc/localtime", 0},
};

enum { EVERYWHERE = sizeof everywhere / sizeof *everywhere };

struct list {
    struct qn_arena *arena; /* memory of the paths */
    struct qn_confine_path *paths;
    size_t n, room;
};

static void add(struct list *l, const char *path, unsigned may)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->paths = qn_xrealloc(l->paths, l->room * sizeof *l->paths);
    }
    l->paths[l->n++] = (struct qn_confine_path){qn_arena_strdup(l->arena, path), may};
}

/* Adds a model's file; of a model in several files the load message has the first, and all are
 * added. */
static void add_model(struct list *l, const char *path)
{
    char part[PATH_BYTES_MAX];
    size_t n = strlen(path), parts = 0;
    static const char form[] = "-00001-of-00001.gguf";
    add(l, path, 0);
    if (n > sizeof form && qn_str_ends(path, ".gguf"))
        parts = strtoul(path + n - strlen("00001.gguf"), NULL, 10);
    if (parts > QN_GGUF_PARTS_MAX)
        return;
    for (size_t i = 0; i < parts && qn_gguf_part_path(path, i, parts, part, sizeof part); i++)
        add(l, part, 0);
}

/* Adds a folder of the server's own data. It is created, because a sandbox rule needs an existing
 * folder. */
static void add_own_folder(struct list *l, const char *folder)
{
    qn_mkdirs(folder, 0700, NULL); /* an error shows up when a file is written there */
    add(l, folder, QN_CONFINE_WRITE);
}

/* Adds the folder of a file: files are written to a temporary name and renamed, so the rule must be
 * for the folder. */
static void add_folder_of(struct list *l, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_BYTES_MAX];
    if (slash && slash != path &&
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path) < PATH_BYTES_MAX)
        add_own_folder(l, folder);
}

static void add_option(struct list *l, const struct qn_load_option *o, const struct qn_jref *value)
{
    struct qn_jref folder = qn_json_get(value, "folder"), it;
    switch (o->kind) {
    case QN_LOAD_HOUSE:
    case QN_LOAD_VALUE:
    case QN_LOAD_STRETCH:
        break;
    case QN_LOAD_MODEL:
        add_model(l, qn_json_raw_str(value));
        break;
    case QN_LOAD_ADAPTERS:
        for (bool more = qn_json_first(value, &it); more; more = qn_json_next(&it)) {
            struct qn_jref path = qn_json_get(&it, "path");
            add(l, qn_json_raw_str(&path), 0);
        }
        break;
    case QN_LOAD_CACHE_FILE:
        add_folder_of(l, qn_json_raw_str(value));
        break;
    case QN_LOAD_WEIGHT_CACHE:
        add_own_folder(l, qn_json_raw_str(&folder));
        break;
    }
}

static qn_err add_options(struct list *l, const char *type, const char *options, struct qn_error *e)
{
    const struct qn_backend_type *known = qn_backend_type_find(type);
    struct qn_json *doc;
    qn_err err = qn_json_parse(options, strlen(options), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    for (const struct qn_load_option *o = known ? known->load_options : NULL; o && o->name; o++) {
        struct qn_jref value = qn_json_get(&root, o->name);
        if (qn_json_type(&value) > QN_JSON_NULL)
            add_option(l, o, &value);
    }
    qn_json_free(doc);
    return QN_OK;
}

static qn_err confine_files(const char *type, const struct qn_control *load,
                            const struct qn_sandbox_needs *needs, struct qn_error *e)
{
    struct list l = {.arena = qn_arena_new(ARENA_MAX)};
    for (size_t i = 0; i < EVERYWHERE; i++)
        add(&l, everywhere[i].path, everywhere[i].may);
    for (size_t i = 0; i < needs->n; i++)
        add(&l, needs->paths[i].path, needs->paths[i].may);
    for (size_t i = 0; i < load->files.n; i++)
        add_model(&l, load->files.v[i]);
    qn_err err = add_options(&l, type, load->options, e);
    if (!err)
        err = qn_confine_files(l.paths, l.n, e);
    free(l.paths);
    qn_arena_free(l.arena);
    return err;
}

static void yield_memory_first(void)
{
    const struct rlimit none = {0, 0};
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, oom_score, sizeof oom_score - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        qn_debug("child", "oom_score_adj=unchanged");
    setrlimit(RLIMIT_CORE, &none); /* a core dump would contain tens of gigabytes of weights */
}

qn_err qn_child_sandbox(const char *type, const struct qn_control *load,
                        const struct qn_sandbox_needs *needs, struct qn_error *e)
{
    static const struct qn_sandbox_needs none = {.calls = QN_CONFINE_ALONE};
    needs = needs ? needs : &none;
    yield_memory_first();
    qn_err err = confine_files(type, load, needs, e);
    if (err == QN_EUNSUPPORTED) {
        qn_warn("child", "sandbox=without_files: %s; the model's process can read what you can",
                e->message);
        err = QN_OK;
    }
    if (!err)
        err = qn_confine_calls_but(needs->calls, e);
    if (err == QN_EUNSUPPORTED) {
        qn_warn("child", "sandbox=without_calls: %s", e->message);
        err = QN_OK;
    }
    if (!err)
        *e = (struct qn_error){0};
    return err;
}
