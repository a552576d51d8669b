/* Which files a client may name: one rule for all requests with paths. */
#ifndef QN_LIBRARY_MAY_OPEN_H
#define QN_LIBRARY_MAY_OPEN_H

#include "base/json.h"
#include "downloads/pull_order.h"
#include "io/http_server.h"
#include "models/registration.h"

#include <stdbool.h>
#include <sys/types.h>

/* What the rule depends on; outlives the server. */
struct qn_open_rule {
    struct qn_auth *auth;
    struct qn_inventory *inventory;                          /* resolves the names in options that
                                                                stand for files */
    const char *builtin_dir, *models_dir, *extra_models_dir; /* settings; the last MAY be NULL */
    bool open_to_others;                                     /* the server listens on addresses that
                                                                other machines can reach */
};

/* True if this server may open the file for the client; else the error response has been sent.
 * - An admin of a server on loopback may name any file; but a file that the requesting user could
 *   not read gives the same 404 as a missing file.
 * - Other clients, and all clients of a server that other machines can reach, may name files in
 *   the server's model folders; any other path gives 403 whether it exists or not.
 * Loop thread. */
bool qn_may_open(const struct qn_open_rule *rule, struct qn_http *h, const char *path);

/* True when the user may read the file by the permission bits of the file and of the folders on its
 * path. Groups are not evaluated: a file that only a group may read counts as unreadable. */
bool qn_readable_by(const char *path, uid_t uid);

/* The same for the paths of adapters in load options. Values that are not a list of paths are
 * ignored here: the parser of options rejects them. */
bool qn_may_open_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options);

/* The same for options that are to be saved with a model, where a missing file, the draft model's
 * included, would make every later load fail: the client gets 400 with the option as param and the
 * path. Paths that the client may not open are refused first, so that the response reveals nothing
 * of them. */
bool qn_may_save_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options);

/* The same for a download order: the files in its options, and all files of this machine that it
 * refers to, which must exist (404). */
bool qn_may_open_order(const struct qn_open_rule *rule, struct qn_http *h,
                       const struct qn_pull_order *order);

#endif
