/* Prepares weights for products at load: block types are packed into panels, or mapped as panels
 * that were packed earlier; plain types are only read into memory. */
#include "engine/cpu/cpu.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BRING_IN_BYTES = 4 << 20 };

/* Pages of a mapped file that are to be read into memory. */
struct stretch {
    char *first;
    size_t bytes;
    atomic_int err; /* an errno */
};

static void bring_in_item(void *arg, int64_t i, int worker)
{
    struct stretch *s = arg;
    const size_t at = (size_t)i * BRING_IN_BYTES, left = s->bytes - at;
    (void)worker;
    if (madvise(s->first + at, left < BRING_IN_BYTES ? left : BRING_IN_BYTES, MADV_POPULATE_READ))
        atomic_store(&s->err, errno);
}

/* Reads the pages during the load, which shows progress, and not during the first request. */
static qn_err bring_in(struct qn_device *dev, const void *first, size_t bytes, struct qn_error *e)
{
    const size_t before = (uintptr_t)first % (uintptr_t)sysconf(_SC_PAGESIZE);
    struct stretch s = {.first = (char *)first - before, .bytes = bytes + before};
    qn_pool_run(cpu(dev)->pool, bring_in_item, &s,
                (int64_t)((s.bytes + BRING_IN_BYTES - 1) / BRING_IN_BYTES));
    const int err = atomic_load(&s.err);
    /* other errors: the system lacks this call, which only costs time */
    if (err == EFAULT || err == EHWPOISON)
        return qn_fail(e, QN_EIO, "a matrix cannot be read from its file: was the file truncated?");
    return QN_OK;
}

/* Bytes from the first element to the end of the last. */
static size_t span_bytes(const struct qn_tensor *t)
{
    const int rows = t->ndim - 2;
    size_t bytes = (size_t)(t->shape[rows] - 1) * (size_t)t->stride[rows] +
                   qn_dtype_bytes(qn_dtype(t->dtype), t->shape[t->ndim - 1]);
    return t->ndim == 3 ? bytes + (size_t)(t->shape[0] - 1) * (size_t)t->stride[0] : bytes;
}

static int64_t panels_of(const struct qn_tensor *t)
{
    return (t->shape[t->ndim - 2] + CPU_PANEL - 1) / CPU_PANEL;
}

/* Of all panels: a panel never contains rows of two experts. */
static size_t panels_bytes(const struct qn_tensor *t)
{
    return (size_t)(panels_of(t) * (t->ndim == 3 ? t->shape[0] : 1)) *
           cpu_panel_bytes(t->dtype, t->shape[t->ndim - 1]);
}

struct packing {
    const struct qn_tensor *from; /* [rows, cols] or [experts, rows, cols] */
    char *to;
};

/* Packs panel i, counted over all experts. */
static void pack_item(void *arg, int64_t i, int worker)
{
    const struct packing *p = arg;
    const struct qn_tensor *w = p->from;
    const int64_t rows = w->shape[w->ndim - 2], cols = w->shape[w->ndim - 1];
    const int64_t each = panels_of(w), first = i % each * CPU_PANEL;
    const void *from = w->ndim == 2 ? cpu_at(w, first, 0) : cpu_at(w, i / each, first);
    char *to = p->to + (size_t)i * cpu_panel_bytes(w->dtype, cols);
    (void)worker;
    cpu_pack_panel(w->dtype, to, from, (size_t)w->stride[w->ndim - 2],
                   (int)(rows - first < CPU_PANEL ? rows - first : CPU_PANEL), cols);
    if (w->factors)
        cpu_panel_set_factor(to, w->factors[w->ndim == 2 ? 0 : i / each]);
}

qn_err cpu_weight_prepare(struct qn_device *dev, struct qn_tensor *t, struct qn_mem **out,
                          struct qn_error *e)
{
    *out = NULL;
    if (t->dtype == QN_I32)
        return qn_fail(e, QN_EUNSUPPORTED, "a matrix of type %s cannot be multiplied",
                       qn_dtype(t->dtype)->name);
    if (qn_dtype(t->dtype)->block == 1)
        return bring_in(dev, cpu_data(t), span_bytes(t), e);
    qn_err err = qn_mem_new(dev, panels_bytes(t), out, e);
    if (err)
        return err;
    (*out)->layout = CPU_LAYOUT_PANELS;
    /* a hint, because all of it will be used */
    madvise((*out)->host, (*out)->bytes, MADV_HUGEPAGE);
    struct packing p = {t, (*out)->host};
    qn_pool_run(cpu(dev)->pool, pack_item, &p, panels_of(t) * (t->ndim == 3 ? t->shape[0] : 1));
    *t = qn_tensor_make(t->dtype, t->ndim, t->shape, *out, 0);
    return QN_OK;
}

qn_err cpu_weight_adopt(struct qn_device *dev, struct qn_tensor *t, const void *host, size_t bytes,
                        struct qn_mem **out, struct qn_error *e)
{
    if (qn_dtype(t->dtype)->block == 1 || panels_bytes(t) != bytes || (uintptr_t)host % CPU_ALIGN)
        return qn_fail(e, QN_EFORMAT, "packed for another type or shape");
    qn_err err = bring_in(dev, host, bytes, e);
    if (err)
        return err;
    *out = qn_mem_borrow(dev, host, bytes);
    (*out)->layout = CPU_LAYOUT_PANELS;
    *t = qn_tensor_make(t->dtype, t->ndim, t->shape, *out, 0);
    return QN_OK;
}
