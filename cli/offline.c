/* See offline.h. */
#include "cli/offline.h"

#include "base/buf.h"
#include "cli/client.h"
#include "cli/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 4 * 1024 * 1024, PIECE = 4096, NOT_STARTED = 127 };

bool qn_offline_is(const struct qn_cli *cli)
{
    return !cli->at.named_host && qn_client_probe(cli) != QN_SERVER;
}

static void read_all(int fd, struct qn_buf *out)
{
    char piece[PIECE];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            qn_buf_add(out, piece, (size_t)n);
}

/* Reads the program's output. Its exit status is ignored, as errors are part of the output. */
static qn_err run(const char *program, const char *const *words, int n, struct qn_buf *out,
                  struct qn_error *e)
{
    const char *args[QN_CLI_WORDS_MAX + 3] = {program, "config"};
    int ends[2], status;
    for (int i = 0; i < n; i++)
        args[i + 2] = words[i];
    if (pipe(ends))
        return qn_fail_errno(e, "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close_range(STDERR_FILENO + 1, ~0U, 0);
        execv(program, (char *const *)args);
        _exit(NOT_STARTED);
    }
    close(ends[1]);
    if (pid > 0) {
        read_all(ends[0], out);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    if (pid < 0)
        return qn_fail_errno(e, "fork");
    return out->len ? QN_OK : qn_fail(e, QN_ECHILD, "%s could not be run", program);
}

qn_err qn_offline_config(const char *const *words, int n, struct qn_json **out, struct qn_error *e)
{
    char *program = qn_launch_program();
    struct qn_buf text;
    qn_buf_init(&text, OUTPUT_MAX);
    qn_err err = run(program, words, n, &text, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, out, e);
    if (!err) {
        struct qn_jref root = qn_json_root(*out), wrong = qn_json_get(&root, "error");
        if (qn_json_type(&wrong) == QN_JSON_STRING) {
            err = qn_fail(e, QN_EINVAL, "%s", qn_json_raw_str(&wrong));
            qn_json_free(*out);
            *out = NULL;
        }
    }
    qn_buf_deinit(&text);
    free(program);
    return err;
}
