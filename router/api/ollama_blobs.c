/* HEAD and POST /api/blobs/:digest: files from which create makes models. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/path.h"
#include "library/blobs.h"

#include <stdlib.h>

/* The checksum cannot be cancelled for one client, so this outlives a client that disconnects. */
struct asker {
    struct qn_waiting client;
};

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, e))
        qn_http_reply(a->client.http, 201, NULL, "", 0);
    free(a);
}

/* Uploads are only for making models, so the setting no-presets refuses them, too. */
static bool refused(const struct qn_ollama_api *api, struct qn_http *h)
{
    if (api->no_presets)
        qn_answer_plain(h, 501, "not_implemented",
                        "making models is switched off by the setting no-presets");
    return api->no_presets;
}

/* True if the blob exists; otherwise, if the digest is invalid, the request has been answered. */
static bool is_there(const struct qn_ollama_api *api, struct qn_http *h, const char *digest,
                     bool *answered)
{
    struct qn_error e = {0};
    char *path = qn_blob_path(api->custody->blobs, digest);
    *answered = !path;
    if (!path) {
        qn_fail_param(&e, QN_EINVAL, "digest",
                      "'%.100s' is not a digest: expected sha256: and 64 hexadecimal digits",
                      digest);
        qn_answer_error(h, &e);
        return false;
    }
    bool there = qn_blob_ask(api->custody->blobs, path);
    free(path);
    return there;
}

void qn_api_ollama_blob(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    bool answered;
    if (refused(api, h))
        return;
    if (is_there(api, h, id, &answered)) {
        qn_http_reply(h, 200, NULL, "", 0);
    } else if (!answered) {
        qn_fail_param(&e, QN_ENOTFOUND, "digest", "blob \"%s\" not found", id);
        qn_answer_error(h, &e);
    }
}

void qn_api_ollama_blob_put(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    bool answered;
    if (refused(api, h))
        return;
    if (is_there(api, h, id, &answered)) {
        qn_http_reply(h, 200, NULL, "", 0);
        return;
    }
    if (answered)
        return;
    struct qn_caller caller;
    struct asker *a = qn_xcalloc(1, sizeof *a);
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_waiting_begin(&a->client, h);
    qn_blob_put(api->custody->blobs, h, id, caller.owner, done, a);
}
