/* What GET status says of the server's own process. */
#ifndef QN_API_SERVER_INFO_H
#define QN_API_SERVER_INFO_H

#include "api/topics.h"
#include "base/json.h"

/* Writes the member "server": {"pid","uid","unit","stop_command","ollama"}. unit and stop_command
 * are null where systemd did not start the server. For clients that may know what is inside
 * (qn_auth_is_stranger). */
void qn_api_server_info_write(struct qn_jw *w, const struct qn_watch_api *api);

#endif
