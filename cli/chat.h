/* Commands within a chat: lines that begin with '/'. */
#ifndef QN_CLI_CHAT_H
#define QN_CLI_CHAT_H

#include "cli/conversation.h"

struct qn_chat_session {
    struct qn_conversation *c;
    char *model; /* owned; the model chosen in the chat; NULL: the one it began with */
};

/* Executes a line that begins with '/'; blanks at its end are removed. False: the user leaves the
 * chat. */
bool qn_chat_obey(struct qn_chat_session *chat, char *line);

#endif
