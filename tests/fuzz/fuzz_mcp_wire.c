/* Fuzz target: the input is a line of quince-mcp. If it is accepted, it must keep the limits, and
 * writing and parsing it again must give the same values. */
#include "contract/mcp_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool yes)
{
    if (!yes)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_mcp_up up, again;
    struct qn_json *doc, *second;
    struct qn_buf schema, other, line;
    qn_buf_init(&schema, QN_MCP_UP_MAX);
    qn_buf_init(&other, 2 * QN_MCP_UP_MAX);
    qn_buf_init(&line, 8 * QN_MCP_UP_MAX);
    if (!qn_mcp_up_read((const char *)data, n, &up, &doc, &schema, NULL)) {
        must(strlen(up.text) <= QN_MCP_PIECE_MAX && strlen(up.schema) <= QN_MCP_SCHEMA_MAX);
        must(strlen(up.message) <= QN_MCP_MESSAGE_TEXT_MAX && strlen(up.name) <= QN_MCP_WORD_MAX);
        qn_mcp_up_write(&up, &line);
        if (line.len <= QN_MCP_UP_MAX) {
            must(!qn_mcp_up_read(line.data, line.len - 1, &again, &second, &other, NULL));
            must(again.kind == up.kind && again.id == up.id && again.error == up.error);
            must(!strcmp(again.text, up.text) && !strcmp(again.schema, up.schema));
            qn_json_free(second);
        }
    } else {
        must(doc == NULL);
    }
    qn_json_free(doc);
    qn_buf_deinit(&schema);
    qn_buf_deinit(&other);
    qn_buf_deinit(&line);
    return 0;
}
