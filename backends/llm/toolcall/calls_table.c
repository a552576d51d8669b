/* How the families of models mark their reasoning and their calls: a row each, and how a row is
 * found. What a family writes is read off its chat template and its model card; those who differ in
 * nothing but their marks share a form. */
#include "llm/toolcall/calls_force.h"
#include "llm/toolcall/calls_harmony.h"
#include "llm/toolcall/calls_json.h"
#include "llm/toolcall/calls_literal.h"
#include "llm/toolcall/calls_named.h"
#include "llm/toolcall/calls_parse.h"
#include "llm/toolcall/calls_python.h"
#include "llm/toolcall/calls_xml.h"

#include <string.h>

/* ---- Reasoning ---- */

#define END_OF_OPENERS                                                                             \
    {                                                                                              \
        NULL, NULL, NULL, 0                                                                        \
    }
#define DROP(text)                                                                                 \
    {                                                                                              \
        text, NULL, NULL, QN_OPEN_DROP                                                             \
    }
#define DROP_FIRST(text)                                                                           \
    {                                                                                              \
        text, NULL, NULL, QN_OPEN_DROP | QN_OPEN_START                                             \
    }

static const struct qn_opener harmony_messages[] = {
    {"<|start|>", qn_calls_harmony, NULL, 0},
    {"<|channel|>", qn_calls_harmony, NULL, QN_OPEN_KEEP},
    {"to=functions.", qn_calls_harmony, NULL, QN_OPEN_KEEP | QN_OPEN_START},
    DROP("<|end|>"),
    DROP("<|call|>"),
    DROP("<|return|>"),
    END_OF_OPENERS};
static const char *const harmony_tokens[] = {"<|message|>", "<|constrain|>", NULL};
static const struct qn_thinking harmony_think = {.name = "harmony",
                                                 .signs = {"<|channel|>analysis"},
                                                 .close = "<|end|>",
                                                 .close_too = "<|start|>",
                                                 .then = "<|start|>assistant",
                                                 .answer = "<|channel|>final<|message|>",
                                                 .openers = harmony_messages,
                                                 .tokens = harmony_tokens};
static const struct qn_opener granite_answer[] = {DROP_FIRST("<response>"), DROP("</response>"),
                                                  END_OF_OPENERS};
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
static const struct qn_opener hunyuan_answer[] = {DROP_FIRST("<answer>"), DROP("</answer>"),
                                                  END_OF_OPENERS};
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
static const struct qn_opener cohere_answer[] = {DROP("<|START_RESPONSE|>"),
                                                 DROP("<|END_RESPONSE|>"), DROP("<|START_TEXT|>"),
                                                 DROP("<|END_TEXT|>"), END_OF_OPENERS};
static const struct qn_thinking cohere_think = {.name = "cohere",
                                                .signs = {"<|START_THINKING|>"},
                                                .open = "<|START_THINKING|>",
                                                .close = "<|END_THINKING|>",
                                                .anywhere = true,
                                                .openers = cohere_answer};
/* It may call in the middle of its reasoning. */
static const struct qn_opener apertus_inner[] = {DROP("<|inner_suffix|>"), END_OF_OPENERS};
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

/* ---- Calls ---- */

/* Its messages are found with its reasoning. */
static const struct qn_opener no_openers[] = {END_OF_OPENERS};
static const struct qn_writing harmony_writing = {.begin = "",
                                                  .before = "<|channel|>commentary to=functions.",
                                                  .after = " <|constrain|>json<|message|>",
                                                  .end = "",
                                                  .between = NULL,
                                                  .close = "",
                                                  .arguments = QN_WRITE_JSON};
static const struct qn_calling harmony = {.name = "harmony",
                                          .signs = {"<|channel|>", "<|start|>", "functions."},
                                          .openers = no_openers,
                                          .writing = &harmony_writing};

static const struct qn_literal_calls gemma_calls = {.before = "call:",
                                                    .quote = "<|\"|>",
                                                    .open = '{',
                                                    .equals = ':',
                                                    .end = '}',
                                                    .close = {"<tool_call|>"}};
static const struct qn_opener gemma_openers[] = {
    {"<|tool_call>", qn_calls_literal, &gemma_calls, 0}, END_OF_OPENERS};
static const char *const gemma_tokens[] = {"<tool_call|>", "<|\"|>", NULL};
static const struct qn_writing gemma_writing = {.begin = "",
                                                .before = "<|tool_call>call:",
                                                .after = "{",
                                                .end = "}<tool_call|>",
                                                .between = "",
                                                .close = "",
                                                .arguments = QN_WRITE_GEMMA,
                                                .how = &gemma_calls};
