/* Reads the metadata of a model file. The files are opened here and parsed by quince-inspect in a
 * sandbox: a malformed file, or one that becomes shorter meanwhile, can only crash that process. */
#ifndef QN_REGISTRY_INSPECT_H
#define QN_REGISTRY_INSPECT_H

#include "formats/inspection.h"

#include <stdatomic.h>

enum { QN_INSPECT_LIMIT_MS = 60000 };

struct qn_inspector {
    const char *program;     /* path of quince-inspect */
    const atomic_bool *stop; /* when set, the program is killed */
    int64_t limit_ms;        /* of one run; QN_INSPECT_LIMIT_MS */
};

/* Reads the GGUF file at path; for a split model its first file, from whose name the others are
 * found. facts: see formats/inspection.h. QN_ENOTFOUND, QN_EFORMAT, QN_EUNSUPPORTED, QN_ELIMIT,
 * QN_EINVAL, QN_EIO with the reason; QN_ETIMEOUT: the time limit was exceeded; QN_ECHILD: the
 * program died or its report is invalid; QN_ECANCELLED. Blocking, any thread. */
qn_err qn_registry_inspect(const struct qn_inspector *by, const char *path,
                           struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e);

#endif
