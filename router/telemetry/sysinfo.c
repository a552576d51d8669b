/* See sysinfo.h. */
#include "telemetry/sysinfo.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    CPU_PAUSE_MS = 200,
    CARDS_MAX = 8,
    SENSORS_MAX = 32,
    PACKAGES_MAX = 8,
    PROCESS_DEPTH_MAX = 3,
    CHILDREN_MAX = 64
};

/* Value of the line "NAME: n kB" of /proc/meminfo in bytes; -1: no such line. */
static int64_t meminfo(const char *name)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[256];
    long long kib = -1;
    size_t n = strlen(name);
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) != 0 || sscanf(line + n, ": %lld kB", &kib) != 1)
            kib = -1;
    if (f)
        fclose(f);
    return kib < 0 ? -1 : kib * 1024;
}

int64_t qn_free_memory(void)
{
    return meminfo("MemAvailable");
}

int64_t qn_total_memory(void)
{
    return meminfo("MemTotal");
}

int64_t qn_used_memory(void)
{
    int64_t total = meminfo("MemTotal"), left = meminfo("MemAvailable");
    return total < 0 || left < 0 ? -1 : total - left;
}

static int64_t read_statm(const char *path)
{
    long long size, resident;
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%lld %lld", &size, &resident) : 0;
    if (f)
        fclose(f);
    return n == 2 ? resident * sysconf(_SC_PAGESIZE) : -1;
}

int64_t qn_own_memory(void)
{
    return read_statm("/proc/self/statm");
}

static int64_t memory_of(pid_t pid, int depth)
{
    char path[64];
    long child;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    int64_t sum = read_statm(path);
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *f = sum >= 0 && depth < PROCESS_DEPTH_MAX ? fopen(path, "re") : NULL;
    for (int i = 0; f && i < CHILDREN_MAX && fscanf(f, "%ld", &child) == 1; i++) {
        int64_t bytes = memory_of((pid_t)child, depth + 1);
        sum += bytes > 0 ? bytes : 0;
    }
    if (f)
        fclose(f);
    return sum;
}

int64_t qn_process_memory(pid_t pid)
{
    return pid > 0 ? memory_of(pid, 0) : -1;
}

double qn_cpu_percent(struct qn_cpu_meter *m, int64_t now_ms)
{
    long long user, nice, system, idle, wait, irq, soft, steal;
    if (m->total && now_ms - m->read_ms < CPU_PAUSE_MS)
        return m->percent;
    FILE *f = fopen("/proc/stat", "re");
    int n = f ? fscanf(f, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice, &system,
                       &idle, &wait, &irq, &soft, &steal)
              : 0;
    if (f)
        fclose(f);
    if (n != 8)
        return m->percent;
    int64_t busy = user + nice + system + irq + soft + steal, total = busy + idle + wait;
    if (m->total && total > m->total)
        m->percent = 100.0 * (double)(busy - m->busy) / (double)(total - m->total);
    m->read_ms = now_ms;
    m->busy = busy;
    m->total = total;
    return m->percent;
}

/* Reads a file that has one number; -1: no such file, or it is not readable. */
static int64_t file_number(const char *path)
{
    long long n = -1;
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%lld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

double qn_cpu_power_of(struct qn_power_meter *m, int64_t now_us, int64_t energy_uj,
                       int64_t wrap_uj)
{
    if (energy_uj < 0)
        return -1;
    if (m->read_us && now_us > m->read_us) {
        int64_t used = energy_uj - m->energy_uj;
        if (used < 0)
            used += wrap_uj;
        m->watts = used < 0 ? 0 : (double)used / (double)(now_us - m->read_us);
    }
    m->read_us = now_us;
    m->energy_uj = energy_uj;
    return m->watts;
}

double qn_cpu_power(struct qn_power_meter *m, int64_t now_us)
{
    char path[96];
    int64_t sum = -1, wrap = 0;
    if (m->read_us && now_us - m->read_us < CPU_PAUSE_MS * 1000)
        return m->watts;
    for (int i = 0; i < PACKAGES_MAX; i++) {
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/energy_uj", i);
        int64_t uj = file_number(path);
        if (uj < 0)
            break;
        sum = sum < 0 ? uj : sum + uj;
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", i);
        wrap += file_number(path);
    }
    return qn_cpu_power_of(m, now_us, sum, wrap);
}

/* Reads a sysfs file of a graphics card that has one number; -1: no such file. */
static int64_t card_number(int card, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/drm/card%d/device/%s", card, name);
    return file_number(path);
}

/* The sensor of a card has a number of its own. */
static int64_t card_power(int card)
{
    char name[64];
    for (int sensor = 0; sensor < SENSORS_MAX; sensor++) {
        static const char *const files[] = {"power1_average", "power1_input"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(name, sizeof name, "hwmon/hwmon%d/%s", sensor, files[i]);
            int64_t uw = card_number(card, name);
            if (uw >= 0)
                return uw;
        }
    }
    return -1;
}

struct qn_gpu_use qn_gpu_use(void)
{
    struct qn_gpu_use use = {-1, -1, -1};
    for (int card = 0; card < CARDS_MAX && use.percent < 0; card++) {
        use.percent = card_number(card, "gpu_busy_percent");
        if (use.percent < 0)
            continue;
        use.used_bytes = card_number(card, "mem_info_vram_used");
        use.power_uw = card_power(card);
    }
    return use;
}
