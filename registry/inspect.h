/* What a model file says of itself. The files are opened here and read by quince-inspect, in a
 * sandbox: a file that is malformed, or that becomes shorter meanwhile, costs that process only. */
#ifndef QN_REGISTRY_INSPECT_H
#define QN_REGISTRY_INSPECT_H

#include "formats/inspection.h"

#include <stdatomic.h>

enum { QN_INSPECT_LIMIT_MS = 60000 };

struct qn_inspector {
    const char *program;     /* the path of quince-inspect */
    const atomic_bool *stop; /* set: nobody waits for answers any more */
    int64_t limit_ms;        /* of one run; QN_INSPECT_LIMIT_MS */
};

/* Reads the GGUF at path; of a split model its first file, the others being found by its name.
 * facts: see formats/inspection.h. QN_ENOTFOUND, QN_EFORMAT, QN_EUNSUPPORTED, QN_ELIMIT, QN_EINVAL,
 * QN_EIO with the reason; QN_ETIMEOUT: it took longer than the limit; QN_ECHILD: the program died,
 * or answered what it must not; QN_ECANCELLED. Blocking, any thread. */
qn_err qn_registry_inspect(const struct qn_inspector *by, const char *path,
                           struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e);

#endif
