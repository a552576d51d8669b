/* See server.h. */
#include "bridge/server.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "child/sandbox.h"
#include "contract/backend_types.h"
#include "contract/server_args.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ARGS_MAX = QN_SERVER_ARGS_MAX + 64,
    ARENA_MAX = 1024 * 1024,
    LAST_WORDS_MS = 100,
    STOP_MS = 1500, /* milliseconds to wait after SIGTERM; the router waits 2 s for this process */
    FIRST_FD = 3,
    PATH_BYTES_MAX = 4096,
    SLOTS = 4,           /* default number of llama-server's slots */
    SLOT_CONTEXT = 8192, /* default number of tokens per slot; the context that modern models were
                            trained on would not fit into the memory of most machines */
    MEASURE_BATCH = 8192 /* tokens of an input to embed or rerank, which must fit into one batch */
};

struct args {
    struct qn_arena *arena;
    const char *v[ARGS_MAX + 1];
    size_t n;
};

static void add(struct args *a, const char *word)
{
    if (a->n < ARGS_MAX)
        a->v[a->n++] = word;
}

static void add_pair(struct args *a, const char *name, const char *value)
{
    add(a, name);
    add(a, value);
}

static void add_number(struct args *a, const char *name, int64_t value)
{
    add_pair(a, name, qn_arena_fmt(a->arena, "%lld", (long long)value));
}

static const char *text_of(const struct qn_jref *options, const char *name)
{
    struct qn_jref v = qn_json_get(options, name);
    return qn_json_raw_str(&v);
}

static bool truth_of(const struct qn_jref *options, const char *name)
{
    struct qn_jref v = qn_json_get(options, name);
    return qn_json_raw_bool(&v);
}

/* ---- Command lines ---- */

static qn_err add_adapters(struct args *a, const struct qn_jref *options, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(options, "lora"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path"), scale = qn_json_get(&it, "scale");
        const char *file = qn_json_raw_str(&path);
        if (strpbrk(file, ",:"))
            return qn_fail_param(
                e, QN_EINVAL, "lora",
                "llama-server does not support adapters whose path contains a comma or a colon");
        if (qn_json_type(&scale) == QN_JSON_NUMBER)
            add_pair(a, "--lora-scaled",
                     qn_arena_fmt(a->arena, "%s:%g", file, qn_json_raw_f64(&scale)));
        else
            add_pair(a, "--lora", file);
    }
    return QN_OK;
}

/* llama-server divides its context equally between its slots. */
static qn_err llama_args(struct args *a, const struct qn_control *load,
                         const struct qn_jref *options, int port, struct qn_error *e)
{
    static const struct {
        const char *option, *flag, *other; /* other: a second flag that takes the same value */
    } texts[] = {
        {"cache_type", "--cache-type-k", "--cache-type-v"},
        {"mmproj", "--mmproj", NULL},
        {"draft_model", "--model-draft", NULL},
    };
    int64_t slots = SLOTS;
    struct qn_jref v = qn_json_get(options, "slots");
    qn_err err = qn_json_i64_opt(&v, 1, QN_LOAD_SLOTS_MAX, &slots, e);
    add_pair(a, "--model", load->files.v[0]);
    add_pair(a, "--host", "127.0.0.1");
    add_number(a, "--port", port);
    add_number(a, "--threads", load->threads);
    add_number(a, "--parallel", slots);
    add(a, "--jinja");
    add_number(a, "--ctx-size", (load->context ? load->context : SLOT_CONTEXT) * slots);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = text_of(options, texts[i].option);
        if (!*value)
            continue;
        add_pair(a, texts[i].flag, value);
        if (texts[i].other)
            add_pair(a, texts[i].other, value);
    }
    if (truth_of(options, "context_shift"))
        add(a, "--context-shift");
    if (truth_of(options, "embedding"))
        add(a, "--embedding");
    if (truth_of(options, "reranking"))
        add(a, "--reranking");
    if (truth_of(options, "embedding") || truth_of(options, "reranking")) {
        add_number(a, "--batch-size", MEASURE_BATCH);
        add_number(a, "--ubatch-size", MEASURE_BATCH);
    }
    return err ? err : add_adapters(a, options, e);
}

