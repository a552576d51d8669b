/* Looks at the files of every model in the catalog, one after another, on a worker: what is not
 * known of them yet (their sum, what they say of themselves) goes into the catalog. Loop thread. */
#ifndef QN_ROUTER_SURVEY_H
#define QN_ROUTER_SURVEY_H

#include "catalog/catalog.h"
#include "io/loop.h"

struct qn_survey;

/* Begins at once. *closed becomes true when the catalog has been closed; both must outlive the
 * loop. */
struct qn_survey *qn_survey_new(struct qn_loop *l, struct qn_catalog *catalog, const bool *closed);

/* The catalog has changed: look again. */
void qn_survey_again(struct qn_survey *s);

/* Gives up what runs; before the loop is freed. */
void qn_survey_stop(struct qn_survey *s);
void qn_survey_free(struct qn_survey *s); /* after the loop; NULL allowed */

#endif
