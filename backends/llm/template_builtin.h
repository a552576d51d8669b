/* What templates may use by name: filters, tests, methods and properties, global functions. Each is
 * a table; which filter knows which type is part of the language, as the reference has it. */
#ifndef QN_LLM_TEMPLATE_BUILTIN_H
#define QN_LLM_TEMPLATE_BUILTIN_H

#include "llm/template_run.h"

/* value | name or value | name(args): the two forms are different rows. */
enum qn_tflow qn_tfilter_apply(struct qn_trun *run, const struct qn_tval *name, bool parentheses,
                               const struct qn_tval *value, const struct qn_targs *args,
                               struct qn_tval *out);

/* value is name; argument may be NULL. */
enum qn_tflow qn_ttest_apply(struct qn_trun *run, const struct qn_tval *name,
                             const struct qn_tval *value, const struct qn_tval *argument,
                             bool *out);

/* Methods and properties that belong to a value's type; undefined when there is none. */
enum qn_tflow qn_tmethod_get(struct qn_trun *run, const struct qn_tval *object, const char *name,
                             size_t n, struct qn_tval *out);

/* Binds true, false, none, range, namespace, raise_exception, strftime_now. */
enum qn_tflow qn_tglobals_bind(struct qn_trun *run);

/* Arguments of built-ins: the i-th positional one or the named one, else NULL. */
const struct qn_tval *qn_targ(struct qn_trun *run, const struct qn_targs *args, size_t i,
                              const char *name);
/* The i-th as it stands, keyword arguments included; NULL past the end. */
const struct qn_tval *qn_targ_at(const struct qn_targs *args, size_t i);

/* Shared between a filter and a method of the same name. */
enum qn_tflow qn_ttext_upper(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_ttext_lower(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_ttext_title(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_ttext_capitalize(struct qn_trun *run, const struct qn_tval *v,
                                  struct qn_tval *out);
enum qn_tflow qn_ttext_replace(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_targs *args, struct qn_tval *out);
enum qn_tflow qn_ttext_trim(struct qn_trun *run, const struct qn_tval *v, bool left, bool right,
                            struct qn_tval *out);
enum qn_tflow qn_tdict_items(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tdict_keys(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tdict_values(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
enum qn_tflow qn_tdict_sorted(struct qn_trun *run, const struct qn_tval *v,
                              const struct qn_targs *args, struct qn_tval *out);

#endif
