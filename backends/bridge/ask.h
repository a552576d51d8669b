/* Translates a job to an HTTP request for an OpenAI-style server. Pure. */
#ifndef QN_BRIDGE_ASK_H
#define QN_BRIDGE_ASK_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/inputs.h"
#include "contract/job.h"
#include "contract/remote.h"

enum { QN_ASK_BODY_MAX = 512 * 1024 * 1024 };

/* The APIs that servers have: their paths and the forms of their requests. */
enum qn_api {
    QN_API_OPENAI,  /* OpenAI's API, below a base address that ends in /v1 */
    QN_API_WHISPER, /* whisper-server: the only path is /inference */
    QN_API_SD       /* sd-server: OpenAI's API for images, with further parameters embedded in the
                       prompt */
};

struct qn_ask_to {
    enum qn_api api;
    enum qn_flavour flavour;
    const char *model;   /* the model's name on the server; NULL: the server has one model and needs
                            no name */
    bool several_owners; /* requests have come from more than one owner. The server could then reuse
                            one owner's cached prompt for another owner's request, so its prompt
                            cache is turned off */
};

struct qn_engine_call {
    const char *path; /* appended to the base address; a constant */
    char content_type[128];
    struct qn_buf body;
    size_t first, inputs; /* EMBED, RERANK: the range of the job's inputs in this request */
};

/* batch: for EMBED and RERANK, the inputs that this request contains; else NULL. QN_EUNSUPPORTED,
 * QN_EINVAL: the server cannot do what the job asks for. The caller must pass *out to
 * qn_ask_deinit, also after an error. */
qn_err qn_ask_make(const struct qn_job *job, const struct qn_ask_to *to,
                   const struct qn_input_batch *batch, struct qn_engine_call *out,
                   struct qn_error *e);
void qn_ask_deinit(struct qn_engine_call *ask);

#endif
