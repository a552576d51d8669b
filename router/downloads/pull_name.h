/* The names that clients without admin rights may give to models. All clients share the models and
 * their names: such a client may pull what a name means already, or add a name that has no meaning
 * yet. Loop thread; sends no request to a hub. */
#ifndef QN_DOWNLOADS_PULL_NAME_H
#define QN_DOWNLOADS_PULL_NAME_H

#include "downloads/pull_request.h"

/* For an order that says where its files come from. If a model of that name exists, from the same
 * source and with the same description, *asked becomes the order of that model; upgrade as in
 * qn_pull_by_name. If the model is different, or the name is another spelling of a model, an alias
 * or an entry of the built-in lists, admin_only is set. Fails as qn_pull_by_name. */
qn_err qn_pull_name_claim(const struct qn_puller *p, bool upgrade, struct qn_arena *a,
                          struct qn_pull_asked *asked, struct qn_error *e);

#endif