static const struct qn_calling gemma = {.name = "gemma-4",
                                        .signs = {"<|tool_call>call:"},
                                        .token = "<|tool_call>",
                                        .openers = gemma_openers,
                                        .tokens = gemma_tokens,
                                        .writing = &gemma_writing};

static const struct qn_literal_calls function_gemma_calls = {.before = "call:",
                                                             .quote = "<escape>",
                                                             .open = '{',
                                                             .equals = ':',
                                                             .end = '}',
                                                             .close = {"<end_function_call>"}};
static const struct qn_opener function_gemma_openers[] = {
    {"<start_function_call>", qn_calls_literal, &function_gemma_calls, 0}, END_OF_OPENERS};
static const char *const function_gemma_tokens[] = {"<end_function_call>", "<escape>", NULL};
static const struct qn_writing function_gemma_writing = {.begin = "",
                                                         .before = "<start_function_call>call:",
                                                         .after = "{",
                                                         .end = "}<end_function_call>",
                                                         .between = "",
                                                         .close = "",
                                                         .arguments = QN_WRITE_GEMMA,
                                                         .how = &function_gemma_calls};
static const struct qn_calling function_gemma = {.name = "function-gemma",
                                                 .signs = {"<start_function_call>"},
                                                 .token = "<start_function_call>",
                                                 .openers = function_gemma_openers,
                                                 .tokens = function_gemma_tokens,
                                                 .writing = &function_gemma_writing};

static const struct qn_named_calls kimi_calls = {
    .prefix = "functions.",
    .separator = {"<|tool_call_argument_begin|>"},
    .end = {"<|tool_call_end|>", "<|tool_calls_section_end|>"},
    .counted = true};
static const struct qn_opener kimi_openers[] = {
    {"<|tool_calls_section_begin|>", NULL, NULL, QN_OPEN_DROP | QN_OPEN_THROUGH},
    DROP("<|tool_calls_section_end|>"),
    {"<|tool_call_begin|>", qn_calls_named, &kimi_calls, QN_OPEN_THROUGH},
    END_OF_OPENERS};
static const char *const kimi_tokens[] = {"<|tool_call_argument_begin|>", "<|tool_call_end|>",
                                          NULL};
static const struct qn_writing kimi_writing = {.begin = "<|tool_calls_section_begin|>",
                                               .before = "<|tool_call_begin|>functions.",
                                               .after = ":0<|tool_call_argument_begin|>",
                                               .end = "<|tool_call_end|>",
                                               .between = NULL,
                                               .close = "<|tool_calls_section_end|>",
                                               .arguments = QN_WRITE_JSON};
static const struct qn_calling kimi = {.name = "kimi-k2",
                                       .signs = {"<|tool_call_argument_begin|>"},
                                       .openers = kimi_openers,
                                       .tokens = kimi_tokens,
                                       .writing = &kimi_writing};

#define BAR "\xef\xbd\x9c" /* U+FF5C */
#define GAP "\xe2\x96\x81" /* U+2581 */
#define DSML BAR "DSML" BAR
static const struct qn_xml_calls dsml_calls = {.call = "<" DSML "invoke name=\"",
                                               .name_end = "\">",
                                               .key = "<" DSML "parameter name=\"",
                                               .key_end = "\">",
                                               .string = "\" string=\"true\">",
                                               .other = "\" string=\"false\">",
                                               .value = "",
                                               .value_end = "</" DSML "parameter>",
                                               .call_end = "</" DSML "invoke>",
                                               .block_end = "</" DSML "tool_calls>"};
static const struct qn_xml_calls dsml_functions = {.call = "<" DSML "invoke name=\"",
                                                   .name_end = "\">",
                                                   .key = "<" DSML "parameter name=\"",
                                                   .key_end = "\">",
                                                   .string = "\" string=\"true\">",
                                                   .other = "\" string=\"false\">",
                                                   .value = "",
                                                   .value_end = "</" DSML "parameter>",
                                                   .call_end = "</" DSML "invoke>",
                                                   .block_end = "</" DSML "function_calls>"};
static const struct qn_opener dsml_openers[] = {
    {"<" DSML "tool_calls>", qn_calls_xml, &dsml_calls, QN_OPEN_THROUGH},
    {"<" DSML "function_calls>", qn_calls_xml, &dsml_functions, QN_OPEN_THROUGH},
    END_OF_OPENERS};
