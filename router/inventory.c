/* Leases on models, see inventory.h. A place is a model that has, had or shall have a child; leases
 * wait at it in the order of their tickets. After everything that changes (a lease comes or goes, a
 * child changes its state) settle() is due once: it asks the residency policy what may load or must
 * leave, and grants what is ready. */
#include "router/inventory.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"
#include "contract/control.h"
#include "contract/job.h"
#include "registry/registry.h"
#include "router/load_options.h"
#include "router/residency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024 };

struct place;

struct qn_lease {
    struct place *place;
    struct qn_lease *prev, *next; /* in place->waiting or place->held */
    uint64_t ticket;
    bool granted;
    qn_lease_fn fn;
    void *ctx;
};

struct list {
    struct qn_lease *first, *last;
    size_t n;
};

struct place {
    struct place *next;
    struct qn_inventory *inv;
    char *name;
    const struct qn_backend_type *type;
    struct qn_child *child; /* NULL until first needed */
    struct list waiting, held;
    int64_t context_asked; /* by a load; QN_UNSET: none */
    char *options_asked;   /* by a load: a JSON object; NULL: none */
    int64_t size_bytes;
    int64_t kv_token_bytes;         /* 0: not known */
    int64_t context;                /* the running child was started with */
    char *options;                  /* and these; NULL: none was started */
    char cache_type[16];            /* that is wanted; "": the child's own */
    char digest[QN_SHA256_HEX + 1]; /* of the file the child was started with; "": not known yet */
    bool stale;     /* the running child has other settings or files than it should: restart it
                       first */
    bool unloading; /* until its process has gone */
    bool retry;   /* the last load failed, and somebody has asked again or for other files since */
    int threads;  /* told to the running child */
    bool blocked; /* settle: wants to load and must wait for others to leave */
    int64_t used_ms; /* last lease given or taken back */
    struct qn_model_count count;
    int64_t keep_ms; /* how long it stays after that; < 0: for ever; QN_UNSET: as configured */
};

struct watcher {
    struct watcher *next;
    char *name; /* NULL: all */
    void (*done)(void *ctx);
    void *ctx;
};

struct qn_inventory {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    struct qn_http_client *client;
    struct qn_inventory_config config;
    char *backend_dir, *load_options, *data_dir;
    struct place *places;
    struct watcher *watchers;
    size_t n_waiting;
    uint64_t tickets;
    struct qn_timer *settle_timer; /* runs when settle is due */
    struct qn_timer *idle_timer;   /* runs when the first model's stay is over */
    int64_t idle_at_ms;
};

static void settle(void *ctx);

static void settle_soon(struct qn_inventory *inv)
{
    if (!inv->settle_timer)
        inv->settle_timer = qn_timer_start(inv->loop, 0, 0, settle, inv);
}

static void list_add(struct list *l, struct qn_lease *x)
{
    x->prev = l->last;
    x->next = NULL;
    if (l->last)
        l->last->next = x;
    else
        l->first = x;
    l->last = x;
    l->n++;
}

static void list_remove(struct list *l, struct qn_lease *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        l->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    else
        l->last = x->prev;
    l->n--;
}

static bool has_process(enum qn_inst_state s)
{
    return s == QN_INST_LOADING || s == QN_INST_READY || s == QN_INST_DRAINING ||
           s == QN_INST_BACKOFF;
}

static enum qn_inst_state state_of(const struct place *p)
{
    return p->child ? qn_child_status(p->child).state : QN_INST_STOPPED;
}

/* "NAME:latest" is NAME, as clients of other servers are used to. */
static void strip_latest(const char *name, char out[static QN_MODEL_NAME_MAX + 1])
{
    size_t n = strlen(name);
    if (qn_str_ends(name, ":latest"))
        n -= strlen(":latest");
    if (n > QN_MODEL_NAME_MAX)
        n = QN_MODEL_NAME_MAX;
    memcpy(out, name, n);
    out[n] = '\0';
}

/* Ways to mean a row without writing its name, better ones first. */
static const struct way {
    const char *prefix; /* of the row's name that is left out */
    bool any_case;
} ways[] = {{"user.", false}, {"extra.", false}, {"", true}, {"user.", true}, {"extra.", true}};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct qn_model_row *find_loosely(const struct qn_snapshot *snap, const char *name,
                                               const struct way *way)
{
    size_t n = strlen(way->prefix);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (strncmp(row->name, way->prefix, n) != 0)
            continue;
        if (way->any_case ? qn_str_ieq(row->name + n, name) : qn_str_eq(row->name + n, name))
            return row;
    }
    return NULL;
}

