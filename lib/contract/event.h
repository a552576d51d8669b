/* What happened: the child's answer to a job, one event after another.
 *
 * Order of a job's events: PROGRESS* then, per choice, TEXT* and one DONE; after the last DONE (of all n choices)
 * exactly one USAGE; then END. Or at any point one ERROR, after which nothing follows. END and
 * ERROR are the last frame of a reply. */
#ifndef QN_CONTRACT_EVENT_H
#define QN_CONTRACT_EVENT_H

#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_event_kind {
    QN_EV_NONE,
    QN_EV_PROGRESS, /* prompt tokens computed so far */
    QN_EV_TEXT,     /* more text of one choice: whole UTF-8 characters */
    QN_EV_DONE,     /* one choice is complete */
    QN_EV_USAGE,    /* token counts and times of the whole job */
    QN_EV_END,      /* nothing follows */
    QN_EV_ERROR,    /* the job failed; nothing follows */
    QN_EV_COUNT
};

enum qn_finish {
    QN_FINISH_NONE,
    QN_FINISH_STOP,   /* end token or stop string */
    QN_FINISH_LENGTH, /* max_tokens or the context's end */
    QN_FINISH_COUNT
};

struct qn_event {
    enum qn_event_kind kind;
    int64_t index;        /* TEXT, DONE: choice, from 0 */
    const char *text;     /* TEXT; lent until the next event */
    const char *logprobs; /* TEXT, or NULL: JSON array, one object per token of this text:
                             {"id":5,"token":"text","bytes":[..],"logprob":-0.1 or null (first prompt token),
                              "top":[{"id","token","bytes","logprob"}, ...]} */
    enum qn_finish finish;   /* DONE */
    const char *stop;        /* DONE: the stop string that ended it, or NULL */
    int64_t done, total;     /* PROGRESS: prompt tokens */
    struct {                 /* USAGE */
        int64_t prompt;      /* prompt tokens, cached ones included */
        int64_t cached;      /* of those, taken from an earlier prompt's cache */
        int64_t output;      /* tokens generated over all choices */
        double prompt_ms;    /* from start to first logits */
        double output_ms;    /* generating */
    } usage;
    struct qn_error error;   /* ERROR */
};

void qn_event_init(struct qn_event *ev, enum qn_event_kind kind);
const char *qn_event_name(enum qn_event_kind kind); /* "text", "done", ... */
const char *qn_finish_name(enum qn_finish f);       /* "stop", "length" */

#endif
