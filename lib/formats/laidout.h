/* A file of weights laid out for computing: a head, a table of matrices, their bytes. A machine
 * writes it for itself, so numbers are in its own order; and yet it is read as any foreign file is.
 *
 *   head   "QNLAID2\n", then struct head of laidout.c: whose weights, how many, checksum
 *   table  struct qn_laidout_matrix, one after another
 *   bytes  at multiples of QN_LAIDOUT_ALIGN; they are numbers to compute with: any value is safe,
 *          and the matrix's checksum says whether it is right */
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
    uint32_t part, dtype, ndim;
    uint32_t crc; /* CRC-32C of its bytes */
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

/* Gives each of n matrices its place. Returns the size of the whole file. QN_LAIDOUT_MATRICES_MAX
 * at most. */
uint64_t qn_laidout_place(struct qn_laidout_matrix *matrix, uint32_t n);
/* Appends head and table to out, filled up to where the first matrix begins: they have their places
 * and checksums. */
void qn_laidout_begin(const struct qn_laidout_matrix *matrix, uint32_t n, uint64_t key,
                      struct qn_buf *out);

#endif
