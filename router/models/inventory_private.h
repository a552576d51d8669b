/* What inventory.c and its neighbours inventory_*.c share. */
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

/* What a load asks for; see inventory_loads.c. It never changes. */
struct qn_model_slot_load {
    int refs;
    uint64_t serial; /* newer ones have greater ones; >= 1 */
    int64_t context; /* QN_UNSET: as saved, or set */
    char *options;   /* a JSON object; NULL: none */
};

struct qn_lease {
    struct qn_fair_item item; /* in queue.waiting of the slot */
    struct qn_model_slot *model_slot;
    struct qn_lease *prev, *next; /* in queue.held of the slot */
    int64_t slots;                /* answers that it takes at once; 0: none, it only loads */
    int64_t came_ms, granted_ms;
    bool granted;
    bool another;              /* of a request that holds the model already */
    bool again;                /* it has been admitted before */
    bool anew;                 /* a load that failed lately is tried again for it */
    bool back;                 /* the slot's own: see qn_model_slot_give_back */
    struct qn_admission *told; /* the request's own; NULL: it only loads */
    struct qn_model_slot_load
        *load; /* that it waits for; NULL: whatever the model is loaded with */
    qn_lease_fn fn;
    void *ctx;
};

struct list {
    struct qn_lease *first, *last;
    size_t n;
};

/* What pictures are like where a request does not say: of a load, saved, or image_defaults. Unset
 * as in struct qn_image. */
struct qn_model_slot_picture {
    int64_t steps, width, height;
    double cfg_scale;
};

/* What the options of a model tell the router. */
struct qn_model_slot_options {
    bool pinned;
    int auto_evict;                    /* 1, 0; -1: as configured */
    int64_t evict_idle_ms;             /* where auto_evict holds: how long it stays without use */
    int64_t max_concurrent, max_queue; /* QN_UNSET: as configured */
    struct qn_model_slot_picture picture;
    double weight; /* how much it is worth beyond the time that loading takes */
};

/* The process that was stopped for a load that asked for something else. */
struct qn_model_slot_before {
    bool ran;               /* and is started again if that load fails or is given up */
    int64_t keep_ms;        /* its keep_ms */
    struct qn_lease *lease; /* that waits for its new start; NULL: none does */
};

/* How its process was when it was last counted. */
struct qn_model_slot_ends {
    enum qn_inst_state state;
    int crashes, failed_loads; /* in a row */
};

/* What the model is: from its row of the catalog. */
struct qn_model_slot_identity {
    char *name;
    const struct qn_backend_type *type;
    enum qn_kind kind;
    const struct qn_group *group;      /* NULL: in no group */
    const struct qn_device_use *usage; /* NULL: its device is shared by any number of models */
    bool elsewhere;                    /* another machine computes for it */
    int64_t size_bytes;                /* of its files */
    int64_t kv_token_bytes;            /* of the KV cache; 0: not known */
};

/* The leases that wait for the model and those that hold it. */
struct qn_model_slot_queue {
    struct qn_fair_queue waiting;
    struct list held;
    size_t others_waiting;             /* of the waiting: `another` of a request that has a lease */
    size_t loads_waiting;              /* of the waiting: those that take no slot */
    size_t with_load;                  /* of the waiting: those that have a load */
    int64_t used_slots;                /* by the held */
    bool blocked;                      /* it is to be loaded and waits for other models to leave */
    char reason[QN_QUEUED_REASON_MAX]; /* of that, for people */
    uint64_t awaited; /* the ticket of a lease that waits for this model to become idle; 0: none */
    bool modest;      /* no other model leaves for this one */
    int64_t used_ms;  /* when a lease was last given or taken back */
};

/* What the model is to be started with; see inventory_loads.c. */
struct qn_model_slot_loading {
    struct qn_model_slot_load
        *kept; /* of the last load that succeeded; NULL: it asked for nothing */
    struct qn_model_slot_load *trying; /* of the process that is being started; NULL: `kept` */
    uint64_t started;                  /* the serial of the newest load of all when that began */
    struct qn_model_slot_before before;
    struct qn_load_refusals refusals;
    char load_key[QN_SHA256_HEX + 1]; /* of its last start, see qn_model_slot_load_key; "": none */
    bool ordered; /* a client has asked for the load that runs, not only for an answer */
    bool stale;   /* the running process has other files than it should: it is restarted first */
    bool retry;   /* the last load failed, and there was a request or there were new files since */
    bool alone;   /* its load has failed for want of memory: other models leave first */
    bool tried_alone; /* that has been done */
};

