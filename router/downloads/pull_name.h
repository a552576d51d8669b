/* Names that clients without admin rights may give to models. All clients share the models, so a
 * name means the same to all of them: such a client pulls what a name means already, or adds one
 * that means nothing yet. Loop thread; asks no hub. */
#ifndef QN_DOWNLOADS_PULL_NAME_H
#define QN_DOWNLOADS_PULL_NAME_H

#include "downloads/pull_request.h"

/* For an order that says where its files come from. If its model is known, from the same source and
 * described the same way, *asked becomes the order of that model; upgrade is qn_pull_by_name's. If
 * the model is known otherwise, or its name is another way to write a model, alias or entry of the
 * built-in lists, admin_only is set. Fails as qn_pull_by_name. */
qn_err qn_pull_name_claim(const struct qn_puller *p, bool upgrade, struct qn_arena *a,
                          struct qn_pull_asked *asked, struct qn_error *e);

#endif
