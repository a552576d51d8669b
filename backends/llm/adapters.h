/* The adapters a model was loaded with: their names and scales, and which of them a job asks for.
 */
#ifndef QN_LLM_ADAPTERS_H
#define QN_LLM_ADAPTERS_H

#include "base/json.h"
#include "contract/job.h"
#include "nets/nets.h"

/* One as the load option "lora" has it; strings are lent. */
struct qn_adapter_option {
    const char *path, *name; /* name NULL: the file's, without folder and ending */
    double scale;            /* of answers that do not say; 0: off for those */
};

struct qn_adapter_options {
    struct qn_adapter_option v[QN_ADAPTERS_MAX];
    size_t n;
};

/* [{"path": "/a.gguf", "name": "a", "scale": 1}, ...]; QN_EINVAL names what is wrong. */
qn_err qn_adapter_options_read(const struct qn_jref *list, struct qn_adapter_options *out,
                               struct qn_error *e);

struct qn_adapters {
    int32_t n;
    struct {
        char *name;
        float scale;
    } v[QN_ADAPTERS_MAX]; /* by their number in the net */
};

/* Reads the files into net. QN_EINVAL with the file's path and what is wrong with it; QN_ENOMEM. */
qn_err qn_adapters_load(struct qn_adapters *a, struct qn_net *net,
                        const struct qn_adapter_options *options, struct qn_error *e);
void qn_adapters_deinit(struct qn_adapters *a);

/* What a job's tokens go through: in the order of the adapters' numbers, so that equal wishes are
 * equal mixes. QN_EINVAL: one that is not there, or named twice. */
qn_err qn_adapters_mix(const struct qn_adapters *a, const struct qn_loras *asked,
                       struct qn_mix *out, struct qn_error *e);

#endif
