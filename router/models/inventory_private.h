/* Shared by inventory.c and the other files inventory_*.c. */
#ifndef QN_MODELS_INVENTORY_PRIVATE_H
#define QN_MODELS_INVENTORY_PRIVATE_H

#include "digest/sha256.h"
#include "models/fair_queue.h"
#include "models/inventory.h"
#include "models/load_refusals.h"
#include "models/queue_spot.h"
#include "models/residency.h"
#include "registry/packs.h"

struct qn_model_slot;

/* What a request asks a model to be loaded with; see inventory_loads.c. Immutable. */
struct qn_model_slot_load {
    int refs;
    uint64_t serial; /* newer loads have greater numbers; >= 1 */
    int64_t context; /* QN_UNSET: the saved value, else the setting */
    char *options;   /* a JSON object; NULL: none */
    char *saved;     /* a JSON object in the place of the model's saved options; NULL: those hold */
};

struct qn_lease {
    struct qn_fair_item item; /* in queue.waiting of the model slot */
    struct qn_model_slot *model_slot;
    struct qn_lease *prev, *next; /* in queue.held of the model slot */
    int64_t slots;                /* sequences that it computes at once; 0: a load-only lease */
    int64_t came_ms, granted_ms;
    bool granted;
    bool another;                    /* belongs to a request that holds the model already */
    bool again;                      /* the request has been admitted before */
    bool order;                      /* asks for the load itself, not only for computing */
    bool anew;                       /* retries a load that failed lately */
    bool back;                       /* the model slot's own lease: see qn_model_slot_give_back */
    struct qn_admission *told;       /* the request's own struct; NULL: a load-only lease */
    struct qn_model_slot_load *load; /* the load it waits for; NULL: any */
    qn_lease_fn fn;
    void *ctx;
};

struct list {
    struct qn_lease *first, *last;
    size_t n;
};

/* Defaults of picture parameters that a request leaves unset: from the load, the saved options, or
 * image_defaults. Unset values as in struct qn_image. */
struct qn_model_slot_picture {
    int64_t steps, width, height;
    double cfg_scale;
};

/* The model's options that the router itself obeys. */
struct qn_model_slot_options {
    bool pinned;
    int auto_evict;        /* 1 yes, 0 no; -1: the setting applies */
    int64_t evict_idle_ms; /* with auto_evict: how long the model stays loaded without use */
    int64_t max_concurrent, max_queue; /* QN_UNSET: the setting applies */
    struct qn_model_slot_picture picture;
    double weight; /* factor of the eviction cost, beyond the time that loading takes */
};

/* The process that was stopped because a load asked for other options. */
struct qn_model_slot_before {
    bool ran;        /* there was one; it is started again if that load fails or is cancelled */
    int64_t keep_ms; /* its keep_ms */
    struct qn_lease *lease; /* waits for that restart; NULL: none does */
};

/* The process's state when its changes were last counted. */
struct qn_model_slot_ends {
    enum qn_inst_state state;
    int crashes, failed_loads; /* consecutive */
};

/* Properties of the model from its row of the catalog. */
struct qn_model_slot_identity {
    char *name;
    const struct qn_backend_type *type;
    enum qn_kind kind;
    const struct qn_group *group;      /* NULL: in no group */
    const struct qn_device_use *usage; /* NULL: any number of models can share its device */
    bool elsewhere;                    /* another machine computes for it */
    int64_t size_bytes;                /* of its files */
    int64_t kv_token_bytes;            /* bytes per token of the KV cache; 0: unknown */
};

/* The leases that wait for the model and those that hold it. */
struct qn_model_slot_queue {
    struct qn_fair_queue waiting;
    struct list held;
    size_t others_waiting; /* of `waiting`: additional sequences of requests that hold a lease */
    size_t loads_waiting;  /* of `waiting`: load-only leases */
    size_t orders_waiting; /* of `waiting`: leases that ask for the load itself */
    size_t with_load;      /* of `waiting`: leases that have a load */
    int64_t used_slots;    /* by the held leases */
    bool blocked;          /* it is to be loaded and waits for other models to be evicted */
    char reason[QN_QUEUED_REASON_MAX]; /* why it is blocked, for users */
    uint64_t awaited; /* the ticket of a lease that waits for this model to become idle; 0: none */
    bool modest;      /* no other model is evicted for this one */
    int64_t used_ms;  /* when a lease was last granted or released */
};

