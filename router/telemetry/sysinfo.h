/* What the kernel reports under /proc and /sys about memory, processors and the graphics card. */
#ifndef QN_TELEMETRY_SYSINFO_H
#define QN_TELEMETRY_SYSINFO_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes that programs can allocate without swapping (MemAvailable of proc(5)); -1: unknown. Takes
 * microseconds. Any thread. */
int64_t qn_free_memory(void);

/* Bytes of the machine's memory in use (MemTotal less MemAvailable); -1: unknown. */
int64_t qn_used_memory(void);

/* Bytes of the machine's memory; -1: unknown. */
int64_t qn_total_memory(void);

/* Resident bytes of this process; -1: unknown. */
int64_t qn_own_memory(void);

/* Resident bytes of a process and its descendants, pages of mapped files included; pages that
 * several of them share are counted for each. -1: unknown. Takes microseconds. */
int64_t qn_process_memory(pid_t pid);

/* Busy share of all processors since the previous reading that is at least 0.2 s old, 0 to 100; 0
 * at the first reading. */
struct qn_cpu_meter {
    int64_t read_ms, busy, total; /* in ticks, from /proc/stat */
    double percent;
};
double qn_cpu_percent(struct qn_cpu_meter *m, int64_t now_ms);

/* Mean power of all processor packages since the previous reading that is at least 0.2 s old, in
 * watts, by RAPL (/sys/class/powercap); 0 at the first reading; negative: the kernel does not report
 * it, or not to this user. */
struct qn_power_meter {
    int64_t read_us, energy_uj; /* read_us 0: not read yet */
    double watts;
};
double qn_cpu_power(struct qn_power_meter *m, int64_t now_us);

/* The pure part of qn_cpu_power, for an energy counter that has been read: -1: it cannot be read.
 * wrap_uj: the value after which it begins again. */
double qn_cpu_power_of(struct qn_power_meter *m, int64_t now_us, int64_t energy_uj,
                       int64_t wrap_uj);

/* Load of the first graphics processor whose driver reports it (amdgpu), how much of its memory is
 * in use, and its power; -1: no driver reports it. Takes microseconds. */
struct qn_gpu_use {
    int64_t percent, used_bytes, power_uw;
};
struct qn_gpu_use qn_gpu_use(void);

#endif
