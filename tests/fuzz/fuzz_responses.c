/* Bodies of POST responses, alone and going on from a kept answer that is as hostile. */
#include "tests/fuzz/dialect_parse.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_json *doc;
    fuzz_dialect_parse(&qn_responses, data, n);
    if (qn_json_parse((const char *)data, n, &doc, NULL))
        return 0;
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    const char *chain = NULL, *ids[QN_EARLIER_MAX];
    struct qn_error e = {0};
    if (qn_responses.earlier(doc, arena, &chain, ids) > QN_EARLIER_MAX)
        abort();
    char *text = qn_arena_strndup(arena, (const char *)data, n);
    struct qn_kept kept = {"resp_0123456789abcdef01234567", "", text, text, doc, doc};
    struct qn_request rq = {.profile = qn_profile_main(),
                            .doc = doc,
                            .arena = arena,
                            .kept = &kept,
                            .n_kept = 1,
                            .n_chain = chain != NULL};
    (void)qn_responses.parse(&rq, &e);
    qn_arena_free(arena);
    qn_json_free(doc);
    return 0;
}
