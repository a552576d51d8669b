/* The operations of all APIs on models: find by name, load and hold while in use, unload. Owns the
 * child processes. A request that needs a model takes a lease: it waits in a bounded queue until
 * the model is ready; while the lease is held, the model is busy and is never evicted. Loop thread
 * only. */
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
#include "models/residency.h"
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
    /* MAY be NULL: models that can be pulled; outlives the inventory */
    const struct qn_registry *registry;
    struct qn_metrics *metrics; /* MAY be NULL: nothing is counted */
    /* MAY be NULL: engines of other projects; outlives the inventory */
    const struct qn_packs *packs;
    const char *backend_dir; /* copied */
    struct qn_kind_limits max_loaded;
    const char *groups;   /* JSON, see groups.h; "": none; copied */
    int64_t memory_bytes; /* <= 0: no limit */
    int64_t gpu_bytes;    /* of graphics processors; <= 0: no limit */
    bool limit_is_wish; /* the user has chosen memory_bytes: the limit holds however much memory is
                           free */
    int64_t (*free_memory)(void); /* MAY be NULL: free bytes of the machine, < 0: unknown. Called on
                                     the loop thread before each load; it must not block */
    int threads;                  /* of the machine, >= 1 */
    int64_t context, slots;       /* 0: the child chooses */
    const char *load_options;     /* JSON object: default load options; copied */
    /* where children keep files for their next start, such as caches; copied */
    const char *data_dir;
    int64_t queue_limit;    /* waiting leases */
    int64_t max_concurrent; /* requests that one model computes at once; 0: as many as its process
                               has slots */
    int64_t max_queue;      /* requests that may wait for one model; < 0: queue_limit applies */
    int64_t batch_ms; /* how long a loaded model also serves requests that arrived after a request
                         that waits for its memory */
    int64_t idle_ms;  /* how long a model stays loaded without use; 0: without end */
    /* With auto_evict a model is evicted after its evict_idle_timeout without use, and the one with
     * the least eviction cost (qn_residency_least_missed) when `pressure` of the machine's memory
     * is in use. A model's own option overrides this setting. */
    bool auto_evict;
    double pressure;       /* share of the memory in use, above 0, at most 1 */
    int64_t machine_bytes; /* the machine's memory; 0: unknown */
};

/* QN_EINVAL: invalid groups. */
qn_err qn_inventory_new(struct qn_loop *l, struct qn_catalog *catalog,
                        struct qn_http_client *client, const struct qn_inventory_config *config,
                        struct qn_inventory **out, struct qn_error *e);
/* Applies changed settings: limits, groups, memory, idle times and the options of later loads.
 * Models over a new limit stay loaded until another model needs the memory. Registry, metrics and
 * packs remain the ones given to qn_inventory_new. QN_EINVAL: invalid groups; nothing has changed.
 */
qn_err qn_inventory_reconfigure(struct qn_inventory *inv, const struct qn_inventory_config *config,
                                struct qn_error *e);
/* Kills the running children. No lease may be held or waiting, and the loop must have ended. */
void qn_inventory_free(struct qn_inventory *inv);

/* Finds the row for a name that a client sent: a trailing ":latest" is ignored, the prefixes
 * "user." and "extra." may be missing, case is ignored where no name matches exactly, and aliases
 * stand for their models. The row is lent by *snap, which the caller unrefs. QN_ENOTFOUND (param
 * "model"), with a message that says what to do: a model of the built-in list has to be pulled
 * first. */
qn_err qn_inventory_find(struct qn_inventory *inv, const char *name, struct qn_snapshot **snap,
                         const struct qn_model_row **row, struct qn_error *e);

/* The row whose child computes for this row: for a preset the model it was made from, while that
 * model exists and still has the same files; otherwise the row itself. */
const struct qn_model_row *qn_inventory_computes(const struct qn_snapshot *snap,
                                                 const struct qn_model_row *row);

/* True when the model has the capability (enum qn_capability) and an engine for its type offers it:
 * quince's own, or the one that the model's options choose. */
bool qn_inventory_can(const struct qn_inventory *inv, const struct qn_model_row *row,
                      unsigned capability);
/* The capabilities for which qn_inventory_can is true, as a set. */
unsigned qn_inventory_abilities(const struct qn_inventory *inv, const struct qn_model_row *row);

struct qn_buf;
/* The draft model that load options name: *name lent by the options, NULL if there is none, and the
 * path of its file. options: a JSON object as clients write it. QN_EINVAL with the option as param:
 * this model cannot be used as a draft. Loop thread. */
qn_err qn_inventory_draft(struct qn_inventory *inv, const struct qn_jref *options,
                          const char **name, struct qn_buf *path, struct qn_error *e);

/* Checks that a file named by load options exists: that of the draft model of this name or, if that
 * is NULL, an adapter. QN_EINVAL with the option as param and the path in the message. May block on
 * the disk. Any thread. */
qn_err qn_inventory_check_file(const char *draft, const char *path, struct qn_error *e);