/* The running process, or the last one. */
struct qn_model_slot_process {
    struct qn_child *child; /* NULL until first needed */
    int64_t slots;          /* of its last process; 0: it has had none yet */
    pid_t tenant;           /* the process that was granted last */
    int64_t tenant_ms;      /* since when */
    struct qn_mean answer_ms, load_ms;
    int64_t gpu_bytes;      /* as the child said when it ran last; 0: not known */
    int64_t measured_bytes; /* memory, as that child said; 0: not known */
    int64_t context;        /* it was started with */
    char *options;          /* and these; NULL: none was started */
    char *shown;            /* of them, what a report may show, as clients write it */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* "RECIPE:BACKEND" of packs.h whose program it is; "":
                                              quince's own */
    char digest[QN_SHA256_HEX + 1];        /* of the file it was started with; "": not known yet */
    bool unloading;                        /* until it has gone */
    int threads;                           /* it was told */
    struct qn_model_count count;
    struct qn_model_slot_ends ends;
};

/* How long it stays in memory, and what its options say to the router. */
struct qn_model_slot_policy {
    char *noted;         /* the saved options that were read last; NULL: read them again */
    uint64_t noted_load; /* with this load; 0: with none */
    struct qn_model_slot_options options;
    char cache_type[16]; /* that is wanted; "": the child's own */
    bool leave;          /* it goes as soon as nobody uses it, pinned or not */
    int64_t
        keep_ms; /* how long it stays after its last use; < 0: for ever; QN_UNSET: as configured */
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
    struct qn_groups groups;
    struct qn_model_slot *model_slots;
    struct watcher *watchers;
    size_t n_waiting;
    struct list displaced;         /* to be told so when settle runs */
    uint64_t tickets, loads;       /* the last ones that were given out */
    struct qn_timer *settle_timer; /* runs when settle is due */
    struct qn_timer *idle_timer;   /* runs when the first model's stay is over */
    int64_t idle_at_ms;
    struct qn_timer *pressure_timer; /* runs while models may be given up when memory is short */
};

/* What a child is to run with. */
struct qn_model_slot_want {
    struct qn_buf options; /* a JSON object */
    int64_t context; /* tokens, no more than the model was trained for; 0: the child chooses */
    bool bridged;    /* behind quince-bridge: the server of another program */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* which of packs.h; "": none of them */
};

/* The number that a row's options or details, a JSON object, hold under a name; QN_UNSET: none. */
int64_t qn_row_number(const char *json, const char *name);

/* inventory.c: model slots and their processes. A model slot is a model that has, had or shall have
 * a process. */
struct qn_model_slot *qn_model_slot_find(const struct qn_inventory *inv,
                                         const char *name); /* or NULL */
struct qn_model_slot *qn_model_slot_get(struct qn_inventory *inv, const struct qn_model_row *row);
enum qn_inst_state qn_model_slot_state(const struct qn_model_slot *p);
bool qn_model_slot_has_process(enum qn_inst_state s);
/* Something has changed: loads, evictions and grants are planned again in the loop's next turn. */
void qn_inventory_settle_soon(struct qn_inventory *inv);

/* inventory_leases.c: the leases that wait for a model. */
struct qn_lease *qn_lease_of(struct qn_fair_item *x);
/* Tells every waiting lease that it will not be granted. */
void qn_model_slot_refuse(struct qn_model_slot *p, const struct qn_error *why);
/* The same for those that wait for this load; NULL: for those that wait for none. */
void qn_model_slot_refuse_load(struct qn_model_slot *p, const struct qn_model_slot_load *load,
                               const struct qn_error *why);
/* Takes a waiting lease out of a full queue; it is told in the loop's next turn. */
void qn_lease_displace(struct qn_lease *x);
/* Tells those. */
void qn_inventory_tell_displaced(struct qn_inventory *inv);
/* The ticket of the lease that has waited longest; at least one waits. */
uint64_t qn_model_slot_ticket(const struct qn_model_slot *p);
/* A loaded model may go on serving requests that came after those of another model which waits for
 * its room (the newcomer), so that models are not exchanged for every single request: for a while
 * from when it was loaded or from when the newcomer's request came, whichever is later. Every wait
 * has an end: tickets decide which model is loaded next, and no model's batch takes longer. */
bool qn_model_slot_in_batch(const struct qn_model_slot *p, const struct qn_model_slot *newcomer);
/* True when a lease waits for p that is served before p gives its room to the newcomer. */
bool qn_model_slot_serves_first(const struct qn_model_slot *p,
                                const struct qn_model_slot *newcomer);
