/* Questions to the user at the terminal. Ctrl-C ends the program as usual; if the program handles
 * the signal, Ctrl-C counts as no answer. */
#ifndef QN_CLI_ASK_H
#define QN_CLI_ASK_H

#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a question can be asked: not with --json, and only if stderr and stdin are a terminal. */
bool qn_ask_possible(const struct qn_cli *cli);

/* Shows the question and reads a line, without blanks at either end; a line that is too long is
 * cut. False at the end of input and after Ctrl-C. */
bool qn_ask_line(const char *question, char *out, size_t n);

/* Asks "QUESTION [y/N] "; true only if the answer is yes. */
bool qn_ask_yes(const char *question);

#endif
