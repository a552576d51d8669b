/* See architectures.h. */
#include "formats/architectures.h"

#include <string.h>

static const char *const names[] = {
    /* clang-format off */
    "bailingmoe2", "cohere2", "command-r", "deepseek", "deepseek2", "dots1", "ernie4_5",
    "ernie4_5-moe", "exaone4", "falcon-h1", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4",
    "glm4", "glm4moe", "gpt-oss", "granite", "granitehybrid", "granitemoe", "hunyuan-moe", "lfm2",
    "lfm2moe", "llama", "llama4", "mamba2", "minimax-m2", "mistral3", "nemotron_h",
    "nemotron_h_moe", "olmo2", "olmoe", "phi3", "phimoe", "qwen2", "qwen2moe", "qwen2vl", "qwen3",
    "qwen35", "qwen35moe", "qwen3moe", "qwen3next", "qwen3vl", "qwen3vlmoe", "seed_oss",
    "smollm3",
    /* clang-format on */
};
enum { NAMES = sizeof names / sizeof *names };

const char *qn_architecture_at(size_t i)
{
    return i < NAMES ? names[i] : NULL;
}

bool qn_architecture_known(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
