/* The program quinced: reads its settings, opens all parts of the server, runs the loop until a
 * signal stops it, and closes all parts. */
#include "router/program.h"

#include "api/page_files.h"
#include "base/log.h"
#include "base/path.h"
#include "library/preload.h"
#include "router/settings_file.h"
#include "telemetry/log_file.h"
#include "telemetry/logs.h"
#include "telemetry/metrics.h"
#include "telemetry/notify.h"
#include "telemetry/requests.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

enum { DESCRIPTORS = 4 * QN_HTTP_CONNECTIONS_MAX, LARGE_BLOCK = 512 * 1024 };

/* Raises the limit of descriptors. A connection needs one descriptor, a running request another, a
 * model's process three; the usual limit of 1024 is too low for the number of connections that the
 * server accepts. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        qn_warn("main", "descriptors=%llu raising the limit failed: %s",
                (unsigned long long)limit.rlim_cur, strerror(errno));
}

/* Makes freed blocks of LARGE_BLOCK bytes or more go back to the system. By default glibc's malloc
 * raises this threshold up to 32 MiB as such blocks are freed, and each of its arenas (of the
 * workers and of the loop) then retains what the largest requests used: about 100 MiB after images
 * of 8 MiB. */
static void return_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
}

static int print_help(void)
{
    struct qn_buf text;
    qn_buf_init(&text, 64 * 1024);
    qn_settings_help(&text);
    fputs(qn_buf_cstr(&text), stdout);
    qn_buf_deinit(&text);
    return 0;
}

static void print_ready(const struct qn_program *p)
{
    const char *host = p->settings.host;
    bool v6 = strchr(host, ':') && host[0] != '[';
    printf("quinced is ready at http://%s%s%s:%d (%s%s)\n", v6 ? "[" : "", host, v6 ? "]" : "",
           qn_listen_port(p->ports.main), *p->starter ? "model " : "no built-in model", p->starter);
    if (p->ports.ollama)
        printf("Programs made for Ollama find it on port %d (`quince config set ollama-port=off` "
               "closes the port)\n",
               qn_listen_port(p->ports.ollama));
    fflush(stdout);
}

static void tell_ready(struct qn_program *p)
{
    char text[128];
    snprintf(text, sizeof text, "Answering on port %d", qn_listen_port(p->ports.main));
    p->notify = qn_notify_new((const char *const *)environ);
    qn_notify_ready(p->notify, p->loop, text);
}

/* Called on any thread. */
static void on_log_line(void *ctx, enum qn_log_level level, const char *tag, const char *line)
{
    struct qn_program *p = ctx;
    qn_log_file_add(p->log_file, strlen(line) + 1);
    qn_logs_add(p->telemetry.logs, level, tag, line);
}

int main(int argc, char **argv)
{
    static struct qn_program p = {.lock_fd = -1, .signal_fd = -1};
    struct qn_error e = {0};
    enum qn_settings_wish wish;
    int status = 1;
    return_large_blocks();
    qn_page_set_apart();
    (void)qn_path_home(); /* sets HOME in the environment if it is missing */
    const char *const *words = (const char *const *)argv + 1;
    if (argc > 1 && qn_settings_file_meant((size_t)argc - 1, words))
        return qn_settings_file_main((size_t)argc - 1, words, (const char *const *)environ);
    p.layers = (struct qn_settings_layers){.n_args = argc > 0 ? (size_t)argc - 1 : 0,
                                           .args = (const char *const *)argv + 1,
                                           .env = (const char *const *)environ};
    qn_err err =
        qn_settings_read(&p.settings, p.layers.n_args, p.layers.args, p.layers.env, &wish, &e);
    if (err) {
        fprintf(stderr, "quinced: %s\n", e.message);
        qn_settings_deinit(&p.settings);
        return 2;
    }
    if (wish == QN_WISH_HELP || wish == QN_WISH_VERSION) {
        status = wish == QN_WISH_HELP ? print_help() : puts("quinced " QN_VERSION) < 0;
        qn_settings_deinit(&p.settings);
        return status;
    }
    enum qn_log_level level;
    if (qn_log_level_parse(p.settings.log_level, &level))
        qn_log_set_level(level);
    p.telemetry.logs = qn_logs_new();
    p.telemetry.metrics = qn_metrics_new();
    p.telemetry.stats = &p.stats;
    p.telemetry.requests = qn_requests_new();
    qn_log_set_sink(on_log_line, &p);
    raise_descriptor_limit();
    err = qn_program_take_signals(&p, &e);
    if (!err)
        err = qn_program_open(&p, &e);
    if (err) {
        fprintf(stderr, "quinced: %s\n", e.message);
    } else {
        qn_info("main", "version=%s pid=%d port=%d data_dir=%s models_dir=%s", QN_VERSION,
                (int)getpid(), qn_listen_port(p.ports.main), p.settings.data_dir,
                p.settings.models_dir);
        print_ready(&p);
        tell_ready(&p);
        p.preload = qn_preload_start(&p.serving, p.inventory, p.discovery, p.settings.preload);
        qn_loop_run(p.loop);
        qn_info("main", "stopped=1");
        status = 0;
    }
    qn_program_close(&p);
    qn_log_set_sink(NULL, NULL);
    qn_log_file_free(p.log_file);
    qn_logs_free(p.telemetry.logs);
    qn_metrics_free(p.telemetry.metrics);
    qn_requests_free(p.telemetry.requests);
    qn_stats_deinit(&p.stats);
    qn_settings_deinit(&p.settings);
    return status;
}
