/* Models with newer files at their hub, as far as a client has asked for a check: kept until the
 * server stops, and valid only while the model is still at the commit that was checked. Loop thread
 * only. */
#ifndef QN_DOWNLOADS_UPDATES_H
#define QN_DOWNLOADS_UPDATES_H

#include "catalog/catalog.h"

#include <stdbool.h>

struct qn_updates;

struct qn_updates *qn_updates_new(void);
void qn_updates_free(struct qn_updates *u); /* NULL allowed */

/* Records the result of a check for a model at this commit. */
void qn_updates_set(struct qn_updates *u, const char *name, const char *commit, bool newer);

bool qn_updates_has(const struct qn_updates *u, const struct qn_model_row *row);

#endif
