/* Which files a client may name: one rule for all requests with paths.
 *
 * Looking at a file takes as long as its disk does, for ever on a network mount whose server is
 * gone. So a handler lists the files that its request names, and a worker looks at them first. */
#ifndef QN_LIBRARY_MAY_OPEN_H
#define QN_LIBRARY_MAY_OPEN_H

#include "base/json.h"
#include "downloads/pull_order.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "models/registration.h"

#include <stdbool.h>
#include <sys/types.h>

enum { QN_OPEN_LOOKS = 2 /* requests whose files are looked at at a time; others are queued */ };

/* What the rule depends on; outlives the loop. */
struct qn_open_rule {
    struct qn_loop *loop;
    struct qn_auth *auth;
    struct qn_inventory *inventory;                          /* resolves the names in options that
                                                                stand for files */
    const char *builtin_dir, *models_dir, *extra_models_dir; /* settings; the last MAY be NULL */
    bool open_to_others;                                     /* the server listens on addresses that
                                                                other machines can reach */
    /* Calls the handler of a request again. */
    void (*again)(void *ctx, struct qn_http *h);
    void *again_ctx;
    /* owned by may_open.c, zero at first: */
    struct qn_open_look *waiting; /* oldest first */
    int running;
    const struct qn_http *opened; /* during `again`: the request, whose files may be opened */
};

/* The files that a request names, in the order in which they are checked. Only `rule` is set by the
 * handler; the rest is zero at first. Its memory is freed by qn_may_open, or by a function below
 * that fails. Loop thread. */
struct qn_named_files {
    struct qn_open_rule *rule;
    struct qn_arena *arena; /* NULL: no file is named */
    struct qn_named_file *first, *last;
    struct qn_error *refusal; /* the error if nothing is wrong with the files before it */
};

/* A file that the client wants opened; path is copied. */
void qn_named_file(struct qn_named_files *n, const char *path);

/* The adapters in load options. Values that are not a list of paths are ignored here: the parser of
 * options rejects them. QN_EINVAL: more adapters than a model takes, whatever its type. */
qn_err qn_named_options(struct qn_named_files *n, const struct qn_jref *options,
                        struct qn_error *e);

/* The same for options that are to be saved with a model, where a missing file, the draft model's
 * included, would make every later load fail: the client gets 400 with the option as param and the
 * path. Adapters that the client may not open are refused before any is looked for, so that the
 * response reveals nothing of them. */
qn_err qn_named_saved_options(struct qn_named_files *n, const struct qn_jref *options,
                              struct qn_error *e);

/* The same for a download order: the files in its options, and all files of this machine that it
 * refers to, which must exist (404). */
qn_err qn_named_order(struct qn_named_files *n, const struct qn_pull_order *order,
                      struct qn_error *e);

/* True: the files may be opened. False: the handler must return without having changed anything,
 * because the files have to be looked at first. After that the error response is sent, or the
 * handler is called a second time and this call returns true; neither happens if the client has
 * disconnected. The rule:
 * - An admin of a server on loopback may name any file; but a file that the requesting user could
 *   not read gives the same 404 as a missing file.
 * - Other clients, and all clients of a server that other machines can reach, may name files in
 *   the server's model folders; any other path gives 403 whether it exists or not.
 * Loop thread. */
bool qn_may_open(struct qn_named_files *n, struct qn_http *h);

/* True when the user may read the file by the permission bits of the file and of the folders on its
 * path. Groups are not evaluated: a file that only a group may read counts as unreadable. May
 * block on the disk. Any thread. */
bool qn_readable_by(const char *path, uid_t uid);

#endif
