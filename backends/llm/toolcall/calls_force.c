/* See calls_force.h. The grammar has the rules root, lead, text, calls, call, c<i> for tool i, and
 * the tools' schemas as rules of constrain.h. */
#include "llm/toolcall/calls_force_private.h"

#include "base/log.h"
#include "base/str.h"
#include "llm/toolcall/calls_parse.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 16 }; /* maximum number of calls of a reply that must contain calls */

/* ---- The family's syntax ---- */

const char *qn_writing_open(const struct qn_opener *o)
{
    return o->flags & QN_OPEN_KEEP ? "" : o->text;
}

void qn_writing_set(char text[QN_WRITING_MAX], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, QN_WRITING_MAX, fmt, ap);
    va_end(ap);
    assert(n >= 0 && n < QN_WRITING_MAX);
    (void)n;
}

static struct qn_writing writing_of(const struct qn_syntax *s)
{
    struct qn_writing w = {.arguments = QN_WRITE_JSON};
    const struct qn_opener *o = s->call->writes;
    o->form->write(o, &w);
    return w;
}

/* ---- Parts of the grammar ---- */

/* A formatted text in the arena; "" when the arena is full. */
__attribute__((format(printf, 2, 3))) const char *qn_writer_text(struct qn_writer *w,
                                                                 const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = n < 0 || w->full ? NULL : qn_arena_try(w->arena, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, ap);
    else
        w->full = true;
    va_end(ap);
    return p ? p : "";
}

void qn_writer_quote(struct qn_writer *w, struct qn_buf *out, const char *text)
{
    if (text && text[0]) {
        qn_buf_char(out, ' ');
        qn_constrain_quote(w->c, text, out);
    }
}

/* Adds a rule of constrain.h and returns its name, borrowed from the arena. "" when the rules
 * exceed the limit; no more rules are then stored. */
const char *qn_writer_rule(struct qn_writer *w, enum qn_constrain_kind kind, const char *text)
{
    w->bytes += strlen(text) + 1;
    w->full |= w->bytes > QN_CONSTRAIN_BYTES_MAX;
    const char *name = qn_writer_text(w, "r%zu", w->n), *kept = qn_writer_text(w, "%s", text);
    if (w->full)
        return "";
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 16;
        w->rules = qn_xrealloc(w->rules, w->cap * sizeof *w->rules);
    }
    w->rules[w->n++] = (struct qn_constrain_rule){name, kind, kept};
    return name;
}

/* ---- Calls ---- */

static void write_tool(struct qn_writer *w, size_t tool)
{
    const char *arguments;
    if (w->w.arguments == QN_WRITE_JSON) {
        arguments = qn_writer_arguments(w, tool);
    } else {
        qn_writer_parameters(w, tool);
        arguments = qn_writer_text(w, "a%zu", tool);
    }
    qn_buf_fmt(&w->g, "c%zu ::=", tool);
    qn_writer_quote(
        w, &w->g,
        qn_writer_text(w, "%s%s%s", w->w.before, qn_tools_name(w->f->tools, tool), w->w.after));
    qn_buf_fmt(&w->g, " %s", arguments);
    qn_writer_quote(w, &w->g, w->w.end);
    qn_buf_char(&w->g, '\n');
}

/* Writes the rule `calls`. only: the index of the only tool that may be called, -1: any tool. */
static void write_calls(struct qn_writer *w, int only, bool single)
{
    size_t n = qn_tools_count(w->f->tools);
    for (size_t i = 0; i < n && !w->full; i++)
        if (only < 0 || i == (size_t)only)
            write_tool(w, i);
    qn_buf_str(&w->g, "call ::=");
    const char * or = " ";
    for (size_t i = 0; i < n; i++)
        if (only < 0 || i == (size_t)only) {
            qn_buf_fmt(&w->g, "%sc%zu", or, i);
            or = " | ";
        }
    qn_buf_str(&w->g, "\ncalls ::=");
    qn_writer_quote(w, &w->g, w->w.begin);
    qn_buf_str(&w->g, " call");
    if (!single && !w->w.single) {
        qn_buf_str(&w->g, " (");
        qn_writer_quote(w, &w->g, w->w.between);
        qn_buf_fmt(&w->g, " call ){0,%d}", CALLS_MAX - 1);
    }
    qn_writer_quote(w, &w->g, w->w.close);
    qn_buf_char(&w->g, '\n');
}

