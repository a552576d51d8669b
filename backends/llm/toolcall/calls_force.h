/* Forces a reply to call tools in the model family's own syntax, with arguments that conform to the
 * tools' schemas. For a reply that must be JSON, allows the reasoning and the header that the
 * family writes first. Both are expressed as a grammar for constrain.h. Compute thread only. */
#ifndef QN_LLM_TOOLCALL_CALLS_FORCE_H
#define QN_LLM_TOOLCALL_CALLS_FORCE_H

#include "contract/job.h"
#include "grammar/constrain.h"
#include "llm/toolcall/calls.h"

/* How a family writes calls; a form derives these texts from the marks that it parses. */
enum qn_writing_arguments { QN_WRITE_JSON, QN_WRITE_TAGS, QN_WRITE_PYTHON, QN_WRITE_GEMMA };
enum { QN_WRITING_MAX = 192 }; /* size of one text in bytes */
struct qn_writing {
    char begin[QN_WRITING_MAX];                         /* before the first call */
    char before[QN_WRITING_MAX], after[QN_WRITING_MAX]; /* before and after a name */
    char end[QN_WRITING_MAX];                           /* after the arguments */
    char between[QN_WRITING_MAX];                       /* between two calls */
    char close[QN_WRITING_MAX];                         /* after the last call */
    bool single;                                        /* the family makes only one call */
    enum qn_writing_arguments arguments;
    const void *how; /* TAGS: struct qn_xml_calls; GEMMA: struct qn_literal_calls */
};

struct qn_opener;
/* For forms: the opener's text if it precedes the calls, "" if it is part of them. */
const char *qn_writing_open(const struct qn_opener *o);
/* Formats one of the texts into its QN_WRITING_MAX bytes; asserts that it fits. */
void qn_writing_set(char text[QN_WRITING_MAX], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

struct qn_forcing {
    struct qn_syntax syntax;
    const struct qn_tools *tools; /* NULL: none */
    bool thinking;                /* the prompt has begun the reasoning, which is unconstrained */
    bool may_think;               /* the model may begin to reason by itself */
};

/* Makes the constraint for the job's tool choice, strict tools and schema; *out is NULL when
 * nothing is constrained. A grammar of the job is used unchanged. QN_EINVAL (parameter tool_choice
 * names no tool, or a schema is invalid), QN_EUNSUPPORTED (a schema of the reply or of a strict
 * tool cannot be guaranteed; for other tools any object is then allowed as arguments),
 * QN_ELIMIT. */
qn_err qn_force(struct qn_constrainer *c, const struct qn_job *job, const struct qn_forcing *f,
                struct qn_constraint **out, struct qn_error *e);

#endif
