/* Settings that change while the server runs. On SIGHUP config.json is read again; requests change
 * single settings, permanently or until the server stops. Settings marked LIVE take effect at once,
 * others at the next start. A change is made completely or, if any part of it is invalid, not at
 * all.
 *
 * Changes are made one after the other in the order in which they were requested, each on top of
 * the result of the previous one. Loop thread. */
#ifndef QN_SETTINGS_LIVE_H
#define QN_SETTINGS_LIVE_H

#include "base/json.h"
#include "io/loop.h"
#include "settings/settings.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_live_config {
    struct qn_loop *loop;
    /* The server's settings, borrowed. The strings of LIVE settings are replaced. */
    struct qn_settings *running;
    /* the layers with which the server was started; their members file and request are not used */
    struct qn_settings_layers layers;
    /* MAY both be NULL, but not only one of them. `look` is called on the loop before a change is
     * written; it returns the facts about the running server that can_start needs, in memory for
     * free(). can_start is then called on a worker and checks whether a server could start with the
     * settings s; `changes` has the settings that would change. */
    void *(*look)(void *ctx);
    qn_err (*can_start)(const void *looked, const struct qn_settings *s,
                        const struct qn_jref *changes, struct qn_error *e);
    void (*apply)(void *ctx); /* MUST. Puts the running settings into effect */
    void *ctx;
};

struct qn_live;
struct qn_live *qn_live_new(const struct qn_live_config *config);

/* Refuses further changes, as the server stops. Changes requested before are still made while the
 * loop runs. */
void qn_live_drain(struct qn_live *l);
bool qn_live_busy(const struct qn_live *l); /* a change has not ended */
/* Call it before the loop is freed. Changes that are not yet being written are refused (QN_EBUSY);
 * one that is being written ends while the loop is freed. NULL allowed. */
void qn_live_stop(struct qn_live *l);
void qn_live_free(struct qn_live *l); /* after the loop has been freed; NULL allowed */

/* Called once for each change, never from within the function that requested it. NULL: the settings
 * have changed. Otherwise nothing has changed. */
typedef void (*qn_live_done)(void *ctx, const struct qn_error *e);

/* Reads all layers again. */
void qn_live_reload(struct qn_live *l, qn_live_done done, void *ctx);

/* Sets the settings named in a JSON object, with names as in config.json; null resets a setting to
 * its value without this layer. keep: writes the change to config.json. QN_EINVAL: requests may not
 * change one of the settings; the message names it. */
void qn_live_set(struct qn_live *l, const struct qn_jref *changes, bool keep, qn_live_done done,
                 void *ctx);

/* The settings that the next start will have, and which of them are not yet in effect. */
const struct qn_settings *qn_live_wanted(const struct qn_live *l);
bool qn_live_waits(const struct qn_live *l, size_t i); /* whether setting i has a wanted value that
                                                          takes effect only at the next start */

/* Whether an object of changes names this setting, in any of its spellings. */
bool qn_live_changes(const struct qn_jref *changes, const char *name);

/* Writes the new text of config.json: `old` (its text, "" if the file does not exist) with
 * `changes` applied, one member per line. Values are taken from `with`. A member that is null in
 * changes is removed; if `with` is NULL, all members named in changes are removed. Pure. */
qn_err qn_live_merge(const char *old, const struct qn_jref *changes, const struct qn_settings *with,
                     struct qn_buf *out, struct qn_error *e);

#endif
