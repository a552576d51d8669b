/* The request of an answer: the body of OpenAI's chat/completions, made of a stored conversation,
 * its files and its parameters. */
#ifndef QN_ANSWERING_BODY_H
#define QN_ANSWERING_BODY_H

#include "base/buf.h"
#include "base/error.h"
#include "chats/chats.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_ANSWER_BODY_MAX = 256 * 1024 * 1024 }; /* bytes, with files in base64 */

struct qn_answer_ask {
    const struct qn_chat_message *path; /* from the first message to the answer itself */
    size_t n;                           /* >= 1 */
    bool more;          /* the answer has text that is to be continued; else it is empty */
    const char *system; /* "": none */
    const char *blobs;  /* the path of a file's id "": qn_chats_blob_path */
    const char *model;
    const char *tools;             /* MCP tools, see qn_mcp_offer_tools; NULL or "": none */
    const char *defaults, *params; /* JSON objects: the chat's parameters, and those of the answer,
                                      which replace them */
};

/* Checks the parameters that a client has sent: members of OpenAI's request that say how to answer;
 * "think", which is a boolean, a number of tokens, or an effort such as "low"; and "mcp", an array
 * of ids of MCP servers. Returns QN_EINVAL with the name of the invalid member as param. Pure
 * function. */
qn_err qn_answer_params_check(const char *params, struct qn_error *e);

/* Writes the body. Reads files, so it blocks: a worker calls it. QN_ELIMIT: it is too long;
 * QN_EUNSUPPORTED: a file that no model reads; QN_ENOTFOUND: a file is missing. */
qn_err qn_answer_body(const struct qn_answer_ask *ask, struct qn_buf *out, struct qn_error *e);

#endif