const struct qn_model_row *qn_inventory_computes(const struct qn_snapshot *snap,
                                                 const struct qn_model_row *row)
{
    const struct qn_model_row *base = *row->base ? qn_snapshot_find(snap, row->base) : NULL;
    bool same = base && base->n_files == row->n_files && qn_str_eq(base->type, row->type);
    for (size_t i = 0; same && i < row->n_files; i++)
        same = qn_str_eq(base->files[i], row->files[i]);
    return same ? base : row;
}

static qn_err find_row(struct qn_inventory *inv, const char *name, bool exactly,
                       struct qn_snapshot **snap, const struct qn_model_row **row,
                       struct qn_error *e)
{
    char plain[QN_MODEL_NAME_MAX + 1];
    *snap = qn_catalog_snapshot(inv->catalog);
    *row = qn_snapshot_find(*snap, name);
    if (!*row && strlen(name) <= QN_MODEL_NAME_MAX) {
        strip_latest(name, plain);
        *row = qn_snapshot_find(*snap, plain);
        for (size_t way = 0; way < COUNT(ways) && !*row && !exactly; way++)
            *row = find_loosely(*snap, plain, &ways[way]);
    }
    if (!*row && !exactly) { /* of an alias, which never hides a model */
        const char *model = qn_snapshot_alias(*snap, name);
        if (!model && strlen(name) <= QN_MODEL_NAME_MAX)
            model = qn_snapshot_alias(*snap, plain);
        *row = model ? qn_snapshot_find(*snap, model) : NULL;
    }
    if (*row)
        return QN_OK;
    qn_snapshot_unref(*snap);
    *snap = NULL;
    const struct qn_registry_entry *listed = qn_registry_find(inv->config.registry, name);
    if (listed && listed->unsupported)
        return qn_fail_param(e, QN_ENOTFOUND, "model",
                             "model '%.200s' cannot be run here: it is %s", listed->name,
                             listed->unsupported);
    if (listed)
        return qn_fail_param(
            e, QN_ENOTFOUND, "model",
            "model '%.200s' is not downloaded: `quince pull %.200s` gets it (%.1f GB)",
            listed->name, listed->name, (double)listed->size_bytes / 1e9);
    return qn_fail_param(e, QN_ENOTFOUND, "model",
                         "model '%.200s' not found: `quince list` or GET /v1/models shows "
                         "the names, `quince import FILE.gguf` adds one",
                         name);
}

qn_err qn_inventory_find(struct qn_inventory *inv, const char *name, struct qn_snapshot **snap,
                         const struct qn_model_row **row, struct qn_error *e)
{
    return find_row(inv, name, false, snap, row, e);
}

qn_err qn_inventory_find_exactly(struct qn_inventory *inv, const char *name,
                                 struct qn_snapshot **snap, const struct qn_model_row **row,
                                 struct qn_error *e)
{
    return find_row(inv, name, true, snap, row, e);
}

static struct place *place_find(const struct qn_inventory *inv, const char *name)
{
    struct place *p = inv->places;
    while (p && !qn_str_eq(p->name, name))
        p = p->next;
    return p;
}

static struct place *place_get(struct qn_inventory *inv, const struct qn_model_row *row)
{
    struct place *p = place_find(inv, row->name);
    if (p)
        return p;
    p = qn_xcalloc(1, sizeof *p);
    p->inv = inv;
    p->name = qn_xstrdup(row->name);
    p->type = qn_backend_type_find(row->type);
    p->context_asked = p->keep_ms = QN_UNSET;
    p->next = inv->places;
    inv->places = p;
    return p;
}

/* Tells every waiting lease that it will not be granted. The callbacks may take and release other
 * leases, so the list is emptied first. */
static void refuse_waiting(struct place *p, const struct qn_error *why)
{
    struct qn_lease *x;
    struct list gone = p->waiting;
    p->waiting = (struct list){0};
    p->inv->n_waiting -= gone.n;
    for (x = gone.first; x; x = x->next)
        x->place = NULL;
    while ((x = gone.first)) {
        list_remove(&gone, x);
        if (x->fn)
            x->fn(x->ctx, why);
        free(x);
    }
}

