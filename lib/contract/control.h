/* Messages on descriptor 4 between the router and a child: one JSON line each.
 *
 *    to the child
 *          {"msg":"load","secret":"…64 hex digits…","name":"qwen3","files":["/a.gguf"],"threads":2,
 *           "context":0,"options":{…},"log_level":"info"}
 *          {"msg":"ping","seq":7}   {"msg":"threads","threads":1}   {"msg":"stop","grace_ms":10000}
 *          {"msg":"end_reasoning","job":"ID"}: the job's model is to end its reasoning and answer
 *    to the router
 *          {"msg":"loading","progress":0.4}
 *          {"msg":"ready","context":4096,"memory_bytes":123,"gpu_bytes":0,"slots":4,"threads":2}
 *          … with "upstream":"http://127.0.0.1:40001" if clients' requests may be forwarded to a
 *          server behind the child, and "upstream_key":"…" for its header Authorization: Bearer;
 *          "ends_reasoning":true if the child obeys end_reasoning
 *          {"msg":"warning","template_warning":"…"}: the chat template is not used, or fails
 *          {"msg":"failed","error":{"code":"format","param":"","message":"…"}}
 *          {"msg":"pong","seq":7,"jobs":1,"step_age_ms":12} */
#ifndef QN_CONTRACT_CONTROL_H
#define QN_CONTRACT_CONTROL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

#include <stdint.h>

enum {
    QN_FD_LISTEN = 3,  /* a loopback TCP socket that listens */
    QN_FD_CONTROL = 4, /* one end of a stream socket pair */
    QN_SECRET_HEX = 64,
    QN_CONTROL_LINE_MAX = 1024 * 1024,
    QN_CONTROL_FILES_MAX = 64,
    QN_CONTROL_UPSTREAM_MAX = 256
};

enum qn_control_kind {
    QN_CTL_NONE,
    QN_CTL_LOAD,
    QN_CTL_PING,
    QN_CTL_THREADS,
    QN_CTL_STOP,
    QN_CTL_END_REASONING,
    QN_CTL_LOADING,
    QN_CTL_READY,
    QN_CTL_WARNING,
    QN_CTL_FAILED,
    QN_CTL_PONG,
    QN_CTL_COUNT
};

struct qn_control {
    enum qn_control_kind kind;
    /* LOAD */
    const char *secret, *name;
    const char *log_level;   /* the level of the router's log; NULL: the default */
    struct qn_strings files; /* absolute paths */
    int64_t threads;         /* LOAD, THREADS, READY */
    /* LOAD: tokens wanted per sequence, 0: the child chooses. READY: tokens of each sequence. */
    int64_t context;
    const char *options; /* LOAD: JSON object of load options; never NULL after decoding */
    /* STOP */
    int64_t grace_ms;
    /* END_REASONING: the id of a job; others are ignored */
    const char *job;
    /* LOADING */
    double progress; /* 0 to 1 */
    /* READY */
    int64_t memory_bytes, slots;
    int64_t gpu_bytes;                   /* in the memory of graphics processors */
    const char *upstream, *upstream_key; /* NULL: there is none */
    bool ends_reasoning;
    /* WARNING: one sentence about the model's chat template */
    const char *template_warning;
    /* FAILED */
    struct qn_error error;
    /* PING, PONG */
    int64_t seq, jobs, step_age_ms;
};

void qn_control_init(struct qn_control *c, enum qn_control_kind kind);

/* Appends the message and its newline. */
qn_err qn_control_encode(const struct qn_control *c, struct qn_buf *out);

/* Strings are copied into arena. */
qn_err qn_control_decode(const struct qn_jref *object, struct qn_control *c, struct qn_arena *arena,
                         struct qn_error *e);

#endif
