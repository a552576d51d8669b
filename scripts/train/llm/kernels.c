/* Everything of a training step that is not a matrix product: RMSNorm, SwiGLU, RoPE with
 * the head split, causal softmax, cross entropy and AdamW, on bfloat16 tensors.
 *
 * Why: Debian's PyTorch hands bf16 matrix products to oneDNN, which uses AVX-512, but its
 * own element-wise kernels are compiled for AVX2 and run one small operation at a time.
 * Fused here, they stop being the larger half of a step. kernels.py compiles this file. */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;

static inline float up(bf16 x)
{
    uint32_t u = (uint32_t)x << 16;
    float r;
    memcpy(&r, &u, 4);
    return r;
}

static inline bf16 down(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    u += 0x7fff + ((u >> 16) & 1); /* round to nearest even */
    return (bf16)(u >> 16);
}

void rmsnorm_forward(const bf16 *x, const bf16 *w, bf16 *y, float *inv, long rows, long dim)
{
#pragma omp parallel for
    for (long i = 0; i < rows; i++) {
        const bf16 *xi = x + i * dim;
        bf16 *yi = y + i * dim;
        float sum = 0;
        for (long j = 0; j < dim; j++)
            sum += up(xi[j]) * up(xi[j]);
        float r = 1.0f / sqrtf(sum / dim + 1e-5f);
        inv[i] = r;
        for (long j = 0; j < dim; j++)
            yi[j] = down(up(xi[j]) * r * up(w[j]));
    }
}

/* dw: `parts` rows of dim zeroed floats; the caller adds them up. Fixed parts keep the
 * result the same whatever the number of threads. */
void rmsnorm_backward(const bf16 *x, const bf16 *w, const float *inv, const bf16 *dy, bf16 *dx,
                      float *dw, long rows, long dim, long parts)
{
#pragma omp parallel for
    for (long c = 0; c < parts; c++) {
        float *g = dw + c * dim;
        for (long i = rows * c / parts; i < rows * (c + 1) / parts; i++) {
            const bf16 *xi = x + i * dim, *di = dy + i * dim;
            bf16 *oi = dx + i * dim;
            float r = inv[i], dot = 0;
            for (long j = 0; j < dim; j++) {
                float h = up(xi[j]) * r, d = up(di[j]);
                g[j] += d * h;
                dot += d * up(w[j]) * h;
            }
            dot /= dim;
            for (long j = 0; j < dim; j++)
                oi[j] = down(r * (up(di[j]) * up(w[j]) - up(xi[j]) * r * dot));
        }
    }
}

/* in: rows of gate|up, each `dim` wide; out: silu(gate) * up */
void swiglu_forward(const bf16 *in, bf16 *out, long rows, long dim)
{
#pragma omp parallel for
    for (long i = 0; i < rows; i++) {
        const bf16 *g = in + i * 2 * dim, *u = g + dim;
        bf16 *o = out + i * dim;
        for (long j = 0; j < dim; j++) {
            float a = up(g[j]);
            o[j] = down(a / (1.0f + expf(-a)) * up(u[j]));
        }
    }
}

void swiglu_backward(const bf16 *in, const bf16 *dout, bf16 *din, long rows, long dim)
{
#pragma omp parallel for
    for (long i = 0; i < rows; i++) {
        const bf16 *g = in + i * 2 * dim, *u = g + dim, *d = dout + i * dim;
        bf16 *dg = din + i * 2 * dim, *du = dg + dim;
        for (long j = 0; j < dim; j++) {
            float a = up(g[j]), s = 1.0f / (1.0f + expf(-a)), e = up(d[j]);
            dg[j] = down(e * up(u[j]) * s * (1.0f + a * (1.0f - s)));
            du[j] = down(e * a * s);
        }
    }
}

/* qkv [batch*len, 3*heads*hd] -> q, k, v [batch, heads, len, hd]. RoPE turns neighbouring
 * pairs (2j, 2j+1), the order the GGUF architecture "llama" stores, so that the export
 * has no rows to permute. */
void rope_split(const bf16 *qkv, bf16 *q, bf16 *k, bf16 *v, const float *cosine, const float *sine,
                long batch, long len, long heads, long hd)
{
    long dim = heads * hd, half = hd / 2;
#pragma omp parallel for collapse(2)
    for (long b = 0; b < batch; b++)
        for (long h = 0; h < heads; h++)
            for (long t = 0; t < len; t++) {
                const bf16 *s = qkv + (b * len + t) * 3 * dim + h * hd;
                long o = ((b * heads + h) * len + t) * hd;
                const float *c = cosine + t * half, *z = sine + t * half;
                for (long j = 0; j < half; j++) {
                    float a = up(s[2 * j]), e = up(s[2 * j + 1]);
                    q[o + 2 * j] = down(a * c[j] - e * z[j]);
                    q[o + 2 * j + 1] = down(e * c[j] + a * z[j]);
                    a = up(s[dim + 2 * j]), e = up(s[dim + 2 * j + 1]);
                    k[o + 2 * j] = down(a * c[j] - e * z[j]);
                    k[o + 2 * j + 1] = down(e * c[j] + a * z[j]);
                }
                memcpy(v + o, s + 2 * dim, hd * sizeof(bf16));
            }
}

