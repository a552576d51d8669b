/* The filters of jinja2 and their shared functions. */
#ifndef QN_JINJA_FILTERS_H
#define QN_JINJA_FILTERS_H

#include "jinja/value.h"

struct qn_tfilter {
    const char *name;
    /* self is the filtered value. */
    qn_tcall call;
};

/* NULL: there is no such filter */
const struct qn_tfilter *qn_tfilter_find(const struct qn_tval *name);

/* A parsed attribute argument such as "a.b.0". */
struct qn_tpath {
    struct qn_tlist *parts; /* strings and integers */
};
enum qn_tflow qn_tpath_new(struct qn_trun *run, const struct qn_tval *attribute,
                           struct qn_tpath *out);
/* Looks up the path in item. fallback replaces undefined parts; NULL: undefined parts are not
 * replaced. */
enum qn_tflow qn_tpath_get(struct qn_trun *run, const struct qn_tpath *path,
                           const struct qn_tval *item, const struct qn_tval *fallback,
                           struct qn_tval *out);
/* A copy of the value for comparisons that ignore case. */
enum qn_tflow qn_tval_fold(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
/* Fails unless v is a string. */
enum qn_tflow qn_tval_need_string(struct qn_trun *run, const struct qn_tval *v);

/* The tables of filters by topic. Each ends with a NULL name. */
extern const struct qn_tfilter qn_tfilters_text[];
extern const struct qn_tfilter qn_tfilters_html[];
extern const struct qn_tfilter qn_tfilters_number[];
extern const struct qn_tfilter qn_tfilters_list[];
extern const struct qn_tfilter qn_tfilters_order[];
extern const struct qn_tfilter qn_tfilters_select[];

#endif
