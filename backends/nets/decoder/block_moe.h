/* The mixture of experts: a feed-forward block of many, of which each token uses a few. Private to
 * this room. */
#ifndef QN_NETS_DECODER_BLOCK_MOE_H
#define QN_NETS_DECODER_BLOCK_MOE_H

#include "nets/decoder/block.h"

/* What tells one architecture's mixtures from another's. What the file says of score, normalising
 * and scale goes before it. */
struct qn_moe_style {
    enum qn_route_score score;
    bool normalise; /* weights are divided by their sum */
    enum qn_moe_gate {
        QN_MOE_SILU,
        QN_MOE_CLAMPED,     /* qn_swiglu_clamped */
        QN_MOE_RELU_SQUARED /* no gate: down(relu²(up·x)), the shared expert's, too */
    } gate;
    bool weigh_input; /* weights multiply what goes into the experts, not what comes out */
};

/* What the file does not have keeps ndim 0. */
struct qn_moe {
    int32_t experts, used, width; /* width: the hidden rows of one expert */
    int32_t shared_width;         /* of the expert that every token uses; 0: none */
    struct qn_expert_route route;

    struct qn_tensor router, router_b;  /* [experts, dim], [experts] */
    struct qn_tensor choice_b;          /* [experts], for the choice only */
    struct qn_tensor gate, up;          /* [experts, width, dim] */
    struct qn_tensor gate_up;           /* or both at once: [experts, 2·width, dim] */
    struct qn_tensor down;              /* [experts, dim, width] */
    struct qn_tensor gate_b, up_b;      /* [experts, width] */
    struct qn_tensor gate_up_b, down_b; /* [experts, 2·width], [experts, dim] */
    struct qn_tensor shared_gate;       /* [shared_width, dim] */
    struct qn_tensor shared_up;         /* [shared_width, dim] */
    struct qn_tensor shared_down;       /* [dim, shared_width] */
    struct qn_tensor shared_router;     /* [1, dim]: how much of the shared expert, by sigmoid */
};

extern const struct qn_block qn_block_moe;
/* The same in a mixer's place. */
extern const struct qn_block qn_block_moe_alone;

/* Gives every layer that has a router in the file this block; nothing when the file has no experts.
 * QN_EUNSUPPORTED when it has and the architecture's row does not speak of them. */
qn_err qn_moe_configure(struct qn_loader *l, struct qn_net *net);

#endif