/* Writes the rule `lead`: what may precede the calls, the JSON or the text. Reasoning that the
 * prompt has begun has already ended when the constraint begins. */
static void write_lead(struct qn_writer *w)
{
    const char *open, *close;
    const struct qn_thinking *think = w->f->syntax.think;
    qn_buf_str(&w->g, "lead ::= ");
    if (w->f->thinking || !w->f->may_think || !think) {
        qn_buf_str(&w->g, w->f->thinking ? "[ \\n]{0,4}\n" : "\"\"\n");
        return;
    }
    bool tags = qn_syntax_tags(&w->f->syntax, &open, &close);
    if (!tags && think->open) { /* the marks are sentences, which cannot be told from text */
        qn_buf_str(&w->g, "\"\"\n");
        return;
    }
    if (!tags) {
        open = "<|channel|>analysis<|message|>";
        close = think->close;
    }
    qn_buf_str(&w->g, "(");
    qn_writer_quote(w, &w->g, open);
    qn_buf_fmt(&w->g, " %s", qn_writer_rule(w, QN_RULE_UNTIL, close));
    qn_writer_quote(w, &w->g, close);
    qn_writer_quote(w, &w->g, tags ? NULL : "<|start|>assistant");
    qn_buf_str(&w->g, tags ? " [ \\n]{0,4} )?\n" : " )?\n");
}

static qn_err compile(struct qn_writer *w, const char *param, struct qn_constraint **out,
                      struct qn_error *e)
{
    qn_buf_add(&w->g, qn_buf_cstr(&w->last), w->last.len);
    if (w->full || w->g.overflow || w->last.overflow)
        return qn_fail_param(e, QN_ELIMIT, param,
                             "%s: more than %d bytes of grammar and schemas; send fewer tools or "
                             "smaller schemas",
                             param, (int)QN_CONSTRAIN_BYTES_MAX);
    if (w->unheld[0])
        return qn_fail_param(
            e, QN_EUNSUPPORTED, param,
            "%s: %s cannot be guaranteed in the syntax in which this model writes calls: "
            "leave it out, or leave out strict",
            param, w->unheld);
    struct qn_constrain_source source = {
        .grammar = qn_buf_cstr(&w->g), .rules = w->rules, .n_rules = w->n, .param = param};
    return qn_constraint_compile(w->c, &source, out, e);
}

static void writer_init(struct qn_writer *w, struct qn_constrainer *c, const struct qn_forcing *f)
{
    *w = (struct qn_writer){.c = c, .f = f, .w = writing_of(&f->syntax)};
    w->arena = qn_arena_new(4 * (size_t)QN_CONSTRAIN_BYTES_MAX);
    qn_buf_init(&w->g, QN_CONSTRAIN_BYTES_MAX);
    qn_buf_init(&w->last, QN_CONSTRAIN_BYTES_MAX);
}

static void writer_deinit(struct qn_writer *w)
{
    qn_arena_free(w->arena);
    qn_buf_deinit(&w->g);
    qn_buf_deinit(&w->last);
    free(w->rules);
}

/* The header before a harmony reply that must be JSON; NULL for other families. */
static const char *answer_header(const struct qn_syntax *s)
{
    return s->think && !s->think->open ? "<|channel|>final <|constrain|>json<|message|>" : NULL;
}

enum what {
    CALLS = 1,  /* calls are allowed */
    ANSWER = 2, /* JSON that conforms to the schema is allowed */
    TEXT = 4    /* any text is allowed, followed by optional calls */
};