/* What the model is to be started with; see inventory_loads.c. */
struct qn_model_slot_loading {
    struct qn_model_slot_load *kept; /* of the last load that succeeded; NULL: it had no options */
    struct qn_model_slot_load *trying; /* of the process that is being started; NULL: `kept` */
    uint64_t started;                  /* the newest serial of all loads when that start began */
    struct qn_model_slot_before before;
    struct qn_load_refusals refusals;
    char load_key[QN_SHA256_HEX + 1]; /* of the last start, see qn_model_slot_load_key; "": none */
    bool ordered; /* the current load goes on without requests: see qn_model_slot_note_orders */
    bool stale;   /* the running process has outdated files: it is restarted first */
    /* the last load failed, and a request has arrived or the files have changed since */
    bool retry;
    bool alone;       /* its load has failed for lack of memory: other models are evicted first */
    bool tried_alone; /* such a retry has been made */
};

/* The running process, or the last one. */
struct qn_model_slot_process {
    struct qn_child *child; /* NULL until first needed */
    int64_t slots;          /* of the last process; 0: unknown before its first start */
    pid_t tenant;           /* the process that was granted a lease last */
    int64_t tenant_ms;      /* since when */
    struct qn_mean answer_ms, load_ms;
    int64_t gpu_bytes;      /* as the child reported when it ran last; 0: unknown */
    int64_t measured_bytes; /* memory, as that child reported; 0: unknown */
    int64_t context;        /* that it was started with */
    char *options;          /* that it was started with; NULL: never started */
    char *shown;            /* those of the options that a report may show, as clients write them */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* "RECIPE:BACKEND" as in packs.h; "": quince's own */
    char digest[QN_SHA256_HEX + 1]; /* checksum of the file it was started with; "": unknown yet */
    bool unloading;                 /* true until the process has ended */
    int threads;                    /* the last number sent to the child */
    struct qn_model_count count;
    struct qn_model_slot_ends ends;
};

/* How long the model stays in memory, and its options for the router. */
struct qn_model_slot_policy {
    char *noted;         /* the saved options that were parsed last; NULL: parse them again */
    uint64_t noted_load; /* the serial of the load they were merged with; 0: none */
    struct qn_model_slot_options options;
    char cache_type[16]; /* the wanted type of the KV cache; "": the child's default */
    bool leave;          /* unload it as soon as no request uses it, pinned or not */
    int64_t keep_ms; /* keep-alive time after the last use; < 0: without end; QN_UNSET: the setting
                        applies */
};

struct qn_model_slot {
    struct qn_model_slot *next;
    struct qn_inventory *inv;
    struct qn_model_slot_identity id;
    struct qn_model_slot_queue queue;
    struct qn_model_slot_loading load;
    struct qn_model_slot_process process;
    struct qn_model_slot_policy policy;
};

struct watcher {
    struct watcher *next;
    char *name; /* NULL: all models */
    void (*done)(void *ctx);
    void *ctx;
};

struct qn_inventory {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    struct qn_http_client *client;
    struct qn_inventory_config config;
    char *backend_dir, *load_options, *data_dir;
    struct qn_groups groups;
    struct qn_model_slot *model_slots;
    struct watcher *watchers;
    size_t n_waiting;
    struct list displaced;         /* leases to be refused when settle runs */
    uint64_t tickets, loads;       /* the last numbers given out */
    struct qn_timer *settle_timer; /* runs when settle is due */
    struct qn_timer *idle_timer;   /* runs when the first model's idle time is over */
    int64_t idle_at_ms;
    struct qn_timer *pressure_timer; /* runs while models may be evicted under memory pressure */
};

/* What a child is to be started with. */
struct qn_model_slot_want {
    struct qn_buf options; /* a JSON object */
    int64_t context; /* tokens, at most what the model was trained for; 0: the child chooses */
    bool bridged;    /* run by quince-bridge: another program's server */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* as in packs.h; "": quince's own */
};

