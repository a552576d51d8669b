/* The architectures of language models that quince's own engine computes, as GGUF files name them
 * (general.architecture). The engine's table is backends/nets/nets.c; this is its list for programs
 * that do not link the engine, and a test compares the two. Pure, any thread. */
#ifndef QN_FORMATS_ARCHITECTURES_H
#define QN_FORMATS_ARCHITECTURES_H

#include <stdbool.h>
#include <stddef.h>

bool qn_architecture_known(const char *name);

/* The i-th name in alphabetical order; NULL: there are fewer. */
const char *qn_architecture_at(size_t i);

#endif
