/* The LoRA adapters that a model was loaded with (names, scales), and the choice of adapters for a
 * job. */
#ifndef QN_LLM_ADAPTERS_H
#define QN_LLM_ADAPTERS_H

#include "base/json.h"
#include "contract/job.h"
#include "nets/nets.h"

/* One entry of the load option "lora"; strings are borrowed. */
struct qn_adapter_option {
    const char *path, *name; /* name NULL: the file's name without folder and extension */
    double scale;            /* the scale in requests that set none; 0: such requests do not use the
                                adapter */
};

struct qn_adapter_options {
    struct qn_adapter_option v[QN_ADAPTERS_MAX];
    size_t n;
};

/* Reads [{"path": "/a.gguf", "name": "a", "scale": 1}, ...]. QN_EINVAL: a member is invalid, as the
 * message says. */
qn_err qn_adapter_options_read(const struct qn_jref *list, struct qn_adapter_options *out,
                               struct qn_error *e);

struct qn_adapters {
    int32_t n;
    struct {
        char *name;
        float scale;
    } v[QN_ADAPTERS_MAX]; /* v[i]: adapter number i of the network */
};

/* Loads the files into net. QN_EINVAL with the file's path and its fault; QN_ENOMEM. */
qn_err qn_adapters_load(struct qn_adapters *a, struct qn_net *net,
                        const struct qn_adapter_options *options, struct qn_error *e);
void qn_adapters_deinit(struct qn_adapters *a);

/* Sets the LoRA set (struct qn_mix) of a job: which adapters its tokens go through. They are sorted
 * by number, so that equal requests give equal sets. QN_EINVAL if an adapter does not exist or is
 * named twice. */
qn_err qn_adapters_mix(const struct qn_adapters *a, const struct qn_loras *asked,
                       struct qn_mix *out, struct qn_error *e);

#endif
