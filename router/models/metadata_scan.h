/* Looks at the files of every model in the catalog, one after another, on a worker: what is not
 * known of them yet (their sum, what they say of themselves) goes into the catalog. A file
 * whose model leaves the catalog meanwhile is given up. Loop thread. */
#ifndef QN_MODELS_METADATA_SCAN_H
#define QN_MODELS_METADATA_SCAN_H

struct qn_registration_world;
struct qn_metadata_scan;

/* Begins at once. world: of the models; lent. */
struct qn_metadata_scan *qn_metadata_scan_new(const struct qn_registration_world *world);

/* The catalog has changed: look again. */
void qn_metadata_scan_again(struct qn_metadata_scan *s);

/* Gives up what runs; before the loop is freed. */
void qn_metadata_scan_stop(struct qn_metadata_scan *s);
void qn_metadata_scan_free(struct qn_metadata_scan *s); /* after the loop; NULL allowed */

#endif
