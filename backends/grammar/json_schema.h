/* Translates JSON Schema (drafts 4 to 2020-12) to a grammar of compact JSON: properties in the
 * schema's order, white space only in the usual places and of bounded length.
 *
 * Every text that the grammar allows is valid by the schema, but the grammar does not allow every
 * valid text: properties that a schema with "properties" does not name are allowed only when
 * "additionalProperties" is present, numbers have at most 15 to 18 digits, and a key cannot be
 * repeated with different escapes. A keyword that cannot be guaranteed is refused with
 * QN_EUNSUPPORTED and its path. */
#ifndef QN_GRAMMAR_JSON_SCHEMA_H
#define QN_GRAMMAR_JSON_SCHEMA_H

#include "grammar/constrain_grammar.h"

/* Defines g's rule `rule` as the values that the schema allows. QN_EFORMAT (not JSON), QN_EINVAL
 * (not a schema), QN_EUNSUPPORTED, QN_ELIMIT. */
qn_err qn_json_schema_add(struct qn_grammar *g, uint32_t rule, const char *schema,
                          struct qn_error *e);

/* Defines the rule as the strings that a schema allows, written as QN_RULE_BARE describes.
 * QN_EUNSUPPORTED also for strings that can only be guaranteed between quotes. */
qn_err qn_json_schema_add_bare(struct qn_grammar *g, uint32_t rule, const char *json,
                               struct qn_error *e);

#endif
