/* The table of backend types: what the router must know of each without linking it. */
#ifndef QN_CONTRACT_BACKEND_TYPES_H
#define QN_CONTRACT_BACKEND_TYPES_H

#include "base/json.h"
#include "contract/capabilities.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a model before it is loaded; 0: unknown, or left to the child. */
struct qn_memory_facts {
    int64_t file_bytes;
    int64_t kv_token_bytes; /* cache that one token of one answer needs */
    int64_t context;        /* tokens of each answer at a time */
    int64_t slots;          /* answers at a time */
    const char *cache_type; /* "q8_0", NULL: the child's own */
};

/* How the router hands an option of loading down. */
enum qn_load_kind {
    QN_LOAD_VALUE,        /* as it is */
    QN_LOAD_MODEL,        /* the name of a model becomes its file; "": none */
    QN_LOAD_STRETCH,      /* as it is: a text that formats/stretch.h reads */
    QN_LOAD_ADAPTERS,     /* a list of files on this machine: [{"path", "name", "scale"}] */
    QN_LOAD_CACHE_FILE,   /* true becomes a file in the server's data folder, false is left out */
    QN_LOAD_WEIGHT_CACHE, /* a number of GiB becomes {"folder", "gib"}, 0 is left out */
    QN_LOAD_HOUSE /* not at all: the router itself obeys it (router/models/inventory_options.c) */
};

enum {
    QN_WEIGHT_CACHE_GIB_MAX = 1 << 20,
    QN_LOAD_SLOTS_MAX = 256,  /* answers of one model at a time */
    QN_LOAD_ADAPTERS_MAX = 16 /* of one model */
};

struct qn_load_option {
    const char *name; /* in load requests, among a model's saved options, and for the child */
    enum qn_load_kind kind;
    enum qn_json_type type;   /* of its value in requests */
    int64_t min, max;         /* of a number, where max > min */
    bool whole;               /* such a number has no fraction */
    const char *const *words; /* that a text may be, ends with NULL; NULL: any */
    bool admin; /* only admins set it: it outlives the load, or may name files of the machine */
};

struct qn_backend_type {
    const char *type;   /* "llm": the key of residency limits and of catalog rows */
    const char *binary; /* "quince-llm", beside quinced */
    const char *recipe; /* the name Lemonade's API gives it: "llamacpp" */
    const struct qn_load_option *load_options; /* ends with a NULL name */
    bool optional; /* without its binary, models of this type do not come in */
    bool defined;  /* its models are not pulled but defined; qn_backend_type_of does not find it */
    unsigned offers; /* what its program can do with a model that can: enum qn_capability */
    /* Bytes a loaded model will need. */
    int64_t (*memory_estimate)(const struct qn_memory_facts *facts);
};

const struct qn_backend_type *qn_backend_type_find(const char *type); /* NULL when unknown */
const struct qn_backend_type *qn_backend_type_at(size_t i);           /* NULL behind the last */
/* The type that runs a recipe's models for one of these purposes (QN_CAPABILITIES_PURPOSES; 0:
 * any), or, where none does, another type of the recipe; NULL when nothing here runs models of the
 * recipe.
 */
const struct qn_backend_type *qn_backend_type_of(const char *recipe, unsigned purposes);
/* Looks which of the optional binaries lie in dir; until then all count as there. Before any thread
 * starts. */
void qn_backend_types_look(const char *dir);
/* Its binary was not there then. */
bool qn_backend_type_missing(const struct qn_backend_type *t);
/* Says whether a third-party server is there that runs this type's models instead. Any thread. */
void qn_backend_type_serve(const struct qn_backend_type *t, bool yes);
bool qn_backend_type_served(const struct qn_backend_type *t);
/* What can be done here with models of this type: by its own program if that is here, and by the
 * third-party server if that is. */
unsigned qn_backend_type_reach(const struct qn_backend_type *t);

#endif
