/* Recurrences of state-space and linear-attention layers over the tokens of one sequence, in
 * vectors of the width that the including file is compiled for. Each dot_<isa>.c includes this
 * once.
 *
 * The columns of a state matrix are independent, so a few columns at a time stay in the L1 cache
 * while all tokens are processed. Tokens are processed one after another, as in the papers'
 * definitions: in single precision the chunked algorithms need as many products, and this way the
 * results are bit-identical for every division of a text into chunks. */
#ifndef QN_ENGINE_CPU_RECURRENT_H
#define QN_ENGINE_CPU_RECURRENT_H

#include "engine/cpu/lanes.h"

/* y[t] = bias + sum over j of w[j] · x[t + 1 - kernel + j], with x before the first token from the
 * state; n > 0 tokens. */
static void lanes_conv(const struct cpu_conv *a)
{
    const float *in[CPU_CONV_MAX];
    for (int t = 0; t < a->n; t++) {
        float *y = a->y + t * a->y_row;
        for (int j = 0; j < a->kernel; j++) {
            int at = t + 1 - a->kernel + j;
            in[j] = at < 0 ? a->state + (at + a->kernel - 1) * a->state_row : a->x + at * a->x_row;
        }
        for (int64_t c = 0; c < a->channels; c += WIDTH) {
            int64_t left = a->channels - c;
            vec zero = {0}, sum = zero;
            if (left >= WIDTH) {
                if (a->bias)
                    sum = vec_load(a->bias + c);
                for (int j = 0; j < a->kernel; j++)
                    sum += vec_load(a->w + j * a->w_row + c) * vec_load(in[j] + c);
                vec_store(y + c, a->silu ? vec_silu(sum) : sum);
                continue;
            }
            if (a->bias)
                sum = vec_load_part(a->bias + c, left, zero);
            for (int j = 0; j < a->kernel; j++)
                sum += vec_load_part(a->w + j * a->w_row + c, left, zero) *
                       vec_load_part(in[j] + c, left, zero);
            sum = a->silu ? vec_silu(sum) : sum;
            memcpy(y + c, &sum, (size_t)left * sizeof *y);
        }
    }
    int keep = a->kernel - 1, fresh = a->n < keep ? a->n : keep;
    for (int j = 0; j < keep - fresh; j++)
        memcpy(a->state + j * a->state_row, a->state + (j + fresh) * a->state_row,
               (size_t)a->channels * sizeof *a->state);
    for (int j = 0; j < fresh; j++)
        memcpy(a->state + (keep - fresh + j) * a->state_row, a->x + (a->n - fresh + j) * a->x_row,
               (size_t)a->channels * sizeof *a->state);
}

enum { DELTA_VECS = 4, SCAN_VECS = 2, SCAN_TOKENS = 4 };

/* Processes nv vectors of columns from `c` on. A token's update of the state is deferred until the
 * next token reads it, so that each row is loaded and stored once per token. */
static inline __attribute__((always_inline)) void
delta_columns(const int nv, const struct cpu_delta *a, int64_t c)
{
    vec u[DELTA_VECS] = {{0}};
    float decay = 1; /* of the previous token; initially nothing is deferred */
    const float *wrote = a->k;
    for (int t = 0; t < a->n; t++) {
        const float *k = a->k + t * a->k_row, *q = a->q + t * a->q_row;
        vec seen[DELTA_VECS] = {{0}}, asked[DELTA_VECS] = {{0}};
        for (int64_t i = 0; i < a->k_dim; i++) {
            float *row = a->state + i * a->columns + c;
            for (int j = 0; j < nv; j++) {
                vec s = vec_load(row + j * WIDTH) * decay + wrote[i] * u[j];
                vec_store(row + j * WIDTH, s);
                seen[j] += k[i] * s;
                asked[j] += q[i] * s;
            }
        }
        float beta = a->beta[t * a->beta_row], kq = lanes_dot(k, q, a->k_dim);
        decay = a->decay[t * a->decay_row];
        wrote = k;
        for (int j = 0; j < nv; j++) {
            const int64_t at = c + j * WIDTH;
            u[j] = beta * (vec_load(a->v + t * a->v_row + at) - decay * seen[j]);
            vec_store(a->out + t * a->out_row + at, decay * asked[j] + kq * u[j]);
        }
    }
    for (int64_t i = 0; i < a->k_dim; i++) {
        float *row = a->state + i * a->columns + c;
        for (int j = 0; j < nv; j++)
            vec_store(row + j * WIDTH, vec_load(row + j * WIDTH) * decay + wrote[i] * u[j]);
    }
}

