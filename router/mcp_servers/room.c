/* Limits how many processes run at the same time; see servers_private.h. */
#include "mcp_servers/servers_private.h"

#include "base/str.h"

/* Returns the number of running processes of the owner; NULL: of all owners. */
static size_t running(const struct qn_mcp *m, const char *owner)
{
    size_t n = 0;
    for (const struct qn_mcp_server *s = m->servers; s; s = s->next)
        n += s->process && (!owner || qn_str_eq(s->owner, owner));
    return n;
}

/* Ends the idle process that has not been used for the longest time. Returns false if all processes
 * are in use. */
static bool end_unused(const struct qn_mcp *m, const char *owner)
{
    struct qn_mcp_server *found = NULL;
    for (struct qn_mcp_server *s = m->servers; s; s = s->next)
        if (s->process && !s->calls && !s->wants && (!owner || qn_str_eq(s->owner, owner)) &&
            (!found || s->used_ms < found->used_ms))
            found = s;
    if (!found)
        return false;
    qn_mcp_end(found, NULL);
    qn_mcp_tell(found);
    return true;
}

qn_err qn_mcp_room(const struct qn_mcp *m, const char *owner, struct qn_error *e)
{
    if (running(m, owner) >= QN_MCP_OWNER_PROCESSES_MAX && !end_unused(m, owner))
        return qn_fail(e, QN_EBUSY, "%d MCP servers of yours are at work already",
                       QN_MCP_OWNER_PROCESSES_MAX);
    if ((running(m, NULL) >= QN_MCP_PROCESSES_MAX && !end_unused(m, NULL)) ||
        qn_mcp_processes_count(m->processes) >= QN_MCP_PROCESSES_MAX + QN_MCP_ENDING_MAX)
        return qn_fail(e, QN_EBUSY, "too many MCP servers run at a time: at most %d",
                       QN_MCP_PROCESSES_MAX);
    return QN_OK;
}
