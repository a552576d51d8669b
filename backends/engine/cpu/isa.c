/* Chooses the kernels: the best instruction set that the processor has, each kernel tested once
 * against the generic one before use. Virtual machines and emulators do announce features that then
 * fault or give wrong results; losing one kernel is better than losing the process. */
#include "engine/cpu/cpu.h"

#include "base/log.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

const struct cpu_kernels *const cpu_kernels_all[] = {
#ifdef QN_X86_64
    &cpu_kernels_amx,     &cpu_kernels_avx512,
    &cpu_kernels_avxvnni, &cpu_kernels_avx2,
#endif
    &cpu_kernels_generic, NULL,
};

enum { COLS = 256, ROWS = 16, KEYS = 70, HEAD = 40 };

/* Inputs and outputs of one trial; all kernels get the same inputs. */
struct trial {
    float x[8][COLS], w[ROWS][COLS], gain[COLS], out[2][8 * COLS];
    uint16_t halves[2 * KEYS * HEAD];
    char file[ROWS * COLS * 4], panel[ROWS * COLS * 4], acts[2][8 * COLS * 4];
    char group[COLS / 32 * ACT_BYTES(CPU_WIDE_ROWS)] __attribute__((aligned(64)));
    char wide[2][CPU_ALIGN + COLS / 32 * CPU_WIDE_UNIT_MAX] __attribute__((aligned(64)));
    float turned[3][CPU_PLAIN_CLASSES * (COLS / CPU_PLAIN_CLASSES + 1) * CPU_PANEL];
    float work[2][(CPU_ATTEND_KEYS + 3 * CPU_ATTEND_QUERIES) * (HEAD + CPU_ATTEND_PAD) +
                  CPU_ATTEND_QUERIES * (CPU_ATTEND_KEYS + CPU_ATTEND_PAD + 4)]
        __attribute__((aligned(64)));
    enum qn_dtype type;
    int width;       /* 1, 2, 4 or 8 activations */
    int n;           /* number of floats in each of out */
    float tolerance; /* as a fraction of the greatest magnitude */
};

static int width_index(int width)
{
    return width == 8 ? 3 : width / 2;
}

/* Each of these functions runs one kernel of k and writes its results to out[side]. */
static void try_rms_norm(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->rms_norm(t->out[side], t->x[0], t->gain, t->n, 1e-5f);
}

static void try_silu_mul(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->silu_mul(t->out[side], t->x[0], t->x[1], t->n);
}

static void try_softmax(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->softmax(t->out[side], t->x[0], t->n);
}

static void try_add(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->add(t->out[side], t->x[0], t->x[1], t->n);
}

static void try_dot(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 1;
    t->out[side][0] = k->dot(t->x[0], t->x[1], 100);
}

static void try_narrow(const struct cpu_kernels *k, struct trial *t, int side)
{
    uint16_t h[100];
    t->n = 100;
    k->narrow(h, t->x[0], t->n);
    for (int i = 0; i < t->n; i++)
        t->out[side][i] = qn_f16_to_f32(h[i]);
}

static void try_widen(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->widen(t->out[side], t->halves, t->n);
}

static void try_attend(const struct cpu_kernels *k, struct trial *t, int side)
{
    static const int32_t pages[] = {0, 1, 2};
    t->n = 4 * HEAD;
    k->attend(&(struct cpu_attend){
        .out = t->out[side],
        .q = t->x[0],
        .out_row = 2 * HEAD,
        .q_row = 2 * HEAD,
        .out_head = HEAD,
        .q_head = HEAD,
        .k = (const char *)t->halves,
        .v = (const char *)(t->halves + KEYS * HEAD),
        .pages = pages,
        .page_bytes = 2 * QN_KV_PAGE * HEAD,
        .k_row = 2 * HEAD,
        .v_row = 2 * HEAD,
        .k_type = QN_F16,
        .v_type = QN_F16,
        .n = 2,
        .group = 2,
        .k_dim = HEAD,
        .v_dim = HEAD,
        .first = KEYS - 1,
        .scale = 0.2f,
        .work = t->work[side],
    });
}

static void try_mul(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->mul(t->out[side], t->x[0], t->x[1], t->n);
}

static void try_sigmoid_mul(const struct cpu_kernels *k, struct trial *t, int side)
{
    t->n = 100;
    k->sigmoid_mul(t->out[side], t->x[0], t->x[1], t->n);
}

