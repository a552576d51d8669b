/* The tests of jinja2, that is, the predicates after `is`. */
#ifndef QN_JINJA_TESTS_H
#define QN_JINJA_TESTS_H

#include "jinja/value.h"

struct qn_ttest {
    const char *name;
    enum qn_tflow (*call)(struct qn_trun *run, const struct qn_tval *v, const struct qn_targs *args,
                          bool *out);
};

const struct qn_ttest *qn_ttest_find(const struct qn_tval *name); /* NULL: there is no such test */

#endif
