/* Search in titles and messages by SQLite's FTS5. See chats.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

#include <string.h>

enum {
    QUERY_MAX = 1024, /* bytes of a client's query */
    WORDS_MAX = 32,   /* words and phrases of it */
    MATCH_MAX = 4 * QUERY_MAX + 256,
    STEPS = 1000 /* of SQLite's machine between two looks at the clock */
};

/* Marks around matching words in a snippet: two characters that Unicode reserves for internal use.
 */
#define MARK_BEGIN "\xEF\xB7\x90"
#define MARK_END "\xEF\xB7\x91"
enum { MARK_BYTES = 3 };

struct seeking {
    const char *query;
    size_t limit;
    int64_t until_ms;
};

/* ---- the query ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Appends a word or phrase as FTS5 takes it: in quotation marks, which are doubled within. */
static void add_term(struct qn_buf *out, const char *text, size_t n, bool beginning)
{
    enum { BEGINNING_MIN = 2 }; /* characters before it matches as the beginning of a word */
    if (n == 0)
        return;
    qn_buf_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            qn_buf_char(out, '"');
        qn_buf_char(out, text[i]);
    }
    qn_buf_str(out, beginning && n >= BEGINNING_MIN ? "\"* " : "\" ");
}

/* Writes a client's query as one of FTS5: every word matches as the beginning of a word, text
 * between quotation marks as a phrase. Nothing in it is taken for FTS5's syntax. Terms without a
 * letter or digit are ignored by FTS5. Returns the number of terms. */
static size_t write_terms(const char *query, struct qn_buf *out)
{
    size_t n = 0;
    for (const char *p = query; *p && n < WORDS_MAX;) {
        bool phrase = *p == '"';
        p += phrase;
        const char *end = p;
        while (*end && *end != '"' && (phrase || !is_space(*end)))
            end++;
        add_term(out, p, (size_t)(end - p), !phrase);
        n += end > p;
        p = end;
        if (phrase ? *p == '"' : is_space(*p))
            p++;
    }
    return n;
}

/* ---- results ---- */

/* Splits a snippet at its marks. False: the arena is full. */
static bool split_snippet(struct qn_chats_task *t, char *text, struct qn_chat_hit *hit)
{
    struct qn_chat_segment *segments = NULL;
    bool mark = false;
    while (text && *text) {
        char *next = strstr(text, mark ? MARK_END : MARK_BEGIN);
        if (next)
            *next = '\0';
        if (*text) {
            void *grown = qn_chats_grow(t, segments, hit->n_segments, sizeof *segments);
            if (!grown)
                return false;
            segments = grown;
            segments[hit->n_segments++] = (struct qn_chat_segment){text, mark};
        }
        mark = !mark;
        text = next ? next + MARK_BYTES : NULL;
    }
    hit->segments = segments;
    return true;
}

static qn_err take_hit(struct qn_chats_task *t, sqlite3_stmt *s, struct qn_chat_hit *hit,
                       struct qn_error *e)
{
    *hit = (struct qn_chat_hit){.chat = qn_chats_text(t->arena, s, 0),
                                .title = qn_chats_text(t->arena, s, 1),
                                .when_ms = sqlite3_column_int64(s, 3)};
    if (sqlite3_column_type(s, 2) != SQLITE_NULL)
        hit->message = qn_chats_text(t->arena, s, 2);
    char *snippet = qn_chats_text(t->arena, s, 4);
    if (!hit->chat || !hit->title || !snippet || !split_snippet(t, snippet, hit))
        return qn_fail(e, QN_ELIMIT, "this is too much to be read at once");
    return QN_OK;
}

static int is_late(void *ctx)
{
    return qn_now_ms() > ((const struct seeking *)ctx)->until_ms;
}

