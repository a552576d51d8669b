/* Shared by the files of Anthropic's Messages dialect. Shapes:
 * https://platform.claude.com/docs/en/api/messages. */
#ifndef QN_DIALECTS_ANTHROPIC_ANTHROPIC_H
#define QN_DIALECTS_ANTHROPIC_ANTHROPIC_H

#include "dialects/dialect.h"

/* What a reply needs of its request. */
struct qn_anthropic_ask {
    int64_t max_tokens;   /* QN_UNSET: the request only counts tokens */
    bool hide_thinking;   /* thinking blocks are sent without their text */
    const char *warnings; /* "Ignored: a, b", or NULL */
};

/* Converts system (may be absent) and messages to the conversation in chat. */
qn_err qn_anthropic_talk(const struct qn_jref *system, const struct qn_jref *messages,
                         struct qn_arena *arena, struct qn_job *job, struct qn_error *e);

/* The parsers of the two requests; rq->own is a struct qn_anthropic_ask. */
qn_err qn_anthropic_parse(struct qn_request *rq, struct qn_error *e);
qn_err qn_anthropic_parse_count(struct qn_request *rq, struct qn_error *e);

#endif
