/* stop: stops the server and waits until it has ended; with a model's name, unloads that model. */
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/lock.h"
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 10, POLL_MS = 100, NOTE_MS = 1000 };

enum { OPTION_NOW };

/* The server that is being stopped. */
struct ending {
    struct qn_cli *cli;
    pid_t pid;    /* 0: unknown, or on another machine */
    int pidfd;    /* < 0: its end is detected by the port that no longer answers */
    bool now;     /* running requests are not given time to finish */
    bool hurried; /* the signal for an immediate end was sent */
    bool deaf;    /* it listens without answering, so only a signal can stop it */
    bool noted;   /* a progress line is on the terminal */
    int64_t begun_ms, noted_ms;
};

static double number(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_f64(&v);
}

/* Finds the server: the one at the address or, if none was given and no server answers there, the
 * one that uses the data folder. */
static qn_err find(struct ending *d, struct qn_error *e)
{
    struct qn_target *at = &d->cli->at;
    struct qn_lock lock;
    char *data_dir = qn_launch_data_dir();
    bool locked = at->local && data_dir && qn_lock_read(data_dir, &lock);
    bool chosen = at->named_host || at->named_port;
    free(data_dir);
    enum qn_presence there = qn_client_probe(d->cli);
    if (there != QN_SERVER && locked && !chosen && lock.port != at->port) {
        char port[16];
        snprintf(port, sizeof port, "%d", lock.port);
        qn_target_deinit(at);
        qn_err err = qn_target_parse(at, NULL, port, NULL, e);
        if (err)
            return err;
        there = qn_client_probe(d->cli);
    }
    if (locked && lock.port == at->port)
        d->pid = lock.pid;
    d->deaf = there == QN_SILENT && d->pid > 0;
    if (there == QN_SERVER || d->deaf)
        return QN_OK;
    if (there == QN_NO_SERVER)
        return qn_fail(e, QN_ENOTFOUND, "no server runs at %s: there is nothing to stop", at->url);
    return qn_fail(e, QN_ECONFLICT,
                   "the program at %s is not a quince server: --port N selects another port",
                   at->url);
}

/* Without an admin key only the server's own user may stop it; the error names that user. */
static qn_err check_owner(const struct ending *d, const struct qn_jref *server, struct qn_error *e)
{
    struct qn_jref uid = qn_json_get(server, "uid");
    uid_t owner = (uid_t)qn_json_raw_f64(&uid);
    if (!d->cli->at.local || d->cli->admin_key || qn_json_type(&uid) != QN_JSON_NUMBER ||
        owner == geteuid() || geteuid() == 0)
        return QN_OK;
    const struct passwd *who = getpwuid(owner);
    return qn_fail(e, QN_EINVAL,
                   "the server at %s belongs to another user (%.64s, uid %u): only that user, or "
                   "an admin key in QUINCE_ADMIN_API_KEY, can stop it",
                   d->cli->at.url, who ? who->pw_name : "?", (unsigned)owner);
}

/* Finds out who runs the server. A server with keys reports nothing to a client without one. */
static qn_err ask_first(struct ending *d, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_client_call(d->cli, "/status", NULL, CALL_TIMEOUT_S, NULL, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), server = qn_json_get(&root, "server");
    struct qn_jref command = qn_json_get(&server, "stop_command");
    if (d->cli->at.local && number(&server, "pid") > 1)
        d->pid = (pid_t)number(&server, "pid");
    if (qn_json_raw_str(&command)[0])
        err = qn_fail(e, QN_ECONFLICT,
                      "systemd runs the server at %s and may start it again: `%.600s` stops it",
                      d->cli->at.url, qn_json_raw_str(&command));
    if (!err)
        err = check_owner(d, &server, e);
    qn_json_free(doc);
    return err;
}

/* Whether the process is a quinced. A signal is sent to no other process, even if the server
 * reported this pid. */
static bool is_server(pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    bool read = f && fgets(name, sizeof name, f);
    if (f)
        fclose(f);
    return read && qn_str_eq(name, "quinced\n");
}

