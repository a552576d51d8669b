/* Reads the files of every model in the catalog, one after another, on a worker thread, and writes
 * to the catalog what is missing there: their checksums and their metadata. Reading a file is
 * broken off when its model is removed from the catalog. Loop thread. */
#ifndef QN_MODELS_METADATA_SCAN_H
#define QN_MODELS_METADATA_SCAN_H

struct qn_registration_world;
struct qn_metadata_scan;

/* Begins at once. world: the catalog and the inspector; lent. */
struct qn_metadata_scan *qn_metadata_scan_new(const struct qn_registration_world *world);

/* The catalog has changed: scan again. */
void qn_metadata_scan_again(struct qn_metadata_scan *s);

/* Cancels the running scan; call before the loop is freed. */
void qn_metadata_scan_stop(struct qn_metadata_scan *s);
void qn_metadata_scan_free(struct qn_metadata_scan *s); /* after the loop; NULL allowed */

#endif
