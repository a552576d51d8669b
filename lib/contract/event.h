/* What happened: the child's answer to a job, one event after another.
 *
 * Order of a job's events: PROGRESS* then, per choice, REASONING, TEXT and TOOL_CALL in any number
 * and one DONE; after the last DONE (of all n choices) exactly one USAGE; then END. Or at any point
 * one ERROR, after which nothing follows. END and ERROR are the last frame of a reply.
 * A language model sends the first PROGRESS before it computes the prompt, so that the prompt's
 * number of tokens is known before the first word; a remote server may not tell.
 *
 * Of EMBED: VECTORS, of RERANK: SCORES, each of one or more inputs, in the order of the inputs and
 * for each of them once; one DONE (stop), one USAGE, END. All vectors of a job have as many
 * numbers, and every number is finite.
 *
 * Of TRANSCRIBE: SEGMENT in any number, in the order of their times, whose texts one behind the
 * other (as they are, with their blanks) are the transcript; one DONE (stop), one USAGE, END. Of
 * SPEAK: AUDIO in any number, all of one format, whose bytes one behind the other are the file;
 * DONE, USAGE, END. Of IMAGE: of every choice one IMAGE and one DONE; USAGE, END. PROGRESS may
 * stand anywhere before a DONE: windows of sound, steps of denoising.
 *
 * A tool call is one or more TOOL_CALL events of the same number `call` (from 0, each call's events
 * together and in order): the first has the name, all have a piece of the arguments, whose
 * concatenation is a JSON object, or the beginning of one where the answer was cut off or the model
 * lost its way. */
#ifndef QN_CONTRACT_EVENT_H
#define QN_CONTRACT_EVENT_H

#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_event_kind {
    QN_EV_NONE,
    QN_EV_PROGRESS,  /* prompt tokens (or windows, or steps) computed so far */
    QN_EV_TEXT,      /* more text of one choice: whole UTF-8 characters */
    QN_EV_REASONING, /* more of what it thinks before and between its text */
    QN_EV_TOOL_CALL, /* the beginning or more of a call of a tool */
    QN_EV_VECTORS,   /* what some inputs of an EMBED became */
    QN_EV_SCORES,    /* how well some inputs of a RERANK fit: the greater, the better */
    QN_EV_SEGMENT,   /* a sentence or so of what is said in a TRANSCRIBE */
    QN_EV_AUDIO,     /* the next bytes of what a SPEAK says */
    QN_EV_IMAGE,     /* a whole picture file of an IMAGE */
    QN_EV_DONE,      /* one choice is complete */
    QN_EV_USAGE,     /* token counts and times of the whole job */
    QN_EV_END,       /* nothing follows */
    QN_EV_ERROR,     /* the job failed; nothing follows */
    QN_EV_COUNT
};

enum qn_finish {
    QN_FINISH_NONE,
    QN_FINISH_STOP,   /* end token or stop string */
    QN_FINISH_LENGTH, /* max_tokens or the context's end */
    QN_FINISH_TOOLS,  /* it called tools and waits for their results */
    QN_FINISH_COUNT
};

struct qn_event {
    enum qn_event_kind kind;
    int64_t index;         /* TEXT, REASONING, TOOL_CALL, IMAGE, DONE: choice, from 0;
                              VECTORS, SCORES: the first input, from 0 */
    int64_t count;         /* VECTORS, SCORES: inputs, 1 to QN_EVENT_RESULTS_MAX */
    const char *text;      /* TEXT, REASONING, SEGMENT; lent until the next event */
    int64_t call;          /* TOOL_CALL: which call of this choice, from 0 */
    const char *call_id;   /* TOOL_CALL, first event: the id the model itself gave, or NULL */
    const char *name;      /* TOOL_CALL, first event: the tool; NULL in later ones */
    const char *arguments; /* TOOL_CALL: the next piece of the arguments' JSON; may be empty */
    const char *logprobs;  /* TEXT, REASONING, SEGMENT, or NULL: JSON array, one object per token of
                              this text:
                              {"id":5,"token":"text","bytes":[..],"logprob":-0.1 or null (first
                              prompt token),  "top":[{"id","token","bytes","logprob"}, ...]} */
    enum qn_finish finish; /* DONE */
    const char *stop;      /* DONE: the stop string that ended it, or NULL */
    const char *tokens;    /* DONE, or NULL: JSON array of prompt and answer, if the job wants them;
                              SEGMENT, or NULL: of its text */
    const char *language;  /* DONE of TRANSCRIBE, or NULL: what was spoken, ISO 639 code */
    struct {               /* SEGMENT; NAN: not known */
        double start_s, end_s;    /* seconds from the sound's beginning; always known */
        double temperature;       /* that it was sampled at */
        double avg_logprob;       /* of its tokens */
        double compression_ratio; /* of its text, by zlib: above 2.4 it repeats itself */
        double no_speech_prob;    /* that the sound has no speech */
        const char *words;        /* JSON array of {"word","start","end"}, seconds; or NULL */
    } segment;
    const char *format;    /* AUDIO, IMAGE: "mp3", "pcm" (16 bits, little endian), "png", ... */
    int64_t rate_hz;       /* AUDIO: samples in a second */
    int64_t bytes;         /* AUDIO, IMAGE, VECTORS, SCORES: how many data are */
    const char *data;      /* AUDIO, IMAGE: the file's; VECTORS, SCORES: floats of 32 bits, least
                              significant byte first, of one input after the other; lent until the
                              next event, not aligned */
    int64_t done, total;   /* PROGRESS */
    int64_t reused;        /* PROGRESS of a prompt: of the tokens done, those that a cache had */
    struct {               /* USAGE */
        int64_t prompt;    /* prompt tokens, cached ones included */
        int64_t cached;    /* of those, taken from an earlier prompt's cache */
        int64_t output;    /* tokens generated over all choices */
        int64_t reasoning; /* of those, spent on reasoning */
        double prompt_ms;  /* from start to first logits */
        double output_ms;  /* generating */
        double audio_ms;   /* sound that was heard or made; NAN: none */
    } usage;
    struct qn_error error; /* ERROR */
};

enum {
    QN_EVENT_CALLS_MAX = 1024,                              /* tool calls of one choice */
    QN_EVENT_RESULTS_MAX = 64,                              /* inputs of one VECTORS or SCORES */
    QN_EVENT_RESULTS_BYTES_MAX = 4 * QN_JOB_DIMENSIONS_MAX, /* of their floats */
    QN_EVENT_CALL_ID_MAX = 128
};

/* Number i of the floats at data, and the way back: four bytes each. */
float qn_event_float(const char *data, size_t i);
void qn_event_put_float(char *data, size_t i, float v);

void qn_event_init(struct qn_event *ev, enum qn_event_kind kind);
const char *qn_event_name(enum qn_event_kind kind); /* "text", "done", ... */
const char *qn_finish_name(enum qn_finish f);       /* "stop", "length", "tool_calls" */

#endif
