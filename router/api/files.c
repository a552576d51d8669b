/* GET models/{id}/files: the files of a model. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "models/inventory.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Run by a worker, because a folder may be on a disk that does not respond. */
struct look {
    struct qn_waiting client;
    struct qn_arena *arena;
    const char *name;
    const char **files, **roles;
    int64_t *sizes;
    bool *exist;
    size_t n;
    bool paths;
};

static void look(void *ctx)
{
    struct look *l = ctx;
    for (size_t i = 0; i < l->n; i++) {
        struct stat st;
        l->exist[i] = stat(l->files[i], &st) == 0 && S_ISREG(st.st_mode);
        if (l->exist[i])
            l->sizes[i] = st.st_size;
    }
}

static void write_file(struct qn_jw *w, const struct look *l, size_t i)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", qn_path_base(l->files[i]));
    qn_jw_kstr(w, "role", l->roles[i]);
    if (l->sizes[i] >= 0)
        qn_jw_ki64(w, "size_bytes", l->sizes[i]);
    else
        qn_jw_knull(w, "size_bytes");
    qn_jw_kbool(w, "exists", l->exist[i]);
    if (l->paths)
        qn_jw_kstr(w, "path", l->files[i]);
    qn_jw_obj_end(w);
}

static void looked(void *ctx)
{
    struct look *l = ctx;
    if (qn_waiting_end(&l->client, NULL)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "model_id", l->name);
        qn_jw_key(&w, "files");
        qn_jw_arr(&w);
        for (size_t i = 0; i < l->n; i++)
            write_file(&w, l, i);
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
        qn_answer_json(l->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    qn_arena_free(l->arena);
    free(l);
}

void qn_api_model_files(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error e = {0};
    if (qn_inventory_find(api->models->inventory, id, &snap, &row, &e)) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = id});
        return;
    }
    const char *paths = qn_http_query(h, "include_paths");
    struct look *l = qn_xcalloc(1, sizeof *l);
    struct qn_arena *a = l->arena = qn_arena_new(SIZE_MAX); /* the row's size is limited */
    l->paths = paths && !qn_str_eq(paths, "false") && !qn_str_eq(paths, "0") &&
               qn_api_sees_paths(api->serving, h);
    l->name = qn_arena_strdup(a, row->name);
    l->n = row->n_files;
    l->files = qn_arena_alloc(a, (l->n + 1) * sizeof *l->files);
    l->roles = qn_arena_alloc(a, (l->n + 1) * sizeof *l->roles);
    l->sizes = qn_arena_alloc(a, (l->n + 1) * sizeof *l->sizes);
    l->exist = qn_arena_alloc(a, (l->n + 1) * sizeof *l->exist);
    for (size_t i = 0; i < l->n; i++) {
        l->files[i] = qn_arena_strdup(a, row->files[i]);
        l->roles[i] = qn_arena_strdup(a, row->roles[i]);
        l->sizes[i] = row->sizes[i];
    }
    qn_snapshot_unref(snap);
    qn_waiting_begin(&l->client, h);
    qn_loop_work(api->serving->loop, look, looked, l);
}
