/* Maps a model file to its architecture's row in the table of network architectures. */
#include "nets/nets.h"

#include "nets/decoder/arch.h"
#include "nets/decoder/decoder.h"

#include <string.h>

static const struct qn_decoder_arch *const architectures[] = {
    /* one line per family */
    /* clang-format off */
    &qn_llama, &qn_mistral3, &qn_smollm3, &qn_granite, &qn_ernie4_5,
    &qn_qwen2, &qn_qwen3, &qn_qwen2moe, &qn_qwen3moe, &qn_seed_oss,
    &qn_qwen2vl, &qn_qwen3vl, &qn_qwen3vlmoe,
    &qn_gemma, &qn_gemma2, &qn_gemma3, &qn_gemma3n, &qn_gemma4,
    &qn_phi3, &qn_phimoe,
    &qn_olmo2, &qn_exaone4,
    &qn_glm4,
    &qn_command_r, &qn_cohere2,
    &qn_deepseek, &qn_deepseek2,
    &qn_gpt_oss, &qn_llama4, &qn_granitemoe,
    &qn_olmoe, &qn_glm4moe, &qn_ernie4_5_moe, &qn_dots1,
    &qn_bailingmoe2, &qn_hunyuan_moe, &qn_minimax_m2,
    &qn_lfm2, &qn_lfm2moe,
    &qn_mamba2_arch, &qn_falcon_h1, &qn_granitehybrid, &qn_nemotron_h, &qn_nemotron_h_moe,
    &qn_qwen3next, &qn_qwen35, &qn_qwen35moe,
    /* clang-format on */
};

enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

const char *qn_net_architecture(size_t i)
{
    return i < ARCHITECTURES ? architectures[i]->name : NULL;
}

static qn_err unknown(const char *name, struct qn_error *e)
{
    char known[900] = "";
    for (int i = 0; i < ARCHITECTURES; i++) {
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, architectures[i]->name, sizeof known - strlen(known) - 1);
    }
    return qn_fail(e, QN_EUNSUPPORTED,
                   "architecture \"%.64s\" is not supported; this version runs %s", name, known);
}

qn_err qn_net_load(struct qn_net **out, struct qn_weights *w, struct qn_device *dev,
                   const struct qn_net_options *o, struct qn_error *e)
{
    const char *name;
    qn_err err = qn_weights_str(w, "general.architecture", &name, e);
    if (err != QN_OK)
        return err;
    for (int i = 0; i < ARCHITECTURES; i++)
        if (strcmp(name, architectures[i]->name) == 0)
            return qn_decoder_load(out, architectures[i], w, dev, o, e);
    return unknown(name, e);
}

const struct qn_net_info *qn_net_info(const struct qn_net *net)
{
    return &net->info;
}
