/* What models are for, as their users know it: the kinds that have limits and least-recently-used
 * lists of their own. A backend type can serve several kinds. */
#ifndef QN_SETTINGS_KINDS_H
#define QN_SETTINGS_KINDS_H

#include "base/error.h"

#include <stdint.h>

enum qn_kind {
    QN_KIND_LLM,
    QN_KIND_EMBEDDING,
    QN_KIND_RERANKING,
    QN_KIND_TRANSCRIPTION,
    QN_KIND_IMAGE,
    QN_KIND_TTS,
    QN_KIND_COUNT
};

/* Of what a model can do (contract/capabilities.h): a model that converses is an llm, whatever else
 * it can. */
enum qn_kind qn_kind_of(unsigned capabilities);

const char *qn_kind_name(enum qn_kind k); /* "llm", "embedding", ... */

/* Also the names that other programs and older versions use ("audio"). QN_KIND_COUNT: unknown. */
enum qn_kind qn_kind_parse(const char *name);

/* How many models of a kind may be in memory at once; < 0: any number. */
enum { QN_KIND_LIMIT_MAX = 64, QN_KIND_LIMITS_TEXT_MAX = 256 };
struct qn_kind_limits {
    int64_t of[QN_KIND_COUNT];
};

/* Reads "2", or "llm=2,embedding=-1": a number alone holds for every kind that is not named, 1
 * where there is none. QN_EINVAL: a phrase says what is wrong. */
qn_err qn_kind_limits_parse(const char *text, struct qn_kind_limits *out, struct qn_error *e);

#endif