/* Three tokens of 100 channels; out: the results, then the new state. */
static void try_conv(const struct cpu_kernels *k, struct trial *t, int side)
{
    float *state = t->out[side] + 3 * 100;
    t->n = (3 + 3) * 100;
    memcpy(state, t->x[3], 3 * 100 * sizeof *state);
    k->conv(&(struct cpu_conv){
        .y = t->out[side],
        .x = t->x[0],
        .w = t->w[0],
        .bias = t->gain,
        .state = state,
        .y_row = 100,
        .x_row = COLS,
        .w_row = COLS,
        .state_row = 100,
        .channels = 100,
        .n = 3,
        .kernel = 4,
        .silu = true,
    });
}

enum { TOKENS = 5, STATES = 12, COLUMNS = 80 }; /* whole blocks of columns and a remainder */

static void try_delta(const struct cpu_kernels *k, struct trial *t, int side)
{
    float *state = t->out[side] + TOKENS * COLUMNS;
    t->n = (TOKENS + STATES) * COLUMNS;
    memcpy(state, t->w[0], STATES * COLUMNS * sizeof *state);
    k->delta(&(struct cpu_delta){
        .out = t->out[side],
        .q = t->x[0] + 100,
        .k = t->x[0] + 120,
        .v = t->x[0],
        .decay = t->x[5],
        .beta = t->x[6],
        .state = state,
        .out_row = COLUMNS,
        .q_row = COLS,
        .k_row = COLS,
        .v_row = COLS,
        .decay_row = 1,
        .beta_row = 1,
        .k_dim = STATES,
        .columns = COLUMNS,
        .n = TOKENS,
    });
}

static void try_scan(const struct cpu_kernels *k, struct trial *t, int side)
{
    float *state = t->out[side] + TOKENS * COLUMNS;
    t->n = (TOKENS + STATES) * COLUMNS;
    memcpy(state, t->w[0], STATES * COLUMNS * sizeof *state);
    k->scan(&(struct cpu_scan){
        .out = t->out[side],
        .x = t->x[0],
        .b = t->x[0] + 100,
        .c = t->x[0] + 120,
        .decay = t->x[5],
        .dt = t->x[6],
        .d = 0.5f,
        .state = state,
        .out_row = COLUMNS,
        .x_row = COLS,
        .b_row = COLS,
        .c_row = COLS,
        .decay_row = 1,
        .dt_row = 1,
        .states = STATES,
        .columns = COLUMNS,
        .n = TOKENS,
    });
}

static const float *const *rows_of(struct trial *t, const float *rows[8])
{
    for (int i = 0; i < 8; i++)
        rows[i] = t->x[i];
    return rows;
}

static void try_round(const struct cpu_kernels *k, struct trial *t, int side)
{
    const float *rows[8];
    t->n = 8 * COLS;
    /* a quotient midway between two codes may be rounded either way */
    t->tolerance = 1.01f / 127;
    k->round(t->acts[side], 8, rows_of(t, rows), 7, COLS);
    for (int i = 0; i < t->n; i++) {
        const char *block = t->acts[side] + i / 8 / 32 * ACT_BYTES(8);
        float d;
        memcpy(&d, block + ACT_D(8) + 4 * (i % 8), 4);
        t->out[side][i] = d * (float)(int8_t)block[32 * (i % 8) + i / 8 % 32];
    }
}

static void try_rest(const struct cpu_kernels *k, struct trial *t, int side)
{
    const float *rows[8];
    const char *block = t->acts[1];
    t->n = 8 * COLS;
    t->tolerance = 1.01f / 127; /* as above */
    cpu_kernels_generic.round(t->acts[0], 8, rows_of(t, rows), 8, COLS);
    k->rest(t->acts[1], t->acts[0], 8, rows_of(t, rows), 7, COLS);
    for (int i = 0; i < t->n; i++)
        t->out[side][i] = block[i / 8 / 32 * ACT_BYTES(8) + 32 * (i % 8) + i / 8 % 32];
}

/* Fills the panel with random bytes, which are valid codes. Scales get bytes from 0x2c to 0x33,
 * which make numbers of ordinary size in every format. */
