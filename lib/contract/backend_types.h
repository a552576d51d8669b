/* The table of backend types: what the router must know of each without linking it. */
#ifndef QN_CONTRACT_BACKEND_TYPES_H
#define QN_CONTRACT_BACKEND_TYPES_H

#include "contract/job.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_backend_type {
    const char *type;    /* "llm": the key of residency limits and of catalog rows */
    const char *binary;  /* "quince-llm", beside quinced */
    const char *recipe;  /* the name Lemonade's API gives it: "llamacpp" */
    unsigned tasks;      /* bit 1 << enum qn_task */
    /* Bytes a loaded model will need, from the files' size and the context asked for. */
    int64_t (*memory_estimate)(int64_t file_bytes, int64_t context);
};

const struct qn_backend_type *qn_backend_type_find(const char *type); /* NULL when unknown */
const struct qn_backend_type *qn_backend_type_at(unsigned i);         /* NULL past the end */
bool qn_backend_type_can(const struct qn_backend_type *t, enum qn_task task);

#endif
