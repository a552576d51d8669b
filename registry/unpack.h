/* Archives that models or programs come in become folders. */
#ifndef QN_REGISTRY_UNPACK_H
#define QN_REGISTRY_UNPACK_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    QN_UNPACK_FILES_MAX = 10000,
    QN_UNPACK_RATIO_MAX = 200 /* weights hardly shrink; more than this is no model */
};
/* Never more than the disk has. */
#define QN_UNPACK_MODEL_BYTES_MAX ((int64_t)1 << 41)   /* 2 TiB */
#define QN_UNPACK_PROGRAM_BYTES_MAX ((int64_t)1 << 34) /* 16 GiB */

/* What is in it. A program's libraries have several names, so its archive may have links to files
 * beside them; they become regular files. */
enum qn_unpack_kind { QN_UNPACK_MODEL, QN_UNPACK_PROGRAM };

struct qn_unpacked {
    int64_t files, size_bytes;
};

/* True for names that end as archives do: .zip .7z .tar .tar.gz .tgz .tar.zst .tar.xz .tar.bz2. */
bool qn_unpack_is_archive(const char *path);

/* Unpacks an archive into the folder `dest`, which must not be there; its parent is made. helper:
 * the program quince-unpack, which does the work in a sandbox (tools/unpack/extract.h has the
 * rules) in a fresh folder beside dest; when all is well that becomes dest by one rename, and else
 * it is removed; so are such folders that a server which was killed has left. QN_ECONFLICT: dest is
 * there; QN_ECANCELLED as soon as *stop is set; QN_ECHILD: the helper died; QN_EFORMAT, QN_ELIMIT,
 * QN_EUNSUPPORTED with the reason in the archive; QN_EIO. Blocking, any thread. */
qn_err qn_unpack(const char *helper, enum qn_unpack_kind kind, const char *archive,
                 const char *dest, const atomic_bool *stop, struct qn_unpacked *out,
                 struct qn_error *e);

/* Removes a folder that qn_unpack made, with all in it; what cannot be removed is a warning in the
 * log. Links are not followed. */
void qn_unpack_discard(const char *folder);

/* Bytes of all files in a folder. Any thread. */
int64_t qn_unpack_size(const char *folder);

#endif
