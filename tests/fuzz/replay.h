/* The fuzz targets that the program replay runs; the table is generated (tests/together.cmake). */
#ifndef QN_TESTS_REPLAY_H
#define QN_TESTS_REPLAY_H

#include <stddef.h>
#include <stdint.h>

struct replay_target {
    const char *name;
    int (*input)(const uint8_t *data, size_t n); /* the target's LLVMFuzzerTestOneInput */
    int (*initialize)(int *argc, char ***argv);  /* its LLVMFuzzerInitialize, NULL if it has none */
};

extern const struct replay_target replay_targets[]; /* ends with a row without a name */

#endif
