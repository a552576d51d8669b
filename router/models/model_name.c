/* See model_name.h. */
#include "models/model_name.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/slug.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_model_slug(const char *path, const char *title, char out[static QN_MODEL_SLUG_MAX + 1])
{
    static const char ending[] = ".gguf", model[] = "model-";
    char part[QN_MODEL_SLUG_MAX + 1 - (sizeof model - 1)];
    const char *file = qn_path_base(path);
    size_t n = strlen(file);
    char *stem = qn_xstrndup(file, n - (qn_str_ends(file, ending) ? strlen(ending) : 0));
    if (!qn_slug(stem, out, QN_MODEL_SLUG_MAX + 1) && !qn_slug(title, out, QN_MODEL_SLUG_MAX + 1)) {
        qn_slug(stem, part, sizeof part);
        const char *rest = part + strspn(part, "._-");
        snprintf(out, QN_MODEL_SLUG_MAX + 1, "%.*s%s", *rest ? 6 : 5, model, rest);
    }
    free(stem);
}
