/* Rotary positions: by which angle per position each pair of a head's elements is rotated. Private
 * to backends/nets. Source: RoFormer, arXiv:2104.09864. */
#ifndef QN_NETS_DECODER_ROPE_H
#define QN_NETS_DECODER_ROPE_H

#include "base/error.h"
#include "engine/device.h"
#include "engine/tensor.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_loader;

/* One rotation; a net has one or more, and each layer uses one or none. */
struct qn_rope {
    struct qn_mem *mem;
    /* [n/2] f32, radians per position; n: the rotated elements of a head */
    struct qn_tensor freq;
    struct qn_tensor far; /* the same for sequences whose context exceeds `near` tokens */
    int32_t near;         /* 0: freq is used for all sequences */
    float scale;          /* of sines and cosines */
    /* [n/2] i32: the axis whose position rotates each pair; ndim 0: one-dimensional positions */
    struct qn_tensor axis;
};

/* What an architecture requires; zero means the usual behaviour. */
struct qn_rope_form {
    int32_t dim;     /* n: even, at most QN_NET_HEAD_DIM_MAX */
    float base;      /* of the frequencies; 0: as in the file, or 10000 */
    bool plain;      /* ignores the file's scaling and divisors */
    bool exact_ramp; /* yarn: the ends of its ramp are not rounded to whole pairs */
    /* yarn: the growth of the scores is divided by ln(factor)·0.1·this + 1 */
    float log_multiplier;
};

/* Sets the axis of each pair of r: the file's rope.dimension_sections state the number of pairs per
 * axis, consecutive or interleaved; if interleaved, the remaining pairs belong to time. QN_EFORMAT.
 */
qn_err qn_rope_load_axes(struct qn_rope *r, struct qn_loader *l, bool interleaved);

/* freq[i] = base^(-2i/dim), scaled by the file's metadata and rotary divisors. QN_EFORMAT,
 * QN_EUNSUPPORTED (an unknown scaling). */
qn_err qn_rope_load(struct qn_rope *r, struct qn_loader *l, const struct qn_rope_form *form);
void qn_rope_deinit(struct qn_rope *r);

#endif