/* Grants the leases that a ready model can serve. */
void qn_model_slot_grant(struct qn_model_slot *p);
/* The slots with waiting leases, earliest ticket first; *out is the caller's to free. */
size_t qn_model_slots_by_ticket(struct qn_inventory *inv, struct qn_model_slot ***out);

/* Lets a load-only lease of the slot's own wait, so that the process that ran before a failed load
 * is started again. Such a lease is modest and takes no place in the queue from requests. */
void qn_model_slot_give_back(struct qn_model_slot *p);

/* inventory_wait.c: what a request that has to wait is told. */
/* Answers that it may work on at once; 0: not known before its first process is ready. */
int64_t qn_model_slot_capacity(const struct qn_model_slot *p);
/* Of a request where so many wait, itself included, and `ahead` of them are served before it. */
struct qn_queue_spot qn_model_slot_spot(struct qn_model_slot *p, size_t waiting, size_t ahead);

/* inventory_displace.c: which request gives up its place in a full queue. */
/* True when a waiting request of another owner has given its place to one of this owner's. only:
 * the queue that is full, NULL: all together. bounded: the limit that is reached holds only for
 * requests with a limit of their own. */
bool qn_inventory_displace(struct qn_inventory *inv, struct qn_model_slot *only, bool bounded,
                           const char *owner);

/* inventory_options.c: what the options of a model tell the router. */
enum { QN_OPTION_LAYERS = 3 };
void qn_model_slot_note_options(struct qn_model_slot *p, const struct qn_model_row *row);
void qn_model_slot_note_again(
    struct qn_model_slot *p); /* a layer other than the saved one has changed */
void qn_inventory_note_options(struct qn_inventory *inv); /* of all slots */

/* inventory_plan.c: which model may be loaded now, and which are evicted for it. */
/* The facts about every model slot with a process but `without`, the newcomer (MAY be NULL),
 * as the newcomer sees them: a model counts as busy while it is used, or a lease waits for it that
 * is served before the newcomer. */
size_t qn_model_slots_resident(struct qn_inventory *inv, const struct qn_model_slot *without,
                               struct qn_resident *live, struct qn_model_slot **model_slots);
/* Which models are in the way of loading one that leases wait for, without doing anything about it:
 * awaited[i] for each of those with a process that must end its work before. 0: none. */
size_t qn_model_slot_awaits(struct qn_model_slot *p, struct qn_model_slot **model_slots,
                            bool *awaited);
/* False with the reason: it could not be loaded as its leases ask, whatever were evicted; what it
 * has now counts as free. */
bool qn_model_slot_may_restart(struct qn_model_slot *p, struct qn_error *why);
/* Loads a model that leases wait for, evicts others first, or notes why it has to wait. */
void qn_model_slot_plan(struct qn_model_slot *p, const struct qn_child_events *events);
/* A load has failed. True where that means want of memory and was not tried alone before: the other
 * models that may leave are evicted, and the load is tried once more. */
bool qn_model_slot_try_alone(struct qn_model_slot *p);
/* The machine's threads go to the children that have work. */
void qn_inventory_share_threads(struct qn_inventory *inv);

/* inventory_stays.c: how long an idle model stays. */
int64_t qn_model_slot_stays_ms(const struct qn_model_slot *p); /* as qn_loaded has it */
/* Starts the timers for what is loaded now. */
void qn_inventory_watch_stays(struct qn_inventory *inv);

/* inventory_loads.c: what requests ask a model to be started with. */
struct qn_model_slot_load *
qn_model_slot_load_ref(struct qn_model_slot_load *x); /* NULL allowed, and below */
void qn_model_slot_load_unref(struct qn_model_slot_load *x);
/* The newest load that a waiting lease has; NULL: none has one. Lent. */
struct qn_model_slot_load *qn_model_slot_asked(const struct qn_model_slot *p);
/* That, else the one that is being started or was started last: what counts now. MAY be NULL. */
struct qn_model_slot_load *qn_model_slot_next_load(const struct qn_model_slot *p);
/* True when what runs has to be started anew: with a load that came later, or with other files. */
bool qn_model_slot_restarts(const struct qn_model_slot *p);
/* What a request asks for, checked before anything changes. *out: the load that its lease waits
 * for; NULL: what runs will do. QN_EINVAL and others with the option as param. */
