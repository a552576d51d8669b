/* The server's own process in GET status. */
#ifndef QN_API_SERVER_INFO_H
#define QN_API_SERVER_INFO_H

#include "api/topics.h"
#include "base/json.h"

/* Writes the member "server": {"pid","uid","unit","stop_command","port","open_to_others",
 * "addresses","ollama"}. unit and stop_command are null if systemd did not start the server. Only
 * for clients that may see internal data (qn_auth_is_stranger). */
void qn_api_server_info_write(struct qn_jw *w, const struct qn_watch_api *api);

#endif
