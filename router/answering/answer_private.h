/* Shared by the files that implement answering.h: one answer in progress. No other file includes
 * this. To be used in the loop thread only.
 *
 * The life of an answer: It is begun in the database (answering.c). The MCP servers that its
 * parameters name are asked for their tools (answer_tools.c). A worker builds the request, and a
 * run of infer/client.h computes the answer from it; the records of this run are received
 * (answer_run.c), and their text is stored in the database (answer_store.c). If the model calls
 * tools of MCP servers, the calls are run (answer_calls.c), and when the answer has ended, another
 * answer is begun below it, which continues with the results. Each answer ends exactly once, in
 * qn_answer_end, whatever the reason. It is freed when its end is in the database, no worker uses
 * it, and nothing watches it. */
#ifndef QN_ANSWERING_ANSWER_PRIVATE_H
#define QN_ANSWERING_ANSWER_PRIVATE_H

#include "answering/answering.h"
#include "answering/body.h"
#include "answering/body_tools.h"
#include "infer/client.h"
#include "io/loop.h"
#include "mcp_servers/offer.h"

enum qn_call_state {
    QN_CALL_FOREIGN, /* the client runs this call, not the server, so the call has no state */
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
    const struct qn_mcp_offered *tool; /* belongs to the offer; NULL: no such tool is offered */
    struct qn_mcp_call run;            /* used in the state RUNNING */
    struct qn_buf result;              /* set in the states DONE, FAILED and DENIED */
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
    qn_chats_fn begun_fn; /* called when the answer is in the database; NULL: no callback */
    void *begun_ctx;

    /* The request: made by a worker of the conversation, which is then freed. */
    struct qn_arena *arena;
    struct qn_answer_ask ask;
    char *blobs; /* lent to ask: the database may be closed while the worker runs */
    struct qn_buf body;
    struct qn_error error;        /* why the request could not be built */
    bool busy;                    /* a worker uses `ask`, `tools` or `body` */
    struct qn_answer_tools tools; /* the tools that the parameters name; initialised if `offers` */
    bool offers;
    struct qn_mcp_offer *offer; /* the MCP tools that are offered; NULL: none */

    struct qn_infer_run *run;   /* NULL: it does not run, or has ended */
    int64_t began_ms, first_ms; /* first_ms: of the first piece; 0: none has come */
    bool thinks;                /* the last piece was reasoning, */
    int64_t thinks_since_ms;    /* since when */
    int64_t thought_ms;         /* time of earlier reasoning */
    int64_t context;            /* tokens of the model's context; 0: unknown */
    struct qn_answer_call *calls;
    size_t n_calls;
    size_t results; /* bytes of all results */
    bool calling;   /* the calls are being run, or have been run */
    /* storing: the calls are being stored; again: they must be stored once more. */
    bool storing, again;
    char *new_calls;                      /* the calls that are being stored, as JSON */
    char *kept_calls;                     /* the memory of view.calls */
    bool goes_on;                         /* another answer will continue with the results */
    char next_id[QN_CHATS_ID_DIGITS + 1]; /* id of the next answer, "": none */
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
/* Begins the answer that continues x. The database has already created it: it is the last message
 * of the path in `found`. */
void qn_answer_next(struct qn_answer *x, const struct qn_chats_found *found);

/* ---- answer_run.c ---- */

/* Makes the request and runs it. */
void qn_answer_run(struct qn_answer *x);
/* Looks at why the answer has not begun, for its view. True: it has not. */
bool qn_answer_look(struct qn_answer *x);

/* Builds the request and runs it; the offered tools must be known. */
void qn_answer_request(struct qn_answer *x);

/* ---- answer_tools.c ---- */

/* Asks the MCP servers that the parameters name for their tools, then calls qn_answer_request. */
void qn_answer_offer(struct qn_answer *x);

/* ---- answer_calls.c ---- */

/* Must be called when the run has ended with tool calls. Runs those of MCP servers; when all calls
 * have results, ends the answer. */
void qn_answer_calls(struct qn_answer *x);
/* Cancels the running calls. Calls that have no result get the state STOPPED. */
void qn_answer_calls_stop(struct qn_answer *x);
bool qn_answer_asks(const struct qn_answer *x); /* returns true if a call waits for a permission */
/* Returns the calls as JSON, which the caller frees; NULL: they are too long. */
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
