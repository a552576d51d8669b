/* See sysinfo.h. */
#include "router/sysinfo.h"

#include <stdio.h>

int64_t qn_free_memory(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[256];
    long long kib = -1;
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1)
            kib = -1;
    if (f)
        fclose(f);
    return kib < 0 ? -1 : kib * 1024;
}
