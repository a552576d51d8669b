/* What a person says to the chat itself: lines that begin with '/'. */
#ifndef QN_CLI_CHAT_H
#define QN_CLI_CHAT_H

#include "cli/conversation.h"

struct qn_chat_session {
    struct qn_conversation *c;
    char *model; /* owned: chosen in the chat; NULL: the one it began with */
};

/* Obeys a line that begins with '/'; blanks at its end go. Returns false to leave the chat. */
bool qn_chat_obey(struct qn_chat_session *chat, char *line);

#endif
