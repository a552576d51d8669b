/* What a user or a client names as a model: whatever it is, what comes out is safe to put into an
 * address and to append to a folder, and what is printed means the same again. */
#include "registry/ref.h"

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(int ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 4096)
        return 0;
    char *text = qn_xstrndup((const char *)data, n);
    struct qn_ref ref, again;
    struct qn_error e = {0};
    if (qn_ref_parse(text, QN_HUB_HF, &ref, &e) == QN_OK) {
        if (ref.hub <= QN_HUB_OLLAMA) {
            check(qn_ref_repo_ok(ref.repo) && qn_ref_path_ok(ref.repo));
            check(!*ref.variant || qn_ref_path_ok(ref.variant));
            check(!strstr(ref.revision, ".."));
        } else {
            check(*ref.url != '\0');
        }
        struct qn_buf printed;
        qn_buf_init(&printed, 8192);
        qn_ref_print(&ref, &printed);
        check(qn_ref_parse(qn_buf_cstr(&printed), QN_HUB_HF, &again, &e) == QN_OK);
        check(!memcmp(&ref, &again, sizeof ref));
        qn_buf_deinit(&printed);
    } else {
        check(*e.message != '\0');
    }
    free(text);
    return 0;
}
