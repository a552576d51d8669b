/* See service_unit.h. */
#include "telemetry/service_unit.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

enum { CGROUPS_MAX = 64 * 1024 };

static const char ending[] = ".service";

/* Finds the path in systemd's own hierarchy: with version 2 "0::PATH", with version 1
 * "N:name=systemd:PATH". */
static const char *own_path(const char *cgroups, size_t *n)
{
    static const char v1[] = ":name=systemd:";
    const char *path = NULL;
    for (const char *line = cgroups; *line && !path;) {
        size_t length = strcspn(line, "\n");
        const char *colon = memchr(line, ':', length);
        if (length >= 3 && strncmp(line, "0::", 3) == 0)
            path = line + 3;
        else if (colon && strncmp(colon, v1, sizeof v1 - 1) == 0)
            path = colon + sizeof v1 - 1;
        if (path)
            *n = (size_t)(line + length - path);
        line += length + (line[length] == '\n');
    }
    return path;
}

/* A component of the path that ends in ".service" is a unit. The last one is the process's unit,
 * unless it is the user's service manager itself. */
static void take_path(const char *path, size_t n, struct qn_service_unit *out)
{
    for (size_t at = 0; at < n;) {
        const char *part = path + at;
        size_t length = 0;
        while (at + length < n && part[length] != '/')
            length++;
        at += length + 1;
        if (length < sizeof ending || length > QN_SERVICE_UNIT_NAME_MAX ||
            strncmp(part + length - (sizeof ending - 1), ending, sizeof ending - 1) != 0)
            continue;
        if (strncmp(part, "user@", 5) == 0) {
            out->user = true;
            continue;
        }
        memcpy(out->name, part, length);
        out->name[length] = '\0';
    }
}

void qn_service_unit_read(const char *const *env, const char *cgroups, pid_t pid,
                          struct qn_service_unit *out)
{
    const char *started = qn_env_get(env, "SYSTEMD_EXEC_PID");
    int64_t number;
    size_t n = 0;
    *out = (struct qn_service_unit){0};
    if (!started || !qn_parse_i64(started, &number) || number != pid)
        return;
    out->there = true;
    const char *path = own_path(cgroups, &n);
    if (path)
        take_path(path, n, out);
}

void qn_service_unit_look(const char *const *env, struct qn_service_unit *out)
{
    struct qn_buf text;
    qn_buf_init(&text, CGROUPS_MAX);
    qn_file_read("/proc/self/cgroup", &text, NULL);
    qn_service_unit_read(env, qn_buf_cstr(&text), getpid(), out);
    qn_buf_deinit(&text);
}

void qn_service_unit_stop_command(const struct qn_service_unit *u, bool socket, struct qn_buf *out)
{
    const char *name = u->name[0] ? u->name : "quinced.service";
    int stem = (int)(strlen(name) - strlen(ending));
    qn_buf_fmt(out, "%s stop %s", u->user ? "systemctl --user" : "sudo systemctl", name);
    if (socket)
        qn_buf_fmt(out, " %.*s.socket", stem, name);
}
