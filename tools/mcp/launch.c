/* See launch.h. */
#include "mcp/launch.h"

#include "base/path.h"
#include "base/str.h"
#include "confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Programs, libraries and settings of the system. */
static const struct qn_confine_path everywhere[] = {
    {"/usr", QN_CONFINE_RUN},
    {"/bin", QN_CONFINE_RUN},
    {"/sbin", QN_CONFINE_RUN},
    {"/lib", QN_CONFINE_RUN},
    {"/lib32", QN_CONFINE_RUN},
    {"/lib64", QN_CONFINE_RUN},
    {"/opt", QN_CONFINE_RUN},
    {"/nix/store", QN_CONFINE_RUN},
    {"/snap", QN_CONFINE_RUN},
    {"/etc", 0},
    {"/proc", 0},
    {"/sys", 0},
    {"/run/systemd/resolve", 0},
    {"/run/resolvconf", 0},
    {"/dev/null", QN_CONFINE_WRITE},
    {"/dev/zero", QN_CONFINE_WRITE},
    {"/dev/full", QN_CONFINE_WRITE},
    {"/dev/random", 0},
    {"/dev/urandom", 0},
};

enum {
    EVERYWHERE = sizeof everywhere / sizeof *everywhere,
    PATHS_MAX = EVERYWHERE + 3 * QN_TARGET_WORDS_MAX + 8
};

/* Variables of the server's environment that are passed on. */
static const char *const passed[] = {"PATH", "LANG", "LC_ALL", "TZ"};
enum { PASSED = sizeof passed / sizeof *passed };

static const char *folder_of(const char *path, struct qn_arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash && slash != path ? qn_arena_strndup(arena, path, (size_t)(slash - path)) : path;
}

/* The absolute path of the program; NULL: there is none. */
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

/* Programs read files beside them. */
static void add_folder(struct qn_confine_path *paths, size_t *n, const char *program,
                       struct qn_arena *arena)
{
    paths[(*n)++] = (struct qn_confine_path){program, QN_CONFINE_RUN};
    paths[(*n)++] = (struct qn_confine_path){folder_of(program, arena), QN_CONFINE_RUN};
}

static qn_err confine(const struct qn_mcp_target *c, const char *program, struct qn_arena *arena,
                      struct qn_error *e)
{
    struct qn_confine_path paths[PATHS_MAX];
    size_t n = 0;
    char *real = realpath(program, NULL);
    for (size_t i = 0; i < EVERYWHERE; i++)
        paths[n++] = everywhere[i];
    add_folder(paths, &n, program, arena);
    if (real)
        add_folder(paths, &n, real, arena);
    paths[n++] =
        (struct qn_confine_path){c->folder, QN_CONFINE_WRITE | QN_CONFINE_OWN | QN_CONFINE_RUN};
    for (size_t i = 0; i < c->args.n; i++)
        if (*c->args.v[i] == '/' && c->args.v[i][1] && !access(c->args.v[i], F_OK))
            paths[n++] = (struct qn_confine_path){c->args.v[i], QN_CONFINE_RUN};
    for (size_t i = 0; i < c->read.n; i++)
        paths[n++] = (struct qn_confine_path){c->read.v[i], QN_CONFINE_RUN};
    for (size_t i = 0; i < c->write.n; i++)
        paths[n++] = (struct qn_confine_path){c->write.v[i],
                                              QN_CONFINE_WRITE | QN_CONFINE_OWN | QN_CONFINE_RUN};
    qn_err err = qn_confine_files(paths, n, e);
    free(real);
    return err;
}

static bool set_limits(void)
{
    static const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } limits[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_NOFILE, QN_LAUNCH_DESCRIPTORS},
        {RLIMIT_FSIZE, (rlim_t)QN_LAUNCH_FILE_BYTES},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        {RLIMIT_DATA, (rlim_t)QN_LAUNCH_MEMORY_BYTES},
#endif
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now, l = {limits[i].most, limits[i].most};
        if (!getrlimit(limits[i].what, &now) && now.rlim_max < l.rlim_max)
            l.rlim_cur = l.rlim_max = now.rlim_max;
        if (setrlimit(limits[i].what, &l))
            return false;
    }
    /* when memory runs out, the kernel kills this process before the router */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "500", 3);
        (void)written; /* it is of use, but not needed */
        close(fd);
    }
    return true;
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

/* Runs in the forked process. Its stderr is read by the parent. */
static _Noreturn void become(const struct qn_mcp_target *c, const char *program, const int *ends,
                             pid_t parent, struct qn_arena *arena)
{
    const char *argv[QN_TARGET_WORDS_MAX + 2] = {program};
    const char *env[PASSED + QN_TARGET_WORDS_MAX + 3];
    struct qn_error e = {0};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 3; i++)
        if (dup2(ends[i], i) < 0)
            _exit(126);
    close_range(3, ~0u, 0);
    memcpy(argv + 1, c->args.v, c->args.n * sizeof *argv);
    fill_environment(c, arena, env);
    if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || chdir(c->folder) || !set_limits())
        fprintf(stderr, "its process cannot be prepared: %s\n", strerror(errno));
    else if (confine(c, program, arena, &e) && e.code != QN_EUNSUPPORTED)
        fprintf(stderr, "its sandbox cannot be made: %s\n", e.message);
    else /* the prototype lacks const; the strings are not changed */
        execve(program, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    fprintf(stderr, "%s cannot be run: %s\n", program, strerror(errno));
    _exit(127);
}

/* Three pipes; the ends of the child are moved above the numbers that they get. */
static qn_err open_pipes(int mine[3], int theirs[3], struct qn_error *e)
{
    enum { FIRST_FREE = 10 };
    for (int i = 0; i < 3; i++) {
        int ends[2], own = i == 0; /* the end of the pipe that is kept */
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
    const char *program = find_program(config->command, arena);
    char *temp = qn_path_join(config->folder, "tmp");
    qn_err err = qn_mkdirs(temp, 0700, e);
    free(temp);
    *lacking = qn_confine_version() < 1;
    if (!err && !program)
        err = qn_fail(e, QN_ENOTFOUND, "there is no program '%.200s'", config->command);
    if (!err)
        err = open_pipes(mine, theirs, e);
    pid_t parent = getpid();
    out->pid = err ? -1 : fork();
    if (out->pid == 0)
        become(config, program, theirs, parent, arena);
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
