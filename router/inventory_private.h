/* What inventory.c and its neighbours inventory_*.c share. */
#ifndef QN_ROUTER_INVENTORY_PRIVATE_H
#define QN_ROUTER_INVENTORY_PRIVATE_H

#include "base/sha256.h"
#include "registry/packs.h"
#include "router/fair_queue.h"
#include "router/inventory.h"
#include "router/queue_spot.h"
#include "router/residency.h"

struct place;

struct qn_lease {
    struct qn_fair_item item; /* in place->waiting */
    struct place *place;
    struct qn_lease *prev, *next; /* in place->held */
    int64_t slots;                /* answers that it takes at once; 0: none, it only loads */
    int64_t came_ms, granted_ms;
    bool granted;
    bool another; /* of a request that holds the model already */
    qn_lease_fn fn;
    void *ctx;
};

struct list {
    struct qn_lease *first, *last;
    size_t n;
};

/* What pictures are like where a request does not say: of a load, saved, or image_defaults. Unset
 * as in struct qn_image. */
struct qn_place_picture {
    int64_t steps, width, height;
    double cfg_scale;
};

/* What its options tell the house. */
struct qn_place_options {
    bool pinned;
    int auto_evict;                    /* 1, 0; -1: as configured */
    int64_t evict_idle_ms;             /* where auto_evict holds: how long it stays without use */
    int64_t max_concurrent, max_queue; /* QN_UNSET: as configured */
    struct qn_place_picture picture;
    double weight; /* how much it is worth beyond the time that loading takes */
};

/* How its process was when it was last counted. */
struct place_ends {
    enum qn_inst_state state;
    int crashes, failed_loads; /* in a row */
};

struct place {
    struct place *next;
    struct qn_inventory *inv;
    char *name;
    const struct qn_backend_type *type;
    struct qn_child *child; /* NULL until first needed */
    struct qn_fair_queue waiting;
    struct list held;
    size_t others_waiting; /* of the waiting: `another` of a request that has a lease */
    size_t loads_waiting;  /* of the waiting: those that take no slot */
    int64_t used_slots;    /* by the held */
    int64_t slots;         /* of its last process; 0: it has had none yet */
    pid_t tenant;          /* the process that was granted last */
    int64_t tenant_ms;     /* since when */
    struct qn_mean answer_ms, load_ms;
    int64_t context_asked; /* by a load; QN_UNSET: none */
    char *options_asked;   /* by a load: a JSON object; NULL: none */
    char *noted;           /* the saved options that were read last; NULL: read them again */
    struct qn_place_options house;
    enum qn_kind kind;
    const struct qn_group *group;      /* NULL: of none */
    const struct qn_device_use *usage; /* NULL: its device is shared by any number */
    bool elsewhere;                    /* another machine computes for it */
    int64_t size_bytes;
    int64_t gpu_bytes;      /* as the child said when it ran last; 0: not known */
    int64_t measured_bytes; /* memory, as that child said; 0: not known */
    int64_t kv_token_bytes; /* 0: not known */
    int64_t context;        /* the running child was started with */
    char *options;          /* and these; NULL: none was started */
    char *shown;            /* of them, what a report may show, as clients write it */
    char cache_type[16];    /* that is wanted; "": the child's own */
    char engine[2 * QN_PACK_WORD_MAX + 2]; /* "RECIPE:BACKEND" of packs.h whose program the child
                                              runs, set when it is started; "": quince's own */
    char digest[QN_SHA256_HEX + 1]; /* of the file the child was started with; "": not known yet */
    bool stale;     /* the running child has other settings or files than it should: restart it
                       first */
    bool unloading; /* until its process has gone */
    bool ordered;   /* somebody has asked for the load that runs, not only for an answer */
    bool retry;   /* the last load failed, and somebody has asked again or for other files since */
    int threads;  /* told to the running child */
    bool blocked; /* settle: wants to load and must wait for others to leave */
    char reason[QN_QUEUED_REASON_MAX]; /* of that */
    uint64_t awaited; /* the ticket of somebody who waits for it to become idle; 0: nobody does */
    bool alone;       /* its load has failed as if for want of memory: the others leave first */
    bool tried_alone; /* that has been done */
    bool modest;      /* nobody is to leave for it */
    bool leave;       /* it goes as soon as nobody uses it, pinned or not */
    int64_t used_ms;  /* last lease given or taken back */
    struct qn_model_count count;
    struct place_ends ends;
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
    struct qn_groups groups;
    struct place *places;
    struct watcher *watchers;
    size_t n_waiting;
    uint64_t tickets;
    struct qn_timer *settle_timer; /* runs when settle is due */
    struct qn_timer *idle_timer;   /* runs when the first model's stay is over */
    int64_t idle_at_ms;
    struct qn_timer *pressure_timer; /* runs while models may be given up when memory is short */
};

