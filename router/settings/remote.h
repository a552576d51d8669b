/* Models that other machines compute, as the server keeps them: one file each in DATA_DIR/remotes,
 * which only its owner can read (contract/remote.h), and a row of the catalog that names it. Keys
 * are in that file, or in the environment; no API and no log shows them. */
#ifndef QN_SETTINGS_REMOTE_H
#define QN_SETTINGS_REMOTE_H

#include "base/buf.h"
#include "base/json.h"
#include "catalog/catalog.h"

#include <stdbool.h>

/* Adds to the options of its child what is not in the file: the key that the file says is in the
 * environment. QN_EINVAL: it is not there. Reads a small file. */
qn_err qn_remote_options(const char *file, struct qn_buf *options, struct qn_error *e);

/* A definition out of a request: "base_url" or "upstreams" and what contract/remote.h has beside
 * them. *file gets the JSON text of the file, *shown what lists of models may show. */
qn_err qn_remote_define(const struct qn_jref *request, struct qn_buf *file, struct qn_buf *shown,
                        struct qn_error *e);

/* Reads every definition again, when the server starts. What cannot be used any more is marked in
 * its row, as "unsupported" with the reason, and logged; what can be used again loses the mark. */
void qn_remote_review(struct qn_catalog *catalog);

/* True when a definition in the data folder names this variable as its key_env, allowed or not.
 * Reads small files. */
bool qn_remote_names_variable(const char *data_dir, const char *name);

/* Takes the file of a model that has left off the disk, if it is one of these and no row has it. */
void qn_remote_release(const char *data_dir, const struct qn_snapshot *snap, const char *path);

#endif
