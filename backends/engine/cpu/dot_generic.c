/* The kernels of any processor: plain C. */
#include "engine/cpu/lanes.h"

static bool supported(void)
{
    return true;
}

const struct cpu_kernels cpu_kernels_generic = {
    .name = "generic",
    .supported = supported,
    .rms_norm = lanes_rms_norm,
    .silu_mul = lanes_silu_mul,
    .softmax = lanes_softmax,
    .add = lanes_add,
    .narrow = lanes_narrow,
    .widen = lanes_widen,
    .attend = lanes_attend,
};
