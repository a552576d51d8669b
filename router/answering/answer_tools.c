/* Collects the tools of MCP servers that an answer offers to its model; see answer_private.h. */
#include "answering/answer_private.h"

#include "base/str.h"

#include <string.h>

static void offered(void *ctx)
{
    struct qn_answer *x = ctx;
    x->ask.tools = qn_mcp_offer_tools(x->offer);
    x->view.tools = qn_mcp_offer_servers(x->offer);
    x->view.stage = QN_ANSWER_PREPARING;
    x->view.state_changes++;
    qn_answer_tell(x);
    qn_answer_request(x);
}

static void ask_servers(struct qn_answer *x)
{
    const char *ids[QN_MCP_OFFER_SERVERS_MAX];
    char *text = qn_buf_cstr(&x->tools.servers), *rest = NULL;
    size_t n = 0;
    for (char *id = strtok_r(text, " ", &rest); id && n < QN_MCP_OFFER_SERVERS_MAX;
         id = strtok_r(NULL, " ", &rest))
        ids[n++] = id;
    if (!n) {
        qn_answer_request(x);
        return;
    }
    x->view.stage = QN_ANSWER_TOOLS;
    x->view.state_changes++;
    x->offer = qn_mcp_offer_new(&(struct qn_mcp_offer_wish){.mcp = x->in->mcp,
                                                            .chats = x->in->chats,
                                                            .owner = x->caller.owner,
                                                            .admin = x->caller.admin,
                                                            .ids = ids,
                                                            .n = n},
                                offered, x);
    qn_answer_tell(x);
}

/* Runs on a worker thread, because parsing long parameters takes time. */
static void read_params(void *ctx)
{
    struct qn_answer *x = ctx;
    qn_answer_tools_read(x->ask.params, x->ask.defaults, &x->tools);
}

static void params_read(void *ctx)
{
    struct qn_answer *x = ctx;
    x->busy = false;
    if (x->ended)
        qn_answer_drop(x);
    else
        ask_servers(x);
}

void qn_answer_offer(struct qn_answer *x)
{
    x->busy = true;
    x->offers = true;
    qn_loop_work(x->in->inference->serving->loop, read_params, params_read, x);
}
