/* See keep.h. */
#include "llm/scheduler/keep.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#include <string.h>

/* The leading system messages, and a user who says nothing yet. False: there are none. */
static bool write_beginning(const char *messages, struct qn_buf *out)
{
    struct qn_json *doc;
    if (qn_json_parse(messages, strlen(messages), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), m;
    struct qn_jw w = qn_jw_to(out);
    struct qn_buf text;
    bool any = false;
    qn_buf_init(&text, out->limit);
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&root, &m); more; more = qn_json_next(&m)) {
        struct qn_jref role = qn_json_get(&m, "role");
        const char *name = qn_json_raw_str(&role);
        if (!qn_str_eq(name, "system") && !qn_str_eq(name, "developer"))
            break;
        any = true;
        qn_buf_clear(&text);
        qn_json_print(&m, &text);
        qn_jw_raw(&w, qn_buf_cstr(&text), text.len);
    }
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "role", "user");
    qn_jw_kstr(&w, "content", "");
    qn_jw_obj_end(&w);
    qn_jw_arr_end(&w);
    qn_buf_deinit(&text);
    qn_json_free(doc);
    return any && !out->overflow;
}

size_t qn_prompt_keep(struct qn_prompter *p, const struct qn_job *job, int32_t context,
                      const struct qn_prompt *prompt)
{
    struct qn_buf messages;
    size_t keep = 1;
    if (job->task != QN_TASK_CHAT)
        return keep;
    qn_buf_init(&messages, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_prompt beginning = {0};
    struct qn_job system = *job;
    system.chat.continue_last = false;
    if (write_beginning(job->chat.messages, &messages)) {
        system.chat.messages = qn_buf_cstr(&messages);
        /* A template may refuse such a conversation: then there is nothing to go by. */
        if (qn_prompt_make(p, &system, context, &beginning, NULL) == QN_OK) {
            size_t same = 0;
            while (same < beginning.n && same < prompt->n &&
                   beginning.tokens[same] == prompt->tokens[same])
                same++;
            keep = same > keep ? same : keep;
            qn_prompt_deinit(&beginning);
        }
    }
    qn_buf_deinit(&messages);
    return keep;
}
