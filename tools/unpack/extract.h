/* Unpacks an archive (zip, 7z, tar; plain, gzip, zstd, xz or bzip2) into an empty folder that
 * belongs to this user alone. The rules are strict: only regular files and folders, names that stay
 * below the folder, no name twice, nothing encrypted, limits of the number of files, of their size
 * and of the ratio to the archive's size. One entry that breaks a rule makes the whole archive
 * fail.
 *
 * Archives of programs may have symbolic links, since libraries have several names. A link must
 * name a file of the archive in the same folder, and becomes a second name of that file (a hard
 * link), so that the result has only regular files. */
#ifndef QN_UNPACK_EXTRACT_H
#define QN_UNPACK_EXTRACT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_UNPACK_PATH_MAX = 1024, /* of an entry, in bytes */
    QN_UNPACK_PART_MAX = 255,  /* of a component */
    QN_UNPACK_DEPTH_MAX = 16,  /* folders */
    QN_UNPACK_LINKS_MAX = 1000,
    QN_UNPACK_SLACK = 64 * 1024 * 1024 /* bytes that any archive may expand to */
};

struct qn_unpack_limits {
    int64_t files;      /* entries, including folders */
    int64_t size_bytes; /* of all files together */
    int64_t ratio;      /* unpacked size to the archive's size */
    bool links;         /* symbolic links are allowed; false: an archive with one is
                           QN_EUNSUPPORTED */
};

struct qn_unpack_result {
    int64_t files, size_bytes;
};

/* archive: a seekable descriptor at its beginning. folder: a descriptor. After QN_OK everything is
 * synced to the disk; after an error the folder may have some of the files. QN_EFORMAT: not an
 * archive, damaged, or an invalid name; QN_ELIMIT: too many or too large files; QN_EUNSUPPORTED: a
 * hard link, a symbolic link that is not allowed or leads to another folder, a device, encryption;
 * QN_EIO: reading or writing failed. */
qn_err qn_unpack_extract(int archive, int folder, const struct qn_unpack_limits *limits,
                         struct qn_unpack_result *out, struct qn_error *e);

#endif
