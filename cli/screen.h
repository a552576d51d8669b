/* What kind of screen a stream goes to: is there a person, how wide, may it be coloured. */
#ifndef QN_CLI_SCREEN_H
#define QN_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { QN_SCREEN_WIDTH = 80 };

/* A terminal on which a line can be drawn anew. */
bool qn_screen_live(FILE *f);

/* Its columns; QN_SCREEN_WIDTH where there is no terminal or it does not say. */
size_t qn_screen_width(FILE *f);

/* Its lines; 24 where the terminal does not say. */
size_t qn_screen_height(FILE *f);

/* May escape sequences for colour and brightness be written? Not with NO_COLOR (no-color.org). */
bool qn_screen_coloured(FILE *f);

enum qn_ink { QN_INK_PLAIN, QN_INK_BOLD, QN_INK_DIM, QN_INK_GREEN, QN_INK_YELLOW, QN_INK_RED };

/* The sequence that begins an ink, "" where f takes no colour. */
const char *qn_screen_ink(FILE *f, enum qn_ink ink);

#endif