/* Writes the rule `text`: text in which the mark of a call does not occur. It ends the reply or is
 * followed by calls. */
static void write_text(struct qn_writer *w)
{
    const char *mark = w->w.begin[0] ? w->w.begin : w->w.before;
    qn_buf_fmt(&w->g, "text ::= %s\n", qn_writer_rule(w, QN_RULE_UNTIL, mark));
}

static qn_err make(struct qn_constrainer *c, const struct qn_job *job, const struct qn_forcing *f,
                   unsigned what, int only, bool any_objects, struct qn_constraint **out,
                   struct qn_error *e)
{
    struct qn_writer w;
    bool single = job->chat.single_call || only >= 0;
    writer_init(&w, c, f);
    w.any_objects = any_objects;
    qn_buf_str(&w.g, "root ::= lead (");
    if (what & ANSWER) {
        qn_writer_quote(&w, &w.g, answer_header(&f->syntax));
        qn_buf_fmt(&w.g, " %s", qn_writer_rule(&w, QN_RULE_SCHEMA, job->constrain.schema));
    }
    if (what & TEXT)
        qn_buf_str(&w.g, " text | text calls");
    else if (what & CALLS)
        qn_buf_str(&w.g, what & ANSWER ? " | calls" : " calls");
    qn_buf_str(&w.g, " )\n");
    write_lead(&w);
    if (what & TEXT)
        write_text(&w);
    if (what & CALLS)
        write_calls(&w, only, single);
    qn_err err = compile(&w, what & ANSWER ? "response_format" : "tools", out, e);
    writer_deinit(&w);
    return err;
}

static bool any_strict(const struct qn_tools *tools)
{
    for (size_t i = 0; i < qn_tools_count(tools); i++)
        if (qn_tools_strict(tools, i))
            return true;
    return false;
}

/* Whether the mark that begins calls cannot be mistaken for text. */
static bool has_mark(const struct qn_syntax *s)
{
    struct qn_writing w = writing_of(s);
    const char *mark = w.begin[0] ? w.begin : w.before;
    return strlen(mark) >= 4 && !strchr("{[", mark[0]);
}

qn_err qn_force(struct qn_constrainer *c, const struct qn_job *job, const struct qn_forcing *f,
                struct qn_constraint **out, struct qn_error *e)
{
    const struct qn_chat *chat = &job->chat;
    unsigned what = 0;
    int only = -1;
    *out = NULL;
    bool tools = qn_tools_count(f->tools) > 0;
    if (tools && chat->tool_choice == QN_TOOLS_NAMED) {
        const char *name = chat->tool_name ? chat->tool_name : "";
        only = qn_tools_find(f->tools, name, strlen(name));
        if (only < 0)
            return qn_fail_param(e, QN_EINVAL, "tool_choice",
                                 "tool_choice: there is no tool \"%s\"", name);
        what = CALLS;
    } else if (tools && chat->tool_choice == QN_TOOLS_REQUIRED) {
        what = CALLS;
    } else if (job->constrain.schema) {
        what = ANSWER | (tools ? CALLS : 0);
    } else if (tools && !job->constrain.grammar && any_strict(f->tools) && has_mark(&f->syntax)) {
        what = CALLS | TEXT;
    }
    /* A schema alone needs no grammar around it. */
    if (!what || (what == ANSWER && !answer_header(&f->syntax) &&
                  (!f->syntax.think || !f->may_think) && !f->thinking))
        return qn_constraint_of_job(c, &job->constrain, out, e);
    qn_err err = make(c, job, f, what, only, false, out, e);
    bool strict = any_strict(f->tools) || (what & ANSWER);
    if ((err == QN_EUNSUPPORTED || err == QN_ELIMIT) && (what & CALLS) && !strict) {
        qn_debug("llm", "tools: %s; their arguments may be any object", e ? e->message : "");
        err = make(c, job, f, what, only, true, out, e);
    }
    return err;
}
