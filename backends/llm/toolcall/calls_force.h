/* Makes an answer call tools in the family's own syntax, with arguments that conform to the tools'
 * schemas; or gives an answer that has to be JSON the reasoning and the header that its family
 * writes in front of it. Both become a grammar for constrain.h. Compute thread only. */
#ifndef QN_LLM_TOOLCALL_CALLS_FORCE_H
#define QN_LLM_TOOLCALL_CALLS_FORCE_H

#include "contract/job.h"
#include "grammar/constrain.h"
#include "llm/toolcall/calls.h"

/* How a family writes calls, for who has to make it. */
enum qn_writing_arguments { QN_WRITE_JSON, QN_WRITE_TAGS, QN_WRITE_PYTHON, QN_WRITE_GEMMA };
struct qn_writing {
    const char *begin;          /* in front of the first call */
    const char *before, *after; /* around a name */
    const char *end;            /* behind the arguments */
    const char *between;        /* two calls; NULL: it makes one */
    const char *close;          /* behind the last */
    enum qn_writing_arguments arguments;
    const void *how; /* TAGS: struct qn_xml_calls; GEMMA: struct qn_literal_calls */
};

struct qn_forcing {
    struct qn_syntax syntax;
    const struct qn_tools *tools; /* NULL: none */
    bool thinking;                /* the prompt has begun its reasoning, which is free */
    bool may_think;               /* it may begin to reason by itself */
};

/* The constraint that the job's tool choice, strict tools and schema ask for; *out NULL: none. A
 * grammar holds as it is. QN_EINVAL (param tool_choice: there is no such tool; or a schema is
 * none), QN_EUNSUPPORTED (a schema of the answer, or of a strict tool, that cannot be guaranteed;
 * of other tools the arguments are then any object), QN_ELIMIT. */
qn_err qn_force(struct qn_constrainer *c, const struct qn_job *job, const struct qn_forcing *f,
                struct qn_constraint **out, struct qn_error *e);

#endif
