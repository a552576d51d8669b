/* Profiles: the API conventions that a listener follows where several APIs define the same path
 * with incompatible bodies. One row holds all differences of a profile; other code reads members of
 * a row and never asks which profile it is (scripts/check_layers.py searches for the names). Rows
 * are static and immutable; any thread. */
#ifndef QN_ANSWERS_PROFILE_H
#define QN_ANSWERS_PROFILE_H

#include "answers/family.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_PROFILE_COUNT = 7, QN_PROFILE_STATUSES_MAX = 4 };

/* The name of the profile that the main port has unless it is set, and the list of all profiles'
 * names for error messages. */
#define QN_PROFILE_MAIN_NAME "lemonade"
#define QN_PROFILE_NAMES "lemonade, ollama, auto, layerscale, dppan, kolosal or localllm"

/* Sampling defaults for requests. 0 (numbers of tokens) and NAN: the model's own values apply. */
struct qn_profile_defaults {
    int64_t max_tokens;
    double temperature, top_p;
    int64_t top_k;
    bool max_with_prompt; /* max_tokens includes the prompt's tokens */
};

/* The error for a request that meets a full queue, or times out. status 0: as without a profile. */
struct qn_profile_refusal {
    int status;
    const char *type;    /* of the error */
    const char *message; /* NULL: the error's message */
    int retry_s;         /* value of Retry-After */
};

/* A status that differs from the table of error codes (answer.h). */
struct qn_profile_status {
    qn_err error; /* QN_OK ends the list */
    int status;
    const char *code; /* NULL: the error's code */
};

/* Which model serves a request without a model's name, or with an unknown one. */
enum qn_profile_model {
    QN_MODEL_REQUIRED,   /* no model: 400 for a request without a name, 404 for an unknown name */
    QN_MODEL_NAMED_ONLY, /* the model used last, for a request without a name; 404 for an unknown
                            name */
    QN_MODEL_ANY         /* the model used last, in both cases */
};

/* Parts of a health report; bits. */
enum qn_health_part {
    QN_HEALTH_MODELS = 1,   /* loaded models, limits per kind, the WebSocket port */
    QN_HEALTH_SYSTEM = 2,   /* the time, the system, and engines as one object of counts */
    QN_HEALTH_ENGINES = 4,  /* engines as an array; replaces the counts */
    QN_HEALTH_OK = 8,       /* "ok":true */
    QN_HEALTH_HEALTHY = 16, /* "status" is "healthy"; without this bit it is "ok" */
    QN_HEALTH_SILENT = 32,  /* no body: 200, or 503 while no model is loaded */
    QN_HEALTH_SERVER = 64   /* the server's own process */
};

struct qn_profile {
    const char *name;
    const char *owned_by; /* in the entries of GET /v1/models */

    /* Errors. `family` applies to paths that several APIs share, `chat_family` to /v1/chat and the
     * paths below it. */
    enum qn_family family, chat_family;
    struct qn_profile_status
        statuses[QN_PROFILE_STATUSES_MAX]; /* replace the usual statuses in these two families,
                                              except for load errors */
    bool error_then_done; /* an error in a stream is followed by the end-of-stream mark */

    /* Requests. */
    struct qn_profile_defaults chat, complete; /* complete: for /v1/completions */
    double temperature_max;                    /* 0: the contract's own limit */
    enum qn_profile_model model;
    bool numbered_requests; /* X-Request-Id is a number, counted from 1 since the server's start */

    /* Waiting for a model. */
    int64_t queue; /* requests that may wait where no setting limits them; < 0: unlimited */
    struct qn_profile_refusal queue_full, timed_out; /* for paths of `family` only */

    /* Replies. */
    const char
        *unfinished;    /* finish_reason of a completion's chunks before the last one; NULL: null */
    bool usage_in_last; /* the last chunk of the last choice has the usage */

    unsigned health, health_versioned; /* enum qn_health_part, for /health and for /v1/health */
};

/* i below QN_PROFILE_COUNT: the profile; these numbers are the tags of connections (qn_http_tag).
 * Any other number: the main port's profile. */
const struct qn_profile *qn_profile_at(int i);
int qn_profile_index(const struct qn_profile *p);

const struct qn_profile *qn_profile_find(const char *name); /* NULL: unknown */

const struct qn_profile *qn_profile_main(void); /* QN_PROFILE_MAIN_NAME */
const struct qn_profile *
qn_profile_more(void); /* of an additional port for which no profile is set */
const struct qn_profile *
qn_profile_ollama(void); /* of the port that Ollama's clients use by default */

#endif
