/* Properties of the terminal that a stream goes to: whether it is one, its size, whether it may be
 * coloured. */
#ifndef QN_CLI_SCREEN_H
#define QN_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { QN_SCREEN_WIDTH = 80 };

/* Whether f is a terminal on which a line can be redrawn. */
bool qn_screen_live(FILE *f);

/* The terminal's width in columns; QN_SCREEN_WIDTH if f is not a terminal or the width is
 * unknown. */
size_t qn_screen_width(FILE *f);

/* The terminal's height in lines; 24 if it is unknown. */
size_t qn_screen_height(FILE *f);

/* Whether escape sequences for colour and brightness may be written. Not with NO_COLOR
 * (no-color.org). */
bool qn_screen_coloured(FILE *f);

enum qn_ink { QN_INK_PLAIN, QN_INK_BOLD, QN_INK_DIM, QN_INK_GREEN, QN_INK_YELLOW, QN_INK_RED };

/* The escape sequence that begins a style; "" if f takes no colours. */
const char *qn_screen_ink(FILE *f, enum qn_ink ink);

#endif
