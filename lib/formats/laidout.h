/* A file of weights laid out for computing: a head, a table of matrices, their bytes. A machine
 * writes it for itself, so numbers are in its own order; and yet it is read as any foreign file is.
 *
 *   head   "QNLAID1\n", then struct head of laidout.c: whose weights, how many, checksum
 *   table  struct qn_laidout_matrix, one after another
 *   bytes  at multiples of QN_LAIDOUT_ALIGN; they are numbers to compute with, any value will do */
#ifndef QN_FORMATS_LAIDOUT_H
#define QN_FORMATS_LAIDOUT_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_LAIDOUT_ALIGN = 4096, QN_LAIDOUT_MATRICES_MAX = 65536, QN_LAIDOUT_DIMS = 4 };

/* A matrix of the model, as its file has it, and where its laid-out bytes are. */
struct qn_laidout_matrix {
    uint64_t source; /* where it begins in its part of the model */
    uint32_t part, dtype, ndim, zero;
    int64_t shape[QN_LAIDOUT_DIMS], stride[QN_LAIDOUT_DIMS];
    uint64_t at, bytes;
};

struct qn_laidout {
    struct qn_laidout_matrix *matrix; /* checked, a copy */
    uint32_t n;
    uint32_t
        next; /* where qn_laidout_find begins to look: files are read in the order of writing */
};

/* Reads head and table of the file data [n]. key: what the contents are made of. QN_ENOTFOUND:
 * sound so far, but made of something else; QN_EFORMAT: damaged or cut off. */
qn_err qn_laidout_parse(const void *data, size_t n, uint64_t key, struct qn_laidout *out,
                        struct qn_error *e);
void qn_laidout_deinit(struct qn_laidout *l);

/* The matrix that is the same in the model as `like`, whose at and bytes are not read; or NULL. */
const struct qn_laidout_matrix *qn_laidout_find(struct qn_laidout *l,
                                                const struct qn_laidout_matrix *like);

/* Gives each of n matrices its place and appends head and table to out, filled up to where the
 * first begins. Returns the size of the whole file. QN_LAIDOUT_MATRICES_MAX at most. */
uint64_t qn_laidout_begin(struct qn_laidout_matrix *matrix, uint32_t n, uint64_t key,
                          struct qn_buf *out);

#endif