static const char *const dsml_tokens[] = {DSML, NULL};
static const struct qn_writing dsml_writing = {.begin = "<" DSML "tool_calls>\n",
                                               .before = "<" DSML "invoke name=\"",
                                               .after = "\">\n",
                                               .end = "</" DSML "invoke>",
                                               .between = "\n",
                                               .close = "\n</" DSML "tool_calls>",
                                               .arguments = QN_WRITE_TAGS,
                                               .how = &dsml_calls};
static const struct qn_calling dsml = {.name = "deepseek-v3.2",
                                       .signs = {"DSML"},
                                       .openers = dsml_openers,
                                       .tokens = dsml_tokens,
                                       .writing = &dsml_writing};

#define DS(words) "<" BAR words BAR ">"
static const struct qn_named_calls deepseek_calls = {
    .separator = {DS("tool" GAP "sep")},
    .kind = "function",
    .end = {"```", DS("tool" GAP "call" GAP "end"), DS("tool" GAP "calls" GAP "end")}};
static const struct qn_opener deepseek_openers[] = {
    {DS("tool" GAP "calls" GAP "begin"), NULL, NULL, QN_OPEN_DROP | QN_OPEN_THROUGH},
    DROP(DS("tool" GAP "calls" GAP "end")),
    {DS("tool" GAP "call" GAP "begin"), qn_calls_named, &deepseek_calls, QN_OPEN_THROUGH},
    END_OF_OPENERS};
static const char *const deepseek_tokens[] = {DS("tool" GAP "sep"), DS("tool" GAP "call" GAP "end"),
                                              NULL};
static const struct qn_writing deepseek_writing = {.begin = DS("tool" GAP "calls" GAP "begin"),
                                                   .before = DS("tool" GAP "call" GAP "begin"),
                                                   .after = DS("tool" GAP "sep"),
                                                   .end = DS("tool" GAP "call" GAP "end"),
                                                   .between = "",
                                                   .close = DS("tool" GAP "calls" GAP "end"),
                                                   .arguments = QN_WRITE_JSON};
static const struct qn_calling deepseek = {.name = "deepseek",
                                           .signs = {DS("tool" GAP "sep")},
                                           .token = DS("tool" GAP "sep"),
                                           .openers = deepseek_openers,
                                           .tokens = deepseek_tokens,
                                           .writing = &deepseek_writing};
static const struct qn_writing deepseek_r1_writing = {
    .begin = DS("tool" GAP "calls" GAP "begin"),
    .before = DS("tool" GAP "call" GAP "begin") "function" DS("tool" GAP "sep"),
    .after = "\n```json\n",
    .end = "\n```" DS("tool" GAP "call" GAP "end"),
    .between = "\n",
    .close = DS("tool" GAP "calls" GAP "end"),
    .arguments = QN_WRITE_JSON};
static const struct qn_calling deepseek_r1 = {.name = "deepseek-r1",
                                              .signs = {DS("tool" GAP "sep"), "```json"},
                                              .openers = deepseek_openers,
                                              .tokens = deepseek_tokens,
                                              .writing = &deepseek_r1_writing};

static const struct qn_json_calls bare_json = {.close = {NULL}};
static const struct qn_named_calls mistral_calls = {
    .separator = {"[ARGS]"}, .id = "[CALL_ID]", .list = &bare_json};
static const struct qn_opener mistral_openers[] = {
    {"[TOOL_CALLS]", qn_calls_named, &mistral_calls, 0}, END_OF_OPENERS};
static const char *const mistral_tokens[] = {"[ARGS]", "[CALL_ID]", NULL};
static const struct qn_writing mistral_writing = {.begin = "",
                                                  .before = "[TOOL_CALLS]",
                                                  .after = "[ARGS]",
                                                  .end = "",
                                                  .between = "",
                                                  .close = "",
                                                  .arguments = QN_WRITE_JSON};
static const struct qn_calling mistral = {.name = "mistral",
                                          .signs = {"[TOOL_CALLS]", "[ARGS]"},
                                          .token = "[ARGS]",
                                          .openers = mistral_openers,
                                          .tokens = mistral_tokens,
                                          .writing = &mistral_writing};
static const struct qn_writing mistral_list_writing = {.begin = "[TOOL_CALLS][",
                                                       .before = "{\"name\": \"",
                                                       .after = "\", \"arguments\": ",
                                                       .end = "}",
                                                       .between = ", ",
                                                       .close = "]",
                                                       .arguments = QN_WRITE_JSON};
static const struct qn_calling mistral_list = {.name = "mistral-list",
                                               .signs = {"[TOOL_CALLS]"},
                                               .token = "[TOOL_CALLS]",
                                               .openers = mistral_openers,
                                               .tokens = mistral_tokens,
                                               .writing = &mistral_list_writing};

