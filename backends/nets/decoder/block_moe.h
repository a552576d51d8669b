/* The mixture of experts: a feed-forward block of many experts, of which each token uses a few.
 * Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_MOE_H
#define QN_NETS_DECODER_BLOCK_MOE_H

#include "nets/decoder/block.h"

/* The properties in which the mixtures of different architectures differ. The file's metadata for
 * score, normalisation and scale take precedence. */
struct qn_moe_style {
    enum qn_route_score score;
    bool normalise; /* weights are divided by their sum */
    enum qn_moe_gate {
        QN_MOE_SILU,
        QN_MOE_CLAMPED,     /* qn_swiglu_clamped */
        QN_MOE_RELU_SQUARED /* no gate: down(relu²(up·x)), also in the shared expert */
    } gate;
    bool weigh_input; /* weights multiply the experts' input instead of their output */
};

/* Tensors that the file does not have stay at ndim 0. */
struct qn_moe {
    int32_t experts, used, width; /* width: the hidden width of one expert */
    int32_t shared_width;         /* of the shared expert, which every token uses; 0: none */
    struct qn_expert_route route;

    struct qn_tensor router, router_b; /* [experts, dim], [experts] */
    /* [experts], used only for choosing experts, not for their weights */
    struct qn_tensor choice_b;
    struct qn_tensor gate, up;          /* [experts, width, dim] */
    struct qn_tensor gate_up;           /* gate and up as one tensor: [experts, 2·width, dim] */
    struct qn_tensor down;              /* [experts, dim, width] */
    struct qn_tensor gate_b, up_b;      /* [experts, width] */
    struct qn_tensor gate_up_b, down_b; /* [experts, 2·width], [experts, dim] */
    struct qn_tensor shared_gate;       /* [shared_width, dim] */
    struct qn_tensor shared_up;         /* [shared_width, dim] */
    struct qn_tensor shared_down;       /* [dim, shared_width] */
    /* [1, dim]: the sigmoid of its product weights the shared expert */
    struct qn_tensor shared_router;
};

extern const struct qn_block qn_block_moe;
/* The same block used as a layer's mixer. */
extern const struct qn_block qn_block_moe_alone;

/* Gives this block to every layer that has a router in the file; does nothing if the file has no
 * experts. QN_EUNSUPPORTED if the file has experts but the architecture's row has no moe. */
qn_err qn_moe_configure(struct qn_loader *l, struct qn_net *net);

#endif
