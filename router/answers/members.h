/* How many members the objects of a request may have. Members are looked for one after another, a
 * hundred of them in some requests: without a limit one body holds the loop up. */
#ifndef QN_ANSWERS_MEMBERS_H
#define QN_ANSWERS_MEMBERS_H

#include "base/error.h"
#include "base/json.h"

enum {
    QN_REQUEST_MEMBERS_MAX = 1024, /* of a request itself */
    QN_OBJECT_MEMBERS_MAX = 8192   /* of each object in it */
};

/* QN_EINVAL with the object's path and the limit. Looks at each value once. */
qn_err qn_members_check(const struct qn_jref *root, struct qn_error *e);

#endif
