/* Messages as OpenAI's chat API has them: what other servers take, and the form in which the
 * messages of a preset are kept.
 *
 *   [{"role","name"?,"tool_call_id"?,"content","reasoning_content"?,
 *     "tool_calls"?: [{"id"?,"type":"function","function":{"name","arguments"}}]}, ...]
 *
 * content is null, a string or, beside pictures and sounds, an array of
 * {"type":"text","text"}, {"type":"image_url","image_url":{"url":"data:image/png;base64,..."}} and
 * {"type":"input_audio","input_audio":{"data","format"}}. */
#ifndef QN_CONTRACT_MESSAGE_JSON_H
#define QN_CONTRACT_MESSAGE_JSON_H

#include "base/json.h"
#include "contract/job.h"

struct qn_message_form {
    bool reasoning;        /* reasoning_content is written */
    bool argument_objects; /* arguments are objects where they can be; else text, as in OpenAI's */
};

/* Appends the list. Overflow is w's buffer's. */
void qn_messages_write(const struct qn_messages *m, const struct qn_attachments *files,
                       const struct qn_message_form *form, struct qn_jw *w);

/* Appends arguments as the JSON object that they are; false, and nothing is written, when they are
 * none. */
bool qn_arguments_write(const char *arguments, struct qn_jw *w);

#endif
