/* See profile.h. */
#include "answers/profile.h"

#include "base/str.h"

static const char *const names[QN_PROFILE_COUNT] = {
    [QN_PROFILE_LEMONADE] = "lemonade", [QN_PROFILE_OLLAMA] = "ollama",
    [QN_PROFILE_AUTO] = "auto",         [QN_PROFILE_LAYERSCALE] = "layerscale",
    [QN_PROFILE_DPPAN] = "dppan",       [QN_PROFILE_KOLOSAL] = "kolosal",
    [QN_PROFILE_LOCALLLM] = "localllm",
};

const char *qn_profile_name(enum qn_profile p)
{
    return (unsigned)p < QN_PROFILE_COUNT ? names[p] : names[QN_PROFILE_LEMONADE];
}

enum qn_profile qn_profile_parse(const char *name)
{
    for (int i = 0; i < QN_PROFILE_COUNT; i++)
        if (qn_str_eq(name, names[i]))
            return (enum qn_profile)i;
    return QN_PROFILE_COUNT;
}
