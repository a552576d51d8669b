/* The keeper: the parent process of a stdio server and of the speaker, a sandboxed process that
 * reads the server's output and talks to the router. The keeper itself reads nothing that the
 * server writes. When the server or the speaker ends, the other one ends too, with every process
 * that the server has started; so do both when the router closes its connection, or when the keeper
 * receives SIGTERM or SIGINT. */
#ifndef QN_MCP_KEEPER_H
#define QN_MCP_KEEPER_H

#include "mcp/launch.h"

/* Runs until `speaker` has ended or a signal asks to stop, then ends the server. Returns when no
 * process of the server is left. The server has STOP_MS to exit after its stdin was closed (the
 * speaker's end closes it); then it is killed. tell: the write end of a pipe, to which this
 * function writes a sentence about how the server ended; closed by this function. */
void qn_keeper_run(const struct qn_launched *server, pid_t speaker, int tell);

/* Must be called before any process is started: makes this process a subreaper, so that orphans of
 * the server become its children, and blocks the signals that it waits for. */
void qn_keeper_prepare(void);

#endif
