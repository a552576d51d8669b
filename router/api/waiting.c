/* See waiting.h. */
#include "api/waiting.h"

#include "answers/answer.h"

static void gone(void *ctx)
{
    ((struct qn_waiting *)ctx)->http = NULL;
}

void qn_waiting_begin(struct qn_waiting *w, struct qn_http *h)
{
    w->http = h;
    qn_http_on_gone(h, gone, w);
}

void qn_waiting_never_mind(struct qn_waiting *w)
{
    if (w->http)
        qn_http_on_gone(w->http, NULL, NULL);
    w->http = NULL;
}

bool qn_waiting_end(struct qn_waiting *w, const struct qn_error *e)
{
    if (!w->http)
        return false;
    qn_http_on_gone(w->http, NULL, NULL);
    if (!e)
        return true;
    qn_answer_error(w->http, e);
    w->http = NULL;
    return false;
}
