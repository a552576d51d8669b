/* Which kernels run here: chosen once, at the first device. */
#include "engine/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

const struct cpu_kernels *const cpu_kernels_all[] = {
#ifdef QN_X86_64
    &cpu_kernels_avx512,
#endif
    &cpu_kernels_generic,
    NULL,
};

qn_err cpu_kernels_choose(const struct cpu_kernels **out, struct qn_error *e)
{
    const char *want = getenv("QUINCE_ISA");
    for (int i = 0; cpu_kernels_all[i]; i++) {
        const struct cpu_kernels *k = cpu_kernels_all[i];
        if (want && *want && strcmp(want, k->name))
            continue;
        if (k->supported()) {
            *out = k;
            return QN_OK;
        }
        if (want && *want)
            return qn_fail(e, QN_EUNSUPPORTED, "QUINCE_ISA=%s: this processor cannot run it", want);
    }
    return qn_fail(e, QN_EINVAL, "QUINCE_ISA=%s: not generic, avx2 or avx512", want);
}
