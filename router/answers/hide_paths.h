/* Removes folders from text for clients that may not see paths of this machine. Pure. */
#ifndef QN_ANSWERS_HIDE_PATHS_H
#define QN_ANSWERS_HIDE_PATHS_H

#include <stddef.h>

/* Copies text, reducing absolute paths to the part after their last slash. Paths of this server's
 * own APIs ("/v1/load") are kept. out has room for size bytes, the terminator included; longer text
 * is truncated. */
void qn_hide_paths(const char *text, char *out, size_t size);

#endif
