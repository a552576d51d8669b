/* See machine.h. Sources: proc(5), os-release(5), the kernel's documentation of sysfs (dmi,
 * cpufreq, platform_profile). */
#include "probe/machine.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { CORES_MAX = 4096 };

/* Flags of /proc/cpuinfo that affect the speed of models, for x86 and then ARM. */
static const char *const telling[] = {
    "avx",      "avx2",        "fma",         "f16c",        "avx_vnni", "avx512f",  "avx512bw",
    "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
    "asimd",    "asimddp",     "i8mm",        "bf16",        "sve",      "sve2"};

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\n' || !at[n]))
            return true;
    return false;
}

static void write_features(struct qn_jw *w, const char *cpuinfo)
{
    /* The flags line may be longer than QN_PROBE_LINE_MAX. */
    const char *flags = strstr(cpuinfo, "\nflags");
    if (!flags)
        flags = strstr(cpuinfo, "\nFeatures");
    qn_jw_key(w, "features");
    qn_jw_arr(w);
    if (flags) {
        size_t n = strcspn(flags + 1, "\n") + 1;
        char *line = strndup(flags, n);
        for (size_t i = 0; line && i < sizeof telling / sizeof *telling; i++)
            if (has_word(line, telling[i]))
                qn_jw_str(w, telling[i]);
        free(line);
    }
    qn_jw_arr_end(w);
}

/* Counts hardware threads and, if the system tells them apart, cores: distinct pairs of package and
 * core. */
static void count(const char *cpuinfo, int64_t *threads, int64_t *cores)
{
    static int64_t seen[CORES_MAX];
    char id[QN_PROBE_LINE_MAX], core[QN_PROBE_LINE_MAX];
    *threads = *cores = 0;
    for (const char *at = cpuinfo; at && *at;) {
        const char *end = strstr(at, "\n\n");
        char *block = end ? strndup(at, (size_t)(end - at)) : strdup(at);
        at = end ? end + 2 : NULL;
        qn_probe_value(block, "processor", id);
        if (*id) {
            ++*threads;
            qn_probe_value(block, "physical id", id);
            qn_probe_value(block, "core id", core);
            int64_t key = strtoll(id, NULL, 10) * 65536 + strtoll(core, NULL, 10), i = 0;
            while (i < *cores && seen[i] != key)
                i++;
            if (*core && i == *cores && *cores < CORES_MAX)
                seen[(*cores)++] = key;
        }
        free(block);
    }
    if (!*cores)
        *cores = *threads;
}

static void write_cpu(const struct qn_probe_root *root, struct qn_jw *w, const char *machine)
{
    char name[QN_PROBE_LINE_MAX];
    int64_t threads, cores;
    char *text = qn_probe_text(root, "/proc/cpuinfo");
    const char *cpuinfo = text ? text : "";
    qn_probe_value(cpuinfo, "model name", name);
    if (!*name)
        qn_probe_value(cpuinfo, "Model", name);
    if (!*name)
        qn_probe_line(root, name, "/proc/device-tree/model");
    count(cpuinfo, &threads, &cores);
    qn_jw_key(w, "cpu");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", *name ? name : machine);
    qn_jw_kstr(w, "machine", machine);
    qn_jw_ki64(w, "cores", cores);
    qn_jw_ki64(w, "threads", threads);
    qn_jw_ki64(w, "max_mhz",
               qn_probe_number(root, 0, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") /
                   1000);
    write_features(w, cpuinfo);
    qn_jw_obj_end(w);
    free(text);
}

static int64_t memory_bytes(const struct qn_probe_root *root)
{
    char total[QN_PROBE_LINE_MAX];
    char *text = qn_probe_text(root, "/proc/meminfo");
    qn_probe_value(text, "MemTotal", total);
    free(text);
    return strtoll(total, NULL, 10) * 1024;
}

static void write_line(const struct qn_probe_root *root, struct qn_jw *w, const char *key,
                       const char *path)
{
    char line[QN_PROBE_LINE_MAX];
    qn_probe_line(root, line, "%s", path);
    qn_jw_kstr(w, key, line);
}

void qn_probe_machine(const struct qn_probe_root *root, struct qn_jw *w)
{
    char name[QN_PROBE_LINE_MAX], kernel[QN_PROBE_LINE_MAX];
    struct utsname u;
    char *release = qn_probe_text(root, "/etc/os-release");
    if (uname(&u) != 0)
        memset(&u, 0, sizeof u);
    qn_probe_value(release, "PRETTY_NAME", name);
    qn_probe_line(root, kernel, "/proc/sys/kernel/osrelease");
    qn_jw_kstr(w, "os", *name ? name : "Linux");
    qn_jw_kstr(w, "kernel", kernel);
    write_cpu(root, w, u.machine);
    qn_jw_ki64(w, "memory_bytes", memory_bytes(root));
    qn_jw_key(w, "board");
    qn_jw_obj(w);
    write_line(root, w, "vendor", "/sys/class/dmi/id/sys_vendor");
    write_line(root, w, "product", "/sys/class/dmi/id/product_name");
    write_line(root, w, "bios", "/sys/class/dmi/id/bios_version");
    qn_jw_obj_end(w);
    qn_probe_line(root, name, "/sys/firmware/acpi/platform_profile");
    if (!*name)
        qn_probe_line(root, name, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    qn_jw_kstr(w, "power", name);
    free(release);
}
