/* What the files of the Responses API share:
 * https://platform.openai.com/docs/api-reference/responses
 *
 * A request is a list of items (responses_items.c) that becomes a conversation; an answer is a list
 * of items too, told whole or as events (responses.c). Ids say where an item belongs:
 * "resp_" DIGITS is an answer, "msg_" DIGITS "00" its first item, "msg_" DIGITS "i00" the first
 * item of its request. Who knows an answer's digits can ask for it, where it is its own. */
#ifndef QN_DIALECTS_OPENAI_RESPONSES_H
#define QN_DIALECTS_OPENAI_RESPONSES_H

#include "dialects/openai/openai.h"

enum {
    QN_RESPONSES_ITEMS_MAX = 10000, /* of one request's input */
    QN_RESPONSES_METADATA_MAX = 16 * 1024
};

/* What an answer must remember of its request: qn_request.own. */
struct qn_responses_ask {
    struct qn_openai_ask openai; /* first, so that OpenAI's common functions find it */
    const char *echo;            /* JSON members of the request that every answer repeats */
    const char *input;           /* JSON array: the request's items */
    const char *previous;        /* "" : a new conversation */
    bool summary;                /* reasoning is told as its summary */
    bool encrypted;              /* reasoning items carry themselves in encrypted_content */
    bool store;
};

/* Input of a request as a conversation for the job, after what it goes on from; ask->input is set.
 * instructions MAY be NULL. */
qn_err qn_responses_input(const struct qn_jref *input, const char *instructions,
                          struct qn_request *rq, struct qn_job *job, struct qn_responses_ask *ask,
                          struct qn_error *e);

/* The answer that an item's id belongs to, as an id in the arena; NULL: not one of ours. */
const char *qn_responses_owner(const char *item_id, struct qn_arena *arena);

/* What stands before the reasoning in encrypted_content: nothing is secret on one's own machine. */
extern const char qn_responses_reasoning_mark[];

/* The id of item number i of a request's input, in the arena: its own, or made from the answer's.
 */
const char *qn_responses_item_id(const struct qn_jref *item, const char *answer_id, size_t i,
                                 struct qn_arena *arena);

/* Writes that item as a list of input items shows it. */
void qn_responses_item_write(const struct qn_jref *item, const char *id, struct qn_jw *w);

/* responses_replay.c: appends the stream of an answer that is kept (its response object) to out,
 * without the events up to number `after`; -1: all. QN_ELIMIT. */
qn_err qn_responses_replay(const char *body, int64_t after, struct qn_arena *arena,
                           struct qn_buf *out, struct qn_error *e);

/* responses_parse.c: the request. */
qn_err qn_responses_parse(struct qn_request *rq, struct qn_error *e);
size_t qn_responses_earlier(const struct qn_json *doc, struct qn_arena *arena, const char **chain,
                            const char *ids[QN_EARLIER_MAX]);

#endif
