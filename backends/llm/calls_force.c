/* See calls_force.h. The grammar's rules: root, call, c<i> for tool i, its schemas as rules of
 * constrain.h. */
#include "llm/calls_force.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "llm/calls_literal.h"
#include "llm/calls_parse.h"
#include "llm/calls_xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 16 }; /* calls of an answer that has to make some */

struct writer {
    struct qn_constrainer *c;
    const struct qn_forcing *f;
    const struct qn_writing *w;
    struct qn_arena *arena;
    struct qn_buf g;    /* the grammar */
    struct qn_buf last; /* rules that follow the one being written */
    struct qn_constrain_rule *rules;
    size_t n, cap;
    size_t bytes;     /* of the rules' texts */
    bool full;        /* rules or names were left out: there are more than the limits allow */
    bool any_objects; /* arguments are any object: the schemas were too much */
};

/* A text of the arena's; "" when there is no more room. */
__attribute__((format(printf, 2, 3))) static const char *text_of(struct writer *w, const char *fmt,
                                                                 ...)
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

static void quote(struct writer *w, struct qn_buf *out, const char *text)
{
    if (text && text[0]) {
        qn_buf_char(out, ' ');
        qn_constrain_quote(w->c, text, out);
    }
}

/* A rule of constrain.h; its name is lent by the arena. "": the rules are too many, no more of them
 * are kept. */
static const char *rule(struct writer *w, enum qn_constrain_kind kind, const char *text)
{
    w->bytes += strlen(text) + 1;
    w->full |= w->bytes > QN_CONSTRAIN_BYTES_MAX;
    const char *name = text_of(w, "r%zu", w->n), *kept = text_of(w, "%s", text);
    if (w->full)
        return "";
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 16;
        w->rules = qn_xrealloc(w->rules, w->cap * sizeof *w->rules);
    }
    w->rules[w->n++] = (struct qn_constrain_rule){name, kind, kept};
    return name;
}

static void put_member(struct writer *w, struct qn_jw *jw, const char *key, const struct qn_jref *v)
{
    struct qn_buf value;
    qn_buf_init(&value, QN_CONSTRAIN_BYTES_MAX);
    qn_json_print(v, &value);
    qn_jw_key(jw, key);
    qn_jw_raw(jw, qn_buf_cstr(&value), value.len);
    w->full |= value.overflow;
    qn_buf_deinit(&value);
}

