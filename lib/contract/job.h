/* What to do: one inference request, free of any client's dialect.
 *
 * A dialect fills a job, codec.c carries it to the child, a backend obeys it. Strings and lists
 * belong to the arena the job was made with (or to whatever outlives the job). "Unset" is QN_UNSET
 * for integers, NAN for doubles and NULL for strings: the backend then takes the model's own
 * default. The names on the wire, types and ranges are in field tables, once: codec.c,
 * message_codec.c. */
#ifndef QN_CONTRACT_JOB_H
#define QN_CONTRACT_JOB_H

#include "base/arena.h"
#include "base/json.h"
#include "contract/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QN_UNSET INT64_MIN
/* Whole numbers cross as JSON numbers, exact up to 2^53. */
#define QN_JOB_WHOLE_MAX 9007199254740991.0

enum qn_task {
    QN_TASK_NONE,
    QN_TASK_CHAT,       /* messages in, an assistant turn out */
    QN_TASK_COMPLETE,   /* text in, its continuation out */
    QN_TASK_EMBED,      /* texts in, a vector of each out */
    QN_TASK_RERANK,     /* a question and texts in, how well each answers it out */
    QN_TASK_TRANSCRIBE, /* sound in, what is said in it out */
    QN_TASK_SPEAK,      /* text in, sound out */
    QN_TASK_IMAGE,      /* a description, pictures or both in, pictures out */
    QN_TASK_COUNT
};

enum {
    QN_JOB_ID_MAX = 64,
    QN_JOB_STOPS_MAX = 16,       /* stop strings */
    QN_JOB_STOP_BYTES_MAX = 256, /* bytes of one stop string */
    QN_JOB_CHOICES_MAX = 16,     /* n */
    QN_JOB_TOP_LOGPROBS_MAX = 20,
    QN_JOB_LOGIT_BIAS_MAX = 1024,
    QN_JOB_PROMPT_BYTES_MAX = 32 * 1024 * 1024,
    QN_JOB_CONSTRAINT_BYTES_MAX = 1024 * 1024, /* of a schema or a grammar */
    QN_JOB_TOOL_NAME_MAX = 256,
    QN_JOB_INPUTS_MAX = 1000000, /* texts of one EMBED or RERANK */
    QN_JOB_DIMENSIONS_MAX = 65536,
    QN_JOB_EFFORT_MAX = 16,
    QN_JOB_LORAS_MAX = 16, /* adapters of one answer */
    QN_JOB_LORA_NAME_MAX = 128,
    QN_JOB_LORA_SCALE_MAX = 1000,  /* either way */
    QN_JOB_ATTACHMENTS_MAX = 256,  /* files of one job */
    QN_JOB_EDIT_PICTURES_MAX = 16, /* pictures that one is made from, without the mask */
    QN_JOB_MEDIA_TYPE_MAX = 128,   /* bytes of "image/png" */
    QN_JOB_LANGUAGE_MAX = 16,
    QN_JOB_VOICE_MAX = 128,
    QN_JOB_FORMAT_MAX = 16, /* "mp3", "png" */
    QN_JOB_METHOD_MAX = 32, /* name of a sampling method */
    QN_JOB_STEPS_MAX = 1000,
    QN_JOB_SIDE_MIN = 16, /* of a picture, pixels */
    QN_JOB_SIDE_MAX = 4096
};

/* May the answer call tools? */
enum qn_tool_choice {
    QN_TOOLS_UNSET, /* as AUTO */
    QN_TOOLS_AUTO,
    QN_TOOLS_NONE,     /* the template sees the tools, the answer is text */
    QN_TOOLS_REQUIRED, /* at least one call */
    QN_TOOLS_NAMED,    /* exactly the tool chat.tool_name */
    QN_TOOLS_COUNT
};

struct qn_strings {
    const char **v;
    size_t n;
};

struct qn_i64s {
    int64_t *v;
    size_t n;
};

struct qn_bias {
    int64_t token;
    double bias; /* added to the logit */
};

struct qn_biases {
    struct qn_bias *v;
    size_t n;
};

/* An adapter that the model was loaded with. */
struct qn_lora {
    const char *name; /* NULL: by id */
    int64_t id;       /* its place in the list it was loaded from, from 0 */
    double scale;     /* unset: as it was loaded */
};

struct qn_loras {
    struct qn_lora *v;
    size_t n;
    bool given; /* the answer goes through these and no others; else as the model was loaded */
};

