/* The chat in a terminal: line editing with history, commands that begin with '/', Ctrl-C. */
#ifndef QN_CLI_REPL_H
#define QN_CLI_REPL_H

#include "cli/conversation.h"

/* Runs until /exit or Ctrl-D. Errors of replies are reported and the chat continues. */
qn_err qn_repl(struct qn_conversation *c, struct qn_error *e);

#endif
