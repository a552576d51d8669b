/* The record of an installed engine: the file quince-pack.json in its folder. It is written before
 * the folder gets its final name, so a folder without the record does not count as installed. */
#ifndef QN_REGISTRY_PACK_NOTE_H
#define QN_REGISTRY_PACK_NOTE_H

#include "base/error.h"
#include "registry/packs.h"

#include <stdint.h>

enum { QN_PACK_PROGRAM_MAX = 1024, QN_PACK_NOTE_MAX = 64 * 1024 };
#define QN_PACK_NOTE "quince-pack.json"

struct qn_pack_note {
    char program[QN_PACK_PROGRAM_MAX + 1]; /* path relative to the folder, of a regular file */
};

/* Records that `program` (a path relative to the folder) of this release was installed in the
 * folder, and syncs. */
qn_err qn_pack_note_write(const char *folder, const struct qn_pack *pack, const char *program,
                          const char *sha256, int64_t size_bytes, struct qn_error *e);

/* QN_ENOTFOUND: there is no record; QN_EFORMAT: it was not written by quince, or names a file
 * outside the folder. */
qn_err qn_pack_note_read(const char *folder, struct qn_pack_note *out, struct qn_error *e);

#endif
