/* Installs and removes the engines of packs.h. An engine counts as installed when its folder has
 * its final name, which one rename gives to the whole folder. If the server ends before that, it
 * leaves a partial download, which the next installation resumes, or a folder in <engines>/.work,
 * which qn_packs_sweep removes.
 *
 *   <engines>/.downloads/RECIPE.BACKEND.<first digits of the checksum>   an archive while it grows
 *   <engines>/.work/...                                                  folders being unpacked or
 *                                                                        removed
 *   <engines>/RECIPE/BACKEND/VERSION/quince-pack.json, ...               installed engines
 *
 * Only one server at a time may use the folder. Blocking, any thread; two calls for the same engine
 * must not run at the same time. */
#ifndef QN_REGISTRY_PACK_INSTALL_H
#define QN_REGISTRY_PACK_INSTALL_H

#include "base/error.h"
#include "registry/packs.h"
#include "registry/web.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum qn_pack_phase { QN_PACK_RESOLVING, QN_PACK_FETCHING, QN_PACK_UNPACKING };

/* Progress of an installation. Written by the installing thread, read by any thread. */
struct qn_pack_meter {
    _Atomic int phase; /* enum qn_pack_phase */
    _Atomic int64_t here_bytes, before_bytes;
    _Atomic int64_t size_bytes; /* < 0: not known yet */
};

struct qn_pack_order {
    const struct qn_packs *packs;
    const struct qn_pack *pack;
    const struct qn_web *web; /* its stop flag, which must be set, ends the call */
    const char *unpacker;     /* path of the program quince-unpack */
    struct qn_pack_meter *meter;
};

/* Downloads, verifies and unpacks the archive that the table names, and puts the result in its
 * place, also over an existing installation. Earlier versions stay, see qn_pack_tidy.
 * QN_EUNSUPPORTED: there is no archive for this processor, its SHA-256 is not known, or offline;
 * QN_EFORMAT: the file differs from the published one, or is no archive that contains this program;
 * QN_ECANCELLED, QN_EIO, QN_ETIMEOUT, QN_EBUSY. */
qn_err qn_pack_install(const struct qn_pack_order *order, struct qn_error *e);

/* Removes all installed versions and downloads of an engine except the version in the table. */
void qn_pack_tidy(const struct qn_packs *p, const struct qn_pack *pack);

/* Makes the engine count as not installed, quickly, by renaming its folder. *away: the renamed
 * folder, malloc'ed, NULL on error; the caller removes it (qn_unpack_discard) when no running
 * process needs it. QN_ENOTFOUND: not installed (programs on the PATH are not touched). */
qn_err qn_pack_take_away(const struct qn_packs *p, const struct qn_pack *pack, char **away,
                         struct qn_error *e);

/* Removes what an earlier server left in <engines>/.work: entries that have not changed since
 * before_s (Unix time; the start of this server). p MAY be NULL. */
void qn_packs_sweep(const struct qn_packs *p, int64_t before_s);

/* Reads the SHA-256 that the publisher gives for an archive. text: the reply from the address
 * `digests`, untrusted; name: the archive's file name. Writes 64 lower-case digits; *size_bytes
 * becomes its size, or -1. QN_ENOTFOUND: no such file; QN_EUNSUPPORTED: the reply has no SHA-256
 * for the file; QN_EFORMAT. */
qn_err qn_pack_digest(const char *text, size_t n, const char *name, char sha256[static 65],
                      int64_t *size_bytes, struct qn_error *e);

#endif
