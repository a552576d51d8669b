/* `quince-bridge`: a backend whose engine is somebody else's server. Either it runs that server
 * itself (the option "server": llama-server, whisper-server, sd-server, with "program"), or its
 * model's file says where servers are (contract/remote.h). Jobs become HTTP requests, replies
 * events.
 *
 * What its own sandbox forbids: any file but its definition and what names and certificates are
 * looked up with, starting programs, listening. What it cannot forbid, for that is its task:
 * connecting to any address. */
#ifndef QN_BRIDGE_BRIDGE_H
#define QN_BRIDGE_BRIDGE_H

#include "child/serve.h"

extern const struct qn_backend qn_bridge_backend;

#endif
