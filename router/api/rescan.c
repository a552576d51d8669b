/* POST models/rescan: discovers the models of other programs on this disk again. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "library/discovery.h"

#include <stdlib.h>

struct asker {
    struct qn_waiting client;
};

static void done(void *ctx, size_t found)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, NULL)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "status", "success");
        qn_jw_ki64(&w, "found", (int64_t)found);
        qn_jw_obj_end(&w);
        qn_answer_json(a->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    free(a);
}

void qn_api_rescan(const struct qn_disk_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    (void)id;
    if (api->serving->stopping) {
        qn_fail(&e, QN_EBUSY, "the server is stopping");
        qn_answer_error(h, &e);
        return;
    }
    struct asker *a = qn_xcalloc(1, sizeof *a);
    qn_waiting_begin(&a->client, h);
    qn_discovery_again(api->discovery, done, a);
}
