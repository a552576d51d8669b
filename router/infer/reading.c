/* See reading.h. */
#include "infer/reading.h"

#include "answers/members.h"
#include "dialects/shared/form.h"

#include <stdlib.h>

static void body_free(struct qn_reading *r)
{
    if (r->body)
        qn_body_deinit(r->body);
    free(r->body);
    r->body = NULL;
    r->text = "";
    r->n = 0;
}

static qn_err read_json(struct qn_reading *r)
{
    struct qn_error why = {0};
    if (!r->n)
        return qn_fail(&r->error, QN_EFORMAT, "the request body is empty: a JSON object is needed");
    qn_err err = qn_json_parse(r->text, r->n, &r->doc, &why);
    body_free(r); /* freeing files and mappings may be slow, too */
    if (err)
        return qn_fail(&r->error, QN_EFORMAT, "the request body is not valid JSON: %s",
                       why.message);
    struct qn_jref root = qn_json_root(r->doc);
    if (qn_json_type(&root) != QN_JSON_OBJECT)
        return qn_fail(&r->error, QN_EFORMAT, "the request body must be a JSON object");
    return qn_members_check(&root, &r->error);
}

void qn_reading_do(struct qn_reading *r)
{
    if (r->dialect->form) /* the form's files are in the body */
        r->err =
            qn_form_read(r->content_type, r->text, r->n, r->arena, &r->doc, &r->files, &r->error);
    else
        r->err = read_json(r);
    if (!r->err && r->dialect->earlier)
        r->n_ids = r->dialect->earlier(r->doc, r->arena, &r->chain, r->ids);
}

void qn_reading_deinit(struct qn_reading *r)
{
    qn_json_free(r->doc);
    r->doc = NULL;
    body_free(r);
}