qn_err qn_model_slot_ask(struct qn_model_slot *p, const struct qn_model_row *row,
                         const struct qn_load_options *o, struct qn_model_slot_load **out,
                         struct qn_error *e);
void qn_model_slot_load_begins(
    struct qn_model_slot *p); /* a process is started with what is asked for */
void qn_model_slot_load_ready(struct qn_model_slot *p); /* and is ready */
void qn_model_slot_load_gone(struct qn_model_slot *p);  /* or has ended without having failed */
/* What was asked for cannot be: its leases are refused, and the slot is what it was before. load:
 * NULL for what no lease has asked for. */
void qn_model_slot_load_failed(struct qn_model_slot *p, struct qn_model_slot_load *load,
                               const struct qn_error *why);
void qn_model_slot_load_forget(struct qn_model_slot *p); /* the model is unloaded on request */
/* A running process is about to be stopped for a load that asks for something else: what it ran
 * with, its stay included, comes back if that load fails. */
void qn_model_slot_load_replaces(struct qn_model_slot *p);
/* True when that load has failed or was given up, and what ran before is to be started again. */
bool qn_model_slot_load_gives_back(const struct qn_model_slot *p);
/* Why the last process could not be loaded: an error in any case. */
void qn_model_slot_load_error(const struct qn_model_slot *p, struct qn_error *why);

/* inventory_refusals.c: loads that failed lately. */
/* The key of what would be started: "" where it is too long to be remembered. Looks at files with a
 * system call each. */
void qn_model_slot_load_key(const struct qn_model_row *row, struct qn_model_slot_want *w,
                            char out[static QN_SHA256_HEX + 1]);
/* Remembers why the model's process could not be loaded, where its state is FAILED. One that could
 * not even be started is not remembered: that tells of the machine, not of the load. */
void qn_model_slot_remember_failure(struct qn_model_slot *p);
/* True when what would be started next has failed lately, and no waiting request asks for another
 * try: why is what was said then. */
bool qn_model_slot_refused_lately(struct qn_model_slot *p, struct qn_error *why);

/* inventory_want.c: what a model's child is to run with. */
/* Can this model be loaded at all? QN_ENOTFOUND: it is not downloaded, or its file has gone;
 * QN_EUNSUPPORTED. */
qn_err qn_inventory_check_row(const struct qn_inventory *inv, const struct qn_model_row *row,
                              struct qn_error *e);
/* What a load says (MAY be NULL), then what is saved for the model, then the settings: JSON
 * objects, lent. */
void qn_model_slot_layers(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load,
                          const char *layers[static QN_OPTION_LAYERS]);
/* load MAY be NULL. QN_EINVAL and others with the option as param. Give *out to
 * qn_model_slot_want_deinit in any case. */
qn_err qn_model_slot_want(const struct qn_model_slot *p, const struct qn_model_row *row,
                          const struct qn_model_slot_load *load, struct qn_model_slot_want *out,
                          struct qn_error *e);
void qn_model_slot_want_deinit(struct qn_model_slot_want *w);
/* QN_EINVAL: a file that an option names cannot be read. A few system calls. */
qn_err qn_model_slot_want_files(struct qn_model_slot_want *w, struct qn_error *e);
/* Calls fn for the path of each file that an option names. */
void qn_model_slot_want_each_file(struct qn_model_slot_want *w,
                                  void (*fn)(void *ctx, const char *path), void *ctx);
/* Was its last process started with these options, whatever the context? */
bool qn_model_slot_has_options(const struct qn_model_slot *p, struct qn_model_slot_want *w);
/* Was its last process started with exactly that? */
bool qn_model_slot_runs_with(const struct qn_model_slot *p, struct qn_model_slot_want *w);

/* inventory_start.c: starting a model's child. */
/* True when what runs is made of other files than the row names, or of a file that has been
 * replaced since. A sum that comes to be known only now is that of the file that runs. */
bool qn_model_slot_has_other_files(struct qn_model_slot *p, const struct qn_model_row *row);
/* Bytes it will need with this context. */
int64_t qn_model_slot_estimate(const struct qn_model_slot *p, int64_t context);
/* Starts the child with the row's files; events go to the slot. */
qn_err qn_model_slot_start(struct qn_model_slot *p, int threads,
                           const struct qn_child_events *events, struct qn_error *e);

/* inventory_crashes.c: its process has ended unasked lately, or cannot be loaded. */
bool qn_model_slot_crashed(const struct qn_model_slot *p);

/* inventory_counts.c: its child's state has changed. */
void qn_model_slot_count(struct qn_model_slot *p);

#endif
