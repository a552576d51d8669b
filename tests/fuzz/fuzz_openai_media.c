/* Requests about sounds and pictures: the first byte chooses the endpoint, the rest is its body, a
 * form with the boundary "b" or JSON. What parse accepts must cross to a child with its files. */
#include "tests/fuzz/dialect_parse.h"

#include "base/log.h"
#include "dialects/shared/form.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    qn_log_set_level(QN_LOG_ERROR);
    return 0;
}

static void parse_form(const struct qn_dialect *dialect, const uint8_t *data, size_t n)
{
    struct qn_json *doc = NULL;
    struct qn_multipart files;
    struct qn_error e = {0};
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    char *body = malloc(n ? n : 1);
    memcpy(body, data, n);
    if (qn_form_read("multipart/form-data; boundary=b", body, n, arena, &doc, &files, &e) ==
        QN_OK) {
        struct qn_request rq = {.profile = qn_profile_main(),
                                .doc = doc,
                                .files = &files,
                                .arena = arena,
                                .context = QN_UNSET,
                                .keep_alive_ms = QN_UNSET};
        if (dialect->parse(&rq, &e) == QN_OK)
            fuzz_dialect_cross(rq.jobs, arena);
    }
    qn_json_free(doc);
    free(body);
    qn_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct qn_dialect *const dialects[] = {
        &qn_openai_transcribe, &qn_openai_translate, &qn_openai_edit, &qn_openai_vary,
        &qn_openai_speech,     &qn_openai_generate,  &qn_upscale};
    if (n == 0)
        return 0;
    const struct qn_dialect *dialect = dialects[*data % (sizeof dialects / sizeof *dialects)];
    if (dialect->form)
        parse_form(dialect, data + 1, n - 1);
    else
        fuzz_dialect_parse(dialect, data + 1, n - 1);
    return 0;
}