static const struct qn_json_calls cohere_calls = {.close = {"<|END_ACTION|>"}};
static const struct qn_opener cohere_openers[] = {
    {"<|START_ACTION|>", qn_calls_json, &cohere_calls, QN_OPEN_THROUGH}, END_OF_OPENERS};
static const char *const cohere_tokens[] = {"<|END_ACTION|>", NULL};
static const struct qn_writing cohere_writing = {.begin = "<|START_ACTION|>[\n    ",
                                                 .before =
                                                     "{\"tool_call_id\": \"0\", \"tool_name\": \"",
                                                 .after = "\", \"parameters\": ",
                                                 .end = "}",
                                                 .between = NULL,
                                                 .close = "\n]<|END_ACTION|>",
                                                 .arguments = QN_WRITE_JSON};
static const struct qn_calling cohere = {.name = "command-r7b",
                                         .signs = {"<|START_ACTION|>"},
                                         .openers = cohere_openers,
                                         .tokens = cohere_tokens,
                                         .writing = &cohere_writing};
static const struct qn_opener action_openers[] = {{"Action:", qn_calls_json, &bare_json, 0},
                                                  END_OF_OPENERS};
static const struct qn_writing command_r_writing = {.begin = "Action: ```json\n[\n",
                                                    .before = "    {\"tool_name\": \"",
                                                    .after = "\", \"parameters\": ",
                                                    .end = "}",
                                                    .between = ",\n",
                                                    .close = "\n]\n```",
                                                    .arguments = QN_WRITE_JSON};
static const struct qn_calling command_r = {.name = "command-r",
                                            .signs = {"Action:", "tool_name"},
                                            .openers = action_openers,
                                            .writing = &command_r_writing};

static const struct qn_json_calls apertus_calls = {.close = {"<|tools_suffix|>"},
                                                   .name_is_key = true};
static const struct qn_opener apertus_openers[] = {
    {"<|tools_prefix|>", qn_calls_json, &apertus_calls, QN_OPEN_THROUGH}, END_OF_OPENERS};
static const char *const apertus_tokens[] = {"<|tools_suffix|>", NULL};
static const struct qn_writing apertus_writing = {.begin = "<|tools_prefix|>[",
                                                  .before = "{\"",
                                                  .after = "\": ",
                                                  .end = "}",
                                                  .between = ", ",
                                                  .close = "]<|tools_suffix|>",
                                                  .arguments = QN_WRITE_JSON};
static const struct qn_calling apertus = {.name = "apertus",
                                          .signs = {"<|tools_prefix|>"},
                                          .openers = apertus_openers,
                                          .tokens = apertus_tokens,
                                          .writing = &apertus_writing};

static const struct qn_json_calls bar_calls = {.close = {"<|/tool_call|>"}};
static const struct qn_json_calls tag_json = {.close = {"</tool_call>"}};
static const struct qn_opener bar_openers[] = {{"<|tool_call|>", qn_calls_json, &bar_calls, 0},
                                               {"<tool_call>", qn_calls_json, &tag_json, 0},
                                               END_OF_OPENERS};
static const char *const bar_tokens[] = {"<|/tool_call|>", NULL};
static const struct qn_writing granite_writing = {.begin = "<|tool_call|>[",
                                                  .before = "{\"name\": \"",
                                                  .after = "\", \"arguments\": ",
                                                  .end = "}",
                                                  .between = ", ",
                                                  .close = "]",
                                                  .arguments = QN_WRITE_JSON};
static const struct qn_calling granite = {.name = "granite",
                                          .signs = {"<|tool_call|>"},
                                          .token = "<|tool_call|>",
                                          .openers = bar_openers,
                                          .tokens = bar_tokens,
                                          .writing = &granite_writing};
static const struct qn_opener functools_openers[] = {{"functools", qn_calls_json, &bare_json, 0},
                                                     END_OF_OPENERS};
static const struct qn_writing phi_writing = {.begin = "functools[",
                                              .before = "{\"name\": \"",
                                              .after = "\", \"arguments\": ",
                                              .end = "}",
                                              .between = ", ",
                                              .close = "]",
                                              .arguments = QN_WRITE_JSON};
static const struct qn_calling phi = {
    .name = "phi-4", .signs = {"functools"}, .openers = functools_openers, .writing = &phi_writing};

static const struct qn_xml_calls seed_calls = {.call = "<function=",
                                               .name_end = ">",
                                               .key = "<parameter=",
                                               .key_end = ">",
                                               .value = "",
                                               .value_end = "</parameter>",
                                               .call_end = "</function>",
                                               .block_end = "</seed:tool_call>",
                                               .lines = true};
