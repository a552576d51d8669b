/* Requests for models that are known but not here: the model is downloaded first, as Lemonade's
 * clients expect of load and of transcriptions. Loop thread. */
#ifndef QN_DOWNLOADS_PULL_FIRST_H
#define QN_DOWNLOADS_PULL_FIRST_H

#include "base/error.h"
#include "downloads/pull_request.h"

struct qn_pull_first; /* a request that waits for a download */

/* Begins to wait when the model is in the built-in list, or known to the catalog without its files,
 * and other machines may be asked; else *out is NULL, and the request goes on as it is. done is
 * called once, not from within, with NULL when the model is here. */
/* owner: whose the download is, see access/owner.h. */
qn_err qn_pull_first(const struct qn_puller *p, const char *name, const char *owner,
                     void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                     struct qn_pull_first **out, struct qn_error *e);
/* The request is gone; the download goes on. NULL allowed. */
void qn_pull_first_leave(struct qn_pull_first *f);

#endif
