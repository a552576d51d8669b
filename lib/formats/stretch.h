/* The option rope_scaling: extends a model's context beyond the length in its file by scaling the
 * rotary position embeddings (RoPE). Pure. */
#ifndef QN_FORMATS_STRETCH_H
#define QN_FORMATS_STRETCH_H

#include "base/error.h"

#include <stdint.h>

enum {
    QN_STRETCH_FACTOR_MAX = 1024,
    QN_STRETCH_CONTEXT_MAX = 1 << 24 /* tokens */
};

enum qn_stretch_kind { QN_STRETCH_NONE, QN_STRETCH_LINEAR, QN_STRETCH_YARN };

struct qn_stretch {
    enum qn_stretch_kind kind;
    float factor;     /* at least 1 */
    int32_t original; /* tokens of the context before extension; 0: the trained length */
};

/* Parses "none", "linear:4", "yarn:4" or "yarn:4:32768" (a factor, and the original context).
 * QN_EINVAL: any other text. */
qn_err qn_stretch_parse(const char *text, struct qn_stretch *out, struct qn_error *e);

/* The length in tokens of a context of `trained` tokens after extension, at most
 * QN_STRETCH_CONTEXT_MAX. stretch MAY be NULL: no extension. */
int32_t qn_stretch_context(const struct qn_stretch *stretch, int32_t trained);

#endif