static const struct qn_opener seed_openers[] = {{"<seed:tool_call>", qn_calls_xml, &seed_calls, 0},
                                                END_OF_OPENERS};
static const struct qn_writing seed_writing = {.begin = "<seed:tool_call>\n",
                                               .before = "<function=",
                                               .after = ">\n",
                                               .end = "</function>",
                                               .between = "\n</seed:tool_call>\n<seed:tool_call>\n",
                                               .close = "\n</seed:tool_call>",
                                               .arguments = QN_WRITE_TAGS,
                                               .how = &seed_calls};
static const struct qn_calling seed = {.name = "seed-oss",
                                       .signs = {"<seed:tool_call>"},
                                       .openers = seed_openers,
                                       .writing = &seed_writing};

static const struct qn_xml_calls minimax_calls = {.call = "<invoke name=\"",
                                                  .name_end = "\">",
                                                  .key = "<parameter name=\"",
                                                  .key_end = "\">",
                                                  .value = "",
                                                  .value_end = "</parameter>",
                                                  .call_end = "</invoke>",
                                                  .block_end = "</minimax:tool_call>",
                                                  .lines = true};
static const struct qn_opener minimax_openers[] = {
    {"<minimax:tool_call>", qn_calls_xml, &minimax_calls, QN_OPEN_THROUGH}, END_OF_OPENERS};
static const char *const minimax_tokens[] = {"</minimax:tool_call>", NULL};
static const struct qn_writing minimax_writing = {.begin = "<minimax:tool_call>\n",
                                                  .before = "<invoke name=\"",
                                                  .after = "\">\n",
                                                  .end = "</invoke>",
                                                  .between = "\n",
                                                  .close = "\n</minimax:tool_call>",
                                                  .arguments = QN_WRITE_TAGS,
                                                  .how = &minimax_calls};
static const struct qn_calling minimax = {.name = "minimax-m2",
                                          .signs = {"minimax:tool_call"},
                                          .openers = minimax_openers,
                                          .tokens = minimax_tokens,
                                          .writing = &minimax_writing};

static const struct qn_xml_calls qwen_calls = {.call = "<function=",
                                               .name_end = ">",
                                               .key = "<parameter=",
                                               .key_end = ">",
                                               .value = "",
                                               .value_end = "</parameter>",
                                               .call_end = "</function>",
                                               .block_end = "</tool_call>",
                                               .lines = true};
static const struct qn_opener qwen_openers[] = {
    {"<tool_call>", qn_calls_xml, &qwen_calls, 0},
    {"<function=", qn_calls_xml, &qwen_calls, QN_OPEN_KEEP}, /* it forgets the outer tag */
    END_OF_OPENERS};
static const struct qn_writing qwen_coder_writing = {.begin = "<tool_call>\n",
                                                     .before = "<function=",
                                                     .after = ">\n",
                                                     .end = "</function>",
                                                     .between = "\n</tool_call>\n<tool_call>\n",
                                                     .close = "\n</tool_call>",
                                                     .arguments = QN_WRITE_TAGS,
                                                     .how = &qwen_calls};
static const struct qn_calling qwen_coder = {.name = "qwen3-coder",
                                             .signs = {"<function=", "<parameter="},
                                             .openers = qwen_openers,
                                             .writing = &qwen_coder_writing};

static const struct qn_xml_calls glm_calls = {.call = "",
                                              .key = "<arg_key>",
                                              .key_end = "</arg_key>",
                                              .value = "<arg_value>",
                                              .value_end = "</arg_value>",
                                              .block_end = "</tool_call>"};
static const struct qn_opener glm_openers[] = {
    {"<tool_call>", qn_calls_xml, &glm_calls, QN_OPEN_THROUGH}, END_OF_OPENERS};
static const char *const glm_tokens[] = {"</tool_call>", "<arg_key>",    "</arg_key>",
                                         "<arg_value>",  "</arg_value>", NULL};
static const struct qn_writing glm_writing = {.begin = "<tool_call>",
                                              .before = "",
                                              .after = "\n",
                                              .end = "",
                                              .between = "</tool_call>\n<tool_call>",
                                              .close = "</tool_call>",
                                              .arguments = QN_WRITE_TAGS,
                                              .how = &glm_calls};
static const struct qn_calling glm = {.name = "glm-4.5",
                                      .signs = {"<arg_key>"},
                                      .openers = glm_openers,
                                      .tokens = glm_tokens,
                                      .writing = &glm_writing};

