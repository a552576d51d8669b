/* What a client on a thread of its own asserts. cmocka's jump back to the test must not leave such
 * a thread, so one that fails ends the program with its line. */
#ifndef QN_TEST_CLIENT_CHECK_H
#define QN_TEST_CLIENT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "%s:%d: client: %s\n", __FILE__, __LINE__, #x);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