static void on_state(void *ctx, struct qn_child *c)
{
    struct place *p = ctx;
    enum qn_inst_state s = qn_child_status(c).state;
    qn_info("inventory", "model=%s state=%s", p->name, qn_inst_state_name(s));
    if (!has_process(s)) {
        p->unloading = false;
        p->retry |= p->stale && s == QN_INST_FAILED; /* it was not what is wanted now */
        p->stale = false;
        p->keep_ms = QN_UNSET;
    }
    settle_soon(p->inv);
}

static void on_jobs(void *ctx, struct qn_child *c)
{
    struct place *p = ctx;
    (void)c;
    settle_soon(p->inv);
}

/* The number that a row's options or details, a JSON object, hold under a name. */
static int64_t saved_i64(const char *options, const char *name)
{
    struct qn_json *doc;
    int64_t out = QN_UNSET;
    if (qn_json_parse(options, strlen(options), &doc, NULL))
        return out;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, name);
    qn_json_i64_opt(&v, 0, INT32_MAX, &out, NULL);
    qn_json_free(doc);
    return out;
}

static int64_t wanted_context(const struct place *p, const struct qn_model_row *row)
{
    if (p->context_asked != QN_UNSET)
        return p->context_asked;
    int64_t saved = saved_i64(row->options, "ctx_size");
    return saved != QN_UNSET ? saved : p->inv->config.context;
}

/* What a load says, then what is saved for the model, then the settings. */
enum { LAYERS = 3 };
static void option_layers(const struct place *p, const struct qn_model_row *row,
                          const char *layers[static LAYERS])
{
    layers[0] = p->options_asked ? p->options_asked : "{}";
    layers[1] = row->options;
    layers[2] = p->inv->load_options;
}

static qn_err file_of_model(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(ctx, name, &snap, &row, e);
    if (err)
        return err;
    if (row->n_files < 1)
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%.200s' has no file", name);
    else
        qn_buf_str(path, row->files[0]);
    qn_snapshot_unref(snap);
    return err;
}

/* The JSON object of options for the child. */
static qn_err wanted_options(const struct place *p, const struct qn_model_row *row,
                             struct qn_buf *out, struct qn_error *e)
{
    const char *layers[LAYERS];
    option_layers(p, row, layers);
    struct qn_load_places places = {
        .model_file = file_of_model, .ctx = p->inv, .data_dir = p->inv->data_dir, .name = p->name};
    qn_buf_init(out, OPTIONS_MAX);
    return qn_load_options_merge(p->type, layers, LAYERS, &places, out, e);
}

/* The memory that will be needed depends on it. */
static void note_cache_type(struct place *p, const struct qn_model_row *row)
{
    const char *layers[LAYERS], *text = "";
    option_layers(p, row, layers);
    p->cache_type[0] = '\0';
    for (int i = 0; i < LAYERS && !p->cache_type[0]; i++) {
        struct qn_json *doc;
        if (qn_json_parse(layers[i], strlen(layers[i]), &doc, NULL))
            continue;
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "cache_type");
        qn_json_str_opt(&v, &text, NULL);
        snprintf(p->cache_type, sizeof p->cache_type, "%s", text);
        text = "";
        qn_json_free(doc);
    }
}

/* Options that cannot be made sense of are refused when the child is started with them. */
static bool wants_other_options(const struct place *p, const struct qn_model_row *row)
{
    struct qn_buf wanted;
    bool other = wanted_options(p, row, &wanted, NULL) || !p->options ||
                 !qn_str_eq(p->options, qn_buf_cstr(&wanted));
    qn_buf_deinit(&wanted);
    return other;
}

static void note_digest(struct place *p, const struct qn_model_row *row)
{
    if (snprintf(p->digest, sizeof p->digest, "%s", row->digest) >= (int)sizeof p->digest)
        p->digest[0] = '\0';
}

/* What a child gets of a row's files. What else the model has (the further parts of a split file,
 * say) is found beside these. */
static size_t main_files(const struct qn_model_row *row,
                         const char *out[static QN_CONTROL_FILES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < row->n_files && n < QN_CONTROL_FILES_MAX; i++)
        if (qn_str_eq(row->roles[i], "main"))
            out[n++] = row->files[i];
    return n;
}

/* True when what runs is made of other files than the row names, or of a file that has been
 * replaced since. A sum that comes to be known only now is that of the file that runs. */
