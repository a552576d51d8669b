/* JSON Schema (drafts 4 to 2020-12) as grammar: compact JSON with properties in the schema's order
 * and white space where people put it, never without bounds.
 *
 * What the grammar allows is always valid by the schema; not everything that is valid is allowed:
 * properties that a schema with "properties" does not name come only where "additionalProperties"
 * is there, numbers are of at most 15 to 18 digits, keys are not repeated in other spellings. A
 * keyword that cannot be guaranteed is QN_EUNSUPPORTED with its place. */
#ifndef QN_GRAMMAR_JSON_SCHEMA_H
#define QN_GRAMMAR_JSON_SCHEMA_H

#include "grammar/constrain_grammar.h"

/* Defines g's rule `rule` as what the schema allows. QN_EFORMAT (not JSON), QN_EINVAL (no schema),
 * QN_EUNSUPPORTED, QN_ELIMIT. */
qn_err qn_json_schema_add(struct qn_grammar *g, uint32_t rule, const char *schema,
                          struct qn_error *e);

/* The rule allows the strings that a schema allows, as QN_RULE_BARE says. QN_EUNSUPPORTED also for
 * what is only guaranteed between quotes. */
qn_err qn_json_schema_add_bare(struct qn_grammar *g, uint32_t rule, const char *json,
                               struct qn_error *e);

#endif
