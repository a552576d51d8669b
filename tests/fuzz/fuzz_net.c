/* Any bytes as a model file: refused with a message, or loaded and run for a few tokens. */
#include "engine/device.h"
#include "engine/weights.h"
#include "nets/nets.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 3, VOCAB_MAX = 4096, PAGE = 4096 };

static void run(struct qn_net *net)
{
    static float logits[VOCAB_MAX];
    int32_t vocab = qn_net_info(net)->vocab;
    const int32_t ids[TOKENS] = {0, vocab - 1, vocab / 2};
    struct qn_seq *s;
    const struct qn_kv_config cache = {TOKENS, QN_F16, QN_F16};
    if (vocab > VOCAB_MAX || qn_net_kv_init(net, &cache, NULL) != QN_OK)
        return;
    if (qn_seq_new(net, TOKENS, &s, NULL) != QN_OK || qn_seq_reserve(s, TOKENS, NULL) != QN_OK)
        abort();
    struct qn_chunk c = {.seq = s, .tokens = ids, .n = TOKENS, .logits = logits};
    qn_net_forward(net, &c, 1);
    qn_seq_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qn_device *dev;
    struct qn_gguf *g;
    struct qn_weights *w;
    struct qn_net *net;
    struct qn_error e = {0};
    if (!dev && qn_device_cpu_new(1, &dev, &e) != QN_OK)
        abort();
    /* as a mapped file would lie: on a page */
    void *file = aligned_alloc(PAGE, (size + PAGE) / PAGE * PAGE);
    memcpy(file, data, size);
    if (qn_gguf_parse(file, size, &g, &e) != QN_OK || qn_weights_from_gguf(&w, g, &e) != QN_OK) {
        free(file);
        return 0;
    }
    if (qn_net_load(&net, w, dev, &(struct qn_net_options){.max_chunk = 8}, &e) == QN_OK) {
        run(net);
        qn_net_free(net);
    } else if (!e.message[0]) {
        abort(); /* a refusal says why */
    }
    qn_weights_close(w);
    free(file);
    return 0;
}
