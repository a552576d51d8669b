/* What the files of the batch share: batch.c owns requests and steps, batch_pages.c decides who may
 * hold pages, batch_plan.c what a step carries, batch_answer.c what its logits mean. */
#ifndef QN_LLM_SCHEDULER_BATCH_PRIVATE_H
#define QN_LLM_SCHEDULER_BATCH_PRIVATE_H

#include "llm/scheduler/batch.h"
#include "llm/scheduler/draft.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/speculate.h"

enum answer_state {
    ANSWER_NEW,     /* not begun */
    ANSWER_RUNNING, /* has a sequence */
    ANSWER_WAITING, /* had to give its pages back: tokens, sampler and output are kept */
    ANSWER_DONE
};

/* One choice. All of its tokens but the last few are computed: `known` of them exist, the cache
 * holds the first `computed`, and every step brings the two closer. */
struct answer {
    enum answer_state state;
    struct gen *gen;
    int64_t index; /* of the choice */
    struct qn_seq *seq;
    int32_t *tokens; /* [context + 1 + QN_SPEC_MAX]: prompt, then what was said, then guesses */
    int32_t known, computed;
    int32_t exact;  /* the first tokens whose cache is as if nothing had been forgotten */
    int32_t shared; /* tokens of its cache that it began with: others may hold them, too */
    struct qn_sampler sampler;
    struct qn_constraint_state constraint; /* zero until it begins */
    struct qn_output output;
    struct qn_tokens forced; /* what is said for the model */
    size_t forced_at;        /* of them, said */
    int64_t generated;
    int32_t share;   /* prompt tokens of this step */
    int32_t guesses; /* of this step: they lie behind the known tokens */
    bool by_draft;   /* the draft model made them */
    struct qn_spec_luck repeats, drafts;
    struct qn_draft_seq *draft;
};

struct gen { /* one request */
    struct gen *next;
    struct qn_batch_request r;
    struct qn_parse_config parse;            /* of r */
    struct answer *answers;                  /* [r.choices] */
    int64_t launched, done;                  /* choices */
    int64_t cached, output, reasoned;        /* tokens, for usage */
    const char *stops[QN_JOB_STOPS_MAX + 1]; /* r.stops.v points here */
    bool prompt_known;          /* the first choice has computed it: the others may begin */
    int64_t start_us, first_us; /* first_us 0: no logits yet */
    int64_t progress_us;        /* when PROGRESS was sent last */
    struct qn_buf echo_json;    /* the prompt's log-probabilities so far: '[' entry ',' entry ... */
};

/* Chunk i of a forward pass is n tokens of this answer, the last `guessed` of them guesses. */
struct piece {
    struct answer *answer; /* NULL when its request has ended since */
    int32_t n, guessed;
};

struct plan {
    struct qn_chunk chunks[QN_BATCH_SEQS_MAX];
    struct piece pieces[QN_BATCH_SEQS_MAX];
    size_t n;
    int tokens;
    bool prompts;
    size_t rows; /* of b->logits in use */
    int extra;   /* of those, beyond one per answer */
};

struct qn_batch {
    struct qn_batch_model m;
    struct qn_batch_config config;
    struct qn_prefix *prefix;
    struct gen *gens; /* oldest first */
    int n_gens, running;
    bool choice_last; /* the last answer that began was a further choice of a request */
    float *logits;    /* [QN_BATCH_LOGIT_ROWS + seqs, vocab] */
    float *plain;     /* [vocab]: a row before bias and penalties touched it */
    struct qn_token_candidate *top; /* [QN_JOB_TOP_LOGPROBS_MAX] */
    struct qn_sampler_work work;
    double token_ms; /* measured cost of one token in a step with prompts; 0: unknown */
    struct qn_spec_cost cost;
    struct plan plan;
    struct qn_batch_stats stats;
};

/* for (struct answer *a = first_running(b); a; a = next_running(a)): oldest request first. */
struct answer *qn_first_running(const struct qn_batch *b);
struct answer *qn_next_running(const struct answer *a);
/* It runs, and its reader keeps up. */
bool qn_answer_active(const struct answer *a);
/* Each row of its prompt is wanted, and has not been computed yet. */
bool qn_answer_wants_rows(const struct answer *a);
bool qn_wants_prompt_logprobs(const struct gen *g);

/* batch_pages.c */
/* Begins, or begins again, every waiting answer that may run now. */
void qn_batch_admit(struct qn_batch *b);
/* Pages for n tokens more, by what means there are; false when the answer has to wait for them, and
 * does so already. */
bool qn_answer_secure(struct qn_batch *b, struct answer *a, int32_t n);
/* Hands the answer's cache to the tree. */
void qn_answer_retire(struct qn_batch *b, struct answer *a);
/* Keeps what a prompt has come to, where the model says so: see qn_batch_model.step. */
void qn_answer_mark(struct qn_batch *b, struct answer *a);
/* After damage of the weights was mended: all that was computed goes, and running answers compute
 * their tokens anew. False: nothing was mended. now: see qn_batch_model.mend. */
bool qn_batch_mend(struct qn_batch *b, bool now);
/* Forgets the older half of a full context; false when the model cannot. */
bool qn_answer_shift(struct qn_batch *b, struct answer *a);

/* batch_plan.c */
void qn_batch_plan(struct qn_batch *b);
/* The plan was carried out in `ms`. */
void qn_batch_learn(struct qn_batch *b, double ms);

/* batch_answer.c */
void qn_piece_settle(struct qn_batch *b, const struct qn_chunk *c, const struct piece *piece);
void qn_gen_fail(struct qn_batch *b, struct gen *g, qn_err code, const char *message);

/* batch.c */
void qn_gen_remove(struct qn_batch *b, struct gen *g);

#endif