static qn_err send_term(const struct ending *d, struct qn_error *e)
{
    if (d->pidfd < 0 || !is_server(d->pid))
        return qn_fail(e, QN_ENOTFOUND, "no process %d runs that is a quince server", (int)d->pid);
    return syscall(SYS_pidfd_send_signal, d->pidfd, SIGTERM, NULL, 0)
               ? qn_fail_errno(e, "stopping process %d", (int)d->pid)
               : QN_OK;
}

static qn_err ask_to_end(struct ending *d, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    if (d->pid)
        d->pidfd = (int)syscall(SYS_pidfd_open, d->pid, 0);
    if (d->deaf)
        return send_term(d, e);
    qn_err err = qn_client_call(d->cli, "/internal/shutdown", "{}", CALL_TIMEOUT_S, NULL, &doc, e);
    qn_json_free(doc);
    return err;
}

static bool has_ended(const struct ending *d)
{
    if (d->pidfd < 0) {
        usleep(POLL_MS * 1000);
        return qn_client_probe(d->cli) == QN_NO_SERVER;
    }
    struct pollfd p = {.fd = d->pidfd, .events = POLLIN};
    return poll(&p, 1, POLL_MS) > 0;
}

/* Returns the number of running requests, which the user may want to wait for. */
static int still_running(const struct ending *d, bool *stopping)
{
    struct qn_json *doc = NULL;
    double n = 0;
    *stopping = false;
    if (d->deaf || qn_client_call(d->cli, "/status", NULL, 1, NULL, &doc, NULL))
        return 0;
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "all_models_loaded"), it;
    struct qn_jref flag = qn_json_get(&root, "stopping");
    *stopping = qn_json_raw_bool(&flag);
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
        n += number(&it, "requests_running");
    qn_json_free(doc);
    return n > 0 && n < 1e6 ? (int)n : 0;
}

static void note(struct ending *d)
{
    int64_t now = qn_now_ms();
    bool stopping;
    if (now - d->noted_ms < NOTE_MS && !(d->now && !d->hurried))
        return;
    int running = still_running(d, &stopping);
    if (d->now && !d->hurried && (stopping || d->deaf))
        d->hurried = send_term(d, NULL) == QN_OK; /* the second signal ends the server at once */
    if (now - d->noted_ms < NOTE_MS || d->cli->json || !qn_screen_live(stderr))
        return;
    fputs("\r\033[K", stderr);
    if (running)
        fprintf(stderr, "Finishing %d request%s (%lld s; --now stops them)", running,
                running == 1 ? "" : "s", (long long)(now - d->begun_ms) / 1000);
    else
        fprintf(stderr, "Stopping (%lld s)", (long long)(now - d->begun_ms) / 1000);
    d->noted = true;
    d->noted_ms = now;
}

static void say_stopped(const struct ending *d)
{
    if (d->noted)
        fputs("\r\033[K", stderr);
    if (d->cli->json)
        printf("{\"status\":\"stopped\",\"url\":\"%s\",\"pid\":%d}\n", d->cli->at.url, (int)d->pid);
    else if (d->pid)
        printf("The server at %s (pid %d) has stopped\n", d->cli->at.url, (int)d->pid);
    else
        printf("The server at %s has stopped\n", d->cli->at.url);
}

int qn_cmd_stop(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct ending d = {.cli = cli, .pidfd = -1, .now = a->values[OPTION_NOW] != NULL};
    struct qn_error e = {0};
    if (a->n_words && d.now)
        return qn_cli_misused(cli, "--now is for the server: `quince stop --now`");
    if (a->n_words)
        return qn_cmd_unload(cli, a);
    qn_err err = find(&d, &e);
    if (!err && !d.deaf)
        err = ask_first(&d, &e);
    if (!err)
        err = ask_to_end(&d, &e);
    d.begun_ms = d.noted_ms = qn_now_ms();
    while (!err && !has_ended(&d))
        note(&d);
    if (!err)
        say_stopped(&d);
    if (d.pidfd >= 0)
        close(d.pidfd);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
