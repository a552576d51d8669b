/* Any bytes as an adapter's file beside a small mixture with a tied head: refused with a message,
 * or added and run through, at the prompt and after it. */
#include "tests/fuzz/tiny_model.h"

enum { TOKENS = 4, POOL = 64 };

static void run(struct qn_net *net, int32_t adapter)
{
    static float logits[TOKENS][VOCAB];
    const int32_t ids[TOKENS] = {0, VOCAB - 1, 3, 7};
    const struct qn_mix mix = {1, {{adapter, 0.5f}}};
    struct qn_seq *s[2];
    for (int i = 0; i < 2; i++)
        if (qn_seq_new(net, TOKENS + 1, &s[i], NULL) != QN_OK)
            abort();
    for (int at = 0; at < TOKENS; at += TOKENS - 1) { /* a prompt, then a token */
        struct qn_chunk c[2];
        for (int i = 0; i < 2; i++) {
            c[i] = (struct qn_chunk){.seq = s[i],
                                     .tokens = ids + at,
                                     .mix = i ? &mix : NULL,
                                     .n = at ? 1 : TOKENS - 1,
                                     .all_rows = i,
                                     .logits = i ? logits[0] : NULL};
            if (qn_seq_reserve(s[i], c[i].n, NULL) != QN_OK)
                abort();
        }
        qn_net_forward(net, c, 2);
    }
    qn_seq_free(s[0]);
    qn_seq_free(s[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qn_device *dev;
    static void *model;
    static size_t model_size;
    struct qn_error e = {0};
    struct qn_gguf *g;
    struct qn_weights *base, *w;
    int32_t index;
    if (!dev && qn_device_cpu_new(1, &dev, &e) != QN_OK)
        abort();
    if (!model)
        model = build(&model_size);
    void *file = aligned_alloc(PAGE, (size + PAGE) / PAGE * PAGE); /* as a mapped file would lie */
    memcpy(file, data, size);
    if (qn_gguf_parse(file, size, &g, &e) == QN_OK && qn_weights_from_gguf(&w, g, &e) == QN_OK) {
        struct qn_net *net = load(dev, model, model_size, &base, 2 * TOKENS, POOL);
        if (qn_net_adapter_add(net, w, &index, &e) == QN_OK)
            run(net, index);
        else if (!e.message[0])
            abort(); /* a refusal says why */
        qn_net_free(net);
        qn_weights_close(base);
    }
    free(file);
    return 0;
}
