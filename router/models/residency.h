/* Which models stay in memory: pure policy, decided from a list of facts. The inventory collects
 * the facts and carries the plan out. */
#ifndef QN_MODELS_RESIDENCY_H
#define QN_MODELS_RESIDENCY_H

#include "settings/groups.h"
#include "settings/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_RESIDENTS_MAX = 64 }; /* processes at once, of all kinds */

/* A device that not any two models can use at once, as a recipe uses it. */
struct qn_device_use {
    const char *recipe;
    const char *backend; /* NULL: whichever the recipe runs on */
    const char *device;
    bool whole; /* it takes all of the device; else one model of each kind finds room */
};
/* backend: as the model's option RECIPE_backend says, or NULL. NULL: it has a device on which
 * models live side by side. */
const struct qn_device_use *qn_device_use_of(const char *recipe, const char *backend);

/* One child that has a process (LOADING, READY, DRAINING) or is about to (BACKOFF). */
struct qn_resident {
    enum qn_kind kind;
    const struct qn_group *group;      /* NULL: of none */
    const struct qn_device_use *usage; /* NULL: shares its device with any other */
    bool busy;            /* a job runs on it, or somebody waits for it: never evicted */
    bool pinned;          /* never evicted */
    bool leaving;         /* DRAINING: its place becomes free by itself */
    bool elsewhere;       /* computes on another machine: takes no place and no memory */
    int64_t last_use_ms;  /* the smallest goes first */
    int64_t memory_bytes; /* needed or reported; 0: unknown */
    int64_t gpu_bytes;    /* the same, of the graphics processors' own memory */
    /* of the wanted one */
    bool alone;  /* its load has failed as if for want of memory: everybody who may leaves first */
    bool modest; /* rather not at all than in another's place */
};

struct qn_budget {
    struct qn_kind_limits max_loaded; /* children of one kind that are in no group */
    int64_t memory_bytes;             /* for all children together; <= 0: no limit */
    int64_t gpu_bytes;                /* the same */
    int threads;                      /* of the machine, shared between the children; >= 1 */
};

enum qn_plan_verdict {
    QN_PLAN_LOAD,  /* start it now, after nothing or while nothing needs to leave */
    QN_PLAN_EVICT, /* stop evict[0..n_evict), ask again when they are gone */
    QN_PLAN_WAIT,  /* what is in the way is busy or already leaving: ask again when that changes */
    QN_PLAN_REFUSE /* will not fit while the pinned models stay, or not at all */
};

/* What stands in the way. */
enum qn_plan_cause {
    QN_CAUSE_NONE,
    QN_CAUSE_PLACES,     /* the limit of its kind */
    QN_CAUSE_MEMORY,     /* the machine's, or what models may use of it */
    QN_CAUSE_GPU_MEMORY, /* the graphics processors' */
    QN_CAUSE_GROUP,      /* a group that it may not be beside, or its own, which swaps */
    QN_CAUSE_DEVICE,     /* a device that it cannot share */
    QN_CAUSE_RETRY,      /* it is to have the memory of all others */
    QN_CAUSE_PROCESSES   /* QN_RESIDENTS_MAX */
};

struct qn_plan {
    enum qn_plan_verdict verdict;
    enum qn_plan_cause cause; /* not of LOAD */
    bool kept;                /* REFUSE: only because others are pinned, or their group persists */
    size_t blocker; /* index into live of one that is in the way; n: there is no single one */
    size_t n_evict;
    size_t evict[QN_RESIDENTS_MAX]; /* indices into live, in the order to stop them */
    bool awaited[QN_RESIDENTS_MAX]; /* WAIT, EVICT: who gets no new work until then */
    int threads;                    /* LOAD: for the new child */
};

/* live: everything that has a process, without the wanted one. want: the model to load. An unknown
 * memory size (0) counts nothing. */
void qn_residency_plan(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                       const struct qn_budget *budget, struct qn_plan *out);

/* How the machine's threads are shared now: threads[i] for live[i]. The busy ones share them evenly
 * (first ones get the remainder, each at least 1); an idle one is given what it would have if it
 * became busy next. */
void qn_residency_threads(const struct qn_resident *live, size_t n, int machine_threads,
                          int *threads);

/* One that may be given up before it is asked to, because memory runs short. */
struct qn_candidate {
    bool may_go; /* idle, not pinned, and its options allow it */
    int64_t idle_ms, load_ms;
    double weight; /* how much it is worth beyond the time that loading takes; <= 0 counts as 1 */
};
/* The one that is missed least: idle for long, and quick to load again. n: nobody may go. */
size_t qn_residency_least_missed(const struct qn_candidate *c, size_t n);

#endif
