/* Keyboard input for the line editor: decodes UTF-8, reacts to Ctrl-C at once, and keeps pasted
 * text together instead of sending it line by line. One keyboard, one thread. */
#ifndef QN_CLI_KEYBOARD_H
#define QN_CLI_KEYBOARD_H

#include <histedit.h>
#include <signal.h>
#include <wchar.h>

/* set to 1 by Ctrl-C; the caller sets it to 0 */
extern volatile sig_atomic_t qn_keyboard_interrupted;

/* From this call on, Ctrl-C only sets qn_keyboard_interrupted. */
void qn_keyboard_open(EditLine *el);
void qn_keyboard_close(void);

/* Reads a line with el_gets. NULL: Ctrl-C if qn_keyboard_interrupted is set, otherwise the end of
 * input. The line is borrowed until the next call. */
const char *qn_keyboard_line(EditLine *el, int *n);

#endif