struct qn_sampling {
    int64_t max_tokens;    /* >= 0 output tokens; unset: to the end of the context */
    bool max_with_prompt;  /* max_tokens counts the prompt's tokens too, if it is more than those */
    double temperature;    /* >= 0; 0 is greedy */
    double top_p;          /* (0, 1] */
    int64_t top_k;         /* 0: off */
    double min_p;          /* [0, 1]; 0: off */
    double typical_p;      /* (0, 1]; 1: off */
    double repeat_penalty; /* > 0; 1: off */
    int64_t repeat_last_n; /* tokens looked back at by the three penalties; -1: the whole context */
    double presence_penalty;  /* [-2, 2] */
    double frequency_penalty; /* [-2, 2] */
    int64_t seed;             /* unset: random */
    struct qn_strings stop;
    struct qn_biases logit_bias;
    int64_t n; /* choices, 1 to QN_JOB_CHOICES_MAX; unset: 1 */
    int64_t
        logprobs;    /* unset: none; else how many alternatives besides the chosen token, 0 to 20 */
    bool ignore_eos; /* never end on the model's end token (benchmarks) */
    bool no_reuse;   /* computes its whole prompt, and leaves nothing of it for others */
    struct qn_loras lora;
    int64_t context_shift; /* a full context: 1 forgets its older half, 0 ends the answer; unset: as
                              loaded */
};

/* Every number of struct qn_sampling, from which its initial value, its row on the wire and what a
 * preset adds to a request are made: WHOLE(name, least, most) are int64_t, REAL(...) double. */
#define QN_SAMPLING_NUMBERS(WHOLE, REAL)                                                           \
    WHOLE(max_tokens, 0, INT32_MAX)                                                                \
    REAL(temperature, 0, 100)                                                                      \
    REAL(top_p, 0, 1)                                                                              \
    WHOLE(top_k, 0, INT32_MAX)                                                                     \
    REAL(min_p, 0, 1)                                                                              \
    REAL(typical_p, 0, 1)                                                                          \
    REAL(repeat_penalty, 0.01, 100)                                                                \
    WHOLE(repeat_last_n, -1, INT32_MAX)                                                            \
    REAL(presence_penalty, -2, 2)                                                                  \
    REAL(frequency_penalty, -2, 2)                                                                 \
    WHOLE(seed, -QN_JOB_WHOLE_MAX, QN_JOB_WHOLE_MAX)                                               \
    WHOLE(n, 1, QN_JOB_CHOICES_MAX)                                                                \
    WHOLE(logprobs, 0, QN_JOB_TOP_LOGPROBS_MAX)                                                    \
    WHOLE(context_shift, 0, 1)

struct qn_chat {
    struct qn_messages messages;
    const char *tools;         /* JSON array of {"type":"function","function":{...}}, or NULL */
    const char *documents;     /* JSON array, or NULL */
    const char *template_vars; /* JSON object of further template variables (enable_thinking ...),
                                  or NULL */
    const char *template_text; /* a Jinja chat template instead of the model's own, or NULL */
    struct qn_i64s before;     /* tokens of an earlier exchange that the conversation follows */
    bool continue_last;        /* the last message is an assistant's beginning: go on in it */
    enum qn_tool_choice tool_choice;
    const char *tool_name; /* NAMED */
    bool single_call;      /* at most one tool call in an answer */
    int64_t think;         /* 0: answer at once, 1: reason first; unset: the model's habit */
    int64_t think_budget;  /* >= 0 tokens of reasoning, then it is ended where the model's marks are
                              known;  unset: any */
    const char *effort;    /* of reasoning: "minimal", "low", "medium", "high", or NULL */
    bool reasoning_in_text; /* reasoning stays in the text as the model writes it */
};

struct qn_complete {
    const char *prompt;           /* text; may be empty */
    struct qn_i64s prompt_tokens; /* used instead of prompt when n > 0 */
    bool echo; /* the reply begins with the prompt (and its logprobs, if asked) */
    const char *suffix;
    bool bare; /* the text gets no start token, unless it is empty */
};

/* Texts that become vectors (EMBED) or scores (RERANK). They follow the job in batches
 * (contract/inputs.h), so neither process holds them all. */
struct qn_embed {
    int64_t count;         /* inputs, 1 to QN_JOB_INPUTS_MAX; 0: none, and no such job */
    struct qn_jref inputs; /* the router's, does not cross: a JSON array whose items are strings,
                              objects with a string "text", or (EMBED) arrays of token ids */
    bool one;              /* the router's: inputs is itself the only item */
    const char *query;     /* RERANK: what they are compared with */
    int64_t dimensions;    /* EMBED: of each vector; unset: the model's own */
};