static void lanes_delta(const struct cpu_delta *a)
{
    int64_t c = 0;
    for (; c + DELTA_VECS * WIDTH <= a->columns; c += DELTA_VECS * WIDTH)
        delta_columns(DELTA_VECS, a, c);
    for (; c < a->columns; c += WIDTH)
        delta_columns(1, a, c);
}

/* Processes nt tokens from t on in nv vectors of columns from c on; a row of the state stays in a
 * register for all of these tokens. */
static inline __attribute__((always_inline)) void
scan_columns(const int nv, const int nt, const struct cpu_scan *a, int t, int64_t c)
{
    vec x[SCAN_TOKENS][SCAN_VECS], y[SCAN_TOKENS][SCAN_VECS];
    const float *b[SCAN_TOKENS], *read[SCAN_TOKENS];
    float decay[SCAN_TOKENS];
    for (int i = 0; i < nt; i++) {
        const float *from = a->x + (t + i) * a->x_row + c;
        float dt = a->dt[(t + i) * a->dt_row];
        b[i] = a->b + (t + i) * a->b_row;
        read[i] = a->c + (t + i) * a->c_row;
        decay[i] = a->decay[(t + i) * a->decay_row];
        for (int j = 0; j < nv; j++) {
            vec v = vec_load(from + j * WIDTH);
            x[i][j] = dt * v;
            y[i][j] = a->d * v;
        }
    }
    for (int64_t n = 0; n < a->states; n++) {
        float *row = a->state + n * a->columns + c;
        for (int j = 0; j < nv; j++) {
            vec s = vec_load(row + j * WIDTH);
            for (int i = 0; i < nt; i++) {
                s = s * decay[i] + b[i][n] * x[i][j];
                y[i][j] += read[i][n] * s;
            }
            vec_store(row + j * WIDTH, s);
        }
    }
    for (int i = 0; i < nt; i++)
        for (int j = 0; j < nv; j++)
            vec_store(a->out + (t + i) * a->out_row + c + j * WIDTH, y[i][j]);
}

static void lanes_scan(const struct cpu_scan *a)
{
    int64_t c = 0;
    for (int64_t step; c < a->columns; c += step * WIDTH) {
        int t = 0;
        step = c + SCAN_VECS * WIDTH <= a->columns ? SCAN_VECS : 1;
        for (; t + SCAN_TOKENS <= a->n; t += SCAN_TOKENS) {
            if (step == SCAN_VECS)
                scan_columns(SCAN_VECS, SCAN_TOKENS, a, t, c);
            else
                scan_columns(1, SCAN_TOKENS, a, t, c);
        }
        for (; t < a->n; t++) {
            if (step == SCAN_VECS)
                scan_columns(SCAN_VECS, 1, a, t, c);
            else
                scan_columns(1, 1, a, t, c);
        }
    }
}

static void lanes_mul(float *y, const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

/* y = x · sigmoid(gate). */
static void lanes_sigmoid_mul(float *y, const float *gate, const float *x, int64_t n)
{
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        vec_store(y + i, vec_load(x + i) / (1.0f + vec_exp(-vec_load(gate + i))));
    vec zero = {0}, last = vec_load_part(x + i, n - i, zero);
    last /= 1.0f + vec_exp(-vec_load_part(gate + i, n - i, zero));
    memcpy(y + i, &last, (size_t)(n - i) * sizeof *y);
}

#endif
