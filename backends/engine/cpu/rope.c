/* Rotary position embedding from a table of cosines and sines computed once per batch. */
#include "engine/cpu/cpu.h"

#include <math.h>

/* One row; pair i is rotated by p[axis[i]], or by p[0] without axes. In double, because the angle
 * may be 10^5 radians. */
static void fill_row(float *cos_row, float *sin_row, const int32_t *p, const float *f,
                     const int32_t *axis, int64_t half, float scale)
{
    for (int64_t i = 0; i < half; i++) {
        double angle = (double)p[axis ? axis[i] : 0] * f[i];
        cos_row[i] = (float)cos(angle) * scale;
        sin_row[i] = (float)sin(angle) * scale;
    }
}

void cpu_rope_table(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                    const struct qn_tensor *freq, float scale)
{
    const int32_t *p = cpu_data(pos);
    (void)dev;
    for (int64_t r = 0; r < table->shape[0]; r++)
        fill_row(cpu_at(table, r, 0), cpu_at(table, r, 1), p + r, cpu_data(freq), NULL,
                 table->shape[2], scale);
}

void cpu_rope_table_axes(struct qn_device *dev, struct qn_tensor *table,
                         const struct qn_tensor *pos, const struct qn_tensor *freq,
                         const struct qn_tensor *axis, float scale)
{
    const int32_t *p = cpu_data(pos);
    (void)dev;
    for (int64_t r = 0; r < table->shape[0]; r++)
        fill_row(cpu_at(table, r, 0), cpu_at(table, r, 1), p + QN_ROPE_AXES * r, cpu_data(freq),
                 cpu_data(axis), table->shape[2], scale);
}

struct job {
    struct qn_tensor *x;
    const struct qn_tensor *table;
    enum qn_rope_pairs pairs;
    int64_t chunk;
};

static void rotate_halves(float *x, const float *c, const float *s, int64_t half)
{
    for (int64_t i = 0; i < half; i++) {
        float a = x[i], b = x[i + half];
        x[i] = a * c[i] - b * s[i];
        x[i + half] = a * s[i] + b * c[i];
    }
}

static void rotate_neighbours(float *x, const float *c, const float *s, int64_t half)
{
    for (int64_t i = 0; i < half; i++) {
        float a = x[2 * i], b = x[2 * i + 1];
        x[2 * i] = a * c[i] - b * s[i];
        x[2 * i + 1] = a * s[i] + b * c[i];
    }
}

static void rope_rows(void *arg, int64_t item, int worker)
{
    const struct job *j = arg;
    (void)worker;
    int64_t rows = j->x->shape[0],
            end = (item + 1) * j->chunk < rows ? (item + 1) * j->chunk : rows;
    int64_t half = j->table->shape[2];
    for (int64_t r = item * j->chunk; r < end; r++)
        for (int64_t h = 0; h < j->x->shape[1]; h++)
            (j->pairs == QN_ROPE_HALVES ? rotate_halves : rotate_neighbours)(
                cpu_at(j->x, r, h), cpu_at(j->table, r, 0), cpu_at(j->table, r, 1), half);
}

void cpu_rope(struct qn_device *dev, struct qn_tensor *x, const struct qn_tensor *table,
              enum qn_rope_pairs pairs)
{
    int64_t rows = x->shape[0], cols = x->shape[1] * x->shape[2];
    struct job j = {x, table, pairs, cols < CPU_SMALL ? CPU_SMALL / cols : 1};
    qn_pool_run(cpu(dev)->pool, rope_rows, &j, (rows + j.chunk - 1) / j.chunk);
}
