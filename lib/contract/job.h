/* A job: one inference request, independent of the API that the client used.
 *
 * A dialect fills a job, codec.c carries it to the child, a backend computes it. Strings and lists
 * belong to the arena that the job was made with, or to memory that outlives the job. "Unset" is
 * QN_UNSET for integers, NAN for doubles and NULL for strings; the backend then uses the model's
 * default. Names on the wire, types and ranges are in field tables in codec.c and
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
/* Integers are sent as JSON numbers, which are exact up to 2^53. */
#define QN_JOB_WHOLE_MAX 9007199254740991.0

enum qn_task {
    QN_TASK_NONE,
    QN_TASK_CHAT,       /* messages in, an assistant turn out */
    QN_TASK_COMPLETE,   /* text in, the text that continues it out */
    QN_TASK_EMBED,      /* texts in, a vector for each out */
    QN_TASK_RERANK,     /* a query and texts in, the relevance of each text out */
    QN_TASK_TRANSCRIBE, /* audio in, the transcript out */
    QN_TASK_SPEAK,      /* text in, audio out */
    QN_TASK_IMAGE,      /* a description, images or both in, images out */
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
    QN_JOB_LORAS_MAX = 16, /* adapters of one sequence */
    QN_JOB_LORA_NAME_MAX = 128,
    QN_JOB_LORA_SCALE_MAX = 1000,  /* the range is symmetric: -1000 to 1000 */
    QN_JOB_ATTACHMENTS_MAX = 256,  /* files of one job */
    QN_JOB_EDIT_PICTURES_MAX = 16, /* input images of one edit, without the mask */
    QN_JOB_MEDIA_TYPE_MAX = 128,   /* bytes of "image/png" */
    QN_JOB_LANGUAGE_MAX = 16,
    QN_JOB_VOICE_MAX = 128,
    QN_JOB_FORMAT_MAX = 16, /* "mp3", "png" */
    QN_JOB_METHOD_MAX = 32, /* name of a sampling method */
    QN_JOB_STEPS_MAX = 1000,
    QN_JOB_SIDE_MIN = 16, /* width and height of an image, pixels */
    QN_JOB_SIDE_MAX = 4096
};

/* Whether the model may call tools. */
enum qn_tool_choice {
    QN_TOOLS_UNSET, /* as AUTO */
    QN_TOOLS_AUTO,
    QN_TOOLS_NONE,     /* the template sees the tools, the output is text */
    QN_TOOLS_REQUIRED, /* at least one call */
    QN_TOOLS_NAMED,    /* exactly one tool: chat.tool_name */
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

/* An adapter (LoRA) that was loaded with the model. */
struct qn_lora {
    const char *name; /* NULL: chosen by id */
    int64_t id;       /* index in the list of the load, from 0 */
    double scale;     /* unset: the scale of the load */
};

struct qn_loras {
    struct qn_lora *v;
    size_t n;
    bool given; /* the sequence uses exactly these adapters; false: those of the load */
};

struct qn_sampling {
    int64_t max_tokens;      /* >= 0 output tokens; unset: to the end of the context */
    bool max_with_prompt;    /* max_tokens includes the prompt's tokens, unless the prompt alone has
                                max_tokens or more */
    double temperature;      /* >= 0; 0 is greedy */
    double top_p;            /* (0, 1] */
    int64_t top_k;           /* 0: off */
    double min_p;            /* [0, 1]; 0: off */
    double typical_p;        /* (0, 1]; 1: off */
    double repeat_penalty;   /* > 0; 1: off */
    int64_t repeat_last_n;   /* window of the three penalties in tokens; -1: the whole context */
    double presence_penalty; /* [-2, 2] */
    double frequency_penalty; /* [-2, 2] */
    int64_t seed;             /* unset: random */
    struct qn_strings stop;
    struct qn_biases logit_bias;
    int64_t n;        /* choices, 1 to QN_JOB_CHOICES_MAX; unset: 1 */
    int64_t logprobs; /* alternatives besides the chosen token, 0 to 20; unset: no logprobs */
    bool ignore_eos;  /* never end on the model's end token (benchmarks) */
    bool no_reuse;    /* compute the whole prompt, and keep nothing of it for later requests */
    struct qn_loras lora;
    int64_t context_shift; /* when the context is full: 1 drops the older half, 0 ends the output;
                              unset: as loaded */
};

/* Every number of struct qn_sampling: WHOLE(name, least, most) are int64_t, REAL(...) are double.
 * Initial values, the fields on the wire and the defaults of a preset are generated from this
 * list. */
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
    struct qn_i64s before;     /* tokens of an earlier exchange that precede the conversation */
    bool continue_last;        /* the last message is the beginning of the reply: continue it */
    enum qn_tool_choice tool_choice;
    const char *tool_name;  /* NAMED: the tool */
    bool single_call;       /* at most one tool call per choice */
    int64_t think;          /* 0: no reasoning, 1: reason first; unset: the model's default */
    int64_t think_budget;   /* limit of reasoning tokens, >= 0; at the limit reasoning is ended, if
                               the model's marks are known. unset: no limit */
    const char *effort;     /* of reasoning: "minimal", "low", "medium", "high", or NULL */
    bool reasoning_in_text; /* reasoning stays in the text, with the marks that the model writes */
};

struct qn_complete {
    const char *prompt;           /* the text to continue; may be empty */
    struct qn_i64s prompt_tokens; /* used instead of prompt when n > 0 */
    bool echo; /* the output begins with the prompt (and its logprobs, if asked for) */
    const char *suffix;
    bool bare; /* no start token before the text, unless the text is empty */
};

