/* The records by which clients follow an answer: made from its present state and the place up to
 * which a client has read it, so that nothing is stored for a client, one that reads slowly gets
 * fewer and longer records, and an answer in the database gives the same text as one in progress.
 *
 *   {"t":"state","state":"queued","stage":"waiting","place":2,"wait_ms":900,"reason":"..."}
 *   {"t":"prompt","done":120,"total":800,"cached":100}
 *   {"t":"think","s":"..."}   {"t":"text","s":"..."}
 *   {"t":"tools","servers":[...]}   the MCP servers whose tools are offered
 *   {"t":"calls","calls":[{"id":"...","name":"f","arguments":"{}"}]}   all calls: at the end, and
 *                                                       whenever the state of a call changes
 *   {"t":"stats","prompt":800, ...}
 *   {"t":"end","state":"done","finish":"stop"}   the last record; with "error" if the state is
 *                            "failed", and with "next" if another answer continues this one
 *
 * Pure. */
#ifndef QN_ANSWERING_RECORDS_H
#define QN_ANSWERING_RECORDS_H

#include "base/buf.h"
#include "chats/chats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_ANSWER_RECORD_TEXT_MAX = 16 * 1024, /* bytes of text in one record */
    QN_ANSWER_PLACE_MAX = 48               /* bytes of a place as text */
};

/* What an answer that has no text yet waits for. */
enum qn_answer_stage {
    QN_ANSWER_PREPARING,
    QN_ANSWER_TOOLS,       /* its MCP servers are asked for their tools */
    QN_ANSWER_DOWNLOADING, /* its model */
    QN_ANSWER_WAITING,     /* for its turn, or for memory */
    QN_ANSWER_LOADING,     /* its model */
    QN_ANSWER_COMPUTING,   /* the prompt, then the answer */
    QN_ANSWER_CALLS        /* tool calls are running or wait for a permission */
};

/* An answer as clients may see it: only what the database has. Strings are lent. */
struct qn_answer_view {
    enum qn_chat_state state; /* an answer that is not finished is QUEUED or ANSWERING */
    enum qn_answer_stage stage;
    int64_t place, wait_ms;      /* WAITING: see struct qn_queue_spot */
    double loaded;               /* LOADING: 0 to 1 */
    const char *reason;          /* WAITING: a sentence, or "" */
    unsigned state_changes;      /* of the members so far; from 1 */
    int64_t done, total, cached; /* tokens of the prompt; total 0: unknown */
    unsigned prompt_changes;
    const char *reasoning, *text;
    size_t n_reasoning, n_text;
    const char *tools; /* JSON array for the record "tools"; NULL: no MCP servers */
    const char *calls; /* JSON array, as in struct qn_chat_message; NULL: none yet */
    unsigned calls_changes;
    /* of a finished answer, as in struct qn_chat_message: */
    const char *stats, *finish, *error;
    const char *next; /* id of the answer that continues this one; NULL: none */
};

/* How much of an answer a client has. All zero: nothing. */
struct qn_answer_cursor {
    size_t reasoning, text; /* bytes */
    unsigned state_changes, prompt_changes, calls_changes;
    bool tools, stats, end;
};

/* Reads and writes a cursor's bytes as "REASONING-TEXT", by which a client goes on after an
 * interruption. False: text is neither that nor "". */
bool qn_answer_place_read(const char *text, struct qn_answer_cursor *out);
void qn_answer_place_write(const struct qn_answer_cursor *c, char out[static QN_ANSWER_PLACE_MAX]);

/* The view of a message in the database. One that is unfinished there, without being written, is
 * shown as INTERRUPTED. */
struct qn_answer_view qn_answer_view_of(const struct qn_chat_message *m);

/* Appends the next record to out and moves the cursor. False: there is none for now, or, if c->end
 * is set, no more. A cursor beyond the text, or within a character, is moved to the next place that
 * exists. */
bool qn_answer_record(const struct qn_answer_view *v, struct qn_answer_cursor *c,
                      struct qn_buf *out);

#endif
