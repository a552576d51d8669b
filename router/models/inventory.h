/* What every API does to models: find by name, load and hold while in use, unload, register. Owns
 * the children. A request that needs a model takes a lease: it waits (in a bounded queue) until
 * the model is ready, and while it is held the model is busy and never evicted. Loop thread only.
 */
#ifndef QN_MODELS_INVENTORY_H
#define QN_MODELS_INVENTORY_H

#include "base/error.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "contract/backend_types.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "models/child_process.h"
#include "models/queue_spot.h"
#include "settings/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_MODEL_NAME_MAX = 200, QN_QUEUED_REASON_MAX = 320 };

struct qn_inventory;
struct qn_job;

struct qn_metrics;
struct qn_registry;
struct qn_packs;

struct qn_inventory_config {
    const struct qn_registry *registry; /* MAY be NULL: models that could be had; outlives it */
    struct qn_metrics *metrics;         /* MAY be NULL: nothing is counted */
    const struct qn_packs *packs;       /* MAY be NULL: engines of others; outlives it */
    const char *backend_dir;            /* copied */
    struct qn_kind_limits max_loaded;
    const char *groups;           /* JSON, see groups.h; "": none; copied */
    int64_t memory_bytes;         /* <= 0: no limit */
    int64_t gpu_bytes;            /* of graphics processors; <= 0: no limit */
    bool limit_is_wish;           /* a person has chosen memory_bytes: it holds whatever is free */
    int64_t (*free_memory)(void); /* MAY: bytes the machine has left, < 0: unknown. Loop thread; it
                                     is asked before each load and must not block */
    int threads;                  /* of the machine, >= 1 */
    int64_t context, slots;       /* 0: the child chooses */
    const char
        *load_options;      /* JSON object: options of loading that nobody set otherwise; copied */
    const char *data_dir;   /* where children keep files for their next start; copied */
    int64_t queue_limit;    /* waiting leases */
    int64_t max_concurrent; /* answers that one model works on at once; 0: as many as its process
                               has slots */
    int64_t max_queue;      /* requests that may wait for one model; < 0: as queue_limit says */
    int64_t batch_ms;       /* for so long a loaded model also serves who came later than somebody
                               who waits for its room */
    int64_t idle_ms;        /* how long a model stays loaded without use; 0: for ever */
    /* Models are given up when nobody has used them for their evict_idle_timeout, and the one that
     * is missed least when so much of the machine's memory is in use; a model's own option goes
     * before it. */
    bool auto_evict;
    double pressure;       /* above 0, at most 1 */
    int64_t machine_bytes; /* the machine's memory; 0: unknown */
};

/* QN_EINVAL: groups that cannot be read. */
qn_err qn_inventory_new(struct qn_loop *l, struct qn_catalog *catalog,
                        struct qn_http_client *client, const struct qn_inventory_config *config,
                        struct qn_inventory **out, struct qn_error *e);
/* Takes over changed settings: limits, groups, memory, stays and what is loaded next. Who is over a
 * limit now stays until somebody needs the room. Registry, metrics and packs stay as they were
 * given first. QN_EINVAL: groups that cannot be read, and nothing
 * has changed. */
qn_err qn_inventory_reconfigure(struct qn_inventory *inv, const struct qn_inventory_config *config,
                                struct qn_error *e);
/* Kills what still runs. No lease may be left, and the loop must have ended. */
void qn_inventory_free(struct qn_inventory *inv);

/* The row of a name a client gave: ":latest" at its end means nothing, "user." or "extra." at its
 * beginning may be left out, case does not matter where no name is written exactly so, and aliases
 * mean their models. The row is lent by *snap, which the caller unrefs. QN_ENOTFOUND (param
 * "model") says what to do: a model of the built-in list has to be pulled first. */
qn_err qn_inventory_find(struct qn_inventory *inv, const char *name, struct qn_snapshot **snap,
                         const struct qn_model_row **row, struct qn_error *e);

/* The model that computes for a row: of a preset the one it was made from, while that is there and
 * still has the same files; else the row itself. */
const struct qn_model_row *qn_inventory_computes(const struct qn_snapshot *snap,
                                                 const struct qn_model_row *row);