static void fill_panel(struct trial *t)
{
    char *p = t->panel + cpu_head_bytes(t->type);
    uint32_t seed = 1;
    if (cpu_head_bytes(t->type))
        cpu_panel_set_factor(t->panel, 0.5f);
    for (int u = 0; u < COLS / 32; u++) {
        int scales = u % cpu_record_units(t->type) == 0 ? cpu_scale_bytes(t->type) : 0;
        for (int i = 0; i < scales + cpu_code_bytes(t->type); i++) {
            seed = seed * 1664525 + 1013904223;
            *p++ = (char)(i < scales ? 0x2c + (seed >> 29) : seed >> 24);
        }
    }
}

static void try_panel(const struct cpu_kernels *k, struct trial *t, int side)
{
    const float *rows[8];
    t->n = t->width * CPU_PANEL;
    cpu_kernels_generic.round(t->acts[0], t->width, rows_of(t, rows), t->width, COLS);
    fill_panel(t);
    k->panel[t->type][width_index(t->width)](t->out[side], t->panel, t->acts[0], COLS);
}

/* Compares a group and its residuals in one call with the sum of two calls. */
static void try_both(const struct cpu_kernels *k, struct trial *t, int side)
{
    const float *rows[8];
    float more[8 * CPU_PANEL];
    const int i = width_index(t->width);
    t->n = t->width * CPU_PANEL;
    cpu_kernels_generic.round(t->acts[0], t->width, rows_of(t, rows), t->width, COLS);
    cpu_kernels_generic.rest(t->acts[1], t->acts[0], t->width, rows, t->width, COLS);
    fill_panel(t);
    if (k->both[i]) {
        k->both[i](t->out[side], t->panel, t->acts[0], t->acts[1], COLS);
        return;
    }
    k->panel[t->type][i](t->out[side], t->panel, t->acts[0], COLS);
    k->panel[t->type][i](more, t->panel, t->acts[1], COLS);
    for (int o = 0; o < t->n; o++)
        t->out[side][o] += more[o];
}

/* Tests the kernel for single rows with ROWS - 1 rows and COLS - 3 columns: neither is a multiple
 * of the kernel's step, so the code for remainders runs, too. */
static void try_rows(const struct cpu_kernels *k, struct trial *t, int side)
{
    const struct qn_dtype_info *d = qn_dtype(t->type);
    const int n = ROWS - 1, cols = COLS - 3;
    t->n = t->width * CPU_PANEL;
    d->quant(t->file, t->w[0], ROWS * COLS);
    k->rows[t->type][width_index(t->width)](t->out[side], t->file, qn_dtype_bytes(d, COLS), n,
                                            t->x[0], cols);
    for (int c = 0; c < t->width; c++)
        t->out[side][c * CPU_PANEL + n] = 0;
}

/* Compares the wide form with panels: the first eight rows of the first panel and the last eight of
 * the second, which is the same panel here. */
static void try_wide(const struct cpu_kernels *k, struct trial *t, int side)
{
    const float *rows[CPU_WIDE_ROWS];
    float *tile = t->work[0];
    t->width = 8;
    t->n = 2 * 8 * CPU_PANEL;
    if (!k->wide.rows) {
        try_panel(k, t, side);
        memcpy(t->out[side] + 8 * CPU_PANEL, t->out[side], sizeof(float) * 8 * CPU_PANEL);
        return;
    }
    for (int i = 0; i < CPU_WIDE_ROWS; i++)
        rows[i] = t->x[i % 8];
    cpu_kernels_generic.round(t->group, CPU_WIDE_ROWS, rows, CPU_WIDE_ROWS, COLS);
    fill_panel(t);
    for (int i = 0; i < 2; i++)
        k->wide_panel[t->type](t->wide[i], t->panel, COLS);
    if (k->wide.ready)
        k->wide.ready(t->group, COLS);
    if (k->wide.begin)
        k->wide.begin(t->type);
    k->wide.tile(&(struct cpu_tile){.y = tile,
                                    .y_panel = CPU_WIDE_ROWS * CPU_PANEL,
                                    .y_row = CPU_PANEL,
                                    .type = t->type,
                                    .first = t->wide[0],
                                    .second = t->wide[1],
                                    .group = t->group,
                                    .n = CPU_WIDE_ROWS,
                                    .cols = COLS});
    if (k->wide.end)
        k->wide.end();
    memcpy(t->out[side], tile, sizeof(float) * 8 * CPU_PANEL);
    memcpy(t->out[side] + 8 * CPU_PANEL, tile + (2 * CPU_WIDE_ROWS - 8) * CPU_PANEL,
           sizeof(float) * 8 * CPU_PANEL);
}

