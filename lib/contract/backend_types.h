/* The table of backend types: what the router must know of each type without linking its code. */
#ifndef QN_CONTRACT_BACKEND_TYPES_H
#define QN_CONTRACT_BACKEND_TYPES_H

#include "base/json.h"
#include "contract/capabilities.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a model before it is loaded. 0 means unknown, or left to the child. */
struct qn_memory_facts {
    int64_t file_bytes;
    int64_t kv_token_bytes; /* KV cache bytes for each token of a sequence */
    int64_t context;        /* tokens of each sequence */
    int64_t slots;          /* sequences computed side by side */
    const char *cache_type; /* "q8_0"; NULL: the child's default */
};

/* How the router passes a load option to the child. */
enum qn_load_kind {
    QN_LOAD_VALUE,        /* unchanged */
    QN_LOAD_MODEL,        /* a model's name is replaced by the path of its file; "": none */
    QN_LOAD_STRETCH,      /* unchanged; a text in the syntax of formats/stretch.h */
    QN_LOAD_ADAPTERS,     /* a list of files on this machine: [{"path", "name", "scale"}] */
    QN_LOAD_CACHE_FILE,   /* true becomes a file in the server's data folder, false is omitted */
    QN_LOAD_WEIGHT_CACHE, /* a number of GiB is replaced by {"folder", "gib"}, 0 is omitted */
    QN_LOAD_HOUSE /* not passed: the router itself applies it (router/models/inventory_options.c) */
};

enum {
    QN_WEIGHT_CACHE_GIB_MAX = 1 << 20,
    QN_LOAD_SLOTS_MAX = 256,  /* sequences of one model at a time */
    QN_LOAD_ADAPTERS_MAX = 16 /* adapters of one model */
};

struct qn_load_option {
    const char *name; /* key in load requests, saved options and the load message */
    enum qn_load_kind kind;
    enum qn_json_type type;   /* of the option's value in requests */
    int64_t min, max;         /* the range of a number, if max > min */
    bool whole;               /* the number must have no fraction */
    const char *const *words; /* the texts allowed as its value, ends with NULL; NULL: any text */
    bool admin; /* only admins may set it: it outlives the load, or may name files here */
};

struct qn_backend_type {
    const char *type;   /* "llm": the key of residency limits and of catalog rows */
    const char *binary; /* "quince-llm": file name, in the folder of quinced */
    const char *recipe; /* its name in Lemonade's API: "llamacpp" */
    const struct qn_load_option *load_options; /* ends with a NULL name */
    bool optional;   /* if its binary is missing, models of this type are not listed */
    bool defined;    /* its models are defined by the user, not pulled; qn_backend_type_of never
                        returns it */
    unsigned offers; /* bits of enum qn_capability that its program supports, for models that have
                        them */
    /* Estimates the memory in bytes that a loaded model will need. */
    int64_t (*memory_estimate)(const struct qn_memory_facts *facts);
};

const struct qn_backend_type *qn_backend_type_find(const char *type); /* NULL when unknown */
const struct qn_backend_type *qn_backend_type_at(size_t i);           /* NULL past the last */
/* Returns the type that runs a recipe's models for at least one of these purposes (bits of
 * QN_CAPABILITIES_PURPOSES; 0: any purpose). If no type of the recipe serves any of the purposes,
 * returns some type of the recipe; if the recipe has no type, NULL. */
const struct qn_backend_type *qn_backend_type_of(const char *recipe, unsigned purposes);
/* Checks which of the optional binaries exist in dir. Until this is called, all count as present.
 * Call it before any thread starts. */
void qn_backend_types_look(const char *dir);
/* Whether the type's binary was missing when qn_backend_types_look checked. */
bool qn_backend_type_missing(const struct qn_backend_type *t);
/* Records whether a third-party server is installed that runs this type's models instead. Any
 * thread. */
void qn_backend_type_serve(const struct qn_backend_type *t, bool yes);
bool qn_backend_type_served(const struct qn_backend_type *t);
/* Returns the capabilities that models of this type can have on this machine: those of the type's
 * own program, if it is installed, and those of the third-party server, if one is installed. */
unsigned qn_backend_type_reach(const struct qn_backend_type *t);

#endif
