/* Limits the members of a request's objects. Members are searched linearly, in some requests a
 * hundred of them: without a limit one body could block the loop. */
#ifndef QN_ANSWERS_MEMBERS_H
#define QN_ANSWERS_MEMBERS_H

#include "base/error.h"
#include "base/json.h"

enum {
    QN_REQUEST_MEMBERS_MAX = 1024, /* of the request itself */
    QN_OBJECT_MEMBERS_MAX = 8192   /* of each object in it */
};

/* QN_EINVAL with the object's path and the limit. Visits each value once. */
qn_err qn_members_check(const struct qn_jref *root, struct qn_error *e);

#endif