static const struct qn_literal_calls method_calls = {
    .before = "", .open = '(', .equals = '=', .end = ')', .method = ".call"};
static const struct qn_python_calls python_tag = {.json = &bare_json, .method = &method_calls};
static const struct qn_named_calls function_calls = {.separator = {">"}, .end = {"</function>"}};
static const struct qn_opener function_openers[] = {
    {"<function=", qn_calls_named, &function_calls, 0},
    {"<|python_tag|>", qn_calls_python, &python_tag, 0},
    END_OF_OPENERS};
static const struct qn_writing functionary_writing = {.begin = "",
                                                      .before = "<function=",
                                                      .after = ">",
                                                      .end = "</function>",
                                                      .between = "",
                                                      .close = "",
                                                      .arguments = QN_WRITE_JSON};
static const struct qn_calling functionary = {.name = "functionary-3.1",
                                              .signs = {"<function", "</function>"},
                                              .openers = function_openers,
                                              .lacks = {"<tool_call>", "<parameter="},
                                              .writing = &functionary_writing};
static const struct qn_named_calls recipient_calls = {.separator = {"\n"}, .text = "all"};
static const struct qn_opener recipient_openers[] = {
    {">>>", qn_calls_named, &recipient_calls, 0},
    {"", qn_calls_named, &recipient_calls, QN_OPEN_KNOWN | QN_OPEN_START},
    END_OF_OPENERS};
static const struct qn_writing functionary_v3_writing = {.begin = "",
                                                         .before = "",
                                                         .after = "\n",
                                                         .end = "",
                                                         .between = ">>>",
                                                         .close = "",
                                                         .arguments = QN_WRITE_JSON};
static const struct qn_calling functionary_v3 = {.name = "functionary-3.2",
                                                 .signs = {">>>"},
                                                 .openers = recipient_openers,
                                                 .writing = &functionary_v3_writing};

static const struct qn_json_calls lfm_json = {.close = {"<|tool_call_end|>"}};
static const struct qn_literal_calls lfm_calls = {.before = "",
                                                  .open = '(',
                                                  .equals = '=',
                                                  .end = ')',
                                                  .list = true,
                                                  .close = {"<|tool_call_end|>"},
                                                  .json = &lfm_json};
static const struct qn_opener lfm_openers[] = {
    {"<|tool_call_start|>", qn_calls_literal, &lfm_calls, 0},
    /* as its own earlier calls are told where its template has no place for them */
    {"<tool_call>", qn_calls_json, &tag_json, QN_OPEN_KNOWN},
    END_OF_OPENERS};
static const char *const lfm_tokens[] = {"<|tool_call_end|>", NULL};
static const struct qn_writing lfm_writing = {.begin = "<|tool_call_start|>[",
                                              .before = "",
                                              .after = "(",
                                              .end = ")",
                                              .between = ", ",
                                              .close = "]<|tool_call_end|>",
                                              .arguments = QN_WRITE_PYTHON};
static const struct qn_calling lfm = {.name = "lfm2",
                                      .signs = {"List of tools: ["},
                                      .token = "<|tool_call_start|>",
                                      .openers = lfm_openers,
                                      .tokens = lfm_tokens,
                                      .writing = &lfm_writing};
static const struct qn_calling lfm_token = {.name = "lfm2",
                                            .signs = {"<|tool_call_start|>"},
                                            .openers = lfm_openers,
                                            .tokens = lfm_tokens,
                                            .writing = &lfm_writing};

static const struct qn_opener giga_openers[] = {
    {"function call<|role_sep|>", qn_calls_json, &bare_json, 0},
    DROP("<|message_sep|>"),
    END_OF_OPENERS};
static const char *const giga_tokens[] = {"<|role_sep|>", NULL};
static const struct qn_writing giga_writing = {.begin =
                                                   "<|message_sep|>\n\nfunction call<|role_sep|>\n",
                                               .before = "{\"name\": \"",
                                               .after = "\", \"arguments\": ",
                                               .end = "}",
                                               .between = NULL,
                                               .close = "",
                                               .arguments = QN_WRITE_JSON};
static const struct qn_calling giga = {.name = "gigachat",
                                       .signs = {"<|role_sep|>", "function call"},
                                       .openers = giga_openers,
                                       .tokens = giga_tokens,
                                       .writing = &giga_writing};

static const struct qn_named_calls mcp_calls = {.lead = "<tool_name>",
                                                .separator = {"</tool_name>\n<arguments>"},
                                                .end = {"</arguments>", "</use_mcp_tool>"}};
static const struct qn_opener mcp_openers[] = {{"<use_mcp_tool>", qn_calls_named, &mcp_calls, 0},
                                               {"<tool_call>", qn_calls_json, &tag_json, 0},
                                               END_OF_OPENERS};
