/* A job as an HTTP request of an OpenAI-style server. Pure. */
#ifndef QN_BRIDGE_ASK_H
#define QN_BRIDGE_ASK_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/inputs.h"
#include "contract/job.h"
#include "contract/remote.h"

enum { QN_ASK_BODY_MAX = 512 * 1024 * 1024 };

/* How a server's addresses and forms differ. */
enum qn_api {
    QN_API_OPENAI,  /* below a base address that ends in /v1 */
    QN_API_WHISPER, /* whisper-server: one address, /inference */
    QN_API_SD       /* sd-server: OpenAI's pictures, further wishes hidden in the prompt */
};

struct qn_ask_to {
    enum qn_api api;
    enum qn_flavour flavour;
    const char *model;   /* as the server calls it; NULL: it has one and needs no name */
    bool several_owners; /* more than one owner has asked: the server would reuse one's prompts
                            for another, so its prompt cache is turned off */
};

struct qn_engine_call {
    const char *path; /* to be put behind the base address; a constant */
    char content_type[128];
    struct qn_buf body;
    size_t first, inputs; /* EMBED, RERANK: which of the job's inputs are in it */
};

/* batch: of an EMBED or RERANK, the inputs that go into this request; else NULL. QN_EUNSUPPORTED,
 * QN_EINVAL: the job wants what the server cannot do. Whatever is returned, the ask is to be given
 * to qn_ask_deinit. */
qn_err qn_ask_make(const struct qn_job *job, const struct qn_ask_to *to,
                   const struct qn_input_batch *batch, struct qn_engine_call *out,
                   struct qn_error *e);
void qn_ask_deinit(struct qn_engine_call *ask);

#endif
