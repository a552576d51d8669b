/* Calls written as tags, a tag per parameter:
 * <function=f><parameter=a>value</parameter></function>. Values carry no types, so the tool's
 * schema says which they have. */
#ifndef QN_LLM_TOOLCALL_CALLS_XML_H
#define QN_LLM_TOOLCALL_CALLS_XML_H

#include "llm/toolcall/calls_parse.h"

struct qn_xml_calls {
    const char *call;     /* in front of a name; "": nothing */
    const char *name_end; /* behind it; NULL: it ends at white space or the next mark */
    const char *key;      /* in front of a parameter's name */
    const char *key_end;
    const char *string, *other; /* MAY, both: in key_end's place where the value is known to be a
                                   string, or to be none */
    const char *value;          /* in front of a value; "": nothing */
    const char *value_end;
    const char *call_end;  /* NULL: nothing ends a call but the block's end */
    const char *block_end; /* NULL: there is none */
    bool lines;            /* a line break at either end of a value belongs to the marks */
    bool blocks;           /* written: each call has a block of its own */
};

extern const struct qn_form qn_calls_xml; /* how: struct qn_xml_calls */

#endif