static const struct qn_writing hermes_writing = {.begin = "<tool_call>\n",
                                                 .before = "{\"name\": \"",
                                                 .after = "\", \"arguments\": ",
                                                 .end = "}",
                                                 .between = "\n</tool_call>\n<tool_call>\n",
                                                 .close = "\n</tool_call>",
                                                 .arguments = QN_WRITE_JSON};
static const struct qn_calling mcp = {
    .name = "mcp", .signs = {"<use_mcp_tool>"}, .openers = mcp_openers, .writing = &hermes_writing};

static const struct qn_json_calls lines_calls = {.close = {"</tool_calls>"}};
static const struct qn_named_calls hunyuan_calls = {
    .separator = {"\n"}, .end = {"```", "</tool_call>", "</tool_calls>"}, .list = &tag_json};
static const struct qn_opener lines_openers[] = {
    {"<tool_calls>", qn_calls_json, &lines_calls, 0},
    {"<tool_calls>\n<tool_call>", qn_calls_named, &hunyuan_calls, 0},
    {"<tool_call>", qn_calls_named, &hunyuan_calls, 0},
    DROP("</tool_calls>"),
    END_OF_OPENERS};
static const struct qn_writing lines_writing = {.begin = "<tool_calls>[",
                                                .before = "{\"name\": \"",
                                                .after = "\", \"arguments\": ",
                                                .end = "}",
                                                .between = ", ",
                                                .close = "]</tool_calls>",
                                                .arguments = QN_WRITE_JSON};
static const struct qn_calling lines = {.name = "tool-calls",
                                        .signs = {"<tool_calls>"},
                                        .openers = lines_openers,
                                        .writing = &lines_writing};

static const struct qn_opener hermes_openers[] = {{"<tool_call>", qn_calls_json, &tag_json, 0},
                                                  END_OF_OPENERS};
static const struct qn_calling hermes = {.name = "hermes",
                                         .signs = {"<tool_call>"},
                                         .token = "<tool_call>",
                                         .openers = hermes_openers,
                                         .writing = &hermes_writing};

static const struct qn_literal_calls list_calls = {.before = "",
                                                   .open = '(',
                                                   .equals = '=',
                                                   .end = ')',
                                                   .list = true,
                                                   .close = {"<|python_end|>"}};
