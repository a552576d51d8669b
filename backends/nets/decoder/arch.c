/* Helpers shared by the configure functions of several architectures. */
#include "nets/decoder/arch.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <stdlib.h>

#include "base/buf.h"

qn_err qn_arch_windows(struct qn_loader *l, struct qn_net *net, int32_t window, int32_t period)
{
    const char *const key = "attention.sliding_window_pattern";
    const int32_t layers = net->shape.layers;
    qn_err err =
        qn_loader_count(l, "attention.sliding_window", 0, QN_NET_WINDOW_MAX, window, &window);
    if (err != QN_OK || window == 0)
        return err;
    int32_t *pattern = qn_xcalloc((size_t)layers, sizeof *pattern);
    bool list = qn_loader_has_list(l, key);
    if (list)
        err = qn_loader_counts(l, key, 0, 1, 0, layers, pattern);
    else
        err = qn_loader_count(l, key, 1, QN_NET_LAYERS_MAX, period, &period);
    for (int32_t i = 0; i < layers && err == QN_OK; i++) {
        bool slides = list ? pattern[i] != 0 : i % period < period - 1;
        net->layer[i].attention.window = slides ? window : 0;
    }
    free(pattern);
    return err;
}

qn_err qn_arch_window_rope(struct qn_loader *l, struct qn_net *net, float base, bool plain)
{
    qn_err err = qn_loader_positive(l, "rope.freq_base_swa", &base);
    if (err == QN_OK)
        err = qn_rope_load(&net->rope[0], l, &(struct qn_rope_form){.dim = net->shape.rope_dim});
    if (err == QN_OK)
        err = qn_rope_load(
            &net->rope[1], l,
            &(struct qn_rope_form){.dim = net->shape.rope_dim, .base = base, .plain = plain});
    net->ropes = 2;
    for (int32_t i = 0; i < net->shape.layers; i++)
        net->layer[i].attention.rope = net->layer[i].attention.window > 0;
    return err;
}