static bool has_other_files(struct place *p, const struct qn_model_row *row)
{
    const char *mains[QN_CONTROL_FILES_MAX];
    if (!qn_child_has_files(p->child, mains, main_files(row, mains)))
        return true;
    if (!*p->digest)
        note_digest(p, row);
    return *row->digest && !qn_str_eq(p->digest, row->digest);
}

static int64_t estimate(const struct place *p, int64_t context)
{
    struct qn_memory_facts facts = {
        .cache_type = p->cache_type,
        .file_bytes = p->size_bytes,
        .kv_token_bytes = p->kv_token_bytes,
        .context = context,
        .slots = p->inv->config.slots,
    };
    return p->type->memory_estimate(&facts);
}

/* Starts the child with the row's files. */
static qn_err start(struct place *p, int threads, struct qn_error *e)
{
    struct qn_inventory *inv = p->inv;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, p->name, &snap, &row, e);
    if (err)
        return err;
    struct qn_buf options;
    err = wanted_options(p, row, &options, e);
    if (err) {
        qn_buf_deinit(&options);
        qn_snapshot_unref(snap);
        return err;
    }
    free(p->options);
    p->options = qn_xstrdup(qn_buf_cstr(&options));
    char *program = qn_path_join(inv->backend_dir, p->type->binary);
    /* Its state may not have been told yet: what held for the process before this one is over. */
    p->unloading = p->stale = p->retry = false;
    p->keep_ms = QN_UNSET;
    p->context = wanted_context(p, row);
    note_digest(p, row);
    p->threads = threads;
    const char *mains[QN_CONTROL_FILES_MAX];
    struct qn_child_spec spec = {
        .type = p->type->type,
        .program = program,
        .name = p->name,
        .files = mains,
        .n_files = main_files(row, mains),
        .options = qn_buf_cstr(&options),
        .threads = threads,
        .context = p->context,
    };
    static const struct qn_child_events events = {.state = on_state, .jobs = on_jobs};
    if (p->child)
        qn_child_respec(p->child, &spec);
    else
        err = qn_child_new(inv->loop, inv->client, &spec, &events, p, &p->child, e);
    if (!err)
        qn_child_load(p->child);
    free(program);
    qn_buf_deinit(&options);
    qn_snapshot_unref(snap);
    return err;
}

/* The facts for the policy about every place with a process but `without`. A place counts as busy
 * for a newcomer with this ticket while it is used, or while somebody waits for it who came
 * earlier. */
static size_t residents(struct qn_inventory *inv, const struct place *without, uint64_t ticket,
                        struct qn_resident *live, struct place **places)
{
    size_t n = 0;
    for (struct place *p = inv->places; p && n < QN_RESIDENTS_MAX; p = p->next) {
        enum qn_inst_state s = state_of(p);
        if (p == without || !has_process(s))
            continue;
        struct qn_child_status status = qn_child_status(p->child);
        live[n] = (struct qn_resident){
            .type = p->type->type,
            .busy = p->held.n > 0 || status.jobs > 0 ||
                    (p->waiting.n > 0 && p->waiting.first->ticket < ticket),
            .leaving = s == QN_INST_DRAINING,
            .last_use_ms = p->used_ms,
            .memory_bytes = status.memory_bytes > 0 ? status.memory_bytes : estimate(p, p->context),
        };
        places[n++] = p;
    }
    return n;
}

/* What models may use together: the limit, and no more than they have now and the machine has left.
 * Places without a settled process have nothing yet that could be counted. */
static int64_t memory_budget(const struct qn_inventory *inv, const struct qn_resident *live,
                             struct place *const *places, size_t n)
{
    int64_t limit = inv->config.memory_bytes;
    int64_t room = inv->config.free_memory ? inv->config.free_memory() : -1;
    if (limit <= 0 || room < 0)
        return limit;
    for (size_t i = 0; i < n; i++) {
        enum qn_inst_state s = state_of(places[i]);
        if (s == QN_INST_READY || s == QN_INST_DRAINING)
            room += live[i].memory_bytes;
    }
    return room < 1 ? 1 : room < limit ? room : limit;
}

static void refuse_for_memory(struct place *p, int64_t needs, int64_t may)
{
    struct qn_error e = {0};
    qn_fail_param(&e, QN_ENOMEM, "model",
                  "model '%s' cannot be loaded: it needs about %lld MiB of memory, and models may "
                  "use %lld MiB now. Use a smaller model, a smaller quantisation or a smaller "
                  "context, end other programs, or raise the setting memory-limit",
                  p->name, (long long)(needs >> 20), (long long)(may >> 20));
    refuse_waiting(p, &e);
}

