/* See launch.h. */
#include "mcp/launch.h"

#include "base/path.h"
#include "base/str.h"
#include "confine/confine.h"
#include "mcp/limits.h"
#include "mcp/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Variables that are copied from the environment of quince-mcp to that of the server. */
static const char *const passed[] = {"PATH", "LANG", "LC_ALL", "TZ"};
enum { PASSED = sizeof passed / sizeof *passed };

/* Returns the absolute path of the program; NULL: there is no such program. */
static const char *find_program(const char *command, struct qn_arena *arena)
{
    const char *path = getenv("PATH");
    if (*command == '/')
        return access(command, X_OK) ? NULL : command;
    if (!*command || strchr(command, '/') || !path)
        return NULL;
    while (*path) {
        size_t n = strcspn(path, ":");
        const char *at = qn_arena_fmt(arena, "%.*s/%s", (int)n, path, command);
        if (n && *at == '/' && !access(at, X_OK))
            return at;
        path += n + (path[n] == ':');
    }
    return NULL;
}

static qn_err confine(const struct qn_mcp_target *c, const struct qn_paths *paths,
                      struct qn_error *e)
{
    qn_err err = qn_confine_files(paths->v, paths->n, e);
    if (!err || err == QN_EUNSUPPORTED)
        err = qn_confine_ports(c->ports, c->n_ports, e);
    if (!err || err == QN_EUNSUPPORTED)
        err = qn_confine_calls_but(QN_CONFINE_TOOL, e);
    return err == QN_EUNSUPPORTED ? QN_OK : err;
}

static void fill_environment(const struct qn_mcp_target *c, struct qn_arena *arena,
                             const char **env)
{
    size_t n = 0;
    env[n++] = qn_arena_fmt(arena, "HOME=%s", c->folder);
    env[n++] = qn_arena_fmt(arena, "TMPDIR=%s/tmp", c->folder);
    for (size_t i = 0; i < PASSED; i++)
        if (getenv(passed[i]))
            env[n++] = qn_arena_fmt(arena, "%s=%s", passed[i], getenv(passed[i]));
    for (size_t i = 0; i < c->env.n; i++) {
        size_t name = strcspn(c->env.v[i], "=") + 1, at = 0;
        while (at < n && strncmp(env[at], c->env.v[i], name))
            at++;
        env[at] = c->env.v[i];
        n += at == n;
    }
    env[n] = NULL;
}

/* Runs in the forked child: sets up its sandbox and executes the program. The parent reads the
 * child's stderr. */
static _Noreturn void become(const struct qn_mcp_target *c, const char *program,
                             const struct qn_paths *paths, const int *ends, pid_t parent,
                             struct qn_arena *arena)
{
    const char *argv[QN_TARGET_WORDS_MAX + 2] = {program};
    const char *env[PASSED + QN_TARGET_WORDS_MAX + 3];
    const struct qn_limits limits = {.memory_bytes = QN_LAUNCH_MEMORY_BYTES,
                                     .descriptors = QN_LAUNCH_DESCRIPTORS,
                                     .file_bytes = QN_LAUNCH_FILE_BYTES};
    struct qn_error e = {0};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 3; i++)
        if (dup2(ends[i], i) < 0)
            _exit(126);
    memcpy(argv + 1, c->args.v, c->args.n * sizeof *argv);
    fill_environment(c, arena, env);
    if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || chdir(c->folder) || !qn_limits_set(&limits))
        fprintf(stderr, "its process cannot be prepared: %s\n", strerror(errno));
    else if (confine(c, paths, &e))
        fprintf(stderr, "its sandbox cannot be made: %s\n", e.message);
    else if (close_range(3, ~0u, 0))
        fprintf(stderr, "its descriptors cannot be closed: %s\n", strerror(errno));
    else { /* execve's prototype lacks const, but execve does not change the strings */
        execve(program, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
        fprintf(stderr, "%s cannot be run: %s\n", program, strerror(errno));
    }
    _exit(127);
}

/* Opens pipes for stdin, stdout and stderr. The child's ends get descriptors from FIRST_FREE up, so
 * that dup2 to 0, 1 and 2 overwrites none of them. */
static qn_err open_pipes(int mine[3], int theirs[3], struct qn_error *e)
{
    enum { FIRST_FREE = 10 };
    for (int i = 0; i < 3; i++) {
        int ends[2], own = i == 0; /* index of the end that this process keeps: the write end of
                                      stdin, the read end of the others */
        if (pipe2(ends, O_CLOEXEC))
            return qn_fail_errno(e, "open a pipe");
        mine[i] = ends[own];
        theirs[i] = fcntl(ends[!own], F_DUPFD_CLOEXEC, FIRST_FREE);
        close(ends[!own]);
        if (theirs[i] < 0 || fcntl(mine[i], F_SETFL, O_NONBLOCK))
            return qn_fail_errno(e, "open a pipe");
    }
    return QN_OK;
}

qn_err qn_launch(const struct qn_mcp_target *config, struct qn_arena *arena,
                 struct qn_launched *out, bool *lacking, struct qn_error *e)
{
    int mine[3] = {-1, -1, -1}, theirs[3] = {-1, -1, -1};
    struct qn_paths paths = {.n = 0};
    const char *program = find_program(config->command, arena);
    char *temp = qn_path_join(config->folder, "tmp");
    qn_err err = qn_mkdirs(temp, 0700, e);
    free(temp);
    *lacking = qn_confine_version() < 1;
    if (!err && !program)
        err = qn_fail(e, QN_ENOTFOUND, "there is no program '%.200s'", config->command);
    if (!err)
        err = qn_paths_open(config, program, arena, &paths, e);
    if (!err)
        err = open_pipes(mine, theirs, e);
    pid_t parent = getpid();
    out->pid = err ? -1 : fork();
    if (out->pid == 0)
        become(config, program, &paths, theirs, parent, arena);
    qn_paths_close(&paths);
    if (!err && out->pid < 0)
        err = qn_fail_errno(e, "start a process");
    for (int i = 0; i < 3; i++) {
        if (theirs[i] >= 0)
            close(theirs[i]);
        if (err && mine[i] >= 0)
            close(mine[i]);
    }
    out->in = mine[0];
    out->out = mine[1];
    out->errors = mine[2];
    return err;
}