static qn_err whisper_args(struct args *a, const struct qn_control *load,
                           const struct qn_jref *options, int port, struct qn_error *e)
{
    (void)options;
    (void)e;
    add_pair(a, "--model", load->files.v[0]);
    add_pair(a, "--host", "127.0.0.1");
    add_number(a, "--port", port);
    add_number(a, "--threads", load->threads);
    add_pair(a, "--language", "auto");
    return QN_OK;
}

static qn_err sd_args(struct args *a, const struct qn_control *load, const struct qn_jref *options,
                      int port, struct qn_error *e)
{
    (void)e;
    add_pair(a, "--model", load->files.v[0]);
    if (*text_of(options, "vae"))
        add_pair(a, "--vae", text_of(options, "vae"));
    add_pair(a, "--listen-ip", "127.0.0.1");
    add_number(a, "--listen-port", port);
    add_number(a, "--threads", load->threads);
    return QN_OK;
}

static const struct known {
    const char *program;
    enum qn_api api;
    const char *base, *health;
    const char *key_variable; /* environment variable that passes the key to the server; NULL:
                                 none */
    qn_err (*args)(struct args *a, const struct qn_control *load, const struct qn_jref *options,
                   int port, struct qn_error *e);
} known[] = {
    {"llama-server", QN_API_OPENAI, "/v1", "/health", "LLAMA_API_KEY", llama_args},
    {"whisper-server", QN_API_WHISPER, "", "/health", NULL, whisper_args},
    {"sd-server", QN_API_SD, "/v1", "/v1/models", NULL, sd_args},
};

static const struct known *find(const char *program)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (qn_str_eq(known[i].program, program))
            return &known[i];
    return NULL;
}

bool qn_server_wanted(const struct qn_jref *options)
{
    struct qn_jref v = qn_json_get(options, "server");
    return qn_json_type(&v) == QN_JSON_STRING;
}

/* ---- The sandbox of the server ---- */

/* GPUs with their drivers, and files that their libraries read. */
static const struct qn_confine_path machine[] = {
    {"/dev/dri", QN_CONFINE_DEVICE},
    {"/dev/kfd", QN_CONFINE_DEVICE},
    {"/dev/nvidia0", QN_CONFINE_DEVICE},
    {"/dev/nvidia1", QN_CONFINE_DEVICE},
    {"/dev/nvidia2", QN_CONFINE_DEVICE},
    {"/dev/nvidia3", QN_CONFINE_DEVICE},
    {"/dev/nvidiactl", QN_CONFINE_DEVICE},
    {"/dev/nvidia-uvm", QN_CONFINE_DEVICE},
    {"/dev/nvidia-uvm-tools", QN_CONFINE_DEVICE},
    {"/dev/nvidia-modeset", QN_CONFINE_DEVICE},
    {"/etc/vulkan", 0},
    {"/etc/OpenCL", 0},
    {"/etc/ld.so.preload", 0},
    {"/opt", 0},
    {"/usr/local/cuda", 0},
};

/* Dynamic loaders of the supported systems; the kernel starts one together with a program. */
static const char *const loaders[] = {
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
};

enum { MACHINE = sizeof machine / sizeof *machine, LOADERS = sizeof loaders / sizeof *loaders };

/* The interpreter named in a script's first line. */
static const char *interpreter_of(const char *program, struct qn_arena *arena)
{
    char line[PATH_BYTES_MAX] = "";
    FILE *f = fopen(program, "re");
    bool script = f && fgets(line, sizeof line, f) && !strncmp(line, "#!", 2);
    if (f)
        fclose(f);
    char *at = line + 2 + strspn(line + 2, " \t");
    at[strcspn(at, " \t\r\n")] = '\0';
    return script && *at == '/' ? qn_arena_strdup(arena, at) : NULL;
}

