/* `quince-bridge`: a backend whose engine is another program's server. Either the bridge runs that
 * server itself (the option "server": llama-server, whisper-server, sd-server, with "program"), or
 * the model's file tells where servers are (contract/remote.h). Jobs are translated to HTTP
 * requests and replies to events.
 *
 * The bridge's sandbox forbids starting programs, listening, and access to all files except the
 * definition and those needed for resolving names and verifying certificates. It cannot forbid
 * connections to any address, because these are the bridge's purpose. */
#ifndef QN_BRIDGE_BRIDGE_H
#define QN_BRIDGE_BRIDGE_H

#include "child/serve.h"

extern const struct qn_backend qn_bridge_backend;

#endif