static void plan(struct place *p)
{
    struct qn_inventory *inv = p->inv;
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct place *places[QN_RESIDENTS_MAX];
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_plan todo = {0};
    struct qn_error e = {0};
    if (qn_inventory_find(inv, p->name, &snap, &row, &e)) { /* it has left the catalog meanwhile */
        refuse_waiting(p, &e);
        return;
    }
    int64_t context = wanted_context(p, row);
    qn_snapshot_unref(snap);
    size_t n = residents(inv, p, p->waiting.first->ticket, live, places);
    struct qn_resident want = {
        .type = p->type->type,
        .memory_bytes = estimate(p, context),
    };
    struct qn_budget budget = {
        .max_loaded = (int)inv->config.max_loaded,
        .memory_bytes = memory_budget(inv, live, places, n),
        .threads = inv->config.threads,
    };
    qn_residency_plan(live, n, &want, &budget, &todo);
    switch (todo.verdict) {
    case QN_PLAN_LOAD:
        if (start(p, todo.threads, &e))
            refuse_waiting(p, &e);
        break;
    case QN_PLAN_EVICT:
        p->blocked = true;
        for (size_t i = 0; i < todo.n_evict; i++) {
            qn_info("inventory", "model=%s evicted_for=%s", places[todo.evict[i]]->name, p->name);
            qn_child_stop(places[todo.evict[i]]->child, QN_CHILD_STOP_GRACE_MS);
        }
        break;
    case QN_PLAN_WAIT:
        p->blocked = true;
        break;
    case QN_PLAN_REFUSE:
        if (budget.memory_bytes > 0 && want.memory_bytes > budget.memory_bytes) {
            refuse_for_memory(p, want.memory_bytes, budget.memory_bytes);
            break;
        }
        qn_fail_param(&e, QN_ENOMEM, "model", "model '%s' cannot be loaded: %s", p->name,
                      todo.reason ? todo.reason : "it does not fit");
        refuse_waiting(p, &e);
        break;
    }
}

/* True when somebody who came before the ticket waits for room among children of this type. Then
 * nobody later is let in at a ready model, or the earlier one could wait for ever. */
static bool overtakes(const struct qn_inventory *inv, const struct place *at, uint64_t ticket)
{
    for (const struct place *p = inv->places; p; p = p->next)
        if (p != at && p->blocked && p->waiting.n && p->type == at->type &&
            p->waiting.first->ticket < ticket)
            return true;
    return false;
}

static void grant(struct place *p)
{
    for (size_t left = p->waiting.n; left && p->waiting.n && !p->stale; left--) {
        if (state_of(p) != QN_INST_READY || overtakes(p->inv, p, p->waiting.first->ticket))
            break;
        struct qn_lease *x = p->waiting.first;
        list_remove(&p->waiting, x);
        p->inv->n_waiting--;
        list_add(&p->held, x);
        x->granted = true;
        p->used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->name, qn_wall_ms() / 1000);
        x->fn(x->ctx, NULL);
    }
}

/* What one place needs now, by its child's state. */
static void settle_place(struct place *p)
{
    p->blocked = false;
    if (!p->waiting.n)
        return;
    switch (state_of(p)) {
    case QN_INST_STOPPED:
        plan(p);
        break;
    case QN_INST_FAILED: {
        if (p->retry) { /* until it has been tried: others may have to leave first */
            plan(p);
            break;
        }
        struct qn_error e = *qn_child_status(p->child).error;
        if (e.code == QN_OK)
            qn_fail(&e, QN_ECHILD, "model '%s' could not be loaded", p->name);
        refuse_waiting(p, &e);
        break;
    }
    case QN_INST_READY:
        if (p->stale && !p->held.n)
            qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
        else
            grant(p);
        break;
    default: /* on its way: its state event comes back here */
        break;
    }
}

/* The machine's threads go to the children that have work. */
static void share_threads(struct qn_inventory *inv)
{
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct place *places[QN_RESIDENTS_MAX];
    int threads[QN_RESIDENTS_MAX];
    size_t n = residents(inv, NULL, 0, live, places);
    if (!n)
        return;
    qn_residency_threads(live, n, inv->config.threads, threads);
    for (size_t i = 0; i < n; i++)
        if (state_of(places[i]) == QN_INST_READY && places[i]->threads != threads[i]) {
            places[i]->threads = threads[i];
            qn_child_set_threads(places[i]->child, threads[i]);
        }
}

