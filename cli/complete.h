/* What may stand where the cursor is: commands, options and their actions, all from the table of
 * commands; names of models are for the caller to ask the server for. Pure. */
#ifndef QN_CLI_COMPLETE_H
#define QN_CLI_COMPLETE_H

#include "base/buf.h"

enum qn_complete_names {
    QN_COMPLETE_NOTHING, /* files, as the shell does it */
    QN_COMPLETE_MODELS,  /* names of models that are here */
    QN_COMPLETE_LIST     /* and of those that can be downloaded */
};

/* words[0..n): what stands behind "quince", n > 0; the last is the one to complete and may be "".
 * Appends the candidates that begin with it, each with a newline. */
enum qn_complete_names qn_complete(const char *const *words, int n, struct qn_buf *out);

#endif
