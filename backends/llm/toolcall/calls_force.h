/* Makes an answer call tools in the family's own syntax, with arguments that conform to the tools'
 * schemas; or gives an answer that has to be JSON the reasoning and the header that its family
 * writes in front of it. Both become a grammar for constrain.h. Compute thread only. */
#ifndef QN_LLM_TOOLCALL_CALLS_FORCE_H
#define QN_LLM_TOOLCALL_CALLS_FORCE_H

#include "contract/job.h"
#include "grammar/constrain.h"
#include "llm/toolcall/calls.h"

/* How a family writes calls: texts that its form makes of the marks that it reads. */
enum qn_writing_arguments { QN_WRITE_JSON, QN_WRITE_TAGS, QN_WRITE_PYTHON, QN_WRITE_GEMMA };
enum { QN_WRITING_MAX = 192 }; /* bytes of one text */
struct qn_writing {
    char begin[QN_WRITING_MAX];                         /* in front of the first call */
    char before[QN_WRITING_MAX], after[QN_WRITING_MAX]; /* around a name */
    char end[QN_WRITING_MAX];                           /* behind the arguments */
    char between[QN_WRITING_MAX];                       /* two calls */
    char close[QN_WRITING_MAX];                         /* behind the last */
    bool single;                                        /* it makes one call */
    enum qn_writing_arguments arguments;
    const void *how; /* TAGS: struct qn_xml_calls; GEMMA: struct qn_literal_calls */
};

struct qn_opener;
/* For forms: the opener's text where it stands before the calls, "" where it is part of them. */
const char *qn_writing_open(const struct qn_opener *o);
/* Makes one of the texts, which has QN_WRITING_MAX bytes; asserts that it fits. */
void qn_writing_set(char text[QN_WRITING_MAX], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

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
