/* The filters of jinja2, and what they are made of. */
#ifndef QN_JINJA_FILTERS_H
#define QN_JINJA_FILTERS_H

#include "jinja/value.h"

struct qn_tfilter {
    const char *name;
    /* self is what is filtered. */
    qn_tcall call;
};

const struct qn_tfilter *qn_tfilter_find(const struct qn_tval *name); /* NULL: there is none */

/* What an attribute argument like "a.b.0" leads to. */
struct qn_tpath {
    struct qn_tlist *parts; /* strings and integers */
};
enum qn_tflow qn_tpath_new(struct qn_trun *run, const struct qn_tval *attribute,
                           struct qn_tpath *out);
/* fallback: what stands for undefined parts; NULL: nothing does. */
enum qn_tflow qn_tpath_get(struct qn_trun *run, const struct qn_tpath *path,
                           const struct qn_tval *item, const struct qn_tval *fallback,
                           struct qn_tval *out);
/* A value for comparisons without case. */
enum qn_tflow qn_tval_fold(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
/* A string; fails for anything else. */
enum qn_tflow qn_tval_need_string(struct qn_trun *run, const struct qn_tval *v);

/* Their parts, by topic. Rows end with a NULL name. */
extern const struct qn_tfilter qn_tfilters_text[];
extern const struct qn_tfilter qn_tfilters_html[];
extern const struct qn_tfilter qn_tfilters_number[];
extern const struct qn_tfilter qn_tfilters_list[];
extern const struct qn_tfilter qn_tfilters_order[];
extern const struct qn_tfilter qn_tfilters_select[];

#endif
