/* A model's Jinja chat template: compiled once, rendered for each request, with limits on work and
 * memory.
 *
 * The language is that of Python's jinja2 3.1 in its sandbox, configured as Transformers does:
 * trim_blocks, lstrip_blocks, break and continue, `{% generation %}`, tojson, strftime_now and
 * raise_exception. Values follow Python's rules. Lists and dictionaries may be modified (append,
 * update ...), which Transformers' sandbox refuses and the templates of some models need. Compiled
 * templates are immutable and may be rendered by several threads at once. */
#ifndef QN_JINJA_TEMPLATE_H
#define QN_JINJA_TEMPLATE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

struct qn_template;

enum {
    QN_TEMPLATE_SOURCE_MAX = 1024 * 1024,
    QN_TEMPLATE_STEPS_MAX =
        3 * 1000 * 1000,         /* units of work of one rendering, about 20 to 60 ns each */
    QN_TEMPLATE_DEPTH_MAX = 200, /* nesting of expressions, blocks and macro calls */
    QN_TEMPLATE_OUTPUT_MAX = 32 * 1024 * 1024,
    QN_TEMPLATE_MEMORY_MAX = 256 * 1024 * 1024
};

/* QN_EFORMAT with the line number in the message. */
qn_err qn_template_new(const char *source, size_t n, struct qn_template **out, struct qn_error *e);
void qn_template_free(struct qn_template *t);

/* Renders with the members of the JSON object `vars` (messages, tools, documents,
 * add_generation_prompt, bos_token, eos_token, enable_thinking ...) as variables. wall_ms is the
 * time that strftime_now formats (in the local time zone). raise_exception("text") yields QN_EINVAL
 * with exactly that text as the message; an error in the template itself QN_EFORMAT; an exceeded
 * limit QN_ELIMIT. Appends to out only on success. */
qn_err qn_template_render(const struct qn_template *t, const struct qn_jref *vars, int64_t wall_ms,
                          struct qn_buf *out, struct qn_error *e);

#endif
