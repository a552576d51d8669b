/* How many requests that need much memory may be handled at a time: a chat with all its messages may
 * have QN_CHATS_CHAT_BYTES_MAX bytes, which are held twice while the reply is written. Loop thread. */
#ifndef QN_API_CHATS_LOAD_H
#define QN_API_CHATS_LOAD_H

#include "base/error.h"

enum qn_chats_heavy { QN_CHATS_READING, QN_CHATS_EXPORTING, QN_CHATS_IMPORTING, QN_CHATS_HEAVY };

struct qn_chats_load;
struct qn_chats_load *qn_chats_load_new(void);
void qn_chats_load_free(struct qn_chats_load *l); /* NULL allowed */

/* QN_EBUSY: too many are being handled, of this owner or in all. */
qn_err qn_chats_load_begin(struct qn_chats_load *l, enum qn_chats_heavy what, const char *owner,
                           struct qn_error *e);
/* After a successful begin with the same arguments. */
void qn_chats_load_end(struct qn_chats_load *l, enum qn_chats_heavy what, const char *owner);

#endif
