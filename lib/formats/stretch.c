/* See stretch.h. */
#include "formats/stretch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

qn_err qn_stretch_parse(const char *text, struct qn_stretch *out, struct qn_error *e)
{
    static const char *const names[] = {"none", "linear", "yarn"};
    char name[16] = "";
    double factor = 1, original = 0;
    int end = 0;
    int n = sscanf(text, "%15[a-z]%n:%lf%n:%lf%n", name, &end, &factor, &end, &original, &end);
    for (int i = 0; i < 3 && text[end] == '\0'; i++) {
        bool whole = i == 0 ? n == 1 : n == 2 || (n == 3 && original >= 1);
        if (strcmp(name, names[i]) != 0 || !whole ||
            !(factor >= 1 && factor <= QN_STRETCH_FACTOR_MAX) || original > QN_STRETCH_CONTEXT_MAX)
            continue;
        *out = (struct qn_stretch){(enum qn_stretch_kind)i, (float)factor, (int32_t)original};
        return QN_OK;
    }
    return qn_fail(e, QN_EINVAL,
                   "rope scaling \"%.40s\": expected none, linear:FACTOR, yarn:FACTOR or "
                   "yarn:FACTOR:CONTEXT, with a factor of 1 to %d",
                   text, QN_STRETCH_FACTOR_MAX);
}

int32_t qn_stretch_context(const struct qn_stretch *stretch, int32_t trained)
{
    if (!stretch || stretch->kind == QN_STRETCH_NONE)
        return trained;
    double whole =
        (double)(stretch->original ? stretch->original : trained) * (double)stretch->factor;
    return whole < QN_STRETCH_CONTEXT_MAX ? (int32_t)whole : QN_STRETCH_CONTEXT_MAX;
}
