/* See ollama_template.h. Both languages write {{ }}; Go's names begin with a dot there, and its
 * statements stand in the same brackets as its values. */
#include "router/dialects/ollama_template.h"

#include "base/str.h"

#include <string.h>

static bool is_go(const char *text)
{
    static const char *const words[] = {".",    "$",     "if ",    "range ",  "with ",     "end",
                                        "else", "json ", "block ", "define ", "template ", "/*"};
    if (strstr(text, "{%"))
        return false;
    for (const char *p = strstr(text, "{{"); p; p = strstr(p, "{{")) {
        p += 2;
        p += *p == '-';
        p += strspn(p, " \t\r\n");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (qn_str_starts(p, words[i]))
                return true;
    }
    return false;
}

qn_err qn_ollama_template(const char *text, struct qn_buf *out, struct qn_error *e)
{
    if (is_go(text))
        return qn_fail_param(e, QN_EUNSUPPORTED, "template",
                             "template: this one is in Go's language; quince reads Jinja, as "
                             "model files have it (POST /api/show shows a model's own)");
    qn_buf_str(out, text);
    return out->overflow ? qn_fail_param(e, QN_EINVAL, "template", "template: too long") : QN_OK;
}