/* The number under a name in a row's options or details, a JSON object; QN_UNSET: none. */
int64_t qn_row_number(const char *json, const char *name);

/* inventory.c: model slots and their processes. A model slot is the inventory's entry for a model
 * that has, had or will have a process. */
/* Or NULL. */
struct qn_model_slot *qn_model_slot_find(const struct qn_inventory *inv, const char *name);
struct qn_model_slot *qn_model_slot_get(struct qn_inventory *inv, const struct qn_model_row *row);
enum qn_inst_state qn_model_slot_state(const struct qn_model_slot *p);
bool qn_model_slot_has_process(enum qn_inst_state s);
/* Schedules settle(): loads, evictions and grants are planned again in the loop's next turn. */
void qn_inventory_settle_soon(struct qn_inventory *inv);

/* inventory_leases.c: the leases that wait for a model. */
struct qn_lease *qn_lease_of(struct qn_fair_item *x);
/* Refuses every waiting lease with this error. */
void qn_model_slot_refuse(struct qn_model_slot *p, const struct qn_error *why);
/* Refuses the leases that wait for this load; NULL: those without a load. */
void qn_model_slot_refuse_load(struct qn_model_slot *p, const struct qn_model_slot_load *load,
                               const struct qn_error *why);
/* Removes a waiting lease from a full queue; its callback is called in the loop's next turn. */
void qn_lease_displace(struct qn_lease *x);
/* Calls the callbacks of those leases. */
void qn_inventory_tell_displaced(struct qn_inventory *inv);
/* The ticket of the oldest waiting lease; at least one must wait. */
uint64_t qn_model_slot_ticket(const struct qn_model_slot *p);
/* A loaded model may go on serving requests that arrived after a request of another model that
 * waits for its memory (the waiter), so that models are not exchanged for every single request.
 * This batch lasts batch_ms from when the model was loaded or from when the waiter's request
 * arrived, whichever is later. Every wait is bounded: tickets decide which model is loaded next,
 * and no model's batch lasts longer. */
bool qn_model_slot_in_batch(const struct qn_model_slot *p, const struct qn_model_slot *waiter);
/* True when a lease waits for p that is served before p is evicted for the waiter. */
bool qn_model_slot_serves_first(const struct qn_model_slot *p, const struct qn_model_slot *waiter);
/* A load that a client has asked for itself, not only for computing, goes on when that client has
 * gone, until the model is ready or the load has failed. In any other state `ordered` follows from
 * the waiting leases alone, so an order does not outlive its load. */
void qn_model_slot_note_orders(struct qn_model_slot *p);
/* Grants the leases that a ready model can serve. */
void qn_model_slot_grant(struct qn_model_slot *p);
/* The slots with waiting leases, earliest ticket first; *out is the caller's to free. */
size_t qn_model_slots_by_ticket(struct qn_inventory *inv, struct qn_model_slot ***out);

/* Queues a load-only lease that belongs to the model slot, so that the process that ran before a
 * failed load is started again. The lease is modest (evicts no model) and does not count against
 * the queue limits of requests. */
void qn_model_slot_give_back(struct qn_model_slot *p);

/* inventory_wait.c: the waiting time reported to a queued request. */
/* Sequences that the model may compute at once; 0: unknown before its first process is ready. */
int64_t qn_model_slot_capacity(const struct qn_model_slot *p);
/* The queue position and waiting time of a request in a queue of `waiting` requests, itself
 * included, `ahead` of which are served before it. */
struct qn_queue_spot qn_model_slot_spot(struct qn_model_slot *p, size_t waiting, size_t ahead);

/* inventory_displace.c: which waiting request is refused when a queue is full. */
/* The waiting request of another owner that is to be removed if one of this owner is admitted;
 * NULL: there is none. only: the queue that is full, NULL: all queues together. bounded: the limit
 * that is reached holds only for requests with a limit of their own. */
struct qn_lease *qn_inventory_displaceable(struct qn_inventory *inv, struct qn_model_slot *only,
                                           bool bounded, const char *owner);

