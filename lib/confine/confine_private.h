/* Shared by the files that implement confine.h. No other file includes this. */
#ifndef QN_CONFINE_CONFINE_PRIVATE_H
#define QN_CONFINE_CONFINE_PRIVATE_H

#include "confine/confine.h"

/* Applies a Landlock ruleset to this process and its future children. The caller closes
 * `ruleset`. */
qn_err qn_confine_apply(int ruleset, struct qn_error *e);

#endif
