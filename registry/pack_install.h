/* Installing and removing engines of packs.h. An engine counts as installed when its folder has its
 * name, which it gets, whole, by one rename; whatever ends the server before that leaves a partial
 * download, which goes on the next time, or a folder in <engines>/.work, which qn_packs_sweep
 * removes.
 *
 *   <engines>/.downloads/RECIPE.BACKEND.<first digits of the sum>   an archive while it grows
 *   <engines>/.work/...                                            what is being put together or
 *                                                                  taken apart
 *   <engines>/RECIPE/BACKEND/VERSION/quince-pack.json, ...          what is installed
 *
 * One server has the folder at a time. Blocking, any thread; two calls about the same engine must
 * not run at the same time. */
#ifndef QN_REGISTRY_PACK_INSTALL_H
#define QN_REGISTRY_PACK_INSTALL_H

#include "base/error.h"
#include "registry/packs.h"
#include "registry/web.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum qn_pack_phase { QN_PACK_RESOLVING, QN_PACK_FETCHING, QN_PACK_UNPACKING };

/* How far an installation is. Written by the thread that is at it, read by anybody. */
struct qn_pack_meter {
    _Atomic int phase; /* enum qn_pack_phase */
    _Atomic int64_t here_bytes, before_bytes;
    _Atomic int64_t size_bytes; /* < 0: not known yet */
};

struct qn_pack_order {
    const struct qn_packs *packs;
    const struct qn_pack *pack;
    const struct qn_web *web; /* its stop flag, which it must have, ends the call */
    const char *unpacker;     /* the program quince-unpack */
    struct qn_pack_meter *meter;
};

/* Downloads, checks, unpacks and puts in its place what the table says, also over what is there.
 * Versions of before stay, see qn_pack_tidy. QN_EUNSUPPORTED: there is no archive for this
 * processor, nobody tells its SHA-256, or offline; QN_EFORMAT: it is another file than the one
 * that was published, or no archive with this program; QN_ECANCELLED, QN_EIO, QN_ETIMEOUT,
 * QN_EBUSY. */
qn_err qn_pack_install(const struct qn_pack_order *order, struct qn_error *e);

/* Removes what is installed and downloaded of an engine besides the version of the table. */
void qn_pack_tidy(const struct qn_packs *p, const struct qn_pack *pack);

/* From now on it does not count as installed. *away: the folder that is to be removed
 * (qn_unpack_discard), when nothing that runs needs it any more; malloc'ed, NULL on error. Quick.
 * QN_ENOTFOUND: it is not installed (one of the path is not ours). */
qn_err qn_pack_take_away(const struct qn_packs *p, const struct qn_pack *pack, char **away,
                         struct qn_error *e);

/* Removes what an earlier server left in <engines>/.work: what has not changed since before_s (Unix
 * time; this server's start). p MAY be NULL. */
void qn_packs_sweep(const struct qn_packs *p, int64_t before_s);

/* The SHA-256 of an archive as its publisher tells it: text is what the address `digests` answered
 * (hostile), name the file's. Writes 64 lower-case digits; *size_bytes becomes its size, or -1.
 * QN_ENOTFOUND: no such file; QN_EUNSUPPORTED: without a SHA-256; QN_EFORMAT. */
qn_err qn_pack_digest(const char *text, size_t n, const char *name, char sha256[static 65],
                      int64_t *size_bytes, struct qn_error *e);

#endif
