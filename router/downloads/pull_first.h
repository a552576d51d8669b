/* Requests for models that are known but not downloaded: the model is downloaded first, as
 * Lemonade's clients expect of load and of transcriptions. Loop thread. */
#ifndef QN_DOWNLOADS_PULL_FIRST_H
#define QN_DOWNLOADS_PULL_FIRST_H

#include "base/error.h"
#include "downloads/pull_request.h"

struct qn_pull_first; /* a request that waits for a download */

/* Begins to wait if the model is in the built-in list, or in the catalog without its files, and the
 * server is online; else *out is NULL, and the request goes on at once. done is called once, never
 * from within this call, with NULL when the model has been downloaded. */
/* owner: the owner of the download, see access/owner.h. */
qn_err qn_pull_first(const struct qn_puller *p, const char *name, const char *owner,
                     void (*done)(void *ctx, const struct qn_error *e), void *ctx,
                     struct qn_pull_first **out, struct qn_error *e);
/* The client has gone; the download goes on. NULL allowed. */
void qn_pull_first_leave(struct qn_pull_first *f);

#endif
