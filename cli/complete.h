/* Completion of the word at the cursor: commands, options and actions, all from the table of
 * commands. Names of models must be requested from the server by the caller. Pure. */
#ifndef QN_CLI_COMPLETE_H
#define QN_CLI_COMPLETE_H

#include "base/buf.h"

enum qn_complete_names {
    QN_COMPLETE_NOTHING, /* file names, which the shell completes */
    QN_COMPLETE_MODELS,  /* names of installed models */
    QN_COMPLETE_LIST     /* names of installed models and of those that can be downloaded */
};

/* words[0..n): the arguments of "quince", n > 0; the last one is to be completed and may be "".
 * Appends the candidates that begin with it, one per line. */
enum qn_complete_names qn_complete(const char *const *words, int n, struct qn_buf *out);

#endif
