/* See no_engine.h. */
#include "models/no_engine.h"

#include "base/str.h"
#include "contract/backend_types.h"
#include "registry/registry.h"

#include <stddef.h>

static const struct {
    const char *recipe, *reason;
} reasons[] = {
    {"whispercpp", "for transcribing speech, and no engine for it is installed: `quince backends "
                   "install whispercpp:whisper-server` fetches one"},
    {"sd-cpp", "for making pictures, and no engine for it is installed: `quince backends install "
               "sd-cpp:sd-server` fetches one, where this machine can run it"},
    {"kokoro", "for reading text aloud, and this version of quince has no engine for it: `quince "
               "remote add NAME URL` uses a server elsewhere that has one"},
};

const char *qn_no_engine(const char *recipe)
{
    const char *never = qn_recipe_unsupported(recipe);
    if (never || qn_backend_type_of(recipe))
        return never;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (qn_str_eq(reasons[i].recipe, recipe))
            return reasons[i].reason;
    return "of a kind that this version of quince has no engine for: `quince list --all` shows the "
           "models that run here";
}