static const char *folder_of(const char *path, struct qn_arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash && slash != path ? qn_arena_strndup(arena, path, (size_t)(slash - path)) : path;
}

static qn_err confine(const char *type, const char *program, const struct qn_control *load,
                      const struct qn_jref *options, struct qn_arena *arena, struct qn_error *e)
{
    static const char *const files[] = {"mmproj", "vae"};
    struct qn_confine_path paths[MACHINE + LOADERS + 8];
    size_t n = 0;
    for (size_t i = 0; i < MACHINE; i++)
        paths[n++] = machine[i];
    for (size_t i = 0; i < LOADERS; i++)
        paths[n++] = (struct qn_confine_path){loaders[i], QN_CONFINE_RUN};
    char *real = realpath(program, NULL); /* libraries are next to the program itself, not next to a
                                             symbolic link to it */
    paths[n++] = (struct qn_confine_path){program, QN_CONFINE_RUN};
    paths[n++] = (struct qn_confine_path){folder_of(real ? real : program, arena), 0};
    const char *interpreter = interpreter_of(program, arena);
    if (*text_of(options, "folder"))
        paths[n++] = (struct qn_confine_path){text_of(options, "folder"), 0};
    if (interpreter)
        paths[n++] = (struct qn_confine_path){interpreter, QN_CONFINE_RUN};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (*text_of(options, files[i]))
            paths[n++] = (struct qn_confine_path){text_of(options, files[i]), 0};
    struct qn_sandbox_needs needs = {.paths = paths, .n = n, .calls = QN_CONFINE_SERVER};
    qn_err err = qn_child_sandbox(type, load, &needs, e);
    free(real);
    return err;
}

/* ---- Start and end of the server ---- */

/* Finds a free port. Another process may take the port before the server listens on it; the server
 * then reports an error and loading fails. */
static qn_err free_port(int *port, struct qn_error *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
              getsockname(fd, (struct sockaddr *)&a, &n) == 0;
    qn_err err = ok ? QN_OK : qn_fail_errno(e, "find a port for a model's server");
    if (fd >= 0)
        close(fd);
    *port = ntohs(a.sin_port);
    return err;
}

/* Runs in the forked process, which has a copy of the parent's memory and only one thread. */
static _Noreturn void become(const struct known *k, const char *program, char *const *argv,
                             pid_t parent, const char *key, const struct qn_control *load,
                             const struct qn_jref *options, struct qn_arena *arena)
{
    struct qn_error e = {0};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C in the router's terminal is handled by the router */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    close_range(FIRST_FD, ~0u, 0);
    if (k->key_variable && setenv(k->key_variable, key, 1) != 0)
        _exit(1);
    if (confine(qn_server_kind_of_program(k->program)->type, program, load, options, arena, &e)) {
        qn_error_log("bridge", "sandbox=failed message=\"%s\"", e.message);
        _exit(1);
    }
    execv(program, argv);
    qn_error_log("bridge", "start=\"%s\" errno=%d", program, errno);
    _exit(127);
}

static qn_err make_args(const struct known *k, const char *program, struct args *a,
                        const struct qn_control *load, const struct qn_jref *options, int port,
                        struct qn_error *e)
{
    const struct qn_server_kind *kind = qn_server_kind_of_program(k->program);
    struct qn_strings own;
    add(a, program);
    qn_err err = k->args(a, load, options, port, e);
    if (!err)
        err = qn_server_args_read(kind, text_of(options, kind->args_option), a->arena, &own, e);
    for (size_t i = 0; !err && i < own.n; i++)
        add(a, own.v[i]);
    return err;
}

