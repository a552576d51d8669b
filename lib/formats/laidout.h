/* A file of packed weights: matrices in the layout that the compute kernels use. Format: a header,
 * a table of matrices, their bytes. A machine writes such files only for itself, so numbers are in
 * native byte order; the file is nevertheless checked like any untrusted file.
 *
 *   head   "QNLAID2\n", then struct head of laidout.c: key of the model, count, checksum
 *   table  struct qn_laidout_matrix, one after another
 *   bytes  at multiples of QN_LAIDOUT_ALIGN. They are only computed with, so any value is safe;
 *          the matrix's checksum detects wrong ones */
#ifndef QN_FORMATS_LAIDOUT_H
#define QN_FORMATS_LAIDOUT_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_LAIDOUT_ALIGN = 4096, QN_LAIDOUT_MATRICES_MAX = 65536, QN_LAIDOUT_DIMS = 4 };

/* A matrix as described in the model's file, and the position of its packed bytes. */
struct qn_laidout_matrix {
    uint64_t source; /* offset of the matrix in its part of the model */
    uint32_t part, dtype, ndim;
    uint32_t crc; /* CRC-32C of the packed bytes */
    int64_t shape[QN_LAIDOUT_DIMS], stride[QN_LAIDOUT_DIMS];
    uint64_t at, bytes;
};

struct qn_laidout {
    struct qn_laidout_matrix *matrix; /* checked copy of the table */
    uint32_t n;
    uint32_t next; /* index at which qn_laidout_find starts: matrices are usually looked up in the
                      order of the file */
};

/* Parses header and table of the file data [n]. key: identifies the source of the contents.
 * QN_ENOTFOUND: a valid file of another source; QN_EFORMAT: damaged or truncated. */
qn_err qn_laidout_parse(const void *data, size_t n, uint64_t key, struct qn_laidout *out,
                        struct qn_error *e);
void qn_laidout_deinit(struct qn_laidout *l);

/* Finds the matrix with the same description as `like`, except for the fields `at` and `bytes`.
 * NULL: none. */
const struct qn_laidout_matrix *qn_laidout_find(struct qn_laidout *l,
                                                const struct qn_laidout_matrix *like);

/* Assigns an offset to each of n matrices, at most QN_LAIDOUT_MATRICES_MAX. Returns the size of the
 * whole file. */
uint64_t qn_laidout_place(struct qn_laidout_matrix *matrix, uint32_t n);
/* Appends header and table, padded to the offset of the first matrix. The matrices must have their
 * offsets and checksums. */
void qn_laidout_begin(const struct qn_laidout_matrix *matrix, uint32_t n, uint64_t key,
                      struct qn_buf *out);

#endif
