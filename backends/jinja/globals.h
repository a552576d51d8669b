/* The global functions and classes available to every template: range, dict, namespace ... */
#ifndef QN_JINJA_GLOBALS_H
#define QN_JINJA_GLOBALS_H

#include "jinja/value.h"

enum qn_tflow qn_tglobals_bind(struct qn_trun *run);

#endif
