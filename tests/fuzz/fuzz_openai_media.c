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

static void cross(const struct qn_job *job, struct qn_arena *arena)
{
    struct qn_buf wire;
    struct qn_job back;
    struct qn_error e;
    qn_buf_init(&wire, 64 * 1024 * 1024);
    if (qn_job_frame(job, &wire) || qn_job_take(wire.data, wire.len, &back, arena, &e) ||
        back.attachments.n != job->attachments.n)
        abort();
    for (size_t i = 0; i < job->attachments.n; i++)
        if (back.attachments.v[i].role != job->attachments.v[i].role ||
            back.attachments.v[i].len != job->attachments.v[i].len ||
            memcmp(back.attachments.v[i].data, job->attachments.v[i].data,
                   job->attachments.v[i].len) != 0)
            abort();
    qn_buf_deinit(&wire);
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
            cross(rq.jobs, arena);
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