/* inventory_options.c: the model's options that the router itself obeys. */
enum { QN_OPTION_LAYERS = 3 };
void qn_model_slot_note_options(struct qn_model_slot *p, const struct qn_model_row *row);
/* An option layer other than the saved one has changed. */
void qn_model_slot_note_again(struct qn_model_slot *p);
void qn_inventory_note_options(struct qn_inventory *inv); /* for all model slots */

/* inventory_plan.c: which model may be loaded now, and which are evicted for it. */
/* Collects the facts about every model slot with a process except `without`, the model to be loaded
 * (MAY be NULL), from that model's point of view: a model counts as busy while it is used, or while
 * a lease that is served before that model waits for it. */
size_t qn_model_slots_resident(struct qn_inventory *inv, const struct qn_model_slot *without,
                               struct qn_resident *live, struct qn_model_slot **model_slots);
/* Finds the models that prevent loading a model that leases wait for; changes nothing. awaited[i]
 * is set for each of those with a process that must become idle first. Returns their number; 0:
 * none. */
size_t qn_model_slot_awaits(struct qn_model_slot *p, struct qn_model_slot **model_slots,
                            bool *awaited);
/* False, with the reason: the model could not be loaded with the options its leases ask for,
 * whatever models were evicted. The resources of its own running process count as free. */
bool qn_model_slot_may_restart(struct qn_model_slot *p, struct qn_error *why);
/* Loads a model that leases wait for, evicts other models first, or notes why it has to wait. */
void qn_model_slot_plan(struct qn_model_slot *p, const struct qn_child_events *events);
/* For a failed load: true when it may have failed only because of other models in memory that may
 * be evicted. */
bool qn_model_slot_may_fit_alone(struct qn_model_slot *p);
/* Called when a load has failed. True where the failure suggests a lack of memory and was not
 * retried yet: all other models that may be evicted are, and the load is retried once. */
bool qn_model_slot_try_alone(struct qn_model_slot *p);
/* Distributes the machine's threads to the children that have work. */
void qn_inventory_share_threads(struct qn_inventory *inv);

/* inventory_stays.c: how long an idle model stays loaded. */
int64_t qn_model_slot_stays_ms(const struct qn_model_slot *p); /* as in struct qn_loaded */
/* Starts the timers for the models that are loaded now. */
void qn_inventory_watch_stays(struct qn_inventory *inv);

/* inventory_loads.c: the load options that requests ask for. */
struct qn_model_slot_load *
qn_model_slot_load_ref(struct qn_model_slot_load *x); /* NULL allowed, as for unref */
void qn_model_slot_load_unref(struct qn_model_slot_load *x);
/* The newest load of the waiting leases; NULL: none has one. Lent. */
struct qn_model_slot_load *qn_model_slot_asked(const struct qn_model_slot *p);
/* The newest load of the waiting leases, else the one being started or started last. MAY be
 * NULL. */
struct qn_model_slot_load *qn_model_slot_next_load(const struct qn_model_slot *p);
/* True when the running process must be restarted: for a newer load, or because its files
 * changed. */
bool qn_model_slot_restarts(const struct qn_model_slot *p);
/* Checks the options that a request asks for before anything changes. *out: the load that its lease
 * waits for; NULL: the running process satisfies it. QN_EINVAL and others with the option as
 * param. */
qn_err qn_model_slot_ask(struct qn_model_slot *p, const struct qn_model_row *row,
                         const struct qn_load_options *o, struct qn_model_slot_load **out,
                         struct qn_error *e);
void qn_model_slot_load_begins(struct qn_model_slot *p); /* a process is started with that load */
void qn_model_slot_load_ready(struct qn_model_slot *p);  /* that process is ready */
/* That process has ended without having failed. */
void qn_model_slot_load_gone(struct qn_model_slot *p);
/* The load is impossible: its leases are refused, and the model slot returns to its earlier state.
 * load: NULL for a start that no lease asked for. */
void qn_model_slot_load_failed(struct qn_model_slot *p, struct qn_model_slot_load *load,
                               const struct qn_error *why);