/* Compares transposed plain weights with rows, likewise. */
static void try_plain_tile(const struct cpu_kernels *k, struct trial *t, int side)
{
    const struct qn_dtype_info *d = qn_dtype(t->type);
    const size_t row_bytes = qn_dtype_bytes(d, COLS);
    const char *rows[2][CPU_PANEL];
    float *tile = t->work[0];
    t->n = 2 * 8 * CPU_PANEL;
    d->quant(t->file, t->w[0], ROWS * COLS);
    if (!k->plain_tile) {
        for (int i = 0; i < 8 * COLS; i++)
            tile[i] = t->x[i / CPU_PLAIN_RUN % 8]
                          [i / (8 * CPU_PLAIN_RUN) * CPU_PLAIN_RUN + i % CPU_PLAIN_RUN];
        k->rows[t->type][3](t->out[side], t->file, row_bytes, ROWS, tile, COLS);
        memcpy(t->out[side] + 8 * CPU_PANEL, t->out[side], sizeof(float) * 8 * CPU_PANEL);
        return;
    }
    for (int i = 0; i < CPU_PANEL; i++) {
        rows[0][i] = t->file + (size_t)i * row_bytes;
        rows[1][i] = (const char *)t->x[i % 8];
    }
    k->plain_classes(t->type, t->turned[0], rows[0], ROWS, COLS);
    k->plain_classes(t->type, t->turned[1], rows[0], ROWS, COLS);
    k->plain_classes(QN_F32, t->turned[2], rows[1], CPU_WIDE_ROWS, COLS);
    k->plain_tile(&(struct cpu_tile){.y = tile,
                                     .y_panel = CPU_WIDE_ROWS * CPU_PANEL,
                                     .y_row = CPU_PANEL,
                                     .type = t->type,
                                     .first = t->turned[0],
                                     .second = t->turned[1],
                                     .group = t->turned[2],
                                     .n = CPU_WIDE_ROWS,
                                     .cols = COLS});
    memcpy(t->out[side], tile, sizeof(float) * 8 * CPU_PANEL);
    memcpy(t->out[side] + 8 * CPU_PANEL, tile + (2 * CPU_WIDE_ROWS - 8) * CPU_PANEL,
           sizeof(float) * 8 * CPU_PANEL);
}

typedef void (*trial_fn)(const struct cpu_kernels *k, struct trial *t, int side);

static _Thread_local sigjmp_buf escape;

static void on_fault(int sig)
{
    siglongjmp(escape, sig);
}

/* Returns 0 if the kernel of `set` agrees with the generic one, else a description of the fault. */
static const char *compare(const struct cpu_kernels *set, struct trial *t, trial_fn fn)
{
    static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE};
    struct sigaction old[4], act = {.sa_handler = on_fault};
    const char *volatile wrong = NULL;
    t->tolerance = 1e-4f;
    fn(&cpu_kernels_generic, t, 0);
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &act, &old[i]);
    if (sigsetjmp(escape, 1))
        wrong = "faults";
    else
        fn(set, t, 1);
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &old[i], NULL);
    float size = 0;
    for (int i = 0; i < t->n; i++)
        size = fmaxf(size, fabsf(t->out[0][i]));
    for (int i = 0; !wrong && i < t->n; i++)
        if (!(fabsf(t->out[0][i] - t->out[1][i]) <= t->tolerance * size))
            wrong = "gives other results";
    return wrong;
}

static void fill(float *x, int n, uint32_t *seed)
{
    for (int i = 0; i < n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        x[i] = (float)(*seed >> 8) / 8388608.0f - 1.0f;
    }
}

