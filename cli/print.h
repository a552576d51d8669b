/* Printing what came from a server or a model: nothing in it may steer the terminal. */
#ifndef QN_CLI_PRINT_H
#define QN_CLI_PRINT_H

#include "base/json.h"

#include <stddef.h>

void qn_print_json(const struct qn_jref *value); /* one line on stdout */
void qn_print_line(const char *text); /* one line on stdout, control bytes shown as '?' */

/* Text of an answer as it comes: line breaks and tabs stay; escape sequences and other control
 * characters are left out when stdout is a terminal. */
void qn_print_answer(const char *text, size_t n);

#endif
