/* Tells quince-mcp which ports and folders of quince a server's program must not reach; see
 * servers_private.h. */
#include "mcp_servers/servers_private.h"

#include <string.h>

static size_t ports_of(const struct qn_mcp *m, int out[static QN_MCP_PORTS_MAX])
{
    return m->config.ports ? m->config.ports(m->config.ctx, out) : 0;
}

void qn_mcp_write_limits(struct qn_mcp *m, struct qn_jw *w)
{
    m->n_ports = ports_of(m, m->ports);
    qn_jw_key(w, "ports");
    qn_jw_arr(w);
    for (size_t i = 0; i < m->n_ports; i++)
        qn_jw_i64(w, m->ports[i]);
    qn_jw_arr_end(w);
    qn_jw_key(w, "private");
    qn_jw_arr(w);
    if (m->data_dir)
        qn_jw_str(w, m->data_dir);
    qn_jw_arr_end(w);
}

void qn_mcp_ports_changed(struct qn_mcp *m)
{
    int now[QN_MCP_PORTS_MAX];
    size_t n = ports_of(m, now);
    if (n == m->n_ports && !memcmp(now, m->ports, n * sizeof *now))
        return;
    for (struct qn_mcp_server *s = m->servers; s; s = s->next)
        if (s->stdio && s->process) {
            qn_mcp_end(s, "quince listens on other ports now");
            qn_mcp_tell(s);
        }
}