/* Appends the results of one statement, until there are enough or the time is over. */
static qn_err run_search(struct qn_chats_task *t, struct qn_chat_hit *hits, const char *sql,
                         const char *match, struct qn_error *e)
{
    struct seeking *w = t->args;
    sqlite3_stmt *s;
    qn_err err = qn_chats_sql(t->d, &s, e, sql, "sii", match, t->owner_n,
                              (int64_t)(w->limit - t->found.n_hits));
    if (err)
        return err;
    int step = SQLITE_DONE;
    while (!err && t->found.n_hits < w->limit && (step = sqlite3_step(s)) == SQLITE_ROW) {
        err = take_hit(t, s, &hits[t->found.n_hits], e);
        t->found.n_hits += !err;
        if (is_late(w))
            t->found.incomplete = true;
        if (t->found.incomplete)
            break;
    }
    if (step == SQLITE_INTERRUPT) {
        t->found.incomplete = true;
        step = SQLITE_DONE;
    }
    qn_err last = qn_chats_done(t->d, s, step, err ? NULL : e);
    return err ? err : last;
}

static qn_err search(struct qn_chats_task *t, struct qn_error *e)
{
    struct seeking *w = t->args;
    struct qn_buf terms, match;
    qn_err err = qn_chats_find_owner(t, e);
    struct qn_chat_hit *hits = qn_arena_alloc(t->arena, (w->limit + 1) * sizeof *hits);
    t->found.hits = hits;
    if (err || !t->owner_n)
        return err;
    qn_buf_init(&terms, MATCH_MAX);
    qn_buf_init(&match, MATCH_MAX);
    if (write_terms(w->query, &terms)) {
        w->until_ms = qn_now_ms() + QN_CHATS_SEARCH_MS;
        sqlite3_progress_handler(t->d->db, STEPS, is_late, w);
        qn_buf_fmt(&match, "owner : \"%lld\" AND title : (%s)", (long long)t->owner_n,
                   qn_buf_cstr(&terms));
        err = run_search(t, hits,
                         "SELECT c.id, c.title, NULL, c.updated, snippet(chat_words, 1,"
                         " '" MARK_BEGIN "', '" MARK_END "', '…', 24)"
                         " FROM chat_words w JOIN chat c ON c.n = w.rowid"
                         " WHERE chat_words MATCH ? AND c.owner = ? AND c.hidden = ''"
                         " AND c.deleted = 0 ORDER BY w.rowid DESC LIMIT ?",
                         qn_buf_cstr(&match), e);
        qn_buf_clear(&match);
        qn_buf_fmt(&match, "owner : \"%lld\" AND text : (%s)", (long long)t->owner_n,
                   qn_buf_cstr(&terms));
        if (!err && !t->found.incomplete && t->found.n_hits < w->limit)
            err = run_search(t, hits,
                             "SELECT c.id, c.title, m.id, m.created, snippet(message_words, 1,"
                             " '" MARK_BEGIN "', '" MARK_END "', '…', 24)"
                             " FROM message_words w JOIN message m ON m.n = w.rowid"
                             " JOIN chat c ON c.n = m.chat WHERE message_words MATCH ?"
                             " AND m.owner = ? AND m.deleted = 0 AND c.hidden = ''"
                             " AND c.deleted = 0 ORDER BY w.rowid DESC LIMIT ?",
                             qn_buf_cstr(&match), e);
        sqlite3_progress_handler(t->d->db, 0, NULL, NULL);
    }
    qn_buf_deinit(&terms);
    qn_buf_deinit(&match);
    return err;
}

void qn_chats_search(struct qn_chats *c, const char *owner, const char *query, size_t limit,
                     qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, search, false, fn, ctx);
    struct seeking *w = t->args = qn_arena_alloc(t->arena, sizeof *w);
    qn_err err = qn_chats_check("q", query, QUERY_MAX, &t->error);
    if (!err)
        *w = (struct seeking){.query = qn_chats_copy(t, query),
                              .limit = limit < 1 || limit > QN_CHATS_HITS_MAX ? QN_CHATS_HITS_MAX
                                                                              : limit};
    qn_chats_task_run(t, err);
}
