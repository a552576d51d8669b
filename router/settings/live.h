/* Settings that change while the server runs: on SIGHUP config.json is read again, and requests
 * change single settings, for good or until the server stops. Those marked LIVE take effect at
 * once, others at the next start; nothing changes unless all that is asked for is right.
 *
 * Changes are made one after the other, in the order in which they were asked for, whoever asked:
 * each begins with what the one before has left. Loop thread. */
#ifndef QN_SETTINGS_LIVE_H
#define QN_SETTINGS_LIVE_H

#include "base/json.h"
#include "io/loop.h"
#include "settings/settings.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_live_config {
    struct qn_loop *loop;
    struct qn_settings
        *running; /* of the server; borrowed. Strings of LIVE settings are replaced */
    struct qn_settings_layers layers; /* where they came from; file and request are not used */
    /* MAY, both or none. Before changes are written: what must be known of the running server, in
     * memory that free() takes; then, on a worker, whether a server could start with settings of
     * which `changes` names those that change. */
    void *(*look)(void *ctx);
    qn_err (*can_start)(const void *looked, const struct qn_settings *s,
                        const struct qn_jref *changes, struct qn_error *e);
    void (*apply)(void *ctx); /* MUST. Hands the running settings on to whom they concern */
    void *ctx;
};

struct qn_live;
struct qn_live *qn_live_new(const struct qn_live_config *config);

/* The server stops: what is asked for from now on is refused. What was asked for before is done
 * while the loop runs. */
void qn_live_drain(struct qn_live *l);
bool qn_live_busy(const struct qn_live *l); /* something is not done yet */
/* Before the loop goes: what is not being written is refused (QN_EBUSY); what is, is finished while
 * the loop is freed. NULL allowed. */
void qn_live_stop(struct qn_live *l);
void qn_live_free(struct qn_live *l); /* after the loop has gone; NULL allowed */

/* Called once for each change, and not from within the call that asked for it: with NULL the
 * settings have changed, with an error all is as it was. */
typedef void (*qn_live_done)(void *ctx, const struct qn_error *e);

/* Reads everything again. */
void qn_live_reload(struct qn_live *l, qn_live_done done, void *ctx);

/* Sets what a JSON object says, names as in config.json; null takes a setting back to what it is
 * without it. keep: writes it into config.json. QN_EINVAL names what no request may change. */
void qn_live_set(struct qn_live *l, const struct qn_jref *changes, bool keep, qn_live_done done,
                 void *ctx);

/* The settings as they will be after the next start, and what of them is not so yet. */
const struct qn_settings *qn_live_wanted(const struct qn_live *l);
bool qn_live_waits(const struct qn_live *l, size_t i); /* for the next start */

/* Whether an object of changes names a setting, however it spells it. */
bool qn_live_changes(const struct qn_jref *changes, const char *name);

/* Writes config.json's new text: `old` (its text, "" when there is none) with what `changes` says,
 * each on a line of its own. Values are taken as `with` has them; null removes, and with NULL
 * removes all that changes names. Pure. */
qn_err qn_live_merge(const char *old, const struct qn_jref *changes, const struct qn_settings *with,
                     struct qn_buf *out, struct qn_error *e);

#endif
