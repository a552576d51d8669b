/* Shared by the files of the Responses API:
 * https://platform.openai.com/docs/api-reference/responses
 *
 * A request is a list of items (responses_items.c) that becomes a conversation; a response is a
 * list of items, too, written as a whole or as events (responses.c). Ids show what an item belongs
 * to: "resp_" DIGITS is a response, "msg_" DIGITS "00" its first item, "msg_" DIGITS "i00" the
 * first item of its request. An owner that has a response's digits can request the response. */
#ifndef QN_DIALECTS_OPENAI_RESPONSES_H
#define QN_DIALECTS_OPENAI_RESPONSES_H

#include "dialects/openai/openai.h"

enum {
    QN_RESPONSES_ITEMS_MAX = 10000, /* of one request's input */
    QN_RESPONSES_METADATA_MAX = 16 * 1024
};

/* What a response needs of its request: qn_request.own. */
struct qn_responses_ask {
    struct qn_openai_ask openai; /* first, so that OpenAI's common functions can use it */
    const char *echo;            /* JSON members of the request that every response repeats */
    const char *input;           /* JSON array: the request's items */
    const char *previous;        /* id of the response that is continued; "": a new conversation */
    bool summary;                /* reasoning is written as its summary */
    bool encrypted;              /* reasoning items contain their text in encrypted_content */
    bool store;
};

/* Converts a request's input, after the responses that it continues, to the job's conversation, and
 * sets ask->input. instructions MAY be NULL. */
qn_err qn_responses_input(const struct qn_jref *input, const char *instructions,
                          struct qn_request *rq, struct qn_job *job, struct qn_responses_ask *ask,
                          struct qn_error *e);

/* Returns the id of the response that an item's id belongs to, in the arena; NULL: the id was not
 * made by this server. */
const char *qn_responses_owner(const char *item_id, struct qn_arena *arena);

/* The text before the reasoning in encrypted_content, which is not encrypted, as the server is the
 * user's own. */
extern const char qn_responses_reasoning_mark[];

/* Returns the id of item i of a request's input, in the arena: its own, or one derived from the
 * response's id. */
const char *qn_responses_item_id(const struct qn_jref *item, const char *answer_id, size_t i,
                                 struct qn_arena *arena);

/* Writes that item in the form of lists of input items. */
void qn_responses_item_write(const struct qn_jref *item, const char *id, struct qn_jw *w);

/* In responses_replay.c: appends the stream of a stored response (its response object) to out,
 * without the events up to number `after`; -1: all events. QN_ELIMIT. */
qn_err qn_responses_replay(const char *body, int64_t after, struct qn_arena *arena,
                           struct qn_buf *out, struct qn_error *e);

/* In responses_parse.c: parses the request. */
qn_err qn_responses_parse(struct qn_request *rq, struct qn_error *e);
size_t qn_responses_earlier(const struct qn_json *doc, struct qn_arena *arena, const char **chain,
                            const char *ids[QN_EARLIER_MAX]);

#endif