/* The number that a row's options or details, a JSON object, hold under a name; QN_UNSET: none. */
int64_t qn_row_number(const char *json, const char *name);

/* inventory.c: places and their processes. */
struct place *qn_place_find(const struct qn_inventory *inv, const char *name); /* or NULL */
struct place *qn_place_get(struct qn_inventory *inv, const struct qn_model_row *row);
enum qn_inst_state qn_place_state(const struct place *p);
bool qn_place_has_process(enum qn_inst_state s);
/* Something has changed: loads, evictions and grants are thought over in the loop's next turn. */
void qn_inventory_settle_soon(struct qn_inventory *inv);

/* inventory_leases.c: who waits at a place. */
/* Tells every waiting lease that it will not be granted. */
void qn_place_refuse(struct place *p, const struct qn_error *why);
/* The ticket of who has waited longest; somebody waits. */
uint64_t qn_place_ticket(const struct place *p);
/* A loaded model may go on serving those who came later than a newcomer who waits for its room, so
 * that models are not exchanged for every single request: for a while from when it was loaded or
 * from when the other came, whichever is later. Everybody's wait has an end: tickets decide who is
 * loaded next, and each model's batch takes no longer than that. */
bool qn_place_in_batch(const struct place *p, const struct place *newcomer);
/* True when somebody waits at a place who is served before it gives its room to the newcomer. */
bool qn_place_serves_first(const struct place *p, const struct place *newcomer);
/* Grants what a ready place can serve. */
void qn_place_grant(struct place *p);
/* The places with waiting leases, earliest ticket first; *out is the caller's to free. */
size_t qn_places_by_ticket(struct qn_inventory *inv, struct place ***out);

/* inventory_wait.c: what who comes to wait is told. */
/* Answers that it may work on at once; 0: not known before its first process is ready. */
int64_t qn_place_capacity(const struct place *p);
/* With so many that wait, itself included, and `ahead` of them before it. */
struct qn_queue_spot qn_place_spot(struct place *p, size_t waiting, size_t ahead);

/* inventory_options.c: what its options tell the house. */
enum { QN_OPTION_LAYERS = 3 };
/* What a load says, then what is saved for the model, then the settings: JSON objects, lent. */
void qn_place_layers(const struct place *p, const struct qn_model_row *row,
                     const char *layers[static QN_OPTION_LAYERS]);
void qn_place_note_options(struct place *p, const struct qn_model_row *row);
void qn_place_note_again(struct place *p); /* a layer other than the saved one has changed */
void qn_inventory_note_options(struct qn_inventory *inv); /* of all places */

/* inventory_plan.c: who may load now, and who leaves for it. */
/* The facts about every place with a process but `without`, the newcomer, MAY be NULL, who sees
 * them: a place counts as busy while it is used, or somebody waits there whom it serves first. */
size_t qn_places_resident(struct qn_inventory *inv, const struct place *without,
                          struct qn_resident *live, struct place **places);
/* Who is in the way of loading a place that somebody waits for, without doing anything about it:
 * awaited[i] for each of the places with a process that must end its work before. 0: nobody. */
size_t qn_place_awaits(struct place *p, struct place **places, bool *awaited);
/* Loads a place that somebody waits for, evicts others first, or notes why it has to wait. */
void qn_place_plan(struct place *p, const struct qn_child_events *events);
/* A load has failed. True when others will leave, and it is tried once more. */
bool qn_place_try_alone(struct place *p);
/* The machine's threads go to the children that have work. */
void qn_inventory_share_threads(struct qn_inventory *inv);

/* inventory_stays.c: how long an idle model stays. */
int64_t qn_place_stays_ms(const struct place *p); /* as qn_loaded has it */
/* Starts the timers for what is loaded now. */
void qn_inventory_watch_stays(struct qn_inventory *inv);

/* inventory_start.c: with what a place's child is to run. */
int64_t qn_place_wanted_context(const struct place *p, const struct qn_model_row *row);
/* Options that cannot be made sense of are refused when the child is started with them. */
bool qn_place_wants_other_options(const struct place *p, const struct qn_model_row *row);
/* True when what runs is made of other files than the row names, or of a file that has been
 * replaced since. A sum that comes to be known only now is that of the file that runs. */
bool qn_place_has_other_files(struct place *p, const struct qn_model_row *row);
/* Bytes it will need with this context. */
int64_t qn_place_estimate(const struct place *p, int64_t context);
/* Starts the child with the row's files; events go to the place. */
qn_err qn_place_start(struct place *p, int threads, const struct qn_child_events *events,
                      struct qn_error *e);

/* inventory_crashes.c: its process has ended unasked lately, or cannot be loaded. */
bool qn_place_crashed(const struct place *p);

/* inventory_counts.c: its child's state has changed. */
void qn_place_count(struct place *p);

#endif
