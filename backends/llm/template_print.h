/* Values as text: as `{{ }}` shows them, as JavaScript concatenates them, and as JSON. All append
 * to the rendering's output. */
#ifndef QN_LLM_TEMPLATE_PRINT_H
#define QN_LLM_TEMPLATE_PRINT_H

#include "llm/template_value.h"

/* tojson's settings. */
struct qn_tjson {
    double indent; /* 0: all on one line */
    bool ensure_ascii, sort_keys;
    const char *item_separator, *key_separator; /* with their lengths */
    size_t item_n, key_n;
    const char *undefined; /* how an undefined value is written */
};

/* Defaults, as Python's json.dumps has them. */
struct qn_tjson qn_tjson_default(double indent);

enum qn_tflow qn_tval_put_json(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tjson *how);
/* {{ v }}: nothing for none and undefined, JSON for lists and dictionaries. */
enum qn_tflow qn_tval_put(struct qn_trun *run, const struct qn_tval *v);
/* The value as JavaScript joins it to a string: floats without .0, [1, 2] as 1,2. */
enum qn_tflow qn_tval_put_raw(struct qn_trun *run, const struct qn_tval *v);

#endif
