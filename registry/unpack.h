/* Unpacks archives of models or programs into folders. */
#ifndef QN_REGISTRY_UNPACK_H
#define QN_REGISTRY_UNPACK_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    QN_UNPACK_FILES_MAX = 10000,
    QN_UNPACK_RATIO_MAX = 200 /* of unpacked to packed size; weights hardly compress, so an archive
                                 above this is no model */
};
/* Limits of unpacked bytes, in addition to the free space of the disk. */
#define QN_UNPACK_MODEL_BYTES_MAX ((int64_t)1 << 41)   /* 2 TiB */
#define QN_UNPACK_PROGRAM_BYTES_MAX ((int64_t)1 << 34) /* 16 GiB */

/* What the archive contains. Libraries of a program have several names, so a program's archive may
 * have links to files beside them; the links are unpacked as regular files. */
enum qn_unpack_kind { QN_UNPACK_MODEL, QN_UNPACK_PROGRAM };

struct qn_unpacked {
    int64_t files, size_bytes;
};

/* True for names with an archive's ending: .zip .7z .tar .tar.gz .tgz .tar.zst .tar.xz .tar.bz2. */
bool qn_unpack_is_archive(const char *path);

/* Unpacks an archive into the folder `dest`, which must not exist; its parent is created. helper:
 * the path of quince-unpack, which does the work in a sandbox (the rules are in
 * tools/unpack/extract.h), in a temporary folder beside dest. On success one rename turns it into
 * dest, otherwise it is removed; so are temporary folders left by a server that was killed.
 * QN_ECONFLICT: dest exists; QN_ECANCELLED as soon as *stop is set; QN_ECHILD: the helper died;
 * QN_EFORMAT, QN_ELIMIT, QN_EUNSUPPORTED with the reason in the archive; QN_EIO. Blocking, any
 * thread. */
qn_err qn_unpack(const char *helper, enum qn_unpack_kind kind, const char *archive,
                 const char *dest, const atomic_bool *stop, struct qn_unpacked *out,
                 struct qn_error *e);

/* Removes a folder that qn_unpack made, with its contents; what cannot be removed is a warning in
 * the log. Links are not followed. */
void qn_unpack_discard(const char *folder);

/* The size in bytes of all files in a folder. Any thread. */
int64_t qn_unpack_size(const char *folder);

#endif
