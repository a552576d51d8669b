/* `quince-bridge`: a backend whose engine is a server of another project. Either the bridge runs
 * that server itself (the option "server" is llama-server, whisper-server or sd-server, and
 * "program" is the path of its executable), or the model's file tells where servers are
 * (contract/remote.h). The bridge sends each job to the server as an HTTP request and converts the
 * reply to events.
 *
 * The bridge's sandbox forbids starting programs, listening, and access to all files except the
 * definition and those needed for resolving names and verifying certificates. It has to allow
 * connections to every address, because these are the bridge's purpose. */
#ifndef QN_BRIDGE_BRIDGE_H
#define QN_BRIDGE_BRIDGE_H

#include "child/serve.h"

extern const struct qn_backend qn_bridge_backend;

#endif
