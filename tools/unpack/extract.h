/* Takes an archive apart (zip, 7z, tar; plain, gzip, zstd, xz or bzip2) into a folder that is empty
 * and belongs to this user alone. The strictest rules: regular files and folders only, names that
 * stay below the folder, nothing twice, nothing encrypted, limits on how many, how large and how
 * much larger than the archive. One entry that breaks a rule refuses the whole archive.
 *
 * Archives of programs may have symbolic links, since libraries have several names: a link must
 * name a file that the archive puts into the same folder, and becomes a second name of that file
 * (a hard link), so that what comes out are regular files again. */
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
    QN_UNPACK_SLACK = 64 * 1024 * 1024 /* that any archive may grow to, whatever the ratio */
};

struct qn_unpack_limits {
    int64_t files;      /* entries, folders among them */
    int64_t size_bytes; /* of all files together */
    int64_t ratio;      /* of their size to the archive's */
    bool links;         /* symbolic ones are allowed */
};

struct qn_unpack_result {
    int64_t files, size_bytes;
};

/* archive: a descriptor at its beginning that can seek. folder: a descriptor. Everything is on the
 * disk when it returns QN_OK; after an error the folder holds some of it. QN_EFORMAT: no archive, a
 * damaged one, or a name that is none; QN_ELIMIT; QN_EUNSUPPORTED: links, devices, encryption;
 * QN_EIO. */
qn_err qn_unpack_extract(int archive, int folder, const struct qn_unpack_limits *limits,
                         struct qn_unpack_result *out, struct qn_error *e);

#endif
