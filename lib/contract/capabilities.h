/* What a model can do: a set of capabilities, found when its file is looked at, and named by its
 * labels. One table has the names; kinds, the choice of an engine, labels, model lists and refusals
 * read the set. A program offers a set, too: what it can do with a model that has it. Pure. */
#ifndef QN_CONTRACT_CAPABILITIES_H
#define QN_CONTRACT_CAPABILITIES_H

#include "base/json.h"
#include "contract/job.h"

#include <stdbool.h>

/* Bits of a set. */
enum qn_capability {
    QN_CAN_CHAT = 1 << 0,
    QN_CAN_COMPLETE = 1 << 1,
    QN_CAN_EMBED = 1 << 2,
    QN_CAN_RERANK = 1 << 3,
    QN_CAN_TRANSCRIBE = 1 << 4,
    QN_CAN_SPEAK = 1 << 5,
    QN_CAN_IMAGE = 1 << 6,   /* make pictures */
    QN_CAN_UPSCALE = 1 << 7, /* make pictures larger */
    /* How a model does one of these: */
    QN_CAN_INSERT = 1 << 8, /* complete between two texts */
    QN_CAN_TOOLS = 1 << 9,
    QN_CAN_REASON = 1 << 10,
    QN_CAN_SEE = 1 << 11,  /* pictures in a conversation */
    QN_CAN_HEAR = 1 << 12, /* sound in a conversation */
    QN_CAN_EDIT = 1 << 13, /* make pictures of pictures */
};

#define QN_CAN_TALK (QN_CAN_CHAT | QN_CAN_COMPLETE)
/* What a model can be for; the other bits say how. */
#define QN_CAPABILITIES_PURPOSES                                                                   \
    (QN_CAN_TALK | QN_CAN_EMBED | QN_CAN_RERANK | QN_CAN_TRANSCRIBE | QN_CAN_SPEAK |               \
     QN_CAN_IMAGE | QN_CAN_UPSCALE)
#define QN_CAPABILITIES_ALL ((1 << 14) - 1)

/* The capability that a task needs; 0 for QN_TASK_NONE. */
unsigned qn_capability_of_task(enum qn_task task);

/* Of a JSON array of names: quince's ("chat", "embed", "reasoning"), or those that Ollama's API has
 * for the same ("completion", "embedding", "thinking"). Other names mean nothing. */
unsigned qn_capabilities_read(const struct qn_jref *names);
/* Of a JSON array of labels as Lemonade's API has them ("embeddings", "tool-calling"). */
unsigned qn_capabilities_of_labels(const struct qn_jref *labels);

/* Each writes an array: quince's names, and Ollama's for those that have one there. */
void qn_capabilities_write(struct qn_jw *w, unsigned set);
void qn_capabilities_write_ollama(struct qn_jw *w, unsigned set);
/* Writes an array: the labels as they are, then the label of each capability that none of them
 * names. Conversation and completion, which most models have, get none. */
void qn_capabilities_write_labels(struct qn_jw *w, const struct qn_jref *labels, unsigned set);

/* What is known of a model. */
struct qn_capability_facts {
    unsigned offers;    /* of the program for its files */
    const char *labels; /* JSON array */
    const char *found;  /* JSON array: what its file says; "[]": nothing is known of the file */
    bool projector;     /* one for pictures lies beside it */
};

/* has: what is known. may: has, and what nothing speaks against, where nothing is known. */
struct qn_capabilities {
    unsigned has, may;
};

/* Labels that say what a model is for stand above what its file looks like: embedding models of
 * decoder families have files of decoders. */
struct qn_capabilities qn_capabilities_of(const struct qn_capability_facts *f);

#endif