/* Like qn_inventory_find for operations that cannot be undone: the name must match exactly, except
 * for ":latest". */
qn_err qn_inventory_find_exactly(struct qn_inventory *inv, const char *name,
                                 struct qn_snapshot **snap, const struct qn_model_row **row,
                                 struct qn_error *e);

/* Settings of one load. Those of a failed load are dropped; those of a successful one hold until
 * the model is unloaded on request, is loaded with other settings, or can no longer be started with
 * them. An eviction, an idle unload or a crash does not end them. */
struct qn_load_options {
    int64_t context; /* QN_UNSET: that of the running process; if there is none, that saved for the
                        model, else the setting's, else the child's choice */
    bool at_least;   /* a process that runs with more context satisfies the request */
    /* JSON object of further options by name, lent; NULL or {}: those of the running process */
    const char *options;
    /* JSON object, lent: what will be saved for the model when the load has succeeded, in the place
     * of what is saved now; NULL: nothing will */
    const char *saved;
    bool modest; /* fails with QN_EBUSY instead of evicting another model */
    bool anew;   /* tried even if the same load has failed lately */
};

/* What a load would need, and what it would do, if it were requested now. */
struct qn_forecast {
    int64_t needed_bytes; /* measured when the model ran last with these options, else estimated */
    int64_t may_bytes;    /* memory that models may use together now; <= 0: no limit */
    int64_t context;      /* tokens that are planned; 0: the process chooses */
    bool loads;           /* false: the load would be refused, with the reason in `why` */
    struct qn_error why;
    size_t n_evicts; /* models that would be evicted first; names lent until the next loop turn */
    const char *evicts[QN_RESIDENTS_MAX];
};

/* Fills *out for a load with these saved options (a JSON object) in place of the row's. Nothing is
 * loaded or changed. QN_EINVAL and others, with the option as param: such a load would be refused
 * for an option. */
qn_err qn_inventory_forecast(struct qn_inventory *inv, const struct qn_model_row *row,
                             const char *saved, struct qn_forecast *out, struct qn_error *e);

/* The memory of the machine as it limits models. */
struct qn_model_memory {
    int64_t limit_bytes; /* for all models together; <= 0: no limit */
    int64_t free_bytes;  /* of the machine; < 0: unknown */
    int64_t used_bytes;  /* by models' processes, as planned */
};
struct qn_model_memory qn_inventory_memory(struct qn_inventory *inv);

struct qn_lease;

/* Called once, never from within qn_inventory_acquire. err: code QN_OK, or why the model could not
 * be loaded; the lease has been freed then. */
typedef void (*qn_lease_fn)(void *ctx, const struct qn_error *err);

/* What admission needs to know of a request that computes, and what it reports. */
struct qn_admission {
    const char *client; /* the client, see client_id.h; copied */
    const char *owner;  /* the identity between which queues are shared fairly; copied */
    int64_t slots;      /* sequences that it computes at once, >= 1 */
    int64_t max_queue;  /* the limit of waiting requests where neither the model nor the setting has
                           one; < 0: none */
    bool again;         /* it has been admitted before: not refused because of a full queue */
    /* set by qn_inventory_admit, also with QN_EBUSY: */
    struct qn_queue_spot spot;
    bool full;       /* QN_EBUSY because of the model's queue or of all queues together */
    bool none_waits; /* the model's queue has a limit of 0 requests */
};

/* Takes a lease that waits for the model and for a turn in its queue: first in, first out for each
 * client, and clients take turns. A request does not wait while the model is ready and has free
 * slots. options MAY be NULL. QN_EBUSY at once when the queue is full, unless an owner has at least
 * two requests more in it than this request's owner: then that owner's newest request is refused
 * instead. *a must live until fn was called or the lease is released; a later refusal is written to
 * it before fn is called. QN_ENOTFOUND: no such model. QN_EINVAL: an invalid option; the model goes
 * on as it is. */
qn_err qn_inventory_admit(struct qn_inventory *inv, const char *name,
                          const struct qn_load_options *options, struct qn_admission *a,
                          qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e);

/* Like qn_inventory_admit for loading the model without computing: does not wait for a slot. owner:
 * see client_id.h; "" for the server itself; copied. */
qn_err qn_inventory_acquire(struct qn_inventory *inv, const char *name,
                            const struct qn_load_options *options, const char *owner,
                            qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e);
/* Takes a lease for one more sequence of a request that holds the model already: it waits for its
 * turn like a request, but is not refused because of a full queue, and is served before the model
 * is evicted. */
void qn_lease_another(struct qn_lease *lease, const struct qn_admission *a, int64_t slots,
                      qn_lease_fn fn, void *ctx, struct qn_lease **out);
/* The sequences that the lease was admitted for have ended: their slots become free while the lease
 * still holds the model. Their duration goes into the estimates of waiting times. Call once. */
