/* What a model can do: a set of capabilities, derived from the metadata scan of its file and from
 * its labels. One table has all names of capabilities. Model kinds, labels, model lists, the choice
 * of an engine and the refusal of requests are derived from the set. A backend program has such a
 * set, too: the capabilities that it supports if the model has them. Pure. */
#ifndef QN_CONTRACT_CAPABILITIES_H
#define QN_CONTRACT_CAPABILITIES_H

#include "base/json.h"
#include "contract/job.h"

#include <stdbool.h>

/* Bits of a set of capabilities. */
enum qn_capability {
    QN_CAN_CHAT = 1 << 0,
    QN_CAN_COMPLETE = 1 << 1,
    QN_CAN_EMBED = 1 << 2,
    QN_CAN_RERANK = 1 << 3,
    QN_CAN_TRANSCRIBE = 1 << 4,
    QN_CAN_SPEAK = 1 << 5,
    QN_CAN_IMAGE = 1 << 6,   /* generate images */
    QN_CAN_UPSCALE = 1 << 7, /* enlarge images */
    /* Ways in which a model does the tasks above: */
    QN_CAN_INSERT = 1 << 8, /* complete the gap between a prefix and a suffix */
    QN_CAN_TOOLS = 1 << 9,
    QN_CAN_REASON = 1 << 10,
    QN_CAN_SEE = 1 << 11,  /* images in a conversation */
    QN_CAN_HEAR = 1 << 12, /* audio in a conversation */
    QN_CAN_EDIT = 1 << 13, /* generate images from images */
};

#define QN_CAN_TALK (QN_CAN_CHAT | QN_CAN_COMPLETE)
/* The bits that say what a model is for; the others say how. */
#define QN_CAPABILITIES_PURPOSES                                                                   \
    (QN_CAN_TALK | QN_CAN_EMBED | QN_CAN_RERANK | QN_CAN_TRANSCRIBE | QN_CAN_SPEAK |               \
     QN_CAN_IMAGE | QN_CAN_UPSCALE)
#define QN_CAPABILITIES_ALL ((1 << 14) - 1)

/* Returns the capability that a task needs; 0 for QN_TASK_NONE. */
unsigned qn_capability_of_task(enum qn_task task);

/* Reads a JSON array of names: quince's ("chat", "embed", "reasoning") or Ollama's for the same
 * capabilities ("completion", "embedding", "thinking"). Unknown names are ignored. */
unsigned qn_capabilities_read(const struct qn_jref *names);
/* Reads a JSON array of labels of Lemonade's API ("embeddings", "tool-calling"). */
unsigned qn_capabilities_of_labels(const struct qn_jref *labels);

/* Each writes an array of names: the first quince's; the second Ollama's, without the capabilities
 * that have no name in Ollama's API. */
void qn_capabilities_write(struct qn_jw *w, unsigned set);
void qn_capabilities_write_ollama(struct qn_jw *w, unsigned set);
/* Writes an array: the given labels unchanged, then the label of each capability that none of them
 * means. Chat and completion have no label, as most models can do both. */
void qn_capabilities_write_labels(struct qn_jw *w, const struct qn_jref *labels, unsigned set);

/* What is known of a model before it is loaded. */
struct qn_capability_facts {
    unsigned offers;    /* capabilities of the program that runs its files */
    const char *labels; /* JSON array */
    const char *found;  /* JSON array of the capabilities found in its file; "[]": the file was not
                           read, or has none */
    bool projector;     /* a vision projector for it exists beside the file */
};

/* has: the capabilities that the model is known to have. may: also those that it may have, because
 * its file is unknown. */
struct qn_capabilities {
    unsigned has, may;
};

/* Combines labels and the file's metadata. A label that states a purpose overrides the purpose that
 * the file suggests, because embedding models of decoder families have files of decoders. */
struct qn_capabilities qn_capabilities_of(const struct qn_capability_facts *f);

#endif