qn_err qn_server_start(struct qn_server *s, const struct qn_control *load,
                       const struct qn_jref *options, struct qn_error *e)
{
    const struct known *k = find(text_of(options, "server"));
    const char *program = text_of(options, "program");
    struct args a = {.arena = NULL};
    if (!k || *program != '/')
        return qn_fail(e, QN_EINVAL,
                       "unknown server '%.80s', or its program is not an absolute path",
                       text_of(options, "server"));
    if (access(program, X_OK) != 0)
        return qn_fail_errno(e, "start %s", program);
    qn_err err = free_port(&s->port, e);
    if (err)
        return err;
    a.arena = qn_arena_new(ARENA_MAX);
    err = make_args(k, program, &a, load, options, s->port, e);
    if (err) {
        qn_arena_free(a.arena);
        return err;
    }
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d", s->port);
    s->api = k->api;
    s->base = k->base;
    s->health = k->health;
    atomic_init(&s->stopping, false);
    if (k->key_variable) /* not passed as an argument, because every user of the machine can read
                            arguments */
        qn_random_hex(s->key, QN_SERVER_KEY_HEX);
    pid_t self = getpid();
    s->pid = fork();
    if (s->pid == 0) /* execv's prototype lacks const; the strings are not modified */
        become(k, program, (char *const *)(uintptr_t)a.v, self, s->key, load, options, a.arena);
    qn_arena_free(a.arena);
    if (s->pid < 0)
        return qn_fail_errno(e, "start %s", program);
    s->pidfd = pidfd_open(s->pid, 0);
    if (s->pidfd < 0)
        return qn_fail_errno(e, "watch %s", program);
    s->program = k->program;
    qn_info("bridge", "server=%s program=\"%s\" pid=%d url=%s", k->program, program, (int)s->pid,
            s->url);
    return QN_OK;
}

bool qn_server_ended(struct qn_server *s, char how[static 80], bool *by_signal)
{
    siginfo_t info = {0};
    if (waitid(P_PIDFD, (id_t)s->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return false;
    *by_signal = info.si_code != CLD_EXITED;
    if (!*by_signal)
        snprintf(how, 80, "ended with status %d", info.si_status);
    else
        snprintf(how, 80, "was killed by signal %d (%s)", info.si_status,
                 strsignal(info.si_status));
    return true;
}

static void *watch(void *arg)
{
    struct qn_server *s = arg;
    struct pollfd wait = {.fd = s->pidfd, .events = POLLIN};
    char how[80] = "ended";
    bool by_signal;
    while (poll(&wait, 1, -1) < 0 && errno == EINTR)
        ;
    qn_server_ended(s, how, &by_signal);
    if (atomic_load(&s->stopping))
        return NULL;
    /* The router handles the end of this process. The delay lets it first receive the server's last
     * log lines. */
    usleep(LAST_WORDS_MS * 1000);
    qn_error_log("bridge", "server=%s %s", s->program, how);
    _exit(1);
}

qn_err qn_server_watch(struct qn_server *s, struct qn_error *e)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, s) != 0)
        return qn_fail(e, QN_EIO, "cannot start a thread to watch %s", s->program);
    pthread_detach(thread);
    return QN_OK;
}

int64_t qn_server_bytes(const struct qn_server *s)
{
    char path[64];
    long long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)s->pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*s %lld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void tell(const struct qn_server *s, int sig)
{
    syscall(SYS_pidfd_send_signal, s->pidfd, sig, NULL, 0);
}

void qn_server_stop(struct qn_server *s)
{
    struct pollfd wait = {.fd = s->pidfd, .events = POLLIN};
    atomic_store(&s->stopping, true);
    tell(s, SIGTERM);
    if (poll(&wait, 1, STOP_MS) < 1) {
        tell(s, SIGKILL);
        while (poll(&wait, 1, -1) < 0 && errno == EINTR)
            ;
    }
    waitpid(s->pid, NULL, 0);
}
