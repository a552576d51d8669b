/* What the system says about itself under /proc. */
#ifndef QN_TELEMETRY_SYSINFO_H
#define QN_TELEMETRY_SYSINFO_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes that programs can still have without the machine beginning to swap (MemAvailable of
 * proc(5)); -1 when the system does not say. Takes microseconds. Any thread. */
int64_t qn_free_memory(void);

/* Bytes of the machine's memory that are in use (MemTotal less MemAvailable); -1: unknown. */
int64_t qn_used_memory(void);

/* Bytes of memory that the machine has; -1: unknown. */
int64_t qn_total_memory(void);

/* Bytes of memory that this process has in use; -1: unknown. */
int64_t qn_own_memory(void);

/* Bytes of memory that a process and the processes that it has started have in use, pages of mapped
 * files included, so that what several share counts several times; -1: unknown. Takes microseconds.
 */
int64_t qn_process_memory(pid_t pid);

/* Share of all processors that was busy since the last reading that lies at least 0.2 s back, 0 to
 * 100; 0 at the first one. */
struct qn_cpu_meter {
    int64_t read_ms, busy, total; /* in ticks, as /proc/stat says them */
    double percent;
};
double qn_cpu_percent(struct qn_cpu_meter *m, int64_t now_ms);

/* How busy the first graphics processor is whose driver tells (amdgpu), and how much of its memory
 * is in use; -1: no driver tells. Takes microseconds. */
struct qn_gpu_use {
    int64_t percent, used_bytes;
};
struct qn_gpu_use qn_gpu_use(void);

#endif
