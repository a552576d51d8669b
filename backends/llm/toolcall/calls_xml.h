/* Calls written with one tag per parameter: <function=f><parameter=a>value</parameter></function>.
 * Values have no types in this syntax, so the tool's schema determines the types. */
#ifndef QN_LLM_TOOLCALL_CALLS_XML_H
#define QN_LLM_TOOLCALL_CALLS_XML_H

#include "llm/toolcall/calls_parse.h"

struct qn_xml_calls {
    const char *call;     /* before a name; "": none */
    const char *name_end; /* after a name; NULL: the name ends at white space or the next mark */
    const char *key;      /* before a parameter's name */
    const char *key_end;
    const char *string, *other; /* both optional: replace key_end to mark the value as a string, or
                                   as another type */
    const char *value;          /* before a value; "": none */
    const char *value_end;
    const char *call_end;  /* NULL: a call is ended only by the end of the block */
    const char *block_end; /* NULL: none */
    bool lines;            /* a line break at the start and at the end of a value belongs to the
                              marks */
    bool blocks;           /* for writing: each call has its own block */
};

extern const struct qn_form qn_calls_xml; /* how: struct qn_xml_calls */

#endif
