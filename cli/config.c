/* See config.h. */
#include "cli/config.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"

#include <stdlib.h>

enum { FILE_MAX = 1024 * 1024 };

static char *text_of(const struct qn_jref *root, const char *key, enum qn_json_type type)
{
    struct qn_jref v = qn_json_get(root, key);
    if (qn_json_type(&v) != type || (type == QN_JSON_NUMBER && qn_json_raw_f64(&v) == 0))
        return NULL; /* with port 0 the server picks a port, which is unknown here */
    if (type == QN_JSON_STRING)
        return qn_xstrdup(qn_json_raw_str(&v));
    struct qn_buf b;
    qn_buf_init(&b, FILE_MAX);
    qn_json_print(&v, &b);
    return qn_buf_take(&b);
}

void qn_config_read(struct qn_config *c, const char *data_dir)
{
    char *path = qn_path_join(data_dir, "config.json");
    struct qn_buf text;
    struct qn_json *doc = NULL;
    *c = (struct qn_config){0};
    qn_buf_init(&text, FILE_MAX);
    if (qn_file_read(path, &text, NULL) == QN_OK &&
        qn_json_parse(qn_buf_cstr(&text), text.len, &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc);
        c->host = text_of(&root, "host", QN_JSON_STRING);
        c->port = text_of(&root, "port", QN_JSON_NUMBER);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    free(path);
}

void qn_config_deinit(struct qn_config *c)
{
    free(c->host);
    free(c->port);
    *c = (struct qn_config){0};
}
