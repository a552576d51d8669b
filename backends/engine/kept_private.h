/* Types shared by the files of the weight cache (packed weights kept on disk): kept.c reads and
 * writes the cache file, kept_check.c detects damage. */
#ifndef QN_ENGINE_KEPT_PRIVATE_H
#define QN_ENGINE_KEPT_PRIVATE_H

#include "engine/kept.h"

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { QN_KEPT_PIECE = 4 << 20 }; /* bytes of one write or of one checksum step */

/* The state of a matrix in this process. */
enum qn_kept_state {
    QN_KEPT_MADE,  /* packed by this process, or repaired */
    QN_KEPT_FOUND, /* loaded from the file; its checksum has not been compared yet */
    QN_KEPT_BAD    /* loaded from the file, and damaged */
};

enum qn_kept_outcome { QN_KEPT_UNKNOWN, QN_KEPT_SOUND, QN_KEPT_DAMAGED };

struct qn_kept_weights {
    char *folder, *file, *new_file;
    int64_t limit;
    uint64_t key;
    void *map; /* the mapped file, or NULL */
    size_t map_bytes;
    dev_t dev; /* identifies the file that is mapped */
    ino_t ino;
    struct qn_laidout have;

    struct qn_laidout_matrix *matrix; /* the matrices of this load */
    const void **data;
    enum qn_kept_state *state; /* written only by the background thread while it runs */
    uint32_t n, cap;
    bool missing; /* some matrices are not in the file */

    pthread_t thread; /* writes the file, then verifies it */
    bool running;
    bool again;          /* a second check was made: see qn_kept_damaged */
    _Atomic int outcome; /* enum qn_kept_outcome */
    atomic_bool stop;
};

/* kept_check.c: verifies all matrices loaded from the file, sets the outcome, and removes a damaged
 * file. Any thread, but only one at a time may access the states. */
void qn_kept_examine(struct qn_kept_weights *k);
/* Marks the matrix as damaged. */
void qn_kept_blame(struct qn_kept_weights *k, uint32_t i);
/* Sets the outcome: QN_KEPT_DAMAGED if at least one matrix is marked as damaged, else
 * QN_KEPT_SOUND. Deletes the cache file if it is damaged. */
void qn_kept_conclude(struct qn_kept_weights *k);

#endif