static void tell_watchers(struct qn_inventory *inv)
{
    struct watcher **at = &inv->watchers;
    while (*at) {
        bool busy = false;
        for (struct place *p = inv->places; p; p = p->next)
            busy = busy || (p->unloading && (!(*at)->name || qn_str_eq((*at)->name, p->name)));
        if (busy) {
            at = &(*at)->next;
            continue;
        }
        struct watcher *w = *at;
        *at = w->next;
        if (w->done)
            w->done(w->ctx);
        free(w->name);
        free(w);
        at = &inv->watchers; /* the callback may have changed the list */
    }
}

/* The places with waiting leases, earliest ticket first. */
static size_t by_ticket(struct qn_inventory *inv, struct place **out, size_t max)
{
    size_t n = 0;
    for (struct place *p = inv->places; p && n < max; p = p->next) {
        p->blocked = p->blocked && p->waiting.n;
        if (!p->waiting.n)
            continue;
        size_t i = n++;
        for (; i > 0 && out[i - 1]->waiting.first->ticket > p->waiting.first->ticket; i--)
            out[i] = out[i - 1];
        out[i] = p;
    }
    return n;
}

/* How long a model stays after its last use; < 0: for ever. */
static int64_t stay_of(const struct place *p)
{
    if (p->keep_ms != QN_UNSET)
        return p->keep_ms;
    return p->inv->config.idle_ms > 0 ? p->inv->config.idle_ms : -1;
}

/* When its stay is over; INT64_MAX: never, or not while it is used as it is now. */
static int64_t leaves_at(const struct place *p)
{
    int64_t keep = stay_of(p);
    if (state_of(p) != QN_INST_READY || p->held.n || p->waiting.n || keep < 0)
        return INT64_MAX;
    return keep < INT64_MAX - p->used_ms ? p->used_ms + keep : INT64_MAX;
}

static void check_stays(void *ctx);

/* One timer, for the first that has to go. */
static void watch_stays(struct qn_inventory *inv)
{
    int64_t first = INT64_MAX;
    for (const struct place *p = inv->places; p; p = p->next)
        if (leaves_at(p) < first)
            first = leaves_at(p);
    if (inv->idle_timer && inv->idle_at_ms == first)
        return;
    qn_timer_stop(inv->idle_timer);
    inv->idle_timer = NULL;
    inv->idle_at_ms = first;
    if (first == INT64_MAX)
        return;
    int64_t wait = first - qn_now_ms();
    inv->idle_timer = qn_timer_start(inv->loop, wait > 0 ? wait : 0, 0, check_stays, inv);
}

static void check_stays(void *ctx)
{
    struct qn_inventory *inv = ctx;
    int64_t now = qn_now_ms();
    qn_timer_stop(inv->idle_timer);
    inv->idle_timer = NULL;
    for (struct place *p = inv->places; p; p = p->next)
        if (leaves_at(p) <= now) {
            qn_info("inventory", "model=%s unloaded=idle", p->name);
            qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
        }
    watch_stays(inv);
}

static void settle(void *ctx)
{
    struct qn_inventory *inv = ctx;
    qn_timer_stop(inv->settle_timer);
    inv->settle_timer = NULL;
    struct place *order[QN_RESIDENTS_MAX];
    size_t n = by_ticket(inv, order, QN_RESIDENTS_MAX);
    for (size_t i = 0; i < n; i++)
        settle_place(order[i]);
    share_threads(inv);
    watch_stays(inv);
    tell_watchers(inv);
}

/* True when who wants at least so much context is served by what runs, is being loaded or was asked
 * for by others who still wait: their context never shrinks. */
static bool has_enough(const struct place *p, enum qn_inst_state s, int64_t context)
{
    if (p->waiting.n && p->context_asked != QN_UNSET && p->context_asked >= context)
        return true;
    return s == QN_INST_READY && !p->stale && qn_child_status(p->child).context >= context;
}