void rope_merge(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *qkv, const float *cosine,
                const float *sine, long batch, long len, long heads, long hd)
{
    long dim = heads * hd, half = hd / 2;
#pragma omp parallel for collapse(2)
    for (long b = 0; b < batch; b++)
        for (long h = 0; h < heads; h++)
            for (long t = 0; t < len; t++) {
                bf16 *s = qkv + (b * len + t) * 3 * dim + h * hd;
                long o = ((b * heads + h) * len + t) * hd;
                const float *c = cosine + t * half, *z = sine + t * half;
                for (long j = 0; j < half; j++) {
                    float a = up(q[o + 2 * j]), e = up(q[o + 2 * j + 1]);
                    s[2 * j] = down(a * c[j] + e * z[j]);
                    s[2 * j + 1] = down(e * c[j] - a * z[j]);
                    a = up(k[o + 2 * j]), e = up(k[o + 2 * j + 1]);
                    s[dim + 2 * j] = down(a * c[j] + e * z[j]);
                    s[dim + 2 * j + 1] = down(e * c[j] - a * z[j]);
                }
                memcpy(s + 2 * dim, v + o, hd * sizeof(bf16));
            }
}

/* scores [n, len, len] -> causal softmax of scores * scale, in place; len <= 1024 */
void softmax_forward(bf16 *scores, long n, long len, float scale)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long t = 0; t < len; t++) {
            bf16 *a = scores + (i * len + t) * len;
            float e[1024], top = -1e30f, sum = 0;
            for (long j = 0; j <= t; j++) {
                e[j] = up(a[j]) * scale;
                top = e[j] > top ? e[j] : top;
            }
            for (long j = 0; j <= t; j++) {
                e[j] = expf(e[j] - top);
                sum += e[j];
            }
            sum = 1.0f / sum;
            for (long j = 0; j <= t; j++)
                a[j] = down(e[j] * sum);
            memset(a + t + 1, 0, (len - t - 1) * sizeof(bf16));
        }
}

void softmax_backward(const bf16 *p, bf16 *d, long n, long len, float scale)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long t = 0; t < len; t++) {
            const bf16 *a = p + (i * len + t) * len;
            bf16 *g = d + (i * len + t) * len;
            float dot = 0;
            for (long j = 0; j <= t; j++)
                dot += up(a[j]) * up(g[j]);
            for (long j = 0; j <= t; j++)
                g[j] = down(up(a[j]) * (up(g[j]) - dot) * scale);
            memset(g + t + 1, 0, (len - t - 1) * sizeof(bf16));
        }
}

/* logits [rows, vocab] become their gradient; weight sums to 1; smooth = label smoothing.
 * loss[i] is the plain cross entropy, so that figures compare between settings. */
void cross_entropy(bf16 *logits, const int64_t *target, const float *weight, float *loss, long rows,
                   long vocab, float smooth)
{
#pragma omp parallel for
    for (long i = 0; i < rows; i++) {
        bf16 *a = logits + i * vocab;
        float top = -1e30f, sum = 0, w = weight[i];
        for (long j = 0; j < vocab; j++) {
            float x = up(a[j]);
            top = x > top ? x : top;
        }
        for (long j = 0; j < vocab; j++)
            sum += expf(up(a[j]) - top);
        float hit = up(a[target[i]]), off = w * smooth / vocab;
        loss[i] = logf(sum) + top - hit;
        float s = w / sum;
        for (long j = 0; j < vocab; j++)
            a[j] = down(expf(up(a[j]) - top) * s - off);
        a[target[i]] = down(expf(hit - top) * s - off - w * (1.0f - smooth));
    }
}

/* fp32 master weights p; out gets the bf16 copy the next step computes with */
void adamw(float *p, const bf16 *grad, float *m, float *v, bf16 *out, const float *decay, long n,
           float lr, float b1, float b2, float c1, float c2, float eps, float grad_scale)
{
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        float g = up(grad[i]) * grad_scale;
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        p[i] = p[i] * (1 - lr * decay[i]) - lr * (m[i] * c1) / (sqrtf(v[i] * c2) + eps);
        out[i] = down(p[i]);
    }
}