/* A parameter's schema with the definitions that it may refer to. */
static const char *schema_rule(struct writer *w, const struct qn_jref *root,
                               const struct qn_jref *schema)
{
    static const char *const definitions[] = {"$defs", "definitions"};
    struct qn_buf text;
    struct qn_jref member;
    if (w->full)
        return "";
    qn_buf_init(&text, QN_CONSTRAIN_BYTES_MAX);
    struct qn_jw jw = qn_jw_to(&text);
    qn_jw_obj(&jw);
    for (bool more = qn_json_first(schema, &member); more; more = qn_json_next(&member)) {
        put_member(w, &jw, member.key, &member);
    }
    /* Not every parameter carries them all: there may be a hundred parameters. */
    bool refers = strstr(qn_buf_cstr(&text), "\"$ref\"") != NULL;
    for (size_t i = 0; i < 2 && refers && root != schema; i++) {
        struct qn_jref d = qn_json_get(root, definitions[i]);
        if (qn_json_type(&d) != QN_JSON_OBJECT)
            continue;
        put_member(w, &jw, definitions[i], &d);
    }
    qn_jw_obj_end(&jw);
    w->full |= text.overflow;
    const char *name = rule(w, QN_RULE_SCHEMA, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return name;
}

/* The schema of a tool's whole arguments, which are an object whatever it says. */
static const char *arguments_rule(struct writer *w, size_t tool)
{
    struct qn_jref root = qn_tools_parameters(w->f->tools, tool), member;
    struct qn_buf text;
    qn_buf_init(&text, QN_CONSTRAIN_BYTES_MAX);
    if (w->full)
        return "";
    if (w->any_objects)
        return rule(w, QN_RULE_SCHEMA, "{\"type\":\"object\"}");
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        return rule(w, QN_RULE_SCHEMA,
                    "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
    struct qn_jw jw = qn_jw_to(&text);
    qn_jw_obj(&jw);
    qn_jw_kstr(&jw, "type", "object");
    for (bool more = qn_json_first(&root, &member); more; more = qn_json_next(&member)) {
        if (qn_str_eq(member.key, "type"))
            continue;
        put_member(w, &jw, member.key, &member);
    }
    qn_jw_obj_end(&jw);
    w->full |= text.overflow;
    const char *name = rule(w, QN_RULE_SCHEMA, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return name;
}

/* ---- Arguments that are no JSON object ---- */

/* A string as it stands between marks, of which `end` is the second: what its schema enumerates, or
 * any text. */
static void bare_string(struct writer *w, const struct qn_jref *schema, const char *end)
{
    struct qn_jref values = qn_json_get(schema, "enum"), only = qn_json_get(schema, "const"), v;
    if (qn_json_type(&only) == QN_JSON_STRING) {
        quote(w, &w->g, qn_json_raw_str(&only));
    } else if (qn_json_count(&values) > 0) {
        const char * or = " (";
        for (bool more = qn_json_first(&values, &v); more; more = qn_json_next(&v), or = " |") {
            qn_buf_str(&w->g, or);
            quote(w, &w->g, qn_json_raw_str(&v));
        }
        qn_buf_str(&w->g, " )");
    } else {
        qn_buf_fmt(&w->g, " %s", rule(w, QN_RULE_UNTIL, end));
    }
}

static void tag_parameter(struct writer *w, const struct qn_jref *root,
                          const struct qn_jref *schema, unsigned types)
{
    const struct qn_xml_calls *how = w->w->how;
    const char *line = how->lines ? "\n" : "";
    bool is_string = types == QN_TYPE_STRING;
    const char *open = text_of(w, "%s%s%s%s%s%s", how->key, schema->key,
                               !how->string ? how->key_end
                               : is_string  ? how->string
                                            : how->other,
                               how->value[0] ? "\n" : "", how->value, line);
    const char *end = text_of(w, "%s%s", line, how->value_end);
    quote(w, &w->g, open);
    if (is_string)
        bare_string(w, schema, end);
    else
        qn_buf_fmt(&w->g, " %s", schema_rule(w, root, schema));
    quote(w, &w->g, text_of(w, "%s\n", end));
}

/* Gemma's own way of writing values; what is in containers is free. */
static void gemma_value(struct writer *w, const struct qn_jref *root, const struct qn_jref *schema,
                        unsigned types)
{
    const struct qn_literal_calls *how = w->w->how;
    if (types == QN_TYPE_STRING) {
        quote(w, &w->g, how->quote);
        bare_string(w, schema, how->quote);
        quote(w, &w->g, how->quote);
    } else if (types & (QN_TYPE_STRING | QN_TYPE_OBJECT | QN_TYPE_ARRAY)) {
        qn_buf_str(&w->g, types == QN_TYPE_OBJECT  ? " gmap"
                          : types == QN_TYPE_ARRAY ? " glist"
                                                   : " gvalue");
        w->last.len = 0;
        const char *any = rule(w, QN_RULE_UNTIL, how->quote);
        qn_buf_str(&w->last, "gvalue ::= gstring | gword | glist | gmap\ngstring ::=");
        quote(w, &w->last, how->quote);
        qn_buf_fmt(&w->last, " %s", any);
        quote(w, &w->last, how->quote);
        qn_buf_str(&w->last,
                   "\ngword ::= \"true\" | \"false\" | \"null\" | \"-\"? [0-9]{1,15} (\".\" "
                   "[0-9]{1,15})?\nglist ::= \"[\" (gvalue (\",\" gvalue)*)? \"]\"\ngmap ::= "
                   "\"{\" (gpair (\",\" gpair)*)? \"}\"\ngpair ::= [a-zA-Z_] [a-zA-Z0-9_]* "
                   "\":\" gvalue\n");
    } else {
        qn_buf_fmt(&w->g, " %s", schema_rule(w, root, schema));
    }
}

static void literal_parameter(struct writer *w, const struct qn_jref *root,
                              const struct qn_jref *schema, unsigned types)
{
    bool python = w->w->arguments == QN_WRITE_PYTHON;
    quote(w, &w->g, text_of(w, "%s%s", schema->key, python ? "=" : ":"));
    if (python)
        qn_buf_fmt(&w->g, " %s", schema_rule(w, root, schema));
    else
        gemma_value(w, root, schema, types);
}

static bool required(const struct qn_jref *root, const char *key)
{
    struct qn_jref list = qn_json_get(root, "required"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
        if (qn_str_eq(qn_json_raw_str(&it), key))
            return true;
    return false;
}

/* Parameter k of tool i as a rule p<i>-<k>. */
static void parameter(struct writer *w, size_t tool, const struct qn_jref *root,
                      const struct qn_jref *schema, size_t k)
{
    unsigned types = qn_tools_types(w->f->tools, qn_tools_name(w->f->tools, tool), schema->key);
    qn_buf_fmt(&w->g, "p%zu-%zu ::=", tool, k);
    if (w->w->arguments == QN_WRITE_TAGS)
        tag_parameter(w, root, schema, types);
    else
        literal_parameter(w, root, schema, types);
    qn_buf_char(&w->g, '\n');
}

/* Arguments one by one as the rule a<i>: those that are required, then the others, in their order.
 */
static void parameters(struct writer *w, size_t tool)
{
    struct qn_jref root = qn_tools_parameters(w->f->tools, tool),
                   all = qn_json_get(&root, "properties"), it;
    const char *comma = w->w->arguments == QN_WRITE_TAGS     ? ""
                        : w->w->arguments == QN_WRITE_PYTHON ? ", "
                                                             : ",";
    size_t n = qn_json_type(&all) == QN_JSON_OBJECT ? qn_json_count(&all) : 0, k = 0, must = 0;
    size_t *order = qn_xcalloc(n + 1, sizeof *order);
    for (int optional = 0; optional < 2; optional++) {
        size_t i = 0;
        for (bool more = n && qn_json_first(&all, &it); more; more = qn_json_next(&it), i++)
            if (required(&root, it.key) == !optional)
                order[k++] = i;
        must = optional ? must : k;
    }
    size_t i = 0;
    for (bool more = n && qn_json_first(&all, &it); more && !w->full; more = qn_json_next(&it))
        parameter(w, tool, &root, &it, i++);
    /* t<i>-<k>: the optional ones from k on, each behind a comma. */
    for (k = must; k < n; k++) {
        qn_buf_fmt(&w->g, "t%zu-%zu ::= (", tool, k);
        quote(w, &w->g, comma);
        qn_buf_fmt(&w->g, " p%zu-%zu )?", tool, order[k]);
        if (k + 1 < n)
            qn_buf_fmt(&w->g, " t%zu-%zu", tool, k + 1);
        qn_buf_char(&w->g, '\n');
    }
    qn_buf_fmt(&w->g, "a%zu ::= \"\"", tool);
    for (k = 0; k < must; k++) {
        if (k)
            quote(w, &w->g, comma);
        qn_buf_fmt(&w->g, " p%zu-%zu", tool, order[k]);
    }
    if (must && must < n)
        qn_buf_fmt(&w->g, " t%zu-%zu", tool, must);
    for (k = must; !must && k < n; k++) { /* the first of them has no comma */
        qn_buf_fmt(&w->g, " | p%zu-%zu", tool, order[k]);
        if (k + 1 < n)
            qn_buf_fmt(&w->g, " t%zu-%zu", tool, k + 1);
    }
    qn_buf_char(&w->g, '\n');
    free(order);
}

/* ---- Calls ---- */

static void write_tool(struct writer *w, size_t tool)
{
    const char *arguments;
    if (w->w->arguments == QN_WRITE_JSON) {
        arguments = arguments_rule(w, tool);
    } else {
        parameters(w, tool);
        arguments = text_of(w, "a%zu", tool);
    }
    qn_buf_fmt(&w->g, "c%zu ::=", tool);
    quote(w, &w->g,
          text_of(w, "%s%s%s", w->w->before, qn_tools_name(w->f->tools, tool), w->w->after));
    qn_buf_fmt(&w->g, " %s", arguments);
    quote(w, &w->g, w->w->end);
    qn_buf_char(&w->g, '\n');
}

/* The rule calls. only: the number of the one tool, -1: any. */
static void write_calls(struct writer *w, int only, bool single)
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
    quote(w, &w->g, w->w->begin);
    qn_buf_str(&w->g, " call");
    if (!single && w->w->between) {
        qn_buf_str(&w->g, " (");
        quote(w, &w->g, w->w->between);
        qn_buf_fmt(&w->g, " call ){0,%d}", CALLS_MAX - 1);
    }
    quote(w, &w->g, w->w->close);
    qn_buf_char(&w->g, '\n');
}

/* The rule lead: what may come before. Reasoning that the prompt has begun is over by then. */
static void write_lead(struct writer *w)
{
    const char *open, *close;
    const struct qn_thinking *think = w->f->syntax.think;
    qn_buf_str(&w->g, "lead ::= ");
    if (w->f->thinking || !w->f->may_think || !think) {
        qn_buf_str(&w->g, w->f->thinking ? "[ \\n]{0,4}\n" : "\"\"\n");
        return;
    }
    bool tags = qn_syntax_tags(&w->f->syntax, &open, &close);
    if (!tags && think->open) { /* in words: nothing tells where they begin */
        qn_buf_str(&w->g, "\"\"\n");
        return;
    }
    if (!tags) {
        open = "<|channel|>analysis<|message|>";
        close = think->close;
    }
    qn_buf_str(&w->g, "(");
    quote(w, &w->g, open);
    qn_buf_fmt(&w->g, " %s", rule(w, QN_RULE_UNTIL, close));
    quote(w, &w->g, close);
    quote(w, &w->g, tags ? NULL : "<|start|>assistant");
    qn_buf_str(&w->g, tags ? " [ \\n]{0,4} )?\n" : " )?\n");
}

static qn_err compile(struct writer *w, const char *param, struct qn_constraint **out,
                      struct qn_error *e)
{
    qn_buf_add(&w->g, qn_buf_cstr(&w->last), w->last.len);
    if (w->full || w->g.overflow || w->last.overflow)
        return qn_fail_param(e, QN_ELIMIT, param,
                             "%s: more than %d bytes of grammar and schemas; send fewer tools or "
                             "smaller schemas",
                             param, (int)QN_CONSTRAIN_BYTES_MAX);
    struct qn_constrain_source source = {
        .grammar = qn_buf_cstr(&w->g), .rules = w->rules, .n_rules = w->n, .param = param};
    return qn_constraint_compile(w->c, &source, out, e);
}

static void writer_init(struct writer *w, struct qn_constrainer *c, const struct qn_forcing *f)
{
    *w = (struct writer){.c = c, .f = f, .w = f->syntax.call->writing};
    w->arena = qn_arena_new(4 * (size_t)QN_CONSTRAIN_BYTES_MAX);
    qn_buf_init(&w->g, QN_CONSTRAIN_BYTES_MAX);
    qn_buf_init(&w->last, QN_CONSTRAIN_BYTES_MAX);
}

static void writer_deinit(struct writer *w)
{
    qn_arena_free(w->arena);
    qn_buf_deinit(&w->g);
    qn_buf_deinit(&w->last);
    free(w->rules);
}

/* In front of a harmony answer that is to be JSON. */
static const char *answer_header(const struct qn_syntax *s)
{
    return s->think && !s->think->open ? "<|channel|>final <|constrain|>json<|message|>" : NULL;
}

enum what {
    CALLS = 1,  /* calls may come */
    ANSWER = 2, /* JSON by the schema */
    TEXT = 4    /* any text, then perhaps calls */
};

/* Text in which the mark of a call does not occur ends it or is followed by calls. */
static void write_text(struct writer *w)
{
    const char *mark = w->w->begin[0] ? w->w->begin : w->w->before;
    qn_buf_fmt(&w->g, "text ::= %s\n", rule(w, QN_RULE_UNTIL, mark));
}

static qn_err make(struct qn_constrainer *c, const struct qn_job *job, const struct qn_forcing *f,
                   unsigned what, int only, bool any_objects, struct qn_constraint **out,
                   struct qn_error *e)
{
    struct writer w;
    bool single = job->chat.single_call || only >= 0;
    writer_init(&w, c, f);
    w.any_objects = any_objects;
    qn_buf_str(&w.g, "root ::= lead (");
    if (what & ANSWER) {
        quote(&w, &w.g, answer_header(&f->syntax));
        qn_buf_fmt(&w.g, " %s", rule(&w, QN_RULE_SCHEMA, job->constrain.schema));
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

/* The mark that begins its calls cannot be mistaken for text. */
static bool has_mark(const struct qn_writing *w)
{
    const char *mark = w->begin[0] ? w->begin : w->before;
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
    } else if (tools && !job->constrain.grammar && any_strict(f->tools) &&
               has_mark(f->syntax.call->writing)) {
        what = CALLS | TEXT;
    }
    /* A schema alone needs no grammar of ours around it. */
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
