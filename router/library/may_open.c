/* See may_open.h. */
#include "library/may_open.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "base/arena.h"
#include "base/buf.h"
#include "io/peer.h"
#include "models/inventory.h"
#include "models/load_options.h"
#include "registry/ref.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is to be true of a file. */
enum need {
    MAY_OPEN, /* by the rule */
    EXISTS,
    IS_FILE, /* that load options name */
    NOTHING  /* only stat() is called: if the disk hangs, this worker waits and not the loop, which
                calls stat() for a load as well */
};

struct qn_named_file {
    struct qn_named_file *next;
    enum need need;
    const char *path, *draft; /* draft: name of the draft model whose file it is, or NULL */
};

/* A look at the files of a request: on the loop, then on a worker, then on the loop again. */
struct qn_open_look {
    struct qn_open_look *next; /* while queued */
    struct qn_named_files named;
    struct qn_http *http; /* NULL: the client has disconnected */
    bool in_folders_only; /* the client may name files in the folders of models */
    bool for_user;        /* otherwise, files that this user may read */
    uid_t user;
    bool running;
    bool not_allowed; /* the result */
    struct qn_error error;
};

/* NULL also for a path that no file can have, without looking at its parts. */
static char *real_path(const char *path)
{
    return strnlen(path, PATH_MAX) < PATH_MAX ? realpath(path, NULL) : NULL;
}

static bool lies_in(const char *real, const char *folder)
{
    char *dir = realpath(folder, NULL);
    size_t n = dir ? strlen(dir) : 0;
    bool inside = dir && !strncmp(real, dir, n) && real[n] == '/';
    free(dir);
    return inside;
}

/* folders: separated by colons, or NULL. */
static bool lies_in_one(const char *real, const char *folders)
{
    bool inside = false;
    for (const char *at = folders; at && *at && !inside;) {
        size_t n = strcspn(at, ":");
        char *folder = strndup(at, n);
        inside = folder && *folder && lies_in(real, folder);
        free(folder);
        at += n + (at[n] == ':');
    }
    return inside;
}

static bool bits_allow(const struct stat *st, uid_t uid, mode_t owner, mode_t other)
{
    return (st->st_mode & (st->st_uid == uid ? owner : other)) != 0;
}

bool qn_readable_by(const char *path, uid_t uid)
{
    struct stat st;
    char *real = real_path(path); /* resolves symbolic links */
    bool may = real && stat(real, &st) == 0 && bits_allow(&st, uid, S_IRUSR, S_IROTH);
    while (may && real[1]) {
        char *slash = strrchr(real, '/');
        slash[slash == real] = '\0';
        may = stat(real, &st) == 0 && bits_allow(&st, uid, S_IXUSR, S_IXOTH);
    }
    free(real);
    return may;
}

/* ---- on a worker ---- */

static qn_err missing(const char *path, struct qn_error *e)
{
    return qn_fail_param(e, QN_ENOTFOUND, "checkpoint", QN_NOT_READABLE, path);
}

/* A file that another user of this machine could not read is treated as missing. */
static bool may_open(struct qn_open_look *l, const char *path)
{
    if (!l->in_folders_only)
        return !l->for_user || qn_readable_by(path, l->user) || !missing(path, &l->error);
    const struct qn_open_rule *rule = l->named.rule;
    char *real = real_path(path);
    l->not_allowed =
        !real || !(lies_in(real, rule->builtin_dir) || lies_in(real, rule->models_dir) ||
                   lies_in_one(real, rule->extra_models_dir));
    free(real);
    return !l->not_allowed;
}

static bool is_as_needed(struct qn_open_look *l, const struct qn_named_file *f)
{
    struct stat st;
    switch (f->need) {
    case MAY_OPEN:
        return may_open(l, f->path);
    case EXISTS:
        return access(f->path, F_OK) == 0 || !missing(f->path, &l->error);
    case IS_FILE:
        return !qn_inventory_check_file(f->draft, f->path, &l->error);
    case NOTHING:
        (void)stat(f->path, &st);
    }
    return true;
}

static void look(void *ctx)
{
    struct qn_open_look *l = ctx;
    for (const struct qn_named_file *f = l->named.first; f; f = f->next)
        if (!is_as_needed(l, f))
            return;
    if (l->named.refusal)
        l->error = *l->named.refusal;
}

/* ---- on the loop ---- */

static void named_end(struct qn_named_files *n)
{
    qn_arena_free(n->arena);
    *n = (struct qn_named_files){.rule = n->rule};
}

static void look_free(struct qn_open_look *l)
{
    named_end(&l->named);
    free(l);
}

static void gone(void *ctx)
{
    struct qn_open_look *l = ctx, **at = &l->named.rule->waiting;
    l->http = NULL;
    if (l->running)
        return;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    look_free(l);
}

static void looked(void *ctx);

static void begin(struct qn_open_rule *rule)
{
    while (rule->waiting && rule->running < QN_OPEN_LOOKS) {
        struct qn_open_look *l = rule->waiting;
        rule->waiting = l->next;
        rule->running++;
        l->running = true;
        qn_loop_work(rule->loop, look, looked, l);
    }
}

