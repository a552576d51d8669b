/* See kinds.h. */
#include "settings/kinds.h"

#include "base/str.h"
#include "contract/capabilities.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The first name of each kind is the one that is written. */
static const struct {
    const char *name;
    enum qn_kind kind;
} names[] = {
    {"llm", QN_KIND_LLM},
    {"embedding", QN_KIND_EMBEDDING},
    {"embeddings", QN_KIND_EMBEDDING},
    {"embed", QN_KIND_EMBEDDING},
    {"reranking", QN_KIND_RERANKING},
    {"rerank", QN_KIND_RERANKING},
    {"transcription", QN_KIND_TRANSCRIPTION},
    {"audio", QN_KIND_TRANSCRIPTION}, /* Lemonade's name until version 10 */
    {"asr", QN_KIND_TRANSCRIPTION},
    {"image", QN_KIND_IMAGE},
    {"tts", QN_KIND_TTS},
};
enum { NAMES = sizeof names / sizeof *names };

enum qn_kind qn_kind_parse(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (qn_str_eq(names[i].name, name))
            return names[i].kind;
    return QN_KIND_COUNT;
}

const char *qn_kind_name(enum qn_kind k)
{
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].kind == k)
            return names[i].name;
    return "";
}

enum qn_kind qn_kind_of(unsigned capabilities)
{
    static const struct {
        unsigned set;
        enum qn_kind kind;
    } kinds[] = {
        {QN_CAN_TALK, QN_KIND_LLM},
        {QN_CAN_EMBED, QN_KIND_EMBEDDING},
        {QN_CAN_RERANK, QN_KIND_RERANKING},
        {QN_CAN_TRANSCRIBE, QN_KIND_TRANSCRIPTION},
        {QN_CAN_IMAGE | QN_CAN_UPSCALE, QN_KIND_IMAGE},
        {QN_CAN_SPEAK, QN_KIND_TTS},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (capabilities & kinds[i].set)
            return kinds[i].kind;
    return QN_KIND_LLM;
}

static qn_err read_limit(const char *text, int64_t *out, struct qn_error *e)
{
    if (!qn_parse_i64(text, out) || *out < -1 || *out > QN_KIND_LIMIT_MAX)
        return qn_fail(e, QN_EINVAL, "'%.40s' is not a number from -1 (any number) to %d", text,
                       QN_KIND_LIMIT_MAX);
    return QN_OK;
}

qn_err qn_kind_limits_parse(const char *text, struct qn_kind_limits *out, struct qn_error *e)
{
    char copy[QN_KIND_LIMITS_TEXT_MAX], *rest = copy, *item;
    int64_t others = 1;
    bool named[QN_KIND_COUNT] = {false}, alone = false;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return qn_fail(e, QN_EINVAL, "more than %d bytes", QN_KIND_LIMITS_TEXT_MAX - 1);
    while ((item = strsep(&rest, ","))) {
        char *value = strchr(item, '=');
        qn_err err;
        if (!value) {
            if (alone)
                return qn_fail(e, QN_EINVAL, "more than one number without a kind");
            alone = true;
            err = read_limit(item, &others, e);
        } else {
            *value++ = '\0';
            enum qn_kind k = qn_kind_parse(item);
            if (k == QN_KIND_COUNT)
                return qn_fail(e, QN_EINVAL,
                               "'%.40s' is not a kind of models: llm, embedding, reranking, "
                               "transcription, image and tts are",
                               item);
            if (named[k])
                return qn_fail(e, QN_EINVAL, "%s is named twice", qn_kind_name(k));
            named[k] = true;
            err = read_limit(value, &out->of[k], e);
        }
        if (err)
            return err;
    }
    for (int k = 0; k < QN_KIND_COUNT; k++)
        if (!named[k])
            out->of[k] = others;
    return QN_OK;
}
