/* What this machine can do at best, measured: the roofs that benchmarks are compared with. */
#ifndef QN_BENCH_LIMITS_H
#define QN_BENCH_LIMITS_H

struct limits {
    double read_gb_s;   /* reading memory that no cache holds, several streams a thread */
    double fma_gflop_s; /* fused multiply-adds in registers, f32; 0: no such instructions */
    double
        int8_gop_s; /* products of bytes added into words in registers; 0: no such instructions */
};

/* Best of several short runs on `threads` threads; takes about a second. */
struct limits limits_measure(int threads);

#endif