/* Whether the model can do this (enum qn_capability), and an engine for its type offers it:
 * quince's own, or the one that its options choose. */
bool qn_inventory_can(const struct qn_inventory *inv, const struct qn_model_row *row,
                      unsigned capability);
/* All that is known that it can, of these. */
unsigned qn_inventory_abilities(const struct qn_inventory *inv, const struct qn_model_row *row);

/* Are the files there that options of loading name: adapters, and the draft model's? options: a
 * JSON object as clients write it, to be asked of what is to be saved. QN_EINVAL with the option as
 * param and the path in the message. A few system calls. */
qn_err qn_inventory_check_files(struct qn_inventory *inv, const struct qn_jref *options,
                                struct qn_error *e);

/* The same for what cannot be taken back: the name as it is written, but for ":latest". */
qn_err qn_inventory_find_exactly(struct qn_inventory *inv, const char *name,
                                 struct qn_snapshot **snap, const struct qn_model_row **row,
                                 struct qn_error *e);

/* Settings of one load. One that fails leaves nothing of them; those of one that succeeds hold
 * until the model is unloaded on request, is loaded with others, or cannot be started with them any
 * more. An eviction, an idle unload or a crash does not end them. */
struct qn_load_options {
    int64_t context; /* QN_UNSET: as it runs; else as saved for the model, else the setting, else
                        the child's choice */
    bool at_least;   /* a model that runs with more context will do */
    const char *options; /* JSON object of further ones by name, lent; NULL or {}: the same */
    bool modest;         /* rather QN_EBUSY than in another model's place */
    bool anew;           /* tried even if the same load has failed lately */
};

struct qn_lease;

/* Called once, never from within qn_inventory_acquire: err is QN_OK, or why the model could not
 * be loaded (the lease is then gone). */
typedef void (*qn_lease_fn)(void *ctx, const struct qn_error *err);

/* A request that wants to compute, for its place in the model's queue. */
struct qn_admission {
    const char *client; /* whose it is, see client_id.h; copied */
    const char *owner;  /* and between whom queues are shared; copied */
    int64_t slots;      /* answers that it takes at once, >= 1 */
    int64_t max_queue;  /* where neither the model nor the setting says how many may wait; < 0: no
                           limit of its own */
    bool again;         /* it has been admitted before: no queue is too full for it */
    /* told, also with QN_EBUSY: */
    struct qn_queue_spot spot;
    bool full;       /* QN_EBUSY: because of the model's queue or all queues */
    bool none_waits; /* that is: nobody may wait for this model at all */
};

/* Waits for the model and for its turn in the model's queue: first in, first out for each client,
 * and clients take turns. Nobody waits while the model has free slots. options MAY be NULL.
 * QN_EBUSY at once when the queue is full and no owner has two requests more in it than this one
 * (else that owner's newest is refused for it); *a must live until fn was called or the lease is
 * released, and is told of a refusal before fn. QN_ENOTFOUND when there is no such model, QN_EINVAL
 * when an option cannot be: then the model goes on as it is. */
qn_err qn_inventory_admit(struct qn_inventory *inv, const char *name,
                          const struct qn_load_options *options, struct qn_admission *a,
                          qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e);

/* The same to load the model without computing: does not wait for a slot. owner: see
 * client_id.h; "" for the server itself; copied. */
qn_err qn_inventory_acquire(struct qn_inventory *inv, const char *name,
                            const struct qn_load_options *options, const char *owner,
                            qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e);
/* One more answer of a request that holds the model: waits for its turn like a request, but no
 * queue is too full for it, and it is served before the model leaves. */
void qn_lease_another(struct qn_lease *lease, const struct qn_admission *a, int64_t slots,
                      qn_lease_fn fn, void *ctx, struct qn_lease **out);
/* The answers it was admitted for have ended: their slots are free for others, while the lease
 * still holds the model. What they took tells others how long they will wait. Once. */
void qn_lease_rest(struct qn_lease *lease);
/* Requests wait for a slot of its model, or another model waits for its room. Granted leases only.
 */
bool qn_lease_is_wanted(const struct qn_lease *lease);
struct qn_child *qn_lease_child(const struct qn_lease *lease); /* granted leases only */
/* How long the model stays loaded after its last use, from now on and until it is unloaded; < 0:
 * for ever; 0: not at all. Granted leases only. */
