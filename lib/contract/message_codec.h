/* The field tables of messages and attachments, and what each must have whatever the other process
 * sent. Private to the contract: codec.c puts them into a job. */
#ifndef QN_CONTRACT_MESSAGE_CODEC_H
#define QN_CONTRACT_MESSAGE_CODEC_H

#include "base/error.h"
#include "contract/fields.h"
#include "contract/job.h"

extern const struct qn_field_items qn_message_items;    /* of struct qn_message */
extern const struct qn_field_items qn_attachment_items; /* of struct qn_attachment, without bytes */

/* QN_EINVAL with the path of the attachment that has no role, size or valid media type. */
qn_err qn_attachments_check(const struct qn_attachments *a, struct qn_error *e);

/* QN_EINVAL with the path of the message without a role, or of the part that lacks what its kind
 * needs: a picture's attachment must be one of the job's, and a picture. */
qn_err qn_messages_check(const struct qn_job *job, struct qn_error *e);

#endif
