/* The field tables of messages and attachments, and the checks that need no knowledge of the other
 * process. Private to the contract; codec.c uses them for jobs. */
#ifndef QN_CONTRACT_MESSAGE_CODEC_H
#define QN_CONTRACT_MESSAGE_CODEC_H

#include "base/error.h"
#include "contract/fields.h"
#include "contract/job.h"

extern const struct qn_field_items qn_message_items;    /* of struct qn_message */
extern const struct qn_field_items qn_attachment_items; /* of struct qn_attachment, without bytes */

/* QN_EINVAL, with its path in param, for an attachment without a role, a size or a valid media
 * type. */
qn_err qn_attachments_check(const struct qn_attachments *a, struct qn_error *e);

/* QN_EINVAL, with its path in param, for a message without a role, or a part that lacks what its
 * kind needs. The attachment of a PICTURE part must exist in the job and be an image. */
qn_err qn_messages_check(const struct qn_job *job, struct qn_error *e);

#endif