#define TRY(member)                                                                                \
    if ((wrong = compare(set, t, try_##member))) {                                                 \
        out->member = cpu_kernels_generic.member;                                                  \
        qn_warn("engine", "isa=%s kernel=" #member " left_out=\"%s\"", set->name, wrong);          \
        replaced++;                                                                                \
    }

/* Tests the products of t->type. */
static int try_products(const struct cpu_kernels *set, struct trial *t, struct cpu_kernels *out)
{
    const enum qn_dtype type = t->type;
    const bool block = qn_dtype(type)->block > 1;
    const char *wrong;
    int replaced = 0;
    if (!set->panel[type][0] && !set->rows[type][0])
        return 0;
    for (int i = 0; i < 4; i++) {
        t->width = 1 << i;
        if (!(wrong = compare(set, t, block ? try_panel : try_rows)))
            continue;
        out->panel[type][i] = cpu_kernels_generic.panel[type][i];
        out->rows[type][i] = cpu_kernels_generic.rows[type][i];
        qn_warn("engine", "isa=%s kernel=product type=%s width=%d left_out=\"%s\"", set->name,
                qn_dtype(type)->name, t->width, wrong);
        replaced++;
    }
    for (int i = 0; i < 4 && type == QN_Q8_0 && set->both[i]; i++) {
        t->width = 1 << i;
        if (!(wrong = compare(set, t, try_both)))
            continue;
        /* all, because the results must not depend on the number of rows */
        memset(out->both, 0, sizeof out->both);
        out->wide_panel[type] = NULL;
        qn_warn("engine", "isa=%s kernel=both width=%d left_out=\"%s\"", set->name, t->width,
                wrong);
        replaced++;
        break;
    }
    if (!block && out->plain_tile && (wrong = compare(out, t, try_plain_tile))) {
        out->plain_tile = NULL;
        qn_warn("engine", "isa=%s kernel=plain_tile type=%s left_out=\"%s\"", set->name,
                qn_dtype(type)->name, wrong);
        return replaced + 1;
    }
    if (!out->wide.rows || !out->wide_panel[type] || !(wrong = compare(out, t, try_wide)))
        return replaced;
    out->wide_panel[type] = NULL;
    qn_warn("engine", "isa=%s kernel=wide type=%s left_out=\"%s\"", set->name, qn_dtype(type)->name,
            wrong);
    return replaced + 1;
}

int cpu_kernels_try(const struct cpu_kernels *set, struct cpu_kernels *out)
{
    struct trial *t = aligned_alloc(64, (sizeof *t + 63) / 64 * 64);
    const char *wrong;
    int replaced = 0;
    uint32_t seed = 1;
    *out = *set;
    if (!t)
        return 0; /* the device needs much more memory and will report the failure */
    memset(t, 0, sizeof *t);
    fill(t->x[0], 8 * COLS, &seed);
    fill(t->w[0], ROWS * COLS, &seed);
    fill(t->gain, COLS, &seed);
    for (int i = 0; i < 2 * KEYS * HEAD; i++)
        t->halves[i] = qn_f32_to_f16(t->w[i / COLS % ROWS][i % COLS]);
    TRY(rms_norm)
    TRY(silu_mul)
    TRY(softmax)
    TRY(add)
    TRY(dot)
    TRY(narrow)
    TRY(widen)
    TRY(attend)
    TRY(mul)
    TRY(sigmoid_mul)
    TRY(conv)
    TRY(delta)
    TRY(scan)
    TRY(round)
    TRY(rest)
    if (out->wide.supported && !out->wide.supported())
        out->wide.rows = 0;
    for (int type = 0; type < QN_DTYPE_COUNT; type++) {
        t->type = type;
        replaced += try_products(set, t, out);
    }
    free(t);
    return replaced;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the tested copy of kernel set i; tests it at its first use. */
static const struct cpu_kernels *tried(int i)
{
    static struct cpu_kernels made[sizeof cpu_kernels_all / sizeof *cpu_kernels_all];
    pthread_mutex_lock(&lock);
    if (!made[i].name)
        cpu_kernels_try(cpu_kernels_all[i], &made[i]);
    pthread_mutex_unlock(&lock);
    return &made[i];
}

qn_err cpu_kernels_choose(const struct cpu_kernels **out, struct qn_error *e)
{
    const char *want = getenv("QUINCE_ISA");
    bool forced = want && *want;
    for (int i = 0; cpu_kernels_all[i]; i++) {
        if (forced && strcmp(want, cpu_kernels_all[i]->name))
            continue;
        if (cpu_kernels_all[i]->supported()) {
            *out = tried(i);
            return QN_OK;
        }
        if (forced)
            return qn_fail(e, QN_EUNSUPPORTED, "QUINCE_ISA=%s: this processor cannot run it", want);
    }
    return qn_fail(e, QN_EINVAL, "QUINCE_ISA=%s: not generic, avx2, avxvnni, avx512 or amx", want);
}
