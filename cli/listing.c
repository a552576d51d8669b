/* See listing.h. */
#include "cli/listing.h"

#include "cli/client.h"
#include "cli/print.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 30 };

int qn_listing(const struct qn_cli *cli, const char *route, const char *member,
               void (*print)(const struct qn_jref *array), const char *nothing)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, route, NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), array = qn_json_get(&root, member);
    if (cli->json)
        qn_print_json(&array);
    else if (qn_json_count(&array))
        print(&array);
    else
        puts(nothing);
    qn_json_free(doc);
    return QN_EXIT_OK;
}
