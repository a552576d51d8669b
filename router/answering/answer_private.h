/* Shared by the files that implement answering.h: one answer in progress. No other file includes
 * this. Loop thread only.
 *
 * An answer is begun in the database (answering.c), its request is made by a worker, with the tools
 * of MCP servers (answer_tools.c), it is computed by a run of infer/client.h whose records it
 * receives (answer_run.c), and its text goes to the database (answer_store.c). If the model calls
 * such tools, the calls are run (answer_calls.c), and when it ends another answer is begun below
 * it. It ends once, in qn_answer_end, whatever the reason; it is freed when the database has the
 * end, no worker uses it and nothing watches it. */
#ifndef QN_ANSWERING_ANSWER_PRIVATE_H
#define QN_ANSWERING_ANSWER_PRIVATE_H

#include "answering/answering.h"
#include "answering/body.h"
#include "answering/body_tools.h"
#include "infer/client.h"
#include "io/loop.h"
#include "mcp_servers/offer.h"

enum qn_call_state {
    QN_CALL_FOREIGN, /* the server does not run it: it has none */
    QN_CALL_ASKING,
    QN_CALL_RUNNING,
    QN_CALL_DONE,
    QN_CALL_FAILED,
    QN_CALL_DENIED,
    QN_CALL_STOPPED
};

/* A tool call, as far as it has been received. */
struct qn_answer_call {
    char *id, *name;
    struct qn_buf arguments;
    struct qn_answer *answer;
    enum qn_call_state state;
    const struct qn_mcp_offered *tool; /* lent by the offer; NULL: there is no such tool */
    struct qn_mcp_call run;            /* RUNNING */
    struct qn_buf result;              /* from DONE to DENIED */
};

/* Text received since the last append, as ranges of the two buffers in the order of arrival. */
struct qn_answer_piece {
    bool reasoning;
    size_t at, n;
};

struct qn_answer {
    struct qn_answer *prev, *next; /* in the list of answering */
    struct qn_answering *in;
    struct qn_answer_watcher *watchers;
    char id[QN_CHATS_ID_DIGITS + 1]; /* "": it is not in the database yet */
    char chat[QN_CHATS_ID_DIGITS + 1];
    struct qn_buf path; /* ids of the path's messages, each followed by a blank */
    struct qn_caller caller;
    char *client, *share, *model, *params;
    const struct qn_profile *profile;
    bool more; /* it continues an earlier text */
    int round; /* Position in the chain of answers linked by tool calls; the first is 1. */
    qn_chats_fn begun_fn; /* NULL: nothing waits */
    void *begun_ctx;

    /* The request: made by a worker of the conversation, which is then freed. */
    struct qn_arena *arena;
    struct qn_answer_ask ask;
    char *blobs; /* lent to ask: the database may be closed while the worker runs */
    struct qn_buf body;
    struct qn_error error;        /* why there is no body */
    bool busy;                    /* a worker makes it */
    struct qn_answer_tools tools; /* what the parameters say of tools; `offers` */
    bool offers;
    struct qn_mcp_offer *offer; /* NULL: no MCP server's tools are offered */

    struct qn_infer_run *run;   /* NULL: it does not run, or has ended */
    int64_t began_ms, first_ms; /* first_ms: of the first piece; 0: none has come */
    bool thinks;                /* the last piece was reasoning, */
    int64_t thinks_since_ms;    /* since when */
    int64_t thought_ms;         /* time of earlier reasoning */
    int64_t context;            /* tokens of the model's context; 0: unknown */
    struct qn_answer_call *calls;
    size_t n_calls;
    size_t results;                       /* bytes of their results */
    bool calling;                         /* they are run */
    bool storing, again;                  /* their states are being stored; must be once more */
    char *new_calls;                      /* as JSON, while they are being stored */
    char *kept_calls;                     /* of the view */
    bool goes_on;                         /* another answer follows */
    char next_id[QN_CHATS_ID_DIGITS + 1]; /* its id, of the view */
    char *figures;                        /* the record of the run's figures, JSON; NULL: none */
    char *end;                            /* its last record, JSON; NULL: none */

    struct qn_buf reasoning, text;
    size_t repeat; /* bytes of white space at the end of the text that is continued, which the model
                      may write again */
    size_t kept_reasoning, kept_text; /* bytes that the database has */
    size_t sent_reasoning, sent_text; /* the same after the running append */
    struct qn_answer_piece *pieces;
    size_t n_pieces, cap_pieces;
    bool committing;   /* an append runs */
    int64_t commit_ms; /* when the last one began; 0: there was none */
    struct qn_timer *commit_timer;
    bool paused; /* the run waits for the database */
    bool lost;   /* an append has failed */
    bool too_long;

    struct qn_answer_view view;
    char *reason; /* of the view */
    bool telling; /* its watchers are being called */
    bool ended;   /* its end is decided: */
    enum qn_chat_state end_state;
    char *end_calls, *end_stats, *end_finish, *end_error;
    bool end_sent; /* it has been given to the database */
    bool stored;   /* the database has it, or cannot have it */
};

struct qn_answering {
    const struct qn_inference *inference;
    struct qn_chats *chats;
    struct qn_mcp *mcp;
    struct qn_answer *answers; /* those that are not stored, and those that are watched */
    struct qn_timer *look;     /* runs while answers wait */
    bool stopped;
};

/* ---- answering.c ---- */

/* Tells the watchers. */
void qn_answer_tell(struct qn_answer *x);
/* Frees the answer if nothing needs it any more. */
void qn_answer_drop(struct qn_answer *x);
/* Begins the answer that continues x, which the database has made: the last message of the path.
 */
void qn_answer_next(struct qn_answer *x, const struct qn_chats_found *found);

/* ---- answer_run.c ---- */

/* Makes the request and runs it. */
void qn_answer_run(struct qn_answer *x);
/* Looks at why the answer has not begun, for its view. True: it has not. */
bool qn_answer_look(struct qn_answer *x);

/* Makes the request, of which the tools are known. */
void qn_answer_request(struct qn_answer *x);

/* ---- answer_tools.c ---- */

/* Asks the MCP servers that the parameters name for their tools, then goes on with
 * qn_answer_request. */
void qn_answer_offer(struct qn_answer *x);

/* ---- answer_calls.c ---- */

/* The run has ended with calls: runs those of MCP servers, then ends the answer. */
void qn_answer_calls(struct qn_answer *x);
/* Ends the calls that have no result. */
void qn_answer_calls_stop(struct qn_answer *x);
bool qn_answer_asks(const struct qn_answer *x); /* a call waits for a permission */
/* The calls as JSON; NULL: they are too long. The caller frees it. */
char *qn_answer_calls_json(const struct qn_answer *x);

/* ---- answer_store.c ---- */

/* Makes the view show the text that the database has. */
void qn_answer_show(struct qn_answer *x);
/* Adds text. True: too much waits for the database, or the answer is too long: the run must pause.
 */
bool qn_answer_add(struct qn_answer *x, bool reasoning, const char *text, size_t n);
/* Ends the answer: stops its run, gives the rest of its text and its figures to the database.
 * error: JSON, NULL: none; finish "": unknown. Later calls do nothing. */
void qn_answer_end(struct qn_answer *x, enum qn_chat_state state, const char *finish,
                   const char *error);
/* The same because of an error of the server itself. */
void qn_answer_fail(struct qn_answer *x, const struct qn_error *e);

#endif