void qn_lease_keep(struct qn_lease *lease, int64_t keep_alive_ms);
void qn_lease_release(struct qn_lease *lease); /* waiting or granted; NULL allowed */

/* What the job leaves open of a picture becomes as the model was loaded, or likes it. */
void qn_lease_defaults(const struct qn_lease *lease, struct qn_job *job);

/* What a model has answered since the server started. */
struct qn_model_count {
    int64_t requests;     /* answered to the end */
    double last_tokens_s; /* of the last one; 0: there was none */
};
void qn_lease_count(struct qn_lease *lease, double tokens_s); /* one more */
struct qn_model_count qn_inventory_count(const struct qn_inventory *inv, const char *name);

/* Stops one model, or all when name is NULL: running jobs finish, waiting ones are told. done MAY
 * be NULL and is called once, not from within. QN_ENOTFOUND: unknown, or not loaded. */
qn_err qn_inventory_unload(struct qn_inventory *inv, const char *name, void (*done)(void *ctx),
                           void *ctx, struct qn_error *e);
/* Its stay is over: it leaves as soon as nobody uses it or waits for it. QN_ENOTFOUND: unknown, or
 * not loaded. */
qn_err qn_inventory_leave(struct qn_inventory *inv, const char *name, struct qn_error *e);

/* The row of this name (written exactly so) has been replaced or removed. What runs for it with
 * other files leaves: when nobody uses it any more, or, where there is no such row, as after an
 * unload. */
void qn_inventory_changed(struct qn_inventory *inv, const char *name);

/* Saved options of models have changed: what the router itself obeys of them holds from now on. */
void qn_inventory_options_changed(struct qn_inventory *inv);

/* Looks once as if so much of the memory were in use (0 to 1): at or above the configured share the
 * idle model that is missed least leaves, of those that may. */
void qn_inventory_press(struct qn_inventory *inv, double used);

/* The caller of an unload is gone: its done is not called. */
void qn_inventory_forget(struct qn_inventory *inv, void *ctx);

/* What is loaded, on its way, or waiting to be loaded, for /health. Lent until the next turn of the
 * loop. */
struct qn_loaded {
    const char *name;
    const char *type;
    enum qn_kind kind;
    /* "queued" where somebody waits for a model that cannot be loaded yet; else the name of the
     * process's state. */
    const char *state;
    const char *reason; /* queued: why, for people; else "" */
    const char *device; /* what computes: "cpu", "npu", "remote" */
    const char *group;  /* the models that share limits with it; NULL: those of its kind */
    bool pinned;
    const char *options; /* JSON object: with what it was loaded, as far as a report may show it */
    struct qn_child_status status; /* without a process: STOPPED, BACKOFF or FAILED */
    size_t holders, waiting;
    int64_t stays_ms;   /* until it is unloaded if nobody uses it meanwhile; < 0: for ever */
    const char *engine; /* whose program computes: "llamacpp:vulkan" of packs.h; "": quince's own */
};
size_t qn_inventory_loaded(const struct qn_inventory *inv, struct qn_loaded *out, size_t max);
/* The loaded process that computes for this row, itself or the model a preset was made of; false:
 * it is not loaded. Lent until the next turn of the loop. */
bool qn_inventory_ready(const struct qn_inventory *inv, const struct qn_model_row *row,
                        struct qn_loaded *out);
/* Models whose processes keep ending, or have failed: what /health shows of them. Lent until the
 * next turn of the loop. */
struct qn_crashed {
    const char *name;
    const char *type;
    struct qn_child_status status; /* its crash report included */
};
size_t qn_inventory_crashed(const struct qn_inventory *inv, struct qn_crashed *out, size_t max);
/* What is left of the process whose end `why`, a lease's or a job's failure, tells of; NULL: it
 * tells of something else. Lent until the next turn of the loop. */
const struct qn_crash_report *qn_inventory_crash_report(struct qn_inventory *inv, const char *name,
                                                        const struct qn_error *why);
const char *qn_inventory_last_used(const struct qn_inventory *inv); /* loaded and ready; or NULL */
const struct qn_inventory_config *qn_inventory_config(const struct qn_inventory *inv);

#endif
