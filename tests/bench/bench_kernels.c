/* Speed of the CPU kernels against what this machine can do in the same minute: JSON on stdout.
 *
 *   bench_kernels [THREADS [TYPE...]]      e.g. QUINCE_ISA=avx2 bench_kernels 2 Q4_K MXFP4
 *
 * For each type: one activation (generation) in GB/s of weights read, and as a share of plain
 * reading; many activations (prompts) in G multiply-adds/s, and as a share of the multiply-add
 * limit. Each figure is the best of several runs: a limit is compared with a limit. */
#include "base/buf.h"
#include "base/json.h"
#include "engine/cpu/cpu.h"
#include "engine/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { RUNS = 5, OUT = 4096, COLS = 2048, MATRICES_MAX = 64, PROMPT = 256 };
static const size_t all_bytes = 200 << 20; /* of a type's matrices: far more than any cache keeps */

static struct qn_device *dev;

static void check(qn_err err, const struct qn_error *e)
{
    if (err) {
        fprintf(stderr, "bench_kernels: %s\n", e->message);
        exit(1);
    }
}

/* Processor time when one thread does it all, so that other programs do not count. */
static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(qn_device_threads(dev) == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- what the machine can do */

struct reading {
    const char *base;
    size_t piece;
    uint64_t sums[QN_POOL_THREADS_MAX * 8];
};

static void read_piece(void *arg, int64_t i, int worker)
{
    struct reading *r = arg;
    const uint64_t *p = (const uint64_t *)(r->base + (size_t)i * r->piece);
    uint64_t s[8] = {0};
    for (size_t k = 0; k < r->piece / 8; k += 8)
        for (int j = 0; j < 8; j++)
            s[j] += p[k + (size_t)j];
    for (int j = 0; j < 8; j++)
        r->sums[8 * worker] += s[j];
}

static double read_gb_s(void)
{
    enum { PIECE = 256 * 1024, PIECES = 1024 };
    struct reading r = {.piece = PIECE};
    char *mem = aligned_alloc(64, (size_t)PIECE * PIECES);
    double best = 0;
    if (!mem)
        return 0;
    memset(mem, 1, (size_t)PIECE * PIECES);
    r.base = mem;
    for (int run = 0; run < RUNS; run++) {
        int64_t t = now_us();
        qn_pool_run(cpu(dev)->pool, read_piece, &r, PIECES);
        double gb = (double)PIECE * PIECES / 1e3 / (double)(now_us() - t);
        best = gb > best ? gb : best;
    }
    free(mem);
    return best;
}

/* Products of one panel that stays in the first cache: the limit of the kernel's own arithmetic. */
struct spinning {
    cpu_panel_fn fn;  /* of a block type */
    cpu_rows_fn rows; /* of a plain one */
    size_t row_bytes;
    const char *panel, *acts;
    int repeats;
};

static void spin_panel(void *arg, int64_t i, int worker)
{
    const struct spinning *s = arg;
    float y[CPU_COLUMNS_MAX * CPU_PANEL];
    (void)i, (void)worker;
    for (int k = 0; k < s->repeats; k++)
        if (s->fn)
            s->fn(y, s->panel, s->acts, 256);
        else
            s->rows(y, s->panel, s->row_bytes, CPU_PANEL, (const float *)s->acts, 256);
}

static double cached_gmac_s(enum qn_dtype t, int nc)
{
    static char panel[CPU_PANEL * 256 * 4] __attribute__((aligned(64)));
    static char acts[CPU_COLUMNS_MAX * 256 * 4] __attribute__((aligned(64)));
    const int width = nc == 8 ? 3 : nc / 2;
    struct spinning s = {.fn = cpu(dev)->k->panel[t][width],
                         .rows = cpu(dev)->k->rows[t][width],
                         .row_bytes = qn_dtype_bytes(qn_dtype(t), 256),
                         .panel = panel,
                         .acts = acts,
                         .repeats = 20000};
    int threads = qn_device_threads(dev);
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        int64_t us = now_us();
        qn_pool_run(cpu(dev)->pool, spin_panel, &s, threads);
        us = now_us() - us;
        double g = (double)s.repeats * CPU_PANEL * 256 * nc * threads / 1e3 / (double)us;
        best = g > best ? g : best;
    }
    return best;
}

/* ---- products */

struct figures {
    double gemv_gb_s, gemm_gmac_s, four_gb_s, prepare_gb_s;
};

static double time_products(const struct qn_tensor *w, int n, struct qn_tensor *y,
                            const struct qn_tensor *x)
{
    double best = 1e30;
    for (int run = 0; run < RUNS; run++) {
        int64_t t = now_us();
        for (int i = 0; i < n; i++)
            qn_matmul(dev, y, x, &w[i]);
        double us = (double)(now_us() - t);
        best = us < best ? us : best;
    }
    return best;
}