/* The texts of EMBED (a vector for each) or RERANK (a score for each). They follow the job in
 * batches (contract/inputs.h), so that no process has to hold all of them. */
struct qn_embed {
    int64_t count; /* number of inputs, 1 to QN_JOB_INPUTS_MAX; 0: the job has another task */
    struct qn_jref inputs; /* in the router only, not sent: a JSON array whose items are strings,
                              objects with a string "text", or (EMBED) arrays of token ids */
    bool one;              /* in the router only: `inputs` is not an array but the only item */
    const char *query;     /* RERANK: the query that the inputs are scored against */
    int64_t dimensions;    /* EMBED: elements of each vector; unset: the model's own number */
};

/* Files of the request. Their raw bytes follow the job's line, one file after another. */
enum qn_attachment_role {
    QN_ATTACHMENT_NONE,
    QN_ATTACHMENT_AUDIO, /* TRANSCRIBE: the audio file. CHAT: the file of a SOUND part */
    QN_ATTACHMENT_IMAGE, /* IMAGE: an input image; for EDIT several, in order. CHAT: the file of a
                            PICTURE part */
    QN_ATTACHMENT_MASK,  /* IMAGE, EDIT: an image that is white where the input is to be changed */
    QN_ATTACHMENT_COUNT
};

struct qn_attachment {
    enum qn_attachment_role role;
    const char *type; /* the media type that the client gave, "image/png"; or NULL */
    const char *data; /* borrowed */
    int64_t bytes;    /* > 0 */
};

struct qn_attachments {
    struct qn_attachment *v;
    size_t n;
};

/* Uses temperature and seed of the job's sampling; logprobs are written in SEGMENT events. */
struct qn_transcribe {
    bool translate;       /* into English */
    const char *language; /* the language spoken, ISO 639 code; NULL: detect it */
    const char *prompt;   /* the preceding text, or words to expect; or NULL */
    bool words;           /* segments have the times of their words */
};

struct qn_speak {
    const char *input;
    const char *voice;        /* or NULL: the model's default */
    const char *instructions; /* how to speak, or NULL */
    const char *language;     /* of the input, ISO 639 code; NULL: the voice's language */
    double speed;             /* 0.25 to 4; unset: 1 */
    /* Format of the file that the AUDIO events make up: "mp3", "opus", "aac", "flac", "wav", "pcm".
     * A child refuses a format that it cannot write (QN_EUNSUPPORTED). */
    const char *format;
};

enum qn_image_kind {
    QN_IMAGE_NONE,
    QN_IMAGE_GENERATE,  /* from the prompt */
    QN_IMAGE_EDIT,      /* from images and the prompt, within the mask if there is one */
    QN_IMAGE_VARIATION, /* from one image */
    QN_IMAGE_UPSCALE,   /* one image, enlarged by the model's factor */
    QN_IMAGE_COUNT
};

/* Uses seed and n of the job's sampling. Unset fields: the values of the load, else the model's
 * defaults. */
struct qn_image {
    enum qn_image_kind kind;
    const char *prompt, *negative_prompt;
    int64_t width, height;     /* pixels; both or none */
    int64_t steps;             /* denoising steps */
    double cfg_scale;          /* weight of the prompt (classifier-free guidance); 1: no guidance */
    double strength;           /* [0, 1]: how much the result may differ from the input image */
    double flow_shift;         /* of flow-matching models */
    const char *sample_method; /* "euler_a", ...; the child defines the names */
    const char *format;        /* of the generated images: "png", "jpeg", "webp" */
};

/* The form that the output text must have; at most one of the two is set. Reasoning before the
 * output is not constrained, nor is an output that calls tools. */
struct qn_constrain {
    const char *schema;  /* a JSON Schema (object): the text is JSON that the schema allows */
    const char *grammar; /* GBNF, start symbol "root" */
};

struct qn_job {
    enum qn_task task;
    const char *id; /* unique in the router, at most QN_JOB_ID_MAX bytes; in every log line of the
                       request */
    struct qn_sampling sampling;
    struct qn_chat chat;
    struct qn_complete complete;
    struct qn_constrain constrain;
    struct qn_embed embed;
    struct qn_transcribe transcribe;
    struct qn_speak speak;
    struct qn_image image;
    struct qn_attachments attachments;
    bool truncate; /* a prompt that does not fit the context is shortened instead of being an error:
                      the oldest messages are left out, but never the first system message; of a
                      text, its beginning is left out */
    bool count_only;  /* compute nothing: DONE (stop) and USAGE with the number of prompt tokens */
    bool want_tokens; /* DONE has the tokens of prompt and output */
    uint64_t owner_salt; /* identifies the owner of the request: cached state of a prompt is reused
                            only for jobs with the same number; 0: the server's own jobs */
};

/* All fields unset, task NONE. */
void qn_job_init(struct qn_job *job);

const char *qn_tool_choice_name(enum qn_tool_choice c);         /* "auto", "required", ... */
const char *qn_attachment_role_name(enum qn_attachment_role r); /* "audio", "image", "mask" */
bool qn_media_type_valid(
    const char *type); /* "image/png": letters, digits and the punctuation that RFC 6838 allows */
const char *qn_image_kind_name(enum qn_image_kind k); /* "generate", "edit", ... */
const char *qn_task_name(enum qn_task task);          /* "chat", "complete" */
enum qn_task qn_task_parse(const char *name);         /* QN_TASK_NONE when unknown */

#endif
