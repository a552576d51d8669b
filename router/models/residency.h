/* Which models stay in memory: a pure policy that decides from a list of facts. The inventory
 * collects the facts and carries the plan out. */
#ifndef QN_MODELS_RESIDENCY_H
#define QN_MODELS_RESIDENCY_H

#include "settings/groups.h"
#include "settings/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_RESIDENTS_MAX = 64 }; /* processes at once, of all kinds */

/* A device that some pairs of models cannot use at once, and how a recipe uses it. */
struct qn_device_use {
    const char *recipe;
    const char *backend; /* NULL: any backend of the recipe */
    const char *device;
    bool whole; /* it needs the whole device; else one model of each kind fits */
};
/* backend: the value of the model's option RECIPE_backend, or NULL. Returns NULL for a device that
 * models can share. */
const struct qn_device_use *qn_device_use_of(const char *recipe, const char *backend);

/* One child that has a process (LOADING, READY, DRAINING) or is about to (BACKOFF). */
struct qn_resident {
    enum qn_kind kind;
    const struct qn_group *group;      /* NULL: in no group */
    const struct qn_device_use *usage; /* NULL: can share its device with any model */
    bool busy;            /* a job runs on it, or a request waits for it: never evicted */
    bool pinned;          /* never evicted */
    bool leaving;         /* DRAINING: its resources become free without further action */
    bool elsewhere;       /* computes on another machine: counts for no limit and needs no memory */
    int64_t last_use_ms;  /* the smallest is evicted first */
    int64_t memory_bytes; /* needed or reported; 0: unknown */
    int64_t gpu_bytes;    /* likewise, of the graphics processors' own memory */
    /* for the model to be loaded */
    bool alone; /* its load has failed as if for lack of memory: all models that may be evicted are,
                   first */
    bool modest; /* fails rather than evict another model */
};

struct qn_budget {
    struct qn_kind_limits max_loaded; /* per kind, for children that are in no group */
    int64_t memory_bytes;             /* for all children together; <= 0: no limit */
    int64_t gpu_bytes;                /* likewise, of the graphics processors' own memory */
    int threads;                      /* of the machine, shared between the children; >= 1 */
};

enum qn_plan_verdict {
    QN_PLAN_LOAD,  /* start it now; no model has to be evicted */
    QN_PLAN_EVICT, /* stop evict[0..n_evict), plan again when they have ended */
    QN_PLAN_WAIT,  /* the models in the way are busy or already stopping: plan again when that
                      changes */
    QN_PLAN_REFUSE /* it does not fit while the pinned models stay, or not at all */
};

/* The limit that prevents loading. */
enum qn_plan_cause {
    QN_CAUSE_NONE,
    QN_CAUSE_PLACES,     /* the limit of its kind */
    QN_CAUSE_MEMORY,     /* the machine's, or the limit for models */
    QN_CAUSE_GPU_MEMORY, /* of the graphics processors */
    QN_CAUSE_GROUP,      /* groups: the model's group allows one model at a time, or may not be in
                            memory together with the group of a loaded model */
    QN_CAUSE_DEVICE,     /* a device that cannot be shared */
    QN_CAUSE_RETRY,      /* a retry that is to have the memory of all others */
    QN_CAUSE_PROCESSES   /* QN_RESIDENTS_MAX */
};

struct qn_plan {
    enum qn_plan_verdict verdict;
    enum qn_plan_cause cause; /* unset for LOAD */
    bool kept;      /* REFUSE: only because other models are pinned or in a persistent group */
    size_t blocker; /* index into live of a model in the way; n: there is no single one */
    size_t n_evict;
    size_t evict[QN_RESIDENTS_MAX]; /* indices into live, in the order to stop them */
    bool awaited[QN_RESIDENTS_MAX]; /* WAIT, EVICT: models that get no new work until then */
    int threads;                    /* LOAD: for the new child */
};

/* live: all models with a process except the wanted one. want: the model to load. A memory size of
 * 0 (unknown) counts as nothing. */
void qn_residency_plan(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                       const struct qn_budget *budget, struct qn_plan *out);

/* How the machine's threads are shared at present: threads[i] for live[i]. The busy models share
 * them evenly (the first ones get the remainder, each at least 1); an idle one gets what it would
 * have if it became busy next. */
void qn_residency_threads(const struct qn_resident *live, size_t n, int machine_threads,
                          int *threads);

/* A model that may be evicted because memory is short. */
struct qn_candidate {
    bool may_go; /* idle, not pinned, and its options allow it */
    int64_t idle_ms, load_ms;
    double weight; /* factor of the eviction cost, beyond the time that loading takes; <= 0 counts
                      as 1 */
};
/* The model with the least eviction cost: idle for long, and quick to load again. Returns n when
 * none may be evicted. */
size_t qn_residency_least_missed(const struct qn_candidate *c, size_t n);

#endif
