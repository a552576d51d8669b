/* A rendering whose variables are made of the caller's own structs, without JSON between. */
#ifndef QN_JINJA_BIND_H
#define QN_JINJA_BIND_H

#include "jinja/run.h"
#include "jinja/template.h"

/* Makes the variables with qn_trun_variable and the functions of value.h and run.h. What the values
 * point to must outlive the rendering. */
typedef enum qn_tflow (*qn_tbind)(struct qn_trun *run, void *ctx);

/* Where a variable's value goes; NULL when the template never mentions the name. */
struct qn_tval *qn_trun_variable(struct qn_trun *run, const char *name, size_t n);

/* As qn_template_render, with the variables that bind makes. */
qn_err qn_template_render_bound(const struct qn_template *t, qn_tbind bind, void *ctx,
                                int64_t wall_ms, struct qn_buf *out, struct qn_error *e);

#endif
