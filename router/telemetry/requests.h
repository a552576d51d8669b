/* The last inference requests that have ended: facts about each, and, only while an admin has
 * switched capturing on, the beginning of its body and of its reply. All of it is in memory only.
 *
 * Captured texts have a limit for all together; beyond it the oldest are dropped. Capturing ends
 * after the minutes for which it was switched on; what was captured can be read for another
 * QN_REQUESTS_STAY_MINUTES. Headers are never captured, so no keys are; values in a body whose name
 * says that they are secrets are replaced by asterisks. Loop thread only. */
#ifndef QN_TELEMETRY_REQUESTS_H
#define QN_TELEMETRY_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_REQUESTS_KEPT = 1000,
    QN_REQUESTS_PATH_MAX = 200,         /* bytes of a path that are kept */
    QN_REQUESTS_TEXT_MAX = 256 * 1024,  /* captured of one body, and of one reply */
    QN_REQUESTS_BYTES_MIN = 256 * 1024, /* limits of all captured texts together */
    QN_REQUESTS_BYTES_MAX = 256 * 1024 * 1024,
    QN_REQUESTS_BYTES_DEFAULT = 16 * 1024 * 1024,
    QN_REQUESTS_MINUTES_MAX = 24 * 60,
    QN_REQUESTS_MINUTES_DEFAULT = 15,
    QN_REQUESTS_STAY_MINUTES = 60
};

enum qn_request_end { QN_REQUEST_COMPLETED, QN_REQUEST_FAILED, QN_REQUEST_CANCELLED };
const char *qn_request_end_name(enum qn_request_end end);

/* Facts about a request. Strings are never NULL; "" is unknown or none. */
struct qn_request_facts {
    int64_t seq;           /* number in the order of ends, from 1; set by qn_requests_add */
    const char *id;        /* as in the log */
    const char *owner;     /* see access/owner.h */
    const char *client;    /* see access/client_id.h */
    const char *path;      /* of the endpoint; "": an answer of a stored chat */
    const char *task;      /* see contract/job.h */
    const char *model;     /* as the request named it */
    const char *error;     /* the message that the client got */
    enum qn_request_end end;
    bool stream;
    int status;            /* 0: it ended before there was one */
    int64_t arrived_ms;    /* Unix time */
    int64_t ms;            /* from its arrival to its end */
    int64_t queued_ms;     /* from its arrival until its model was ready for it; -1: it was not */
    int64_t first_ms;      /* from its arrival to the first piece of output; -1: none */
    int64_t prompt, cached, output; /* tokens */
    double tokens_s;       /* of output; 0: unknown */
};

/* A captured text. bytes of the whole text may be more than n. */
struct qn_captured {
    const char *text; /* not terminated, any bytes */
    size_t n;
    int64_t bytes;
};

struct qn_requests;
struct qn_capture; /* captured texts of a request that has not ended */

struct qn_requests *qn_requests_new(void);
void qn_requests_free(struct qn_requests *r); /* NULL allowed */

/* Switches capturing on for some minutes, or off, which also drops all captured texts. Values must
 * be within the limits above. */
void qn_requests_capture_on(struct qn_requests *r, int64_t bytes, int64_t minutes, int64_t now_ms);
void qn_requests_capture_off(struct qn_requests *r);

/* Whether and how texts are captured. */
struct qn_capture_state {
    bool on;
    int64_t limit, used; /* bytes */
    int64_t left_ms;     /* until capturing ends; 0: it is off */
    int64_t stays_ms;    /* until the captured texts are dropped; 0: there are none */
};
struct qn_capture_state qn_requests_capture_state(struct qn_requests *r, int64_t now_ms);

/* Begins to capture a request with this body; text NULL: a body that is not text, of n bytes.
 * Returns NULL if capturing is off. To be given to qn_requests_add. */
struct qn_capture *qn_requests_capture(struct qn_requests *r, const char *text, size_t n,
                                       int64_t now_ms);
/* Adds the next bytes of the reply. c NULL allowed. */
void qn_requests_capture_reply(struct qn_requests *r, struct qn_capture *c, const char *bytes,
                               size_t n);

/* Adds a request that has ended; strings are copied, and c (MAY be NULL) is taken over. r NULL
 * allowed: then nothing happens, and c must be NULL. */
void qn_requests_add(struct qn_requests *r, const struct qn_request_facts *facts,
                     struct qn_capture *c);

/* Number of the newest request; 0: there was none. */
int64_t qn_requests_last(const struct qn_requests *r);

/* The request with this number, or NULL if it is not kept, or if it belongs to another owner than
 * `owner` (NULL: any). *body and *reply, which MAY be NULL, get its captured texts; their text is
 * NULL if there is none. All is lent until the next call with r. */
const struct qn_request_facts *qn_requests_at(struct qn_requests *r, int64_t seq, const char *owner,
                                              struct qn_captured *body, struct qn_captured *reply,
                                              int64_t now_ms);
/* The number of the request with this id, 0: it is not kept. */
int64_t qn_requests_find(const struct qn_requests *r, const char *id);

/* Replaces, in JSON text of n bytes, the characters of strings that are the value of a member whose
 * name says that it is secret (api_key, authorization, password ...), and of all strings within an
 * object or array that is such a value, by asterisks. Text that is not JSON, or is cut, is handled
 * as far as it can be recognised. Pure. */
void qn_requests_hide_secrets(char *text, size_t n);

#endif
