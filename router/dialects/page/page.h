/* What others need of the page's dialect (page.c). */
#ifndef QN_DIALECTS_PAGE_PAGE_H
#define QN_DIALECTS_PAGE_PAGE_H

#include "base/json.h"

struct qn_problem;

/* Writes an error as an object: "message", "code", and where they apply "param" and "report", the
 * crash report of a process. */
void qn_page_error_write(const struct qn_problem *p, struct qn_jw *w);

#endif
