/* Rotary positions: which angle per position each pair of a head turns by. Private to this room.
 * Source: RoFormer, arXiv:2104.09864. */
#ifndef QN_NETS_DECODER_ROPE_H
#define QN_NETS_DECODER_ROPE_H

#include "base/error.h"
#include "engine/device.h"
#include "engine/tensor.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_loader;

/* One way to rotate; a net has one or more of them, and each layer uses one or none. */
struct qn_rope {
    struct qn_mem *mem;
    struct qn_tensor freq; /* [n/2] f32, radians per position; n: the rotated elements of a head */
    struct qn_tensor far;  /* the same for sequences with room for more than `near` tokens */
    int32_t near;          /* 0: freq serves all */
    float scale;           /* of sines and cosines */
    struct qn_tensor axis; /* [n/2] i32: which axis of a picture turns each pair; ndim 0: a line */
};

/* What an architecture wants; zeros mean what most want. */
struct qn_rope_form {
    int32_t dim;          /* n: even, at most QN_NET_HEAD_DIM_MAX */
    float base;           /* of the frequencies; 0: as the file says, or 10000 */
    bool plain;           /* without the scaling and the divisors that the file asks for */
    bool exact_ramp;      /* for yarn: its ramp begins and ends between pairs, not at whole ones */
    float log_multiplier; /* for yarn: what the scores' growth is divided by, as ln(factor)·0.1·this
                             + 1 */
};

/* Which axis turns which pair of r: as many pairs for each as the file's rope.dimension_sections
 * say, one after another, or by turns (`interleaved`) where time has what is left. QN_EFORMAT. */
qn_err qn_rope_load_axes(struct qn_rope *r, struct qn_loader *l, bool interleaved);

/* freq[i] = base^(-2i/dim), scaled as the file's metadata and its rotary divisors say. QN_EFORMAT,
 * QN_EUNSUPPORTED (a scaling this version does not know). */
qn_err qn_rope_load(struct qn_rope *r, struct qn_loader *l, const struct qn_rope_form *form);
void qn_rope_deinit(struct qn_rope *r);

#endif
