/* Storage of models that other machines compute. Each is a file in DATA_DIR/remotes, readable by
 * its owner only (contract/remote.h), and a row of the catalog that names this file. Keys are in
 * the file or in the environment; no API and no log shows them. */
#ifndef QN_SETTINGS_REMOTE_H
#define QN_SETTINGS_REMOTE_H

#include "base/buf.h"
#include "base/json.h"
#include "catalog/catalog.h"

#include <stdbool.h>

/* Adds the key to the options of the model's child, if the file says that the key is in an
 * environment variable. QN_EINVAL: the variable is not set. Reads a small file. */
qn_err qn_remote_options(const char *file, struct qn_buf *options, struct qn_error *e);

/* Makes a definition from a request, which has "base_url" or "upstreams" and further members of
 * contract/remote.h. *file gets the JSON text of the file, *shown the JSON text that lists of
 * models may show: the definition without keys. */
qn_err qn_remote_define(const struct qn_jref *request, struct qn_buf *file, struct qn_buf *shown,
                        struct qn_error *e);

/* Reads every definition again at the server's start. A definition that cannot be used is marked in
 * its row as "unsupported" with the reason, and logged; a mark that no longer applies is
 * removed. */
void qn_remote_review(struct qn_catalog *catalog);

/* Whether a definition in the data folder names this variable as its key_env, even if that name is
 * not allowed. Reads small files. */
bool qn_remote_names_variable(const char *data_dir, const char *name);

/* Deletes the file of a model that has been deleted, if the file is in DATA_DIR/remotes and no row
 * uses it. */
void qn_remote_release(const char *data_dir, const struct qn_snapshot *snap, const char *path);

#endif
