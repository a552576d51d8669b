/* Questions to the person at the terminal. Ctrl-C there ends the program as anywhere else, unless
 * the program handles it: then it counts as no answer. */
#ifndef QN_CLI_ASK_H
#define QN_CLI_ASK_H

#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>

/* Can a question be asked? Not with --json, and only when both the question can be seen and the
 * answer typed. */
bool qn_ask_possible(const struct qn_cli *cli);

/* Shows the question and reads a line, without blanks at its ends; what does not fit is cut. False
 * at the end of input and after Ctrl-C. */
bool qn_ask_line(const char *question, char *out, size_t n);

/* "QUESTION [y/N] ": true for yes alone. */
bool qn_ask_yes(const char *question);

#endif
