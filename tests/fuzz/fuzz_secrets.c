/* Hiding of secrets in captured bodies: JSON stays JSON, and a secret's characters are gone wherever
 * it stands. */
#include "base/json.h"
#include "telemetry/requests.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Checks that every string below a secret member is asterisks. */
static void check(const struct qn_jref *v, bool secret)
{
    struct qn_jref it;
    if (secret && qn_json_type(v) == QN_JSON_STRING) {
        const char *text = qn_json_raw_str(v);
        if (text[strspn(text, "*")])
            abort();
    }
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it))
        check(&it, secret || (it.key && !strcmp(it.key, "api_key")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_json *before = NULL, *after = NULL;
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = '\0';
    bool valid = qn_json_parse(text, n, &before, NULL) == QN_OK;
    qn_requests_hide_secrets(text, n);
    if (valid && qn_json_parse(text, n, &after, NULL))
        abort();
    if (valid) {
        struct qn_jref root = qn_json_root(after);
        check(&root, false);
    }
    qn_json_free(before);
    qn_json_free(after);
    free(text);
    return 0;
}