/* Files of the request. Their bytes cross behind the job's line as they are, one after another. */
enum qn_attachment_role {
    QN_ATTACHMENT_NONE,
    QN_ATTACHMENT_AUDIO, /* TRANSCRIBE: the sound file. CHAT: of a SOUND part */
    QN_ATTACHMENT_IMAGE, /* IMAGE: a picture that it starts from; several of an EDIT in their order.
                            CHAT: of a PICTURE part */
    QN_ATTACHMENT_MASK,  /* IMAGE, EDIT: a picture, white where it is to be changed */
    QN_ATTACHMENT_COUNT
};

struct qn_attachment {
    enum qn_attachment_role role;
    const char *type; /* the media type that the client gave, "image/png"; or NULL */
    const char *data; /* lent */
    int64_t bytes;    /* > 0 */
};

struct qn_attachments {
    struct qn_attachment *v;
    size_t n;
};

/* Sampling: temperature, seed; logprobs are those of SEGMENT. */
struct qn_transcribe {
    bool translate;       /* into English */
    const char *language; /* that is spoken, ISO 639 code; NULL: find out */
    const char *prompt;   /* what was said before, or words to expect; or NULL */
    bool words;           /* segments carry the times of their words */
};

struct qn_speak {
    const char *input;
    const char *voice;        /* or NULL: the model's own */
    const char *instructions; /* how to speak, or NULL */
    const char *language;     /* of the input, ISO 639 code, or NULL: as the voice's */
    double speed;             /* 0.25 to 4; unset: 1 */
    const char *format; /* "mp3", "opus", "aac", "flac", "wav", "pcm": what AUDIO events add up to;
                           a child refuses one that it cannot write (QN_EUNSUPPORTED) */
};

enum qn_image_kind {
    QN_IMAGE_NONE,
    QN_IMAGE_GENERATE,  /* from the prompt */
    QN_IMAGE_EDIT,      /* from pictures and the prompt, within the mask if there is one */
    QN_IMAGE_VARIATION, /* from one picture */
    QN_IMAGE_UPSCALE,   /* one picture, as much larger as the model makes it */
    QN_IMAGE_COUNT
};

/* Sampling: seed, n. What is unset is as the model was loaded or likes it best. */
struct qn_image {
    enum qn_image_kind kind;
    const char *prompt, *negative_prompt;
    int64_t width, height;     /* pixels; both or none */
    int64_t steps;             /* of denoising */
    double cfg_scale;          /* how much the prompt counts; 1: without guidance */
    double strength;           /* [0, 1]: how far it may go from the picture */
    double flow_shift;         /* of flow-matching models */
    const char *sample_method; /* "euler_a", ...; names are the child's */
    const char *format;        /* "png", "jpeg", "webp": of the pictures that come back */
};

/* What the answer's text must be; at most one is set. Reasoning before the answer is free, and so
 * is an answer that calls tools. */
struct qn_constrain {
    const char *schema;  /* a JSON Schema (object): the text is JSON that it allows */
    const char *grammar; /* GBNF, start symbol "root" */
};

struct qn_job {
    enum qn_task task;
    const char *id; /* unique in the router, at most QN_JOB_ID_MAX bytes; in every log line */
    struct qn_sampling sampling;
    struct qn_chat chat;
    struct qn_complete complete;
    struct qn_constrain constrain;
    struct qn_embed embed;
    struct qn_transcribe transcribe;
    struct qn_speak speak;
    struct qn_image image;
    struct qn_attachments attachments;
    bool truncate;    /* what does not fit the context is left out (oldest messages first, the first
                         system message    never; of a text its beginning) instead of being an error */
    bool count_only;  /* nothing is computed: DONE (stop) and USAGE with the number of prompt tokens
                       */
    bool want_tokens; /* DONE carries the tokens of prompt and answer */
    uint64_t owner_salt; /* a number for the owner of the request: what a backend keeps of a prompt
                            is reused for jobs of the same number only; 0: of the server itself */
};

/* All fields unset, task NONE. */
void qn_job_init(struct qn_job *job);

const char *qn_tool_choice_name(enum qn_tool_choice c);         /* "auto", "required", ... */
const char *qn_attachment_role_name(enum qn_attachment_role r); /* "audio", "image", "mask" */
bool qn_media_type_valid(
    const char *type); /* "image/png": letters, digits and what stands among them */
const char *qn_image_kind_name(enum qn_image_kind k); /* "generate", "edit", ... */
const char *qn_task_name(enum qn_task task);          /* "chat", "complete" */
enum qn_task qn_task_parse(const char *name);         /* QN_TASK_NONE when unknown */

#endif
