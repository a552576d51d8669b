/* See calls_force.h. The arguments of a call: as one JSON object, or as separate parameters in the
 * family's syntax. */
#include "llm/toolcall/calls_force_private.h"

#include "base/str.h"
#include "llm/toolcall/calls_literal.h"
#include "llm/toolcall/calls_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_member(struct qn_writer *w, struct qn_jw *jw, const char *key,
                       const struct qn_jref *v)
{
    struct qn_buf value;
    qn_buf_init(&value, QN_CONSTRAIN_BYTES_MAX);
    qn_json_print(v, &value);
    qn_jw_key(jw, key);
    qn_jw_raw(jw, qn_buf_cstr(&value), value.len);
    w->full |= value.overflow;
    qn_buf_deinit(&value);
}

/* The rule for one parameter's schema, including the definitions that the schema may refer to. */
static const char *schema_rule(struct qn_writer *w, const struct qn_jref *root,
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
    /* The definitions are copied only where they are used, because there may be a hundred
     * parameters. */
    bool refers = strstr(qn_buf_cstr(&text), "\"$ref\"") != NULL;
    for (size_t i = 0; i < 2 && refers && root != schema; i++) {
        struct qn_jref d = qn_json_get(root, definitions[i]);
        if (qn_json_type(&d) != QN_JSON_OBJECT)
            continue;
        put_member(w, &jw, definitions[i], &d);
    }
    qn_jw_obj_end(&jw);
    w->full |= text.overflow;
    const char *name = qn_writer_rule(w, QN_RULE_SCHEMA, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return name;
}

/* The rules for a parameter that may be a string or another type: other types as JSON, strings
 * unquoted, except texts that would be parsed as another type. end: the text that follows the
 * value. */
static void mixed_rules(struct qn_writer *w, const struct qn_jref *root,
                        const struct qn_jref *schema, unsigned types, const char *end)
{
    static const char *const definitions[] = {"$defs", "definitions"};
    struct qn_buf text[2];
    const char *names[2] = {"", ""};
    for (int bare = 0; bare < 2; bare++) {
        qn_buf_init(&text[bare], QN_CONSTRAIN_BYTES_MAX);
        struct qn_jw jw = qn_jw_to(&text[bare]);
        struct qn_jref member;
        qn_jw_obj(&jw);
        qn_jw_key(&jw, bare ? "schema" : "allOf");
        if (!bare)
            qn_jw_arr(&jw);
        qn_jw_obj(&jw);
        for (bool more = qn_json_first(schema, &member); more; more = qn_json_next(&member))
            put_member(w, &jw, member.key, &member);
        if (!bare) {
            qn_jw_obj_end(&jw);
            qn_jw_arr_end(&jw);
        }
        for (size_t i = 0; i < 2 && root != schema; i++) {
            struct qn_jref d = qn_json_get(root, definitions[i]);
            if (qn_json_type(&d) == QN_JSON_OBJECT)
                put_member(w, &jw, definitions[i], &d);
        }
        if (bare) {
            qn_jw_obj_end(&jw);
            qn_jw_kstr(&jw, "until", end);
            qn_jw_ki64(&jw, "others", (int64_t)(types & ~(unsigned)QN_TYPE_STRING));
        } else {
            qn_jw_key(&jw, "not");
            qn_jw_raw(&jw, "{\"type\":\"string\"}", 17);
        }
        qn_jw_obj_end(&jw);
        w->full |= text[bare].overflow;
        if (bare || types != QN_TYPE_STRING)
            names[bare] =
                qn_writer_rule(w, bare ? QN_RULE_BARE : QN_RULE_SCHEMA, qn_buf_cstr(&text[bare]));
        qn_buf_deinit(&text[bare]);
    }
    if (types == QN_TYPE_STRING)
        qn_buf_fmt(&w->g, " %s", names[1]);
    else
        qn_buf_fmt(&w->g, " ( %s | %s )", names[1], names[0]);
}

/* The rule for the schema of a tool's whole arguments, which must be an object regardless of the
 * schema's "type". */
const char *qn_writer_arguments(struct qn_writer *w, size_t tool)
{
    struct qn_jref root = qn_tools_parameters(w->f->tools, tool), member;
    struct qn_buf text;
    qn_buf_init(&text, QN_CONSTRAIN_BYTES_MAX);
    if (w->full)
        return "";
    if (w->any_objects)
        return qn_writer_rule(w, QN_RULE_SCHEMA, "{\"type\":\"object\"}");
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        return qn_writer_rule(
            w, QN_RULE_SCHEMA,
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
    const char *name = qn_writer_rule(w, QN_RULE_SCHEMA, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return name;
}

/* ---- Arguments that are not a JSON object ---- */

/* Writes the expression for an unquoted string that is followed by the mark `end`: one of the
 * values that the schema lists, or any text. */
static void bare_string(struct qn_writer *w, const struct qn_jref *schema, const char *end)
{
    struct qn_jref values = qn_json_get(schema, "enum"), only = qn_json_get(schema, "const"), v;
    if (qn_json_type(&only) == QN_JSON_STRING) {
        qn_writer_quote(w, &w->g, qn_json_raw_str(&only));
    } else if (qn_json_count(&values) > 0) {
        const char * or = " (";
        for (bool more = qn_json_first(&values, &v); more; more = qn_json_next(&v), or = " |") {
            qn_buf_str(&w->g, or);
            qn_writer_quote(w, &w->g, qn_json_raw_str(&v));
        }
        qn_buf_str(&w->g, " )");
    } else {
        qn_buf_fmt(&w->g, " %s", qn_writer_rule(w, QN_RULE_UNTIL, end));
    }
}

static void tag_parameter(struct qn_writer *w, const struct qn_jref *root,
                          const struct qn_jref *schema, unsigned types)
{
    const struct qn_xml_calls *how = w->w.how;
    const char *line = how->lines ? "\n" : "";
    bool is_string = types == QN_TYPE_STRING;
    const char *open = qn_writer_text(w, "%s%s%s%s%s%s", how->key, schema->key,
                                      !how->string ? how->key_end
                                      : is_string  ? how->string
                                                   : how->other,
                                      how->value[0] ? "\n" : "", how->value, line);
    const char *end = qn_writer_text(w, "%s%s", line, how->value_end);
    qn_writer_quote(w, &w->g, open);
    if (is_string && w->any_objects)
        bare_string(w, schema, end);
    else if ((types & QN_TYPE_STRING) && !w->any_objects && (is_string || !how->string))
        mixed_rules(w, root, schema, types, end);
    else
        qn_buf_fmt(&w->g, " %s", schema_rule(w, root, schema));
    qn_writer_quote(w, &w->g, qn_writer_text(w, "%s\n", end));
}

/* Writes a value in Gemma's syntax; the contents of objects and arrays are unconstrained. */
static void gemma_value(struct qn_writer *w, const struct qn_jref *root,
                        const struct qn_jref *schema, unsigned types)
{
    const struct qn_literal_calls *how = w->w.how;
    if (types == QN_TYPE_STRING) {
        qn_writer_quote(w, &w->g, how->quote);
        bare_string(w, schema, how->quote);
        qn_writer_quote(w, &w->g, how->quote);
    } else if (types & (QN_TYPE_STRING | QN_TYPE_OBJECT | QN_TYPE_ARRAY)) {
        qn_buf_str(&w->g, types == QN_TYPE_OBJECT  ? " gmap"
                          : types == QN_TYPE_ARRAY ? " glist"
                                                   : " gvalue");
        w->last.len = 0;
        const char *any = qn_writer_rule(w, QN_RULE_UNTIL, how->quote);
        qn_buf_str(&w->last, "gvalue ::= gstring | gword | glist | gmap\ngstring ::=");
        qn_writer_quote(w, &w->last, how->quote);
        qn_buf_fmt(&w->last, " %s", any);
        qn_writer_quote(w, &w->last, how->quote);
        qn_buf_str(&w->last,
                   "\ngword ::= \"true\" | \"false\" | \"null\" | \"-\"? [0-9]{1,15} (\".\" "
                   "[0-9]{1,15})?\nglist ::= \"[\" (gvalue (\",\" gvalue)*)? \"]\"\ngmap ::= "
                   "\"{\" (gpair (\",\" gpair)*)? \"}\"\ngpair ::= [a-zA-Z_] [a-zA-Z0-9_]* "
                   "\":\" gvalue\n");
    } else {
        qn_buf_fmt(&w->g, " %s", schema_rule(w, root, schema));
    }
}

static void literal_parameter(struct qn_writer *w, const struct qn_jref *root,
                              const struct qn_jref *schema, unsigned types)
{
    bool python = w->w.arguments == QN_WRITE_PYTHON;
    qn_writer_quote(w, &w->g, qn_writer_text(w, "%s%s", schema->key, python ? "=" : ":"));
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

/* Writes the rule p<i>-<k> for parameter k of tool i. */
static void parameter(struct qn_writer *w, size_t tool, const struct qn_jref *root,
                      const struct qn_jref *schema, size_t k)
{
    unsigned types = qn_tools_types(w->f->tools, qn_tools_name(w->f->tools, tool), schema->key);
    qn_buf_fmt(&w->g, "p%zu-%zu ::=", tool, k);
    if (w->w.arguments == QN_WRITE_TAGS)
        tag_parameter(w, root, schema, types);
    else
        literal_parameter(w, root, schema, types);
    qn_buf_char(&w->g, '\n');
}

/* The first keyword of the arguments' schema that concerns more than a single parameter and
 * therefore cannot be guaranteed when parameters are written separately. NULL: none. */
static const char *unheld_word(const struct qn_jref *root, size_t must, size_t n)
{
    static const char *const words[] = {"$ref",
                                        "allOf",
                                        "anyOf",
                                        "oneOf",
                                        "not",
                                        "if",
                                        "dependentRequired",
                                        "dependentSchemas",
                                        "dependencies",
                                        "patternProperties",
                                        "propertyNames"};
    struct qn_jref v;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        v = qn_json_get(root, words[i]);
        if (qn_json_type(&v) != QN_JSON_ABSENT)
            return words[i];
    }
    v = qn_json_get(root, "minProperties");
    if (qn_json_raw_f64(&v) > (double)must)
        return "minProperties";
    v = qn_json_get(root, "maxProperties");
    if (qn_json_type(&v) == QN_JSON_NUMBER && qn_json_raw_f64(&v) < (double)n)
        return "maxProperties";
    struct qn_jref list = qn_json_get(root, "required"), all = qn_json_get(root, "properties"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        v = qn_json_get(&all, qn_json_raw_str(&it));
        if (qn_json_type(&v) == QN_JSON_ABSENT)
            return "required";
    }
    return NULL;
}

/* Whether the name can be written between marks. */
static bool writable(const char *name)
{
    return name[0] && !strpbrk(name, "\n\r<>\"");
}

/* Records the property of a strict tool's schema that this syntax cannot guarantee. */
static void check_strict(struct qn_writer *w, size_t tool, const struct qn_jref *root, size_t must,
                         size_t n, bool left_out)
{
    const char *word = left_out ? "the name of a property" : unheld_word(root, must, n);
    if (word && qn_tools_strict(w->f->tools, tool) && !w->unheld[0])
        snprintf(w->unheld, sizeof w->unheld, "%.60s: %s", qn_tools_name(w->f->tools, tool), word);
}

/* Writes the rule a<i>: the parameters one by one, first the required and then the optional ones,
 * each group in the schema's order. */
void qn_writer_parameters(struct qn_writer *w, size_t tool)
{
    struct qn_jref root = qn_tools_parameters(w->f->tools, tool),
                   all = qn_json_get(&root, "properties"), it;
    const char *comma = w->w.arguments == QN_WRITE_TAGS     ? ""
                        : w->w.arguments == QN_WRITE_PYTHON ? ", "
                                                            : ",";
    size_t n = qn_json_type(&all) == QN_JSON_OBJECT ? qn_json_count(&all) : 0, k = 0, must = 0;
    size_t *order = qn_xcalloc(n + 1, sizeof *order);
    bool left_out = false;
    for (int optional = 0; optional < 2; optional++) {
        size_t i = 0;
        for (bool more = n && qn_json_first(&all, &it); more; more = qn_json_next(&it), i++) {
            left_out |= !writable(it.key);
            if (required(&root, it.key) == !optional && writable(it.key))
                order[k++] = i;
        }
        must = optional ? must : k;
    }
    check_strict(w, tool, &root, must, n, left_out);
    n = k;
    size_t i = 0;
    for (bool more = n && qn_json_first(&all, &it); more && !w->full; more = qn_json_next(&it), i++)
        if (writable(it.key))
            parameter(w, tool, &root, &it, i);
    /* Rule t<i>-<k>: the optional parameters from k on, each preceded by a comma. */
    for (k = must; k < n; k++) {
        qn_buf_fmt(&w->g, "t%zu-%zu ::= (", tool, k);
        qn_writer_quote(w, &w->g, comma);
        qn_buf_fmt(&w->g, " p%zu-%zu )?", tool, order[k]);
        if (k + 1 < n)
            qn_buf_fmt(&w->g, " t%zu-%zu", tool, k + 1);
        qn_buf_char(&w->g, '\n');
    }
    qn_buf_fmt(&w->g, "a%zu ::= \"\"", tool);
    for (k = 0; k < must; k++) {
        if (k)
            qn_writer_quote(w, &w->g, comma);
        qn_buf_fmt(&w->g, " p%zu-%zu", tool, order[k]);
    }
    if (must && must < n)
        qn_buf_fmt(&w->g, " t%zu-%zu", tool, must);
    for (k = must; !must && k < n; k++) { /* without required parameters, the first optional one has
                                             no comma */
        qn_buf_fmt(&w->g, " | p%zu-%zu", tool, order[k]);
        if (k + 1 < n)
            qn_buf_fmt(&w->g, " t%zu-%zu", tool, k + 1);
    }
    qn_buf_char(&w->g, '\n');
    free(order);
}
