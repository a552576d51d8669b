/* See server_info.h. */
#include "api/server_info.h"

#include "http/ports.h"
#include "telemetry/service_unit.h"

#include <unistd.h>

enum { COMMAND_MAX = 1024 };

void qn_api_server_info_write(struct qn_jw *w, const struct qn_watch_api *api)
{
    const struct qn_service_unit *u = api->unit;
    struct qn_buf command;
    qn_buf_init(&command, COMMAND_MAX);
    qn_service_unit_stop_command(u, api->socket_activated, &command);
    qn_jw_key(w, "server");
    qn_jw_obj(w);
    qn_jw_ki64(w, "pid", getpid());
    qn_jw_ki64(w, "uid", getuid());
    qn_jw_kstr(w, "unit", u->there ? u->name : NULL);
    qn_jw_kstr(w, "stop_command", u->there ? qn_buf_cstr(&command) : NULL);
    qn_ports_write_ollama(w, api->ports);
    qn_jw_obj_end(w);
    qn_buf_deinit(&command);
}
