/* Rendering with variables that are made directly from the caller's structs, without JSON in
 * between. */
#ifndef QN_JINJA_BIND_H
#define QN_JINJA_BIND_H

#include "jinja/run.h"
#include "jinja/template.h"

/* Sets the variables with qn_trun_variable and the functions of value.h and run.h. The memory that
 * the values point to must outlive the rendering. */
typedef enum qn_tflow (*qn_tbind)(struct qn_trun *run, void *ctx);

/* Returns where to store a variable's value; NULL when the template never mentions the name. */
struct qn_tval *qn_trun_variable(struct qn_trun *run, const char *name, size_t n);

/* Like qn_template_render, with the variables that `bind` sets. */
qn_err qn_template_render_bound(const struct qn_template *t, qn_tbind bind, void *ctx,
                                int64_t wall_ms, struct qn_buf *out, struct qn_error *e);

#endif
