/* Looks at the files of every model in the catalog, one after another, on a worker: what is not
 * known of them yet (their sum, what they say of themselves) goes into the catalog. A file
 * whose model leaves the catalog meanwhile is given up. Loop thread. */
#ifndef QN_MODELS_SURVEY_H
#define QN_MODELS_SURVEY_H

struct qn_registration_world;
struct qn_survey;

/* Begins at once. world: of the models; lent. */
struct qn_survey *qn_survey_new(const struct qn_registration_world *world);

/* The catalog has changed: look again. */
void qn_survey_again(struct qn_survey *s);

/* Gives up what runs; before the loop is freed. */
void qn_survey_stop(struct qn_survey *s);
void qn_survey_free(struct qn_survey *s); /* after the loop; NULL allowed */

#endif
