/* Types and functions shared by the batch's files: batch.c owns requests and steps, batch_pages.c
 * assigns KV-cache pages, batch_plan.c chooses what a step computes, batch_answer.c turns logits
 * into tokens and events. */
#ifndef QN_LLM_SCHEDULER_BATCH_PRIVATE_H
#define QN_LLM_SCHEDULER_BATCH_PRIVATE_H

#include "llm/scheduler/batch.h"
#include "llm/scheduler/draft.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/speculate.h"

enum answer_state {
    ANSWER_NEW,     /* not begun */
    ANSWER_RUNNING, /* has a sequence and its pages */
    ANSWER_WAITING, /* preempted: its pages were freed; tokens, sampler and output are kept */
    ANSWER_DONE
};

/* The generation of one choice of a request. `known` tokens exist, of which the cache holds the
 * first `computed`; each step computes some of the rest. While generating, only the last known
 * tokens are not computed yet. */
struct answer {
    enum answer_state state;
    struct gen *gen;
    int64_t index; /* of the choice within the request */
    struct qn_seq *seq;
    /* [context + 1 + QN_SPEC_MAX]: prompt, then generated tokens, then speculated tokens */
    int32_t *tokens;
    int32_t known, computed;
    int32_t exact; /* length of the prefix whose cache no context shift has affected */
    /* length of the prefix that was forked from the tree or another sequence and may be shared */
    int32_t shared;
    struct qn_sampler sampler;
    struct qn_constraint_state constraint; /* zeroed until the constraint applies */
    struct qn_output output;
    struct qn_tokens forced; /* tokens that are injected instead of sampled */
    size_t forced_at;        /* how many of them have been injected */
    int64_t generated;
    int32_t share;   /* prompt tokens assigned to it in this step */
    int32_t guesses; /* speculated tokens in this step, stored after the known tokens */
    bool by_draft;   /* the guesses are from the draft model, not from prompt lookup */
    struct qn_spec_luck repeats, drafts;
    struct qn_draft_seq *draft;
};

struct gen { /* one request */
    struct gen *next;
    struct qn_batch_request r;
    struct qn_parse_config parse;            /* of r */
    struct answer *answers;                  /* [r.choices] */
    int64_t launched, done;                  /* choices */
    int64_t cached, output, reasoned;        /* token counts for usage */
    const char *stops[QN_JOB_STOPS_MAX + 1]; /* the array that r.stops.v points to */
    bool prompt_known; /* the prompt is in the first choice's cache: further choices may begin */
    int64_t start_us, first_us; /* first_us: when the first logits were there; 0: not yet */
    int64_t progress_us;        /* when the last PROGRESS event was sent */
    struct qn_buf echo_json;    /* the prompt's log-probabilities so far: '[' entry ',' entry ... */
};

/* The answer that chunk i of a forward pass belongs to: n tokens, of which the last `guessed` are
 * speculated. */
struct piece {
    struct answer *answer; /* NULL if its request has ended in the meantime */
    int32_t n, guessed;
};

struct plan {
    struct qn_chunk chunks[QN_BATCH_SEQS_MAX];
    struct piece pieces[QN_BATCH_SEQS_MAX];
    size_t n;
    int tokens;
    bool prompts;
    size_t rows; /* rows of b->logits in use */
    int extra;   /* rows beyond one per answer */
};

struct qn_batch {
    struct qn_batch_model m;
    struct qn_batch_config config;
    struct qn_prefix *prefix;
    struct gen *gens; /* oldest first */
    int n_gens, running;
    /* the last answer that was begun was a further choice of a request, not a new request */
    bool choice_last;
    float *logits; /* [QN_BATCH_LOGIT_ROWS + seqs, vocab] */
    float *plain;  /* [vocab]: a copy of the row before bias and penalties were applied */
    struct qn_token_candidate *top; /* [QN_JOB_TOP_LOGPROBS_MAX] */
    struct qn_sampler_work work;
    double token_ms; /* measured time per token in steps with prompt chunks; 0: unknown */
    struct qn_spec_cost cost;
    struct plan plan;
    struct qn_batch_stats stats;
};

/* Iterates over running answers, oldest request first: for (struct answer *a = qn_first_running(b);
 * a; a = qn_next_running(a)). */
struct answer *qn_first_running(const struct qn_batch *b);
struct answer *qn_next_running(const struct answer *a);
/* Whether the answer is running and its client reads fast enough to take more events. */
bool qn_answer_active(const struct answer *a);
/* Whether the logits of every prompt token are needed and have not been computed yet. */
bool qn_answer_wants_rows(const struct answer *a);
bool qn_wants_prompt_logprobs(const struct gen *g);

/* batch_pages.c */
/* Starts or resumes the waiting answers for which there are slots and pages. */
void qn_batch_admit(struct qn_batch *b);
/* Reserves pages for n more tokens, evicting from the prefix tree and preempting other answers as
 * needed. Returns false if `a` itself was preempted. */
bool qn_answer_secure(struct qn_batch *b, struct answer *a, int32_t n);
/* Moves the answer's sequence into the prefix tree. */
void qn_answer_retire(struct qn_batch *b, struct answer *a);
/* Stores a copy of the sequence in the prefix tree if its length is a multiple of
 * qn_batch_model.step. */
void qn_answer_mark(struct qn_batch *b, struct answer *a);
/* If damaged weights were repaired, discards everything computed with them; running answers are
 * preempted and recomputed. Returns false if nothing was damaged. now: see qn_batch_model.mend. */
bool qn_batch_mend(struct qn_batch *b, bool now);
/* Context shift: drops the older half of a full context. Returns false if the model cannot do this.
 */
bool qn_answer_shift(struct qn_batch *b, struct answer *a);

/* batch_plan.c */
void qn_batch_plan(struct qn_batch *b);
/* Updates the measured costs: the current plan took `ms` milliseconds. */
void qn_batch_learn(struct qn_batch *b, double ms);

/* batch_answer.c */
void qn_piece_settle(struct qn_batch *b, const struct qn_chunk *c, const struct piece *piece);
void qn_gen_fail(struct qn_batch *b, struct gen *g, qn_err code, const char *message);

/* batch.c */
void qn_gen_remove(struct qn_batch *b, struct gen *g);

#endif
