/* How model families mark their reasoning: one row per family, taken from chat templates and model
 * cards. calls_find.c chooses the row. */
#include "llm/toolcall/calls_harmony.h"
#include "llm/toolcall/calls_parse.h"

static const struct qn_opener harmony_messages[] = {
    {"<|start|>", &qn_calls_harmony, NULL, 0},
    {"<|channel|>", &qn_calls_harmony, NULL, QN_OPEN_KEEP},
    {"to=functions.", &qn_calls_harmony, NULL, QN_OPEN_KEEP | QN_OPEN_START},
    QN_OPENER_DROP("<|end|>"),
    QN_OPENER_DROP("<|call|>"),
    QN_OPENER_DROP("<|return|>"),
    QN_OPENERS_END};
static const char *const harmony_tokens[] = {"<|message|>", "<|constrain|>", NULL};
static const struct qn_thinking harmony_think = {.name = "harmony",
                                                 .signs = {"<|channel|>analysis"},
                                                 .close = "<|end|>",
                                                 .close_too = "<|start|>",
                                                 .then = "<|start|>assistant",
                                                 .answer = "<|channel|>final<|message|>",
                                                 .openers = harmony_messages,
                                                 .tokens = harmony_tokens};
static const struct qn_opener granite_answer[] = {QN_OPENER_DROP_FIRST("<response>"),
                                                  QN_OPENER_DROP("</response>"), QN_OPENERS_END};
static const struct qn_thinking granite_tags = {.name = "granite",
                                                .signs = {"<response></response>"},
                                                .open = "<think>",
                                                .close = "</think>",
                                                .openers = granite_answer};
static const struct qn_thinking granite_words = {.name = "granite-3.2",
                                                 .signs = {"Here is my thought process:"},
                                                 .words = true,
                                                 .open = "Here is my thought process:",
                                                 .close = "Here is my response:"};
static const struct qn_opener hunyuan_answer[] = {QN_OPENER_DROP_FIRST("<answer>"),
                                                  QN_OPENER_DROP("</answer>"), QN_OPENERS_END};
static const struct qn_thinking hunyuan_think = {.name = "hunyuan",
                                                 .signs = {"<answer>"},
                                                 .open = "<think>",
                                                 .close = "</think>",
                                                 .openers = hunyuan_answer};
static const struct qn_thinking mistral_think = {.name = "mistral",
                                                 .signs = {"[THINK]"},
                                                 .open = "[THINK]",
                                                 .close = "[/THINK]",
                                                 .anywhere = true};
static const struct qn_thinking seed_think = {
    .name = "seed", .signs = {"<seed:think>"}, .open = "<seed:think>", .close = "</seed:think>"};
static const struct qn_opener cohere_answer[] = {
    QN_OPENER_DROP("<|START_RESPONSE|>"), QN_OPENER_DROP("<|END_RESPONSE|>"),
    QN_OPENER_DROP("<|START_TEXT|>"), QN_OPENER_DROP("<|END_TEXT|>"), QN_OPENERS_END};
static const struct qn_thinking cohere_think = {.name = "cohere",
                                                .signs = {"<|START_THINKING|>"},
                                                .open = "<|START_THINKING|>",
                                                .close = "<|END_THINKING|>",
                                                .anywhere = true,
                                                .openers = cohere_answer};
/* The model may make calls within its reasoning. */
static const struct qn_opener apertus_inner[] = {QN_OPENER_DROP("<|inner_suffix|>"),
                                                 QN_OPENERS_END};
static const struct qn_thinking apertus_think = {.name = "apertus",
                                                 .signs = {"<|inner_prefix|>"},
                                                 .open = "<|inner_prefix|>",
                                                 .close = "<|inner_suffix|>",
                                                 .anywhere = true,
                                                 .openers = apertus_inner};
static const struct qn_thinking gemma_think = {.name = "gemma",
                                               .signs = {"<|channel>thought"},
                                               .open = "<|channel>thought\n",
                                               .close = "<channel|>",
                                               .anywhere = true};
static const struct qn_thinking kimi_think = {.name = "kimi-1.5",
                                              .signs = {"\xe2\x97\x81think\xe2\x96\xb7"},
                                              .open = "\xe2\x97\x81think\xe2\x96\xb7",
                                              .close = "\xe2\x97\x81/think\xe2\x96\xb7"};
static const struct qn_thinking thought_tags = {.name = "thought",
                                                .signs = {"<thought>", "</thought>"},
                                                .open = "<thought>",
                                                .close = "</thought>"};
static const struct qn_thinking think_tags = {
    .name = "think", .signs = {"<think>", "</think>"}, .open = "<think>", .close = "</think>"};

const struct qn_thinking *const qn_thinkings[] = {&harmony_think,
                                                  &mistral_think,
                                                  &seed_think,
                                                  &cohere_think,
                                                  &apertus_think,
                                                  &gemma_think,
                                                  &granite_tags,
                                                  &granite_words,
                                                  &hunyuan_think,
                                                  &kimi_think,
                                                  &thought_tags,
                                                  &think_tags,
                                                  NULL};
