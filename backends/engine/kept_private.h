/* What the files of kept weights share: kept.c reads and writes their file, kept_check.c looks for
 * damage. */
#ifndef QN_ENGINE_KEPT_PRIVATE_H
#define QN_ENGINE_KEPT_PRIVATE_H

#include "engine/kept.h"

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { QN_KEPT_PIECE = 4 << 20 }; /* bytes of one write or of one look */

/* A matrix of this load. */
enum qn_kept_state {
    QN_KEPT_MADE,  /* laid out by it, or mended */
    QN_KEPT_FOUND, /* in the file; its checksum says what it should be */
    QN_KEPT_BAD    /* in the file, and damaged */
};

enum qn_kept_outcome { QN_KEPT_UNKNOWN, QN_KEPT_SOUND, QN_KEPT_DAMAGED };

struct qn_kept_weights {
    char *folder, *file, *new_file;
    int64_t limit;
    uint64_t key;
    void *map; /* the file, or NULL */
    size_t map_bytes;
    dev_t dev; /* of the file that is mapped */
    ino_t ino;
    struct qn_laidout have;

    struct qn_laidout_matrix *matrix; /* of this load */
    const void **data;
    enum qn_kept_state *state; /* the thread's while it runs */
    uint32_t n, cap;
    bool missing; /* some of them are not in the file */

    pthread_t thread; /* writes, then checks */
    bool running;
    bool again;          /* a second check was made: see qn_kept_damaged */
    _Atomic int outcome; /* enum qn_kept_outcome */
    atomic_bool stop;
};

/* kept_check.c: looks at all matrices that were found; sets the outcome, and removes a damaged
 * file. On any thread, while no other looks at the states. */
void qn_kept_examine(struct qn_kept_weights *k);
/* The matrix is damaged. */
void qn_kept_blame(struct qn_kept_weights *k, uint32_t i);
/* What was blamed becomes the outcome. */
void qn_kept_conclude(struct qn_kept_weights *k);

#endif
