/* Profiles: which API's conventions a listener follows where several APIs own the same path with
 * incompatible shapes. One row holds every difference that a profile makes; code elsewhere reads
 * members of a row and never asks which profile it is (scripts/check_layers.py looks for the
 * names). Rows are static and immutable; any thread. */
#ifndef QN_ANSWERS_PROFILE_H
#define QN_ANSWERS_PROFILE_H

#include "answers/family.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_PROFILE_COUNT = 7, QN_PROFILE_STATUSES_MAX = 4 };

/* The main port's profile where the setting says nothing, and all names as a sentence lists them.
 */
#define QN_PROFILE_MAIN_NAME "lemonade"
#define QN_PROFILE_NAMES "lemonade, ollama, auto, layerscale, dppan, kolosal or localllm"

/* Sampling where a request is silent. 0 (numbers of tokens) and NAN: the model's own values apply.
 */
struct qn_profile_defaults {
    int64_t max_tokens;
    double temperature, top_p;
    int64_t top_k;
    bool max_with_prompt; /* max_tokens counts the prompt's tokens, too */
};

/* How a request is refused that found its model's queue full, or took too long. status 0: as for
 * every profile. */
struct qn_profile_refusal {
    int status;
    const char *type;    /* of the error */
    const char *message; /* NULL: the error's own */
    int retry_s;         /* of Retry-After */
};

/* A status other than that of the table of error codes (answer.h). */
struct qn_profile_status {
    qn_err error; /* QN_OK ends the list */
    int status;
    const char *code; /* NULL: the error's own */
};

/* Which model serves a request whose model is not named, or not known. */
enum qn_profile_model {
    QN_MODEL_REQUIRED,   /* none: 400, or 404 */
    QN_MODEL_NAMED_ONLY, /* the one used last, where none is named; 404 for one that is not known */
    QN_MODEL_ANY         /* the one used last, in both cases */
};

/* What a health report holds; bits. */
enum qn_health_part {
    QN_HEALTH_MODELS = 1,   /* loaded models, limits of their kinds, the WebSocket port */
    QN_HEALTH_SYSTEM = 2,   /* the time, the system, and engines as one object of counts */
    QN_HEALTH_ENGINES = 4,  /* engines as an array; then the counts are left out */
    QN_HEALTH_OK = 8,       /* "ok":true */
    QN_HEALTH_HEALTHY = 16, /* status is "healthy", else "ok" */
    QN_HEALTH_SILENT = 32,  /* no body: 200, or 503 while no model is loaded */
    QN_HEALTH_SERVER = 64   /* the server's own process */
};

struct qn_profile {
    const char *name;
    const char *owned_by; /* of the entries of GET /v1/models */

    /* Errors. family holds for paths that no API owns alone, chat_family for /v1/chat below them.
     */
    enum qn_family family, chat_family;
    struct qn_profile_status statuses[QN_PROFILE_STATUSES_MAX]; /* in these families, not at load */
    bool error_then_done; /* an error in a stream is followed by the mark of its end */

    /* Requests. */
    struct qn_profile_defaults chat, complete; /* complete: of /v1/completions */
    double temperature_max;                    /* 0: as the contract has it */
    enum qn_profile_model model;
    bool numbered_requests; /* X-Request-Id is a number, from 1 since the server's start */

    /* Waiting for a model. */
    int64_t queue; /* how many may wait where no setting says so; < 0: no limit of the profile's */
    struct qn_profile_refusal queue_full, timed_out; /* in `family` alone */

    /* Replies. */
    const char *unfinished; /* finish_reason of a completion's chunks before the last; NULL: null */
    bool usage_in_last;     /* the last choice's last chunk has the usage */

    unsigned health, health_versioned; /* enum qn_health_part, at /health and at /v1/health */
};

/* i below QN_PROFILE_COUNT; the tags of connections (qn_http_tag) are these numbers. Any other
 * number: the main port's. */
const struct qn_profile *qn_profile_at(int i);
int qn_profile_index(const struct qn_profile *p);

const struct qn_profile *qn_profile_find(const char *name); /* NULL: unknown */

const struct qn_profile *qn_profile_main(void);   /* QN_PROFILE_MAIN_NAME */
const struct qn_profile *qn_profile_more(void);   /* of a further port that names none */
const struct qn_profile *qn_profile_ollama(void); /* of the port that Ollama's programs look for */

#endif
