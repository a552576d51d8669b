/* Text for clients who may not know where this machine has its files. Pure. */
#ifndef QN_ANSWERS_HIDE_PATHS_H
#define QN_ANSWERS_HIDE_PATHS_H

#include <stddef.h>

/* Copies text; of absolute paths only what is behind their last slash. Paths of this server's own
 * APIs ("/v1/load") stay. out has room for size bytes, the end included; what is longer is cut. */
void qn_hide_paths(const char *text, char *out, size_t size);

#endif
