/* A small vocabulary for tests of constrained decoding: every byte, some words and pieces of JSON,
 * a control token, an end token. */
#ifndef QN_TESTS_BYTE_VOCAB_H
#define QN_TESTS_BYTE_VOCAB_H

#include "grammar/constrain.h"

#include <string.h>

static const char *const byte_vocab_words[] = {
    "{\"",   "\":",      "\": ",     "\",",          "\"}",
    ", \"",  "\"name\"", "name",     "hello",        " world",
    "true",  "false",    "null",     "12",           "123",
    "0.5",   "\n  ",     "    ",     "[{",           "}]",
    "\\u00", "\\n",      "\xc3\xa9", "\xf0\x9f\x98", "\xe4\xb8\xad\xe6\x96\x87",
    "a\":",  "ab",       "abc\"",    "[]",           "{}"};
enum {
    BYTE_VOCAB_WORDS = sizeof byte_vocab_words / sizeof byte_vocab_words[0],
    BYTE_VOCAB_CONTROL = 256 + BYTE_VOCAB_WORDS, /* <|call|> */
    BYTE_VOCAB_END,                              /* <|end|> */
    BYTE_VOCAB_N
};

static inline const char *byte_vocab_bytes(void *ctx, int32_t id, size_t *len)
{
    static char bytes[256];
    (void)ctx;
    *len = 0;
    if (id < 0 || id >= BYTE_VOCAB_N)
        return "";
    if (id < 256) {
        bytes[id] = (char)id;
        *len = 1;
        return &bytes[id];
    }
    const char *s = id == BYTE_VOCAB_CONTROL ? "<|call|>"
                    : id == BYTE_VOCAB_END   ? "<|end|>"
                                             : byte_vocab_words[id - 256];
    *len = strlen(s);
    return s;
}

static inline bool byte_vocab_control(void *ctx, int32_t id)
{
    (void)ctx;
    return id >= BYTE_VOCAB_CONTROL;
}

static inline bool byte_vocab_end(void *ctx, int32_t id)
{
    (void)ctx;
    return id == BYTE_VOCAB_END;
}

static inline struct qn_constrain_vocab byte_vocab(void)
{
    return (struct qn_constrain_vocab){NULL, BYTE_VOCAB_N, byte_vocab_bytes, byte_vocab_control,
                                       byte_vocab_end};
}

#endif
