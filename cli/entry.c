/* See entry.h. */
#include "cli/entry.h"

#include "base/buf.h"
#include "base/str.h"
#include "cli/client.h"

#include <string.h>
#include <strings.h>

enum { CALL_TIMEOUT_S = 30, PATH_MAX_BYTES = 16 * 1024 };

static const char *text(const struct qn_jref *entry, const char *key)
{
    struct qn_jref v = qn_json_get(entry, key);
    return qn_json_raw_str(&v);
}

static double number(const struct qn_jref *entry, const char *key)
{
    struct qn_jref v = qn_json_get(entry, key);
    return qn_json_raw_f64(&v);
}

static bool truth(const struct qn_jref *entry, const char *key)
{
    struct qn_jref v = qn_json_get(entry, key);
    return qn_json_raw_bool(&v);
}

void qn_entry_read(const struct qn_jref *entry, struct qn_entry *out)
{
    double bytes = number(entry, "size_bytes");
    *out = (struct qn_entry){
        .id = text(entry, "id"),
        .checkpoint = text(entry, "checkpoint"),
        .recipe = text(entry, "recipe"),
        .type = text(entry, "type"),
        .quantization = text(entry, "quantization"),
        .source = text(entry, "source"),
        .size_bytes = bytes > 0 ? bytes : number(entry, "size") * 1e9,
        .parameters = number(entry, "parameters"),
        .context = number(entry, "context_length"),
        .last_use_s = (int64_t)number(entry, "last_use"),
        .downloaded = truth(entry, "downloaded"),
        .suggested = truth(entry, "suggested"),
        .loaded = truth(entry, "loaded"),
        .update_available = truth(entry, "update_available"),
    };
}

void qn_entry_labels(const struct qn_jref *entry, bool telling, struct qn_buf *out)
{
    struct qn_jref labels = qn_json_get(entry, "labels"), it;
    size_t begin = out->len;
    for (bool more = qn_json_first(&labels, &it); more; more = qn_json_next(&it)) {
        const char *label = qn_json_raw_str(&it);
        if (!telling || (!qn_str_eq(label, "chat") && !qn_str_eq(label, "hot")))
            qn_buf_fmt(out, "%s%s", out->len > begin ? ", " : "", label);
    }
}

static bool contains(const char *s, const char *part)
{
    size_t n = strlen(part);
    for (; *s; s++)
        if (strncasecmp(s, part, n) == 0)
            return true;
    return n == 0;
}

bool qn_entry_matches(const struct qn_jref *entry, const char *filter)
{
    struct qn_jref labels = qn_json_get(entry, "labels"), it;
    for (bool more = qn_json_first(&labels, &it); more; more = qn_json_next(&it))
        if (qn_str_ieq(qn_json_raw_str(&it), filter))
            return true;
    return contains(text(entry, "id"), filter);
}

qn_err qn_entry_fetch(const struct qn_cli *cli, const char *name, struct qn_json **out,
                      struct qn_error *e)
{
    struct qn_buf path;
    qn_buf_init(&path, PATH_MAX_BYTES);
    qn_buf_str(&path, "/api/v1/models/");
    qn_client_escape(&path, name, true);
    qn_err err = path.overflow
                     ? qn_fail(e, QN_ENOTFOUND, "no model has a name of %zu bytes", strlen(name))
                     : qn_client_call(cli, path.data, NULL, CALL_TIMEOUT_S, NULL, out, e);
    qn_buf_deinit(&path);
    return err;
}
