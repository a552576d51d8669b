/* Which models have newer files at their hub, as far as somebody has asked: known until the server
 * stops, and only while the model is still the one that was looked at. Loop thread only. */
#ifndef QN_DOWNLOADS_UPDATES_H
#define QN_DOWNLOADS_UPDATES_H

#include "catalog/catalog.h"

#include <stdbool.h>

struct qn_updates;

struct qn_updates *qn_updates_new(void);
void qn_updates_free(struct qn_updates *u); /* NULL allowed */

/* What has been found out about a model that was at this commit. */
void qn_updates_set(struct qn_updates *u, const char *name, const char *commit, bool newer);

bool qn_updates_has(const struct qn_updates *u, const struct qn_model_row *row);

#endif
