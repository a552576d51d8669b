/* Kinds of models by their purpose, as users see it. Each kind has its own limit of loaded models
 * and its own LRU list. A backend type can serve several kinds. */
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

/* Returns the kind of a model with these capabilities (contract/capabilities.h). A model that can
 * chat is an llm, whatever else it can do. */
enum qn_kind qn_kind_of(unsigned capabilities);

const char *qn_kind_name(enum qn_kind k); /* "llm", "embedding", ... */

/* Also accepts names that other programs or older versions use for these kinds ("audio").
 * QN_KIND_COUNT: unknown. */
enum qn_kind qn_kind_parse(const char *name);

/* How many models of each kind may be in memory at once; < 0: no limit. */
enum { QN_KIND_LIMIT_MAX = 64, QN_KIND_LIMITS_TEXT_MAX = 256 };
struct qn_kind_limits {
    int64_t of[QN_KIND_COUNT];
};

/* Parses "2" or "llm=2,embedding=-1". A number without a kind applies to all kinds that are not
 * named; if there is none, their limit is 1. QN_EINVAL with a message that says what is wrong. */
qn_err qn_kind_limits_parse(const char *text, struct qn_kind_limits *out, struct qn_error *e);

#endif
