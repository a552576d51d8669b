/* Messages in the JSON of OpenAI's chat API. This form is sent to other servers, and the messages
 * of presets are stored in it.
 *
 *    [{"role","name"?,"tool_call_id"?,"content","reasoning_content"?,
 *      "tool_calls"?: [{"id"?,"type":"function","function":{"name","arguments"}}]}, ...]
 *
 * content is null, a string or, if there are images or audio, an array of {"type":"text","text"},
 * {"type":"image_url","image_url":{"url":"data:image/png;base64,..."}} and
 * {"type":"input_audio","input_audio":{"data","format"}}. */
#ifndef QN_CONTRACT_MESSAGE_JSON_H
#define QN_CONTRACT_MESSAGE_JSON_H

#include "base/json.h"
#include "contract/job.h"

struct qn_message_form {
    bool reasoning;        /* write reasoning_content */
    bool argument_objects; /* write arguments as objects if they are valid JSON objects; false: as
                              text, as OpenAI does */
};

/* Appends the list. On overflow w's buffer has the error. */
void qn_messages_write(const struct qn_messages *m, const struct qn_attachments *files,
                       const struct qn_message_form *form, struct qn_jw *w);

/* Appends arguments as a JSON object. If they are not one, returns false and writes nothing. */
bool qn_arguments_write(const char *arguments, struct qn_jw *w);

#endif