void qn_model_slot_load_forget(struct qn_model_slot *p); /* the model is unloaded on request */
/* What the model's load was to save has been saved: from now on the model's saved options hold. */
void qn_model_slot_load_saved(struct qn_model_slot *p);
/* A running process is about to be stopped for a load with other options: the options it ran with
 * and its keep-alive time are restored if that load fails. */
void qn_model_slot_load_replaces(struct qn_model_slot *p);
/* True when that load has failed or was cancelled, and the earlier process is to be started
 * again. */
bool qn_model_slot_load_gives_back(const struct qn_model_slot *p);
/* Sets *why to the reason why the last process could not be loaded; always an error. */
void qn_model_slot_load_error(const struct qn_model_slot *p, struct qn_error *why);

/* inventory_refusals.c: remembers loads that failed lately. */
/* The key of a load, for load_refusals.h; "" where the file names are too long. One system call per
 * file. */
void qn_model_slot_load_key(const struct qn_model_row *row, struct qn_model_slot_want *w,
                            char out[static QN_SHA256_HEX + 1]);
/* Remembers why the model's process could not be loaded, if its state is FAILED. A process that
 * could not even be started is not remembered: that is a fault of the machine, not of the load. A
 * lack of memory that other models may have caused is not remembered either. */
void qn_model_slot_remember_failure(struct qn_model_slot *p);
/* True when the load that would be started next has failed lately and no waiting request asks for a
 * retry; *why is the error of that failure. */
bool qn_model_slot_refused_lately(struct qn_model_slot *p, struct qn_error *why);

/* inventory_start.c: notes which options of the next load a report may show. */
void qn_model_slot_note_shown(struct qn_model_slot *p, const struct qn_model_row *row);

/* inventory_want.c: what a model's child is to be started with. */
/* Checks that the model can be loaded at all. QN_ENOTFOUND: it is not downloaded, or its file is
 * missing; QN_EUNSUPPORTED. */
qn_err qn_inventory_check_row(const struct qn_inventory *inv, const struct qn_model_row *row,
                              struct qn_error *e);
/* The option layers: of the load (MAY be NULL), saved for the model, and of the settings: JSON
 * objects, lent. */
void qn_model_slot_layers(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load,
                          const char *layers[static QN_OPTION_LAYERS]);
/* Fills *out. load MAY be NULL. QN_EINVAL and others with the option as param. Call
 * qn_model_slot_want_deinit on *out also after an error. */
qn_err qn_model_slot_want(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load, struct qn_model_slot_want *out,
                          struct qn_error *e);
void qn_model_slot_want_deinit(struct qn_model_slot_want *w);
/* QN_EINVAL: a file named by an option cannot be read. A few system calls. */
qn_err qn_model_slot_want_files(struct qn_model_slot_want *w, struct qn_error *e);
/* Calls fn for the path of each file named by an option. */
void qn_model_slot_want_each_file(struct qn_model_slot_want *w,
                                  void (*fn)(void *ctx, const char *path), void *ctx);
/* True when the last process was started with these options, whatever the context. */
bool qn_model_slot_has_options(const struct qn_model_slot *p, struct qn_model_slot_want *w);
/* True when the last process was started with these options and this context. */
bool qn_model_slot_runs_with(const struct qn_model_slot *p, struct qn_model_slot_want *w);

/* inventory_start.c: starting a model's child. */
/* True when the running process was started with other files than the row names, or with a file
 * that has been replaced since. A checksum that becomes known later is that of the file in use. */
bool qn_model_slot_has_other_files(struct qn_model_slot *p, const struct qn_model_row *row);
/* Estimated memory with this context, in bytes. */
int64_t qn_model_slot_estimate(const struct qn_model_slot *p, int64_t context);
/* Starts the child with the row's files; its events go to the model slot. */
qn_err qn_model_slot_start(struct qn_model_slot *p, int threads,
                           const struct qn_child_events *events, struct qn_error *e);

/* inventory_crashes.c: true when the process has ended unrequested lately, or cannot be loaded. */
bool qn_model_slot_crashed(const struct qn_model_slot *p);

/* inventory_counts.c: counts a change of the child's state in the metrics. */
void qn_model_slot_count(struct qn_model_slot *p);

#endif
