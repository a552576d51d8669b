/* See server_info.h. */
#include "api/server_info.h"

#include "http/own_addresses.h"
#include "http/ports.h"
#include "telemetry/service_unit.h"

#include <unistd.h>

enum { COMMAND_MAX = 1024 };

/* Writes where other machines can reach the main port, if it listens there. */
static void write_addresses(struct qn_jw *w, const struct qn_ports *ports)
{
    struct qn_own_addresses own;
    qn_own_addresses(&own);
    qn_jw_ki64(w, "port", qn_listen_port(ports->main));
    qn_jw_kbool(w, "open_to_others", qn_listen_open_to_others(ports->main));
    qn_jw_key(w, "addresses");
    qn_jw_arr(w);
    for (size_t i = 0; i < own.n; i++)
        qn_jw_str(w, own.text[i]);
    qn_jw_arr_end(w);
}

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
    write_addresses(w, api->ports);
    qn_ports_write_ollama(w, api->ports);
    qn_jw_obj_end(w);
    qn_buf_deinit(&command);
}
