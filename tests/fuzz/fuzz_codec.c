/* Jobs, events and control messages from a hostile peer. What decodes must encode again, and what
 * that gives must decode. */
#include "contract/codec.h"
#include "contract/control.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct qn_buf *text, int kind, struct qn_arena *arena)
{
    struct qn_json *doc;
    struct qn_error e;
    if (qn_json_parse(text->data, text->len, &doc, &e))
        abort();
    struct qn_jref root = qn_json_root(doc);
    struct qn_job job;
    struct qn_event ev;
    struct qn_control c;
    qn_err err = kind == 0   ? qn_job_decode(&root, &job, arena, &e)
                 : kind == 1 ? qn_event_decode(&root, &ev, arena, &e)
                             : qn_control_decode(&root, &c, arena, &e);
    if (err)
        abort();
    qn_json_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_json *doc;
    struct qn_error e;
    if (qn_json_parse((const char *)data, size, &doc, &e))
        return 0;
    struct qn_jref root = qn_json_root(doc);
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    struct qn_buf text;
    qn_buf_init(&text, 64 * 1024 * 1024);
    struct qn_job job;
    if (qn_job_decode(&root, &job, arena, &e) == QN_OK) {
        if (qn_job_encode(&job, &text))
            abort();
        again(&text, 0, arena);
    }
    qn_buf_clear(&text);
    struct qn_event ev;
    if (qn_event_decode(&root, &ev, arena, &e) == QN_OK) {
        if (qn_event_encode(&ev, &text))
            abort();
        again(&text, 1, arena);
    }
    qn_buf_clear(&text);
    struct qn_control c;
    if (qn_control_decode(&root, &c, arena, &e) == QN_OK) {
        if (qn_control_encode(&c, &text))
            abort();
        again(&text, 2, arena);
    }
    qn_buf_deinit(&text);
    qn_arena_free(arena);
    qn_json_free(doc);
    return 0;
}
