/* Which files a client may name: one rule for all that take paths. */
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
    struct qn_inventory *inventory;                          /* that knows files of options */
    const char *builtin_dir, *models_dir, *extra_models_dir; /* settings; the last MAY be NULL */
    bool open_to_others;                                     /* bound beyond loopback */
};

/* True where this server may open the file for a client; else the client has been answered.
 * - An admin of a server that nobody else can reach names any file, but one that the user who asks
 *   could not read is answered with the same 404 as one that there is not.
 * - Others, and any client of a server that other machines reach, name what lies in its folders of
 *   models; anything else is 403 whether it is there or not.
 * Loop thread. */
bool qn_may_open(const struct qn_open_rule *rule, struct qn_http *h, const char *path);

/* True when the user may read the file by the permission bits of the file and of the folders that
 * lead to it. Groups are not looked up: a file that is readable by a group alone is not readable.
 */
bool qn_readable_by(const char *path, uid_t uid);

/* The same for the adapters that options of loading name; what is no list of paths is refused where
 * options are read. */
bool qn_may_open_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options);

/* The same for options that are to be saved with a model, which would spoil every later load if one
 * of their files, the draft model's included, were missing: then the client is answered 400 with
 * the option as param and the path. What the client may not open is refused first, so that the
 * answer tells nothing of it. */
bool qn_may_save_options(const struct qn_open_rule *rule, struct qn_http *h,
                         const struct qn_jref *options);

/* The same for an order: its options, and all files of this machine that it names (404). */
bool qn_may_open_order(const struct qn_open_rule *rule, struct qn_http *h,
                       const struct qn_pull_order *order);

#endif
