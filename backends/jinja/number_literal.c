/* Converts number literals to values while a template is compiled. */
#include "base/arena.h"
#include "jinja/number.h"
#include "jinja/parse.h"
#include "jinja/run.h"
#include "jinja/template.h"

#include <stdlib.h>

struct qn_tnode *qn_tparse_number(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_LITERAL);
    struct qn_trun run = {
        .arena = p->t->arena, .e = p->e, .at = p->tok->line, .steps = QN_TEMPLATE_STEPS_MAX};
    bool ok = false;
    double f = 0;
    enum qn_tflow flow;
    if (p->tok->kind == QN_TOK_INT) {
        flow = qn_tval_parse_int(&run, p->tok->s, p->tok->n, 0, &ok, &node->val);
    } else {
        flow = qn_tval_parse_float(&run, p->tok->s, p->tok->n, &ok, &f);
        node->val = qn_tval_float(f);
    }
    if (flow != QN_T_OK || !ok)
        return qn_tparse_fail(p, "this number is not possible");
    p->tok++;
    return qn_tparse_done(p, node);
}