qn_err qn_inventory_acquire(struct qn_inventory *inv, const char *name,
                            const struct qn_load_options *options, qn_lease_fn fn, void *ctx,
                            struct qn_lease **out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    if ((int64_t)inv->n_waiting >= inv->config.queue_limit) {
        qn_snapshot_unref(snap);
        return qn_fail(e, QN_EBUSY,
                       "%lld requests are waiting for models already: try again in a moment",
                       (long long)inv->config.queue_limit);
    }
    row = qn_inventory_computes(snap, row);
    if (!row->n_files)
        err = qn_fail_param(e, QN_ENOTFOUND, "model",
                            "model '%s' is not downloaded: `quince pull %s` gets it", row->name,
                            row->name);
    else if (!qn_backend_type_find(row->type))
        err = qn_fail_param(e, QN_EUNSUPPORTED, "model",
                            "model '%s' is of type '%s', which this version cannot run", row->name,
                            row->type);
    if (err) {
        qn_snapshot_unref(snap);
        return err;
    }
    struct place *p = place_get(inv, row);
    p->size_bytes = row->size_bytes;
    int64_t known = saved_i64(row->details, "kv_token_bytes");
    p->kv_token_bytes = known != QN_UNSET ? known : 0;
    enum qn_inst_state s = state_of(p);
    bool other_files = has_process(s) && has_other_files(p, row);
    if (options && options->at_least && has_enough(p, s, options->context))
        options = NULL;
    /* A load that names no context takes a running model as it is, and starts another afresh. */
    if (options && (options->context != QN_UNSET || !has_process(s)))
        p->context_asked = options->context;
    bool named = options && options->options && strcmp(options->options, "{}") != 0;
    if (named || (options && !has_process(s))) {
        free(p->options_asked);
        p->options_asked = named ? qn_xstrdup(options->options) : NULL;
    }
    note_cache_type(p, row);
    if (options && has_process(s))
        p->stale = wanted_context(p, row) != p->context || wants_other_options(p, row);
    p->stale |= other_files;
    qn_snapshot_unref(snap);

    struct qn_lease *x = qn_xcalloc(1, sizeof *x);
    x->place = p;
    x->ticket = ++inv->tickets;
    x->fn = fn;
    x->ctx = ctx;
    list_add(&p->waiting, x);
    inv->n_waiting++;
    p->used_ms = qn_now_ms();
    p->retry = s == QN_INST_FAILED;
    if (s == QN_INST_LOADING || s == QN_INST_BACKOFF)
        qn_child_load(p->child); /* it may have been given up: it is wanted again */
    settle_soon(inv);
    *out = x;
    return QN_OK;
}

struct qn_child *qn_lease_child(const struct qn_lease *lease)
{
    return lease->place->child;
}

void qn_lease_count(struct qn_lease *lease, double tokens_s)
{
    lease->place->count.requests++;
    lease->place->count.last_tokens_s = tokens_s;
}

struct qn_model_count qn_inventory_count(const struct qn_inventory *inv, const char *name)
{
    const struct place *p = place_find(inv, name);
    return p ? p->count : (struct qn_model_count){0};
}

void qn_lease_keep(struct qn_lease *lease, int64_t keep_alive_ms)
{
    lease->place->keep_ms = keep_alive_ms;
    settle_soon(lease->place->inv);
}

void qn_lease_release(struct qn_lease *x)
{
    if (!x)
        return;
    struct place *p = x->place;
    if (!p) { /* refuse_waiting is telling others; it will come to this one and free it */
        x->fn = NULL;
        return;
    }
    if (x->granted) {
        list_remove(&p->held, x);
        p->used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->name, qn_wall_ms() / 1000);
    } else {
        list_remove(&p->waiting, x);
        p->inv->n_waiting--;
        if (!p->waiting.n && p->child)
            qn_child_unwant(p->child);
    }
    settle_soon(p->inv);
    free(x);
}

static void unload_place(struct place *p)
{
    if (!has_process(state_of(p)))
        return;
    p->unloading = true;
    struct qn_error e = {0};
    qn_fail(&e, QN_ECANCELLED, "model '%s' was unloaded while the request waited for it", p->name);
    refuse_waiting(p, &e);
    p->context_asked = QN_UNSET;
    free(p->options_asked);
    p->options_asked = NULL;
    qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
    p->unloading = has_process(state_of(p));
}

/* The place that computes for a model. */
static qn_err find_place(struct qn_inventory *inv, const char *name, struct place **out,
                         struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    *out = place_find(inv, qn_inventory_computes(snap, row)->name);
    if (!*out || !has_process(state_of(*out)))
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%s' is not loaded", row->name);
    qn_snapshot_unref(snap);
    return err;
}

