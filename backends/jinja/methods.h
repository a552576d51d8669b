/* The methods of Python's types that templates may call. */
#ifndef QN_JINJA_METHODS_H
#define QN_JINJA_METHODS_H

#include "jinja/value.h"

struct qn_tmethod {
    const char *name;
    qn_tcall call;
};

/* Returns a bound method; *out is QN_T_MISSING when the type has no method of this name. */
enum qn_tflow qn_tmethod_get(struct qn_trun *run, const struct qn_tval *object,
                             const struct qn_tval *name, struct qn_tval *out);

/* dict.update(): adds the members of a dictionary, or pairs. */
enum qn_tflow qn_tdict_update(struct qn_trun *run, struct qn_tdict *dict,
                              const struct qn_tval *from);

/* The tables of methods by type. Each ends with a NULL name. */
extern const struct qn_tmethod qn_tmethods_str[];       /* methods_str.c */
extern const struct qn_tmethod qn_tmethods_str_parts[]; /* methods_parts.c: search and splitting */
extern const struct qn_tmethod qn_tmethods_list[];
extern const struct qn_tmethod qn_tmethods_tuple[];
extern const struct qn_tmethod qn_tmethods_dict[];
extern const struct qn_tmethod qn_tmethods_int[];
extern const struct qn_tmethod qn_tmethods_float[];

#endif
