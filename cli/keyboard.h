/* Characters from the keyboard for the line editor: UTF-8 decoded, Ctrl-C seen at once, and text
 * that is pasted kept together instead of being sent line by line. One keyboard, one thread. */
#ifndef QN_CLI_KEYBOARD_H
#define QN_CLI_KEYBOARD_H

#include <histedit.h>
#include <signal.h>
#include <wchar.h>

extern volatile sig_atomic_t qn_keyboard_interrupted; /* by Ctrl-C, since it was last set to 0 */

/* From here on Ctrl-C only sets qn_keyboard_interrupted. */
void qn_keyboard_open(EditLine *el);
void qn_keyboard_close(void);

/* Reads a line with el_gets. NULL with qn_keyboard_interrupted after Ctrl-C, else at the end of
 * input. The line is lent until the next call. */
const char *qn_keyboard_line(EditLine *el, int *n);

#endif