qn_err qn_inventory_unload(struct qn_inventory *inv, const char *name, void (*done)(void *ctx),
                           void *ctx, struct qn_error *e)
{
    struct watcher *w = NULL;
    if (name) {
        struct place *p;
        qn_err err = find_place(inv, name, &p, e);
        if (err)
            return err;
        unload_place(p);
        w = qn_xcalloc(1, sizeof *w);
        w->name = qn_xstrdup(p->name);
    } else {
        for (struct place *p = inv->places; p; p = p->next)
            unload_place(p);
        w = qn_xcalloc(1, sizeof *w);
    }
    w->done = done;
    w->ctx = ctx;
    w->next = inv->watchers;
    inv->watchers = w;
    settle_soon(inv);
    return QN_OK;
}

qn_err qn_inventory_leave(struct qn_inventory *inv, const char *name, struct qn_error *e)
{
    struct place *p;
    qn_err err = find_place(inv, name, &p, e);
    if (err)
        return err;
    p->keep_ms = 0;
    settle_soon(inv);
    return QN_OK;
}

void qn_inventory_changed(struct qn_inventory *inv, const char *name)
{
    struct place *p = place_find(inv, name);
    if (!p || !has_process(state_of(p)))
        return;
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    if (!row) {
        unload_place(p);
    } else if (qn_inventory_computes(snap, row) != row || has_other_files(p, row)) {
        p->stale = true; /* for who comes before it has left */
        p->keep_ms = 0;
    }
    qn_snapshot_unref(snap);
    settle_soon(inv);
}

void qn_inventory_forget(struct qn_inventory *inv, void *ctx)
{
    for (struct watcher *w = inv->watchers; w; w = w->next)
        if (w->ctx == ctx)
            w->done = NULL;
}

void qn_inventory_new(struct qn_loop *l, struct qn_catalog *catalog, struct qn_http_client *client,
                      const struct qn_inventory_config *config, struct qn_inventory **out)
{
    struct qn_inventory *inv = qn_xcalloc(1, sizeof *inv);
    inv->loop = l;
    inv->catalog = catalog;
    inv->client = client;
    inv->config = *config;
    inv->backend_dir = qn_xstrdup(config->backend_dir);
    inv->config.backend_dir = inv->backend_dir;
    inv->load_options = qn_xstrdup(config->load_options ? config->load_options : "{}");
    inv->config.load_options = inv->load_options;
    inv->data_dir = qn_xstrdup(config->data_dir ? config->data_dir : "");
    inv->config.data_dir = inv->data_dir;
    *out = inv;
}

void qn_inventory_free(struct qn_inventory *inv)
{
    if (!inv)
        return;
    while (inv->places) {
        struct place *p = inv->places;
        inv->places = p->next;
        qn_child_free(p->child);
        free(p->name);
        free(p->options_asked);
        free(p->options);
        free(p);
    }
    while (inv->watchers) {
        struct watcher *w = inv->watchers;
        inv->watchers = w->next;
        free(w->name);
        free(w);
    }
    qn_timer_stop(inv->settle_timer);
    qn_timer_stop(inv->idle_timer);
    free(inv->backend_dir);
    free(inv->load_options);
    free(inv->data_dir);
    free(inv);
}

/* In use, it would stay as long from this moment on. */
static int64_t stays_ms(const struct place *p)
{
    int64_t keep = stay_of(p);
    bool used = p->held.n || p->waiting.n || state_of(p) != QN_INST_READY;
    int64_t left = used ? keep : p->used_ms + keep - qn_now_ms();
    return keep < 0 ? -1 : left > 0 ? left : 0;
}

size_t qn_inventory_loaded(const struct qn_inventory *inv, struct qn_loaded *out, size_t max)
{
    size_t n = 0;
    for (const struct place *p = inv->places; p && n < max; p = p->next)
        if (has_process(state_of(p)))
            out[n++] = (struct qn_loaded){
                .name = p->name,
                .type = p->type->type,
                .status = qn_child_status(p->child),
                .holders = p->held.n,
                .waiting = p->waiting.n,
                .stays_ms = stays_ms(p),
            };
    return n;
}

const char *qn_inventory_last_used(const struct qn_inventory *inv)
{
    const struct place *best = NULL;
    for (const struct place *p = inv->places; p; p = p->next)
        if (state_of(p) == QN_INST_READY && (!best || p->used_ms > best->used_ms))
            best = p;
    return best ? best->name : NULL;
}

const struct qn_inventory_config *qn_inventory_config(const struct qn_inventory *inv)
{
    return &inv->config;
}