void qn_lease_rest(struct qn_lease *lease);
/* Why a waiting lease has not been granted yet. False: it waits no longer. */
struct qn_lease_wait {
    struct qn_queue_spot spot; /* as in qn_admission, at this moment */
    bool loading;              /* the model is being loaded: */
    double progress;           /* how much of it, 0 to 1 */
    /* why loading cannot begin, as a sentence for users; "": it need not wait. Lent until the next
     * turn of the loop */
    const char *reason;
};
bool qn_lease_waits(const struct qn_lease *lease, struct qn_lease_wait *out);
/* True when requests wait for a slot of the model, or another model waits for its memory. Granted
 * leases only. */
bool qn_lease_is_wanted(const struct qn_lease *lease);
struct qn_child *qn_lease_child(const struct qn_lease *lease); /* granted leases only */
/* Sets how long the model stays loaded after its last use, until it is unloaded; < 0: without end;
 * 0: not at all. Granted leases only. */
void qn_lease_keep(struct qn_lease *lease, int64_t keep_alive_ms);
void qn_lease_release(struct qn_lease *lease); /* waiting or granted; NULL allowed */

/* Fills the picture parameters that the job leaves unset from the load's options, or from the
 * model's preferred values. */
void qn_lease_defaults(const struct qn_lease *lease, struct qn_job *job);

/* The requests that a model has completed since the server started. */
struct qn_model_count {
    int64_t requests;     /* completed requests */
    double last_tokens_s; /* rate of the last one; 0: there was none */
};
void qn_lease_count(struct qn_lease *lease, double tokens_s); /* counts one more */
struct qn_model_count qn_inventory_count(const struct qn_inventory *inv, const char *name);

/* Stops one model, or all when name is NULL: running jobs finish, waiting leases are refused. done
 * MAY be NULL and is called once, never from within this call. QN_ENOTFOUND: unknown, or not
 * loaded. */
qn_err qn_inventory_unload(struct qn_inventory *inv, const char *name, void (*done)(void *ctx),
                           void *ctx, struct qn_error *e);
/* Ends the model's keep-alive time: it is unloaded as soon as no request uses it or waits for it.
 * QN_ENOTFOUND: unknown, or not loaded. */
qn_err qn_inventory_leave(struct qn_inventory *inv, const char *name, struct qn_error *e);

/* The row of this exact name has been replaced or removed. A process that runs with other files is
 * stopped: when no request uses it, or, if the row no longer exists, at once as by an unload. */
void qn_inventory_changed(struct qn_inventory *inv, const char *name);

/* The saved options of models have changed: those that the router itself obeys apply from now
 * on. */
void qn_inventory_options_changed(struct qn_inventory *inv);

/* Applies the memory-pressure rule once with this share of the memory in use (0 to 1): at or above
 * the configured share, the idle model with the least eviction cost is evicted, among those that
 * may be. */
void qn_inventory_press(struct qn_inventory *inv, double used);

/* The caller of an unload has gone: its done is not called. */
void qn_inventory_forget(struct qn_inventory *inv, void *ctx);

/* A model that is loaded, being loaded or waiting to be loaded, for /health. Lent until the next
 * turn of the loop. */
struct qn_loaded {
    const char *name;
    const char *type;
    enum qn_kind kind;
    /* "queued" where a request waits for a model that cannot be loaded yet; else the name of the
     * process's state. */
    const char *state;
    const char *reason; /* queued: why, as a sentence for users; else "" */
    const char *device; /* the computing device: "cpu", "npu", "remote" */
    const char *group;  /* the group that shares limits; NULL: the limit of its kind applies */
    bool pinned;
    /* JSON object: the options it was loaded with, as far as a report may show them */
    const char *options;
    struct qn_child_status status; /* without a process: STOPPED, BACKOFF or FAILED */
    size_t holders, waiting;
    int64_t stays_ms; /* until it is unloaded if it is not used meanwhile; < 0: without end */
    /* the engine that computes: "llamacpp:vulkan" as in packs.h; "": quince's own */
    const char *engine;
};
size_t qn_inventory_loaded(const struct qn_inventory *inv, struct qn_loaded *out, size_t max);
/* Finds the loaded process that computes for this row: its own, or that of the model a preset was
 * made from. False: it is not loaded. Lent until the next turn of the loop. */
bool qn_inventory_ready(const struct qn_inventory *inv, const struct qn_model_row *row,
                        struct qn_loaded *out);
/* A model whose process keeps ending, or has failed, for /health. Lent until the next turn of the
 * loop. */
struct qn_crashed {
    const char *name;
    const char *type;
    struct qn_child_status status; /* including its crash report */
};
size_t qn_inventory_crashed(const struct qn_inventory *inv, struct qn_crashed *out, size_t max);
/* The crash report of the process whose end is the cause of `why`, the failure of a lease or a job;
 * NULL: another cause. Lent until the next turn of the loop. */
const struct qn_crash_report *qn_inventory_crash_report(struct qn_inventory *inv, const char *name,
                                                        const struct qn_error *why);
/* The name of the ready model that was used last; NULL: no model is ready. */
const char *qn_inventory_last_used(const struct qn_inventory *inv);
const struct qn_inventory_config *qn_inventory_config(const struct qn_inventory *inv);

#endif