static const struct qn_opener llama4_openers[] = {
    {"<|python_start|>", qn_calls_literal, &list_calls, QN_OPEN_KNOWN},
    {"[", qn_calls_literal, &list_calls, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    {"{", qn_calls_json, &bare_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    END_OF_OPENERS};
static const char *const llama4_tokens[] = {"<|python_end|>", NULL};
static const struct qn_writing llama4_writing = {.begin = "[",
                                                 .before = "",
                                                 .after = "(",
                                                 .end = ")",
                                                 .between = ", ",
                                                 .close = "]",
                                                 .arguments = QN_WRITE_PYTHON};
static const struct qn_calling llama4 = {.name = "llama-4",
                                         .signs = {"<|python_start|>"},
                                         .openers = llama4_openers,
                                         .tokens = llama4_tokens,
                                         .writing = &llama4_writing};

static const struct qn_opener llama3_openers[] = {
    {"<|python_tag|>", qn_calls_python, &python_tag, 0},
    {"<function=", qn_calls_named, &function_calls, QN_OPEN_KNOWN},
    {"{", qn_calls_json, &bare_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    END_OF_OPENERS};
static const struct qn_writing llama3_writing = {.begin = "",
                                                 .before = "{\"name\": \"",
                                                 .after = "\", \"parameters\": ",
                                                 .end = "}",
                                                 .between = NULL,
                                                 .close = "",
                                                 .arguments = QN_WRITE_JSON};
static const struct qn_calling llama3 = {.name = "llama-3",
                                         .signs = {"ipython"},
                                         .token = "<|python_tag|>",
                                         .openers = llama3_openers,
                                         .writing = &llama3_writing};

/* Whoever was not taught a syntax was asked for this one, and may fall back on any habit; names of
 * tools that there are tell calls from text. */
static const struct qn_json_calls plain_json = {.close = {"</tool_call>", "</function_call>"}};
static const struct qn_literal_calls code_calls = {
    .before = "", .open = '(', .equals = '=', .end = ')', .list = true, .close = {"```"}};
static const struct qn_opener generic_openers[] = {
    {"<tool_call>", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"<function_call>", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"[TOOL_CALLS]", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```tool_call", qn_calls_json, &plain_json, QN_OPEN_KNOWN},
    {"```tool_code", qn_calls_literal, &code_calls, QN_OPEN_KNOWN},
    {"```json", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START},
    {"{", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    {"[", qn_calls_json, &plain_json, QN_OPEN_KNOWN | QN_OPEN_START | QN_OPEN_KEEP},
    END_OF_OPENERS};
static const struct qn_calling generic = {
    .name = "generic", .openers = generic_openers, .writing = &hermes_writing};

const struct qn_calling *const qn_callings[] = {&harmony,
                                                &gemma,
                                                &function_gemma,
                                                &kimi,
                                                &dsml,
                                                &deepseek_r1,
                                                &deepseek,
                                                &mistral,
                                                &mistral_list,
                                                &cohere,
                                                &command_r,
                                                &apertus,
                                                &granite,
                                                &phi,
                                                &seed,
                                                &minimax,
                                                &glm,
                                                &lfm_token,
                                                &lfm,
                                                &giga,
                                                &mcp,
                                                &lines,
                                                &qwen_coder,
                                                &hermes,
                                                &functionary,
                                                &functionary_v3,
                                                &llama4,
                                                &llama3,
                                                &generic,
                                                NULL};

/* ---- Finding a row ---- */

static bool has_any(const char *source, const char *const signs[4])
{
    for (size_t i = 0; i < 4 && signs[i]; i++)
        if (strstr(source, signs[i]))
            return true;
    return false;
}

static bool fits(const struct qn_calling *row, const char *source)
{
    for (size_t i = 0; i < 4 && row->signs[i]; i++)
        if (!strstr(source, row->signs[i]))
            return false;
    for (size_t i = 0; i < 3 && row->lacks[i]; i++)
        if (strstr(source, row->lacks[i]))
            return false;
    return row->signs[0] != NULL;
}

struct qn_syntax qn_syntax_find(const char *source,
                                bool (*has_token)(const void *ctx, const char *text),
                                const void *ctx)
{
    struct qn_syntax s = {NULL, NULL};
    for (size_t i = 0; qn_thinkings[i] && !s.think; i++)
        if (has_any(source, qn_thinkings[i]->signs))
            s.think = qn_thinkings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (fits(qn_callings[i], source))
            s.call = qn_callings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (!qn_callings[i + 1] ||
            (has_token && qn_callings[i]->token && has_token(ctx, qn_callings[i]->token)))
            s.call = qn_callings[i];
    return s;
}

const char *qn_syntax_calls(const struct qn_syntax *s)
{
    return s->call->name;
}

const char *qn_syntax_thinking(const struct qn_syntax *s)
{
    return s->think ? s->think->name : "none";
}

static bool marks(const struct qn_opener *openers, const char *const *tokens, const char *text)
{
    for (; openers && openers->text; openers++)
        if (strstr(openers->text, text))
            return true;
    for (; tokens && *tokens; tokens++)
        if (strcmp(*tokens, text) == 0)
            return true;
    return false;
}

bool qn_syntax_marks(const struct qn_syntax *s, const char *text)
{
    if (!text[0])
        return false;
    if (marks(s->call->openers, s->call->tokens, text))
        return true;
    const struct qn_thinking *t = s->think;
    return t && ((t->open && strstr(t->open, text)) || strstr(t->close, text) ||
                 marks(t->openers, t->tokens, text));
}

bool qn_syntax_begun(const struct qn_syntax *s, const char *prompt, size_t n)
{
    const char *open = s->think ? s->think->open : NULL;
    size_t len = open ? strlen(open) : 0;
    while (n > 0 && strchr(" \t\r\n", prompt[n - 1]))
        n--;
    while (len > 0 && strchr(" \t\r\n", open[len - 1]))
        len--;
    return len > 0 && n >= len && memcmp(prompt + n - len, open, len) == 0;
}

bool qn_syntax_tags(const struct qn_syntax *s, const char **open, const char **close)
{
    if (!s->think || !s->think->open || s->think->words)
        return false;
    if (open)
        *open = s->think->open;
    if (close)
        *close = s->think->close;
    return true;
}

bool qn_syntax_ending(const struct qn_syntax *s, bool free, struct qn_buf *out)
{
    const struct qn_thinking *t = s->think;
    if (!t)
        return false;
    bool token = !t->open || t->anywhere; /* a mark that stands alone, where others have a line */
    qn_buf_fmt(out, "%s%s%s%s%s", token ? "" : "\n", t->close, token ? "" : "\n\n",
               t->then ? t->then : "", t->answer && free ? t->answer : "");
    return true;
}