static void looked(void *ctx)
{
    struct qn_open_look *l = ctx;
    struct qn_open_rule *rule = l->named.rule;
    rule->running--;
    if (l->http)
        qn_http_on_gone(l->http, NULL, NULL);
    if (l->http && l->not_allowed)
        qn_answer_plain(
            l->http, 403, "path_not_allowed",
            "without admin rights, and where other machines can reach the server, it opens "
            "files of its models' folders only (the settings models-dir and "
            "extra-models-dir)");
    else if (l->http && l->error.code)
        qn_answer_error(l->http, &l->error);
    else if (l->http) {
        rule->opened = l->http;
        rule->again(rule->again_ctx, l->http);
        rule->opened = NULL;
    }
    look_free(l);
    begin(rule);
}

/* Whether every file fits the need, without a look at it. */
static bool needs_no_look(const struct qn_open_look *l)
{
    bool any = !l->in_folders_only && !l->for_user;
    for (const struct qn_named_file *f = l->named.first; f; f = f->next)
        if (f->need != MAY_OPEN || !any)
            return false;
    return !l->named.refusal;
}

bool qn_may_open(struct qn_named_files *n, struct qn_http *h)
{
    struct qn_caller caller;
    struct qn_http_ends ends;
    if (!n->arena || n->rule->opened == h) {
        named_end(n);
        return true;
    }
    struct qn_open_look *l = qn_xcalloc(1, sizeof *l), **at = &n->rule->waiting;
    *l = (struct qn_open_look){.named = *n, .http = h};
    qn_auth_caller(n->rule->auth, h, &caller);
    l->in_folders_only = n->rule->open_to_others || !caller.admin;
    l->for_user = !l->in_folders_only && qn_http_ends(h, &ends) && qn_peer_user(&ends, &l->user) &&
                  l->user != 0 && l->user != geteuid();
    if (needs_no_look(l)) {
        look_free(l);
        return true;
    }
    qn_http_on_gone(h, gone, l);
    while (*at)
        at = &(*at)->next;
    *at = l;
    begin(n->rule);
    return false;
}

static void name(struct qn_named_files *n, enum need need, const char *path, const char *draft)
{
    if (n->refusal)
        return;
    if (!n->arena)
        n->arena = qn_arena_new(SIZE_MAX); /* the request's size is limited */
    struct qn_named_file *f = qn_arena_alloc(n->arena, sizeof *f);
    f->need = need;
    f->path = qn_arena_strdup(n->arena, path);
    f->draft = draft ? qn_arena_strdup(n->arena, draft) : NULL;
    if (n->last)
        n->last->next = f;
    else
        n->first = f;
    n->last = f;
}

void qn_named_file(struct qn_named_files *n, const char *path)
{
    name(n, MAY_OPEN, path, NULL);
}

/* list: the value of the option lora. */
static void name_adapters(struct qn_named_files *n, enum need need, const struct qn_jref *list)
{
    struct qn_jref it;
    bool more = qn_json_type(list) == QN_JSON_ARRAY && qn_json_first(list, &it);
    for (; more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path");
        if (qn_json_type(&path) == QN_JSON_STRING || need == IS_FILE)
            name(n, need, qn_json_raw_str(&path), NULL);
    }
}

static void name_draft(struct qn_named_files *n, const struct qn_jref *options)
{
    struct qn_error e = {0};
    struct qn_buf path;
    const char *draft;
    qn_buf_init(&path, PATH_MAX);
    if (!qn_inventory_draft(n->rule->inventory, options, &draft, &path, &e) && draft)
        name(n, IS_FILE, qn_buf_cstr(&path), draft);
    qn_buf_deinit(&path);
    if (!e.code || n->refusal)
        return;
    if (!n->arena)
        n->arena = qn_arena_new(SIZE_MAX);
    n->refusal = qn_arena_alloc(n->arena, sizeof *n->refusal);
    *n->refusal = e;
}

/* The adapters that the client must be allowed to open, and then what is needed of them. */
static qn_err name_options(struct qn_named_files *n, const struct qn_jref *options, enum need then,
                           struct qn_error *e)
{
    struct qn_jref list = qn_json_get(options, "lora");
    qn_err err = qn_load_adapters_count(&list, e);
    if (err) {
        named_end(n);
        return err;
    }
    name_adapters(n, MAY_OPEN, &list);
    if (then == IS_FILE)
        name_draft(n, options);
    name_adapters(n, then, &list);
    return QN_OK;
}

qn_err qn_named_options(struct qn_named_files *n, const struct qn_jref *options, struct qn_error *e)
{
    return name_options(n, options, NOTHING, e);
}

qn_err qn_named_saved_options(struct qn_named_files *n, const struct qn_jref *options,
                              struct qn_error *e)
{
    return name_options(n, options, IS_FILE, e);
}

qn_err qn_named_order(struct qn_named_files *n, const struct qn_pull_order *order,
                      struct qn_error *e)
{
    for (size_t i = 0; i < order->n; i++) {
        struct qn_ref ref;
        if (qn_ref_parse(order->checkpoints[i].ref, QN_HUB_HF, &ref, NULL) == QN_OK &&
            ref.hub == QN_HUB_LOCAL) {
            name(n, MAY_OPEN, ref.url, NULL);
            name(n, EXISTS, ref.url, NULL);
        }
    }
    struct qn_json *doc;
    if (!*order->options ||
        qn_json_parse(order->options, strlen(order->options), &doc, NULL) != QN_OK)
        return QN_OK;
    struct qn_jref options = qn_json_root(doc);
    qn_err err = qn_named_saved_options(n, &options, e);
    qn_json_free(doc);
    return err;
}
