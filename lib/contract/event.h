/* Events: a child's reply to a job, as a sequence of these.
 *
 * Order of a job's events: any number of PROGRESS; then for each choice any number of REASONING,
 * TEXT and TOOL_CALL and one DONE; after the last DONE (of all n choices) exactly one USAGE; then
 * END. At any point one ERROR may come instead, after which nothing follows. END and ERROR are the
 * last frame of a reply.
 * A language model sends the first PROGRESS before it computes the prompt, so that the prompt's
 * number of tokens is known before the first text; a remote server may not report it.
 *
 * EMBED: VECTORS, RERANK: SCORES, each for one or more inputs, in the order of the inputs and each
 * input once; then one DONE (stop), one USAGE, END. All vectors of a job have the same number of
 * elements, and every element is finite.
 *
 * TRANSCRIBE: any number of SEGMENT, in the order of time; their texts, concatenated unchanged with
 * their spaces, are the transcript; then one DONE (stop), one USAGE, END. SPEAK: any number of
 * AUDIO, all in one format, whose concatenated bytes are the file; then DONE, USAGE, END. IMAGE:
 * one IMAGE and one DONE for every choice; then USAGE, END. PROGRESS may come anywhere before a
 * DONE and counts audio windows or denoising steps.
 *
 * A tool call is one or more TOOL_CALL events with the same number `call` (from 0; the events of a
 * call are consecutive and in order). The first has the name; all have a piece of the arguments.
 * The concatenated pieces are a JSON object, or the beginning of one if the output was cut off or
 * the model wrote invalid JSON. */
#ifndef QN_CONTRACT_EVENT_H
#define QN_CONTRACT_EVENT_H

#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_event_kind {
    QN_EV_NONE,
    QN_EV_PROGRESS,  /* prompt tokens (or audio windows, or denoising steps) computed so far */
    QN_EV_TEXT,      /* more text of one choice: whole UTF-8 characters */
    QN_EV_REASONING, /* more reasoning of one choice */
    QN_EV_TOOL_CALL, /* the beginning or a further piece of a tool call */
    QN_EV_VECTORS,   /* vectors of some inputs of an EMBED */
    QN_EV_SCORES,    /* relevance of some inputs of a RERANK; a greater number is more relevant */
    QN_EV_SEGMENT,   /* a passage of the transcript of a TRANSCRIBE, about a sentence */
    QN_EV_AUDIO,     /* the next bytes of the audio of a SPEAK */
    QN_EV_IMAGE,     /* a complete image file of an IMAGE */
    QN_EV_DONE,      /* one choice is complete */
    QN_EV_USAGE,     /* token counts and times of the whole job */
    QN_EV_END,       /* nothing follows */
    QN_EV_ERROR,     /* the job failed; nothing follows */
    QN_EV_COUNT
};

enum qn_finish {
    QN_FINISH_NONE,
    QN_FINISH_STOP,   /* end token or stop string */
    QN_FINISH_LENGTH, /* max_tokens reached, or the context is full */
    QN_FINISH_TOOLS,  /* the model called tools and expects their results */
    QN_FINISH_COUNT
};

struct qn_event {
    enum qn_event_kind kind;
    int64_t index;         /* TEXT, REASONING, TOOL_CALL, IMAGE, DONE: choice, from 0;
                              VECTORS, SCORES: the first input, from 0 */
    int64_t count;         /* VECTORS, SCORES: inputs, 1 to QN_EVENT_RESULTS_MAX */
    const char *text;      /* TEXT, REASONING, SEGMENT; borrowed until the next event */
    int64_t call;          /* TOOL_CALL: which call of this choice, from 0 */
    const char *call_id;   /* TOOL_CALL, first event: the id that the model itself wrote, or NULL */
    const char *name;      /* TOOL_CALL, first event: the tool; NULL in later ones */
    const char *arguments; /* TOOL_CALL: the next piece of the arguments' JSON; may be empty */
    /* TEXT, REASONING, SEGMENT, or NULL: JSON array with one object per token of this text:
     * {"id":5,"token":"text","bytes":[..],"logprob":-0.1,"top":[{"id","token","bytes","logprob"},
     * ...]} where logprob is null for the first token of a prompt. */
    const char *logprobs;
    enum qn_finish finish; /* DONE */
    const char *stop;      /* DONE: the stop string that ended the text, or NULL */
    const char *tokens; /* DONE, or NULL: JSON array of the tokens of prompt and output, if the job
                           wants them; SEGMENT, or NULL: those of its text */
    const char *language;      /* DONE of TRANSCRIBE, or NULL: the language spoken, ISO 639 code */
    struct {                   /* SEGMENT; NAN: unknown */
        double start_s, end_s; /* seconds from the beginning of the audio; always known */
        double temperature;    /* sampling temperature of this segment */
        double avg_logprob;    /* mean over its tokens */
        double compression_ratio; /* of its text, by zlib; above 2.4 the text repeats itself */
        double no_speech_prob;    /* probability that the segment has no speech */
        const char *words;        /* JSON array of {"word","start","end"}, seconds; or NULL */
    } segment;
    const char *format; /* AUDIO, IMAGE: "mp3", "pcm" (16 bits, little endian), "png", ... */
    int64_t rate_hz;    /* AUDIO: samples per second */
    int64_t bytes;      /* AUDIO, IMAGE, VECTORS, SCORES: length of data */
    const char *data;   /* AUDIO, IMAGE: bytes of the file; VECTORS, SCORES: unaligned little-endian
                           32-bit floats, input after input. Borrowed until the next event */
    int64_t done, total;   /* PROGRESS */
    int64_t reused;        /* PROGRESS of a prompt: tokens of done that were in the cache */
    struct {               /* USAGE */
        int64_t prompt;    /* prompt tokens, cached ones included */
        int64_t cached;    /* prompt tokens reused from the KV cache of an earlier prompt */
        int64_t output;    /* tokens generated over all choices */
        int64_t reasoning; /* output tokens spent on reasoning */
        double prompt_ms;  /* from the job's start to the first logits */
        double output_ms;  /* generating the output */
        double audio_ms;   /* length of the audio read or generated; NAN: no audio */
    } usage;
    struct qn_error error; /* ERROR */
};

enum {
    QN_EVENT_CALLS_MAX = 1024, /* tool calls of one choice */
    QN_EVENT_RESULTS_MAX = 64, /* inputs of one VECTORS or SCORES event */
    QN_EVENT_RESULTS_BYTES_MAX = 4 * QN_JOB_DIMENSIONS_MAX, /* bytes of the floats of one event */
    QN_EVENT_CALL_ID_MAX = 128
};

/* Reads the float with index i at data, and writes one: four bytes each, little-endian. */
float qn_event_float(const char *data, size_t i);
void qn_event_put_float(char *data, size_t i, float v);

void qn_event_init(struct qn_event *ev, enum qn_event_kind kind);
const char *qn_event_name(enum qn_event_kind kind); /* "text", "done", ... */
const char *qn_finish_name(enum qn_finish f);       /* "stop", "length", "tool_calls" */

#endif