static struct figures measure(enum qn_dtype t)
{
    const struct qn_dtype_info *d = qn_dtype(t);
    struct figures f;
    struct qn_error e;
    struct qn_mem *file, *made[MATRICES_MAX], *rest;
    struct qn_tensor w[MATRICES_MAX];
    size_t bytes = qn_dtype_bytes(d, (int64_t)OUT * COLS);
    int matrices = (int)(all_bytes / bytes);
    float row[COLS];
    check(qn_mem_new(dev, bytes, &file, &e), &e);
    check(qn_mem_new(dev, (size_t)PROMPT * (OUT + COLS) * 4, &rest, &e), &e);
    for (int i = 0; i < OUT; i++) { /* rows recur: the grids' quantisers are slow */
        size_t row_bytes = qn_dtype_bytes(d, COLS);
        char *to = (char *)file->host + (size_t)i * row_bytes;
        for (int j = 0; j < COLS; j++)
            row[j] = (float)((i * 31 + j * 17) % 255 - 127) / 127;
        if (i < 32)
            d->quant(to, row, COLS);
        else
            memcpy(to, to - 32 * row_bytes, row_bytes);
    }
    int64_t us = now_us();
    for (int i = 0; i < matrices; i++) {
        w[i] = qn_tensor_make(t, 2, (int64_t[]){OUT, COLS}, file, 0);
        check(qn_weight_prepare(dev, &w[i], &made[i], &e), &e);
        if (made[i])
            continue;
        check(qn_mem_new(dev, bytes, &made[i], &e), &e); /* multiplied as it is: a copy each */
        memcpy(made[i]->host, file->host, bytes);
        w[i].mem = made[i];
    }
    f.prepare_gb_s = (double)bytes * matrices / 1e3 / (double)(now_us() - us);
    struct qn_tensor x = qn_tensor_make(QN_F32, 2, (int64_t[]){PROMPT, COLS}, rest, 0);
    struct qn_tensor y =
        qn_tensor_make(QN_F32, 2, (int64_t[]){PROMPT, OUT}, rest, qn_tensor_bytes(&x));
    for (int64_t i = 0; i < PROMPT * COLS; i++)
        ((float *)cpu_data(&x))[i] = (float)(i % 201 - 100) / 100;
    struct qn_tensor x1 = qn_tensor_slice(&x, 0, 0, 1), y1 = qn_tensor_slice(&y, 0, 0, 1);
    struct qn_tensor x4 = qn_tensor_slice(&x, 0, 0, 4), y4 = qn_tensor_slice(&y, 0, 0, 4);
    f.gemv_gb_s = (double)made[0]->bytes * matrices / 1e3 / time_products(w, matrices, &y1, &x1);
    f.four_gb_s = (double)made[0]->bytes * matrices / 1e3 / time_products(w, matrices, &y4, &x4);
    f.gemm_gmac_s = (double)PROMPT * OUT * COLS / 1e3 / time_products(w, 1, &y, &x);
    for (int i = 0; i < matrices; i++)
        qn_mem_free(made[i]);
    qn_mem_free(file);
    qn_mem_free(rest);
    return f;
}

/* Whether the type is among those named; none named means all. */
static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcasecmp(name, argv[i]) == 0)
            return true;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    struct qn_error e;
    struct qn_buf out;
    check(qn_device_cpu_new(argc > 1 ? atoi(argv[1]) : 1, &dev, &e), &e);
    check(qn_device_reserve(dev, &(struct qn_reserve){.rows = PROMPT, .cols = COLS}, &e), &e);
    qn_buf_init(&out, 1 << 20);
    struct qn_jw j = qn_jw_to(&out);
    double read = read_gb_s();
    qn_jw_obj(&j);
    qn_jw_kstr(&j, "device", qn_device_name(dev));
    qn_jw_ki64(&j, "threads", qn_device_threads(dev));
    qn_jw_kf64(&j, "read_gb_s", read);
    qn_jw_key(&j, "types");
    qn_jw_obj(&j);
    for (int t = 0; t < QN_DTYPE_COUNT; t++) {
        if (!qn_dtype(t)->dequant || !wanted(qn_dtype(t)->name, argc, argv))
            continue;
        struct figures f = measure(t);
        double limit = cached_gmac_s(t, 8);
        fprintf(stderr,
                "%-7s one %5.1f GB/s (%2.0f%%, cached %4.0f GMAC/s)  four %5.1f GB/s  many %5.0f "
                "GMAC/s (of %4.0f)  prepare %4.1f GB/s\n",
                qn_dtype(t)->name, f.gemv_gb_s, 100 * f.gemv_gb_s / read, cached_gmac_s(t, 1),
                f.four_gb_s, f.gemm_gmac_s, limit, f.prepare_gb_s);
        qn_jw_key(&j, qn_dtype(t)->name);
        qn_jw_obj(&j);
        qn_jw_kf64(&j, "one_gb_s", f.gemv_gb_s);
        qn_jw_kf64(&j, "one_share_of_read", f.gemv_gb_s / read);
        qn_jw_kf64(&j, "four_gb_s", f.four_gb_s);
        qn_jw_kf64(&j, "many_gmac_s", f.gemm_gmac_s);
        qn_jw_kf64(&j, "many_share_of_cached", f.gemm_gmac_s / limit);
        qn_jw_kf64(&j, "prepare_gb_s", f.prepare_gb_s);
        qn_jw_obj_end(&j);
    }
    qn_jw_obj_end(&j);
    qn_jw_obj_end(&j);
    puts(qn_buf_cstr(&out));
    qn_buf_deinit(&out);
    qn_device_free(dev);
    return 0;
}
