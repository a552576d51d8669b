/* Replies for failed queries to hubs, as a hub's failure is not an error of the request. */
#include "api/api.h"

#include "answers/answer.h"
#include "registry/web.h"

void qn_api_hub_problem(const struct qn_web *web, struct qn_http *h, const struct qn_error *e,
                        int failed)
{
    if (qn_web_is_offline(web) && e->code == QN_EUNSUPPORTED) {
        qn_answer_plain(h, 400, "lemond_offline", e->message);
    } else if (e->code == QN_EIO || e->code == QN_EFORMAT || e->code == QN_ETIMEOUT ||
               e->code == QN_ELIMIT) {
        qn_answer_plain(h, failed, "hub_error", e->message);
    } else if (e->code == QN_EBUSY) {
        qn_http_set_header(h, "Retry-After", "60");
        qn_answer_plain(h, 429, "rate_limited", e->message);
    } else {
        qn_answer_error(h, e);
    }
}
