/* Rotary positions: which angle per position each pair of a head turns by. Private to this room.
 * Source: RoFormer, arXiv:2104.09864. */
#ifndef QN_NETS_ROPE_H
#define QN_NETS_ROPE_H

#include "base/error.h"
#include "engine/device.h"
#include "engine/tensor.h"

#include <stdint.h>

struct qn_loader;
struct qn_scratch;

/* One way to rotate; a net has one or more of them, and each layer uses one or none. */
struct qn_rope {
    struct qn_mem *mem;
    struct qn_tensor freq; /* [n/2] f32, radians per position; n: the rotated elements of a head */
};

/* freq[i] = base^(-2i/dim), scaled as the file's metadata and its rotary divisors say. dim is even,
 * at most QN_NET_HEAD_DIM_MAX. QN_EFORMAT, QN_EUNSUPPORTED (a scaling this version does not know).
 */
qn_err qn_rope_load(struct qn_rope *r, struct qn_loader *l, int32_t dim);
void qn_rope_deinit(struct qn_rope *r);

#endif
