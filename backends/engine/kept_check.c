/* See kept.h. Detects damage in the file of packed weights by checksums, and repairs the mapped
 * matrices in place. */
#include "engine/kept_private.h"

#include "base/crc32c.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void qn_kept_blame(struct qn_kept_weights *k, uint32_t i)
{
    k->state[i] = QN_KEPT_BAD;
    qn_warn("engine", "laid_out=\"%s\" matrix=%u is damaged: the file is discarded", k->file, i);
}

void qn_kept_conclude(struct qn_kept_weights *k)
{
    bool bad = false;
    for (uint32_t i = 0; i < k->n; i++)
        bad |= k->state[i] == QN_KEPT_BAD;
    struct stat st;
    /* Not removed if it has been replaced by another file meanwhile. */
    if (bad && lstat(k->file, &st) == 0 && st.st_dev == k->dev && st.st_ino == k->ino)
        unlink(k->file);
    atomic_store(&k->outcome, bad ? QN_KEPT_DAMAGED : QN_KEPT_SOUND);
}

void qn_kept_examine(struct qn_kept_weights *k)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const char *p = k->data[i];
        uint64_t left = k->state[i] == QN_KEPT_FOUND ? k->matrix[i].bytes : 0;
        uint32_t crc = 0;
        if (left == 0)
            continue;
        for (size_t n; left > 0; p += n, left -= n) {
            if (atomic_load(&k->stop))
                return;
            n = left < QN_KEPT_PIECE ? (size_t)left : QN_KEPT_PIECE;
            crc = qn_crc32c(crc, p, n);
        }
        if (crc != k->matrix[i].crc)
            qn_kept_blame(k, i);
    }
    qn_kept_conclude(k);
}

bool qn_kept_damaged(struct qn_kept_weights *k, bool now)
{
    bool any = false;
    for (uint32_t i = 0; i < k->n && now && !any; i++)
        any = (const char *)k->data[i] >= (const char *)k->map &&
              (const char *)k->data[i] < (const char *)k->map + k->map_bytes;
    if (now && any) {
        qn_kept_wait(k);
        if (atomic_load(&k->outcome) == QN_KEPT_SOUND && !k->again) {
            k->again = true; /* damage may have occurred after the first check */
            qn_kept_examine(k);
        }
    }
    return atomic_load(&k->outcome) == QN_KEPT_DAMAGED;
}

const struct qn_laidout_matrix *qn_kept_next_bad(struct qn_kept_weights *k, uint32_t *i)
{
    qn_kept_wait(k);
    while (*i < k->n && k->state[*i] != QN_KEPT_BAD)
        ++*i;
    return *i < k->n ? &k->matrix[*i] : NULL;
}

qn_err qn_kept_mend(struct qn_kept_weights *k, uint32_t i, const void *data, struct qn_error *e)
{
    const size_t bytes = (size_t)k->matrix[i].bytes, page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (bytes + page - 1) / page * page;
    void *at = (void *)(uintptr_t)k->data[i];
    if (page > QN_LAIDOUT_ALIGN)
        return qn_fail(e, QN_EUNSUPPORTED, "pages of %zu bytes", page);
    void *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return qn_fail_errno(e, "memory for %zu bytes", whole);
    memcpy(p, data, bytes);
    mprotect(p, whole, PROT_READ);
    /* Replaces the pages atomically: no thread ever reads an unmapped page. */
    if (mremap(p, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) {
        munmap(p, whole);
        return qn_fail_errno(e, "exchange pages");
    }
    k->state[i] = QN_KEPT_MADE;
    k->missing = true; /* not in the file, which has been removed */
    atomic_store(&k->outcome, QN_KEPT_UNKNOWN);
    return QN_OK;
}

void qn_kept_give_up(struct qn_kept_weights *k)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (k->state[i] == QN_KEPT_BAD)
            k->state[i] = QN_KEPT_MADE; /* so that it is not checked or reported again */
    atomic_store(&k->outcome, QN_KEPT_UNKNOWN);
}
