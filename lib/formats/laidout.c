/* See laidout.h. */
#include "formats/laidout.h"

#include "base/crc32.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'Q', 'N', 'L', 'A', 'I', 'D', '2', '\n'};

struct head {
    char magic[8];
    uint64_t key, file_bytes;
    uint32_t matrices;
    uint32_t crc; /* of the header with 0 in this field, and of the table */
};

static uint32_t checksum(struct head h, const void *table)
{
    h.crc = 0;
    return qn_crc32(qn_crc32(0, &h, sizeof h), table,
                    h.matrices * sizeof(struct qn_laidout_matrix));
}

static uint64_t aligned(uint64_t n)
{
    return (n + QN_LAIDOUT_ALIGN - 1) / QN_LAIDOUT_ALIGN * QN_LAIDOUT_ALIGN;
}

static qn_err check_places(const struct qn_laidout *l, uint64_t first, uint64_t file_bytes,
                           struct qn_error *e)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct qn_laidout_matrix *m = &l->matrix[i];
        if (m->at < first || m->at % QN_LAIDOUT_ALIGN || m->at > file_bytes ||
            m->bytes > file_bytes - m->at)
            return qn_fail(e, QN_EFORMAT, "matrix %u lies outside the file", i);
    }
    return QN_OK;
}

qn_err qn_laidout_parse(const void *data, size_t n, uint64_t key, struct qn_laidout *out,
                        struct qn_error *e)
{
    struct head h;
    *out = (struct qn_laidout){0};
    if (n < sizeof h)
        return qn_fail(e, QN_EFORMAT, "shorter than its header");
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return qn_fail(e, QN_EFORMAT, "not a file of packed weights");
    const char *table = (const char *)data + sizeof h;
    const size_t table_bytes = (size_t)h.matrices * sizeof *out->matrix;
    if (h.matrices > QN_LAIDOUT_MATRICES_MAX || table_bytes > n - sizeof h)
        return qn_fail(e, QN_EFORMAT, "shorter than its table of %u matrices", h.matrices);
    if (h.file_bytes != n)
        return qn_fail(e, QN_EFORMAT, "%zu bytes, not %llu: cut off", n,
                       (unsigned long long)h.file_bytes);
    if (checksum(h, table) != h.crc)
        return qn_fail(e, QN_EFORMAT, "the checksum of its table is wrong");
    if (h.key != key)
        return qn_fail(e, QN_ENOTFOUND, "made from another model, or by another version");
    out->n = h.matrices;
    out->matrix = qn_xmalloc(table_bytes ? table_bytes : 1);
    memcpy(out->matrix, table, table_bytes);
    qn_err err = check_places(out, sizeof h + table_bytes, n, e);
    if (err)
        qn_laidout_deinit(out);
    return err;
}

void qn_laidout_deinit(struct qn_laidout *l)
{
    free(l->matrix);
    *l = (struct qn_laidout){0};
}

const struct qn_laidout_matrix *qn_laidout_find(struct qn_laidout *l,
                                                const struct qn_laidout_matrix *like)
{
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t at = l->n - l->next > i ? l->next + i : i - (l->n - l->next);
        const struct qn_laidout_matrix *m = &l->matrix[at];
        if (m->source != like->source || m->part != like->part || m->dtype != like->dtype ||
            m->ndim != like->ndim || memcmp(m->shape, like->shape, sizeof m->shape) != 0 ||
            memcmp(m->stride, like->stride, sizeof m->stride) != 0)
            continue;
        l->next = (at + 1) % l->n;
        return m;
    }
    return NULL;
}

/* The offset of the first of n matrices. */
static uint64_t first_place(uint32_t n)
{
    return aligned(sizeof(struct head) + n * sizeof(struct qn_laidout_matrix));
}

uint64_t qn_laidout_place(struct qn_laidout_matrix *matrix, uint32_t n)
{
    assert(n <= QN_LAIDOUT_MATRICES_MAX);
    uint64_t at = first_place(n);
    for (uint32_t i = 0; i < n; i++) {
        matrix[i].at = at;
        at = aligned(at + matrix[i].bytes);
    }
    return at;
}

void qn_laidout_begin(const struct qn_laidout_matrix *matrix, uint32_t n, uint64_t key,
                      struct qn_buf *out)
{
    struct head h = {.key = key, .matrices = n};
    memcpy(h.magic, magic, sizeof magic);
    const size_t table_bytes = n * sizeof *matrix;
    const uint64_t first = first_place(n);
    h.file_bytes = n ? aligned(matrix[n - 1].at + matrix[n - 1].bytes) : first;
    h.crc = checksum(h, matrix);
    qn_buf_add(out, &h, sizeof h);
    qn_buf_add(out, matrix, table_bytes);
    for (uint64_t i = sizeof h + table_bytes; i < first; i++)
        qn_buf_char(out, 0);
}
