/* top: a live view of the server. It uses the terminal's alternate screen and writes each frame at
 * once over the previous one, so that nothing flickers. The terminal is restored whenever the view
 * ends: by a key, a signal, an error or Ctrl-Z. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 10, FRAME_MAX = 1024 * 1024, INTERVAL_MS = 1000, CTRL_D = 4 };

enum { OPTION_INTERVAL };

static volatile sig_atomic_t leaving;  /* the signal that ends the view, or LEFT_BY_KEY */
static volatile sig_atomic_t sleeping; /* Ctrl-Z was pressed */
static volatile sig_atomic_t resized;

enum { LEFT_BY_KEY = -1 };

struct live {
    struct qn_cli *cli;
    struct termios before;
    bool keys; /* stdin is a terminal and has not ended */
    struct qn_top_sample sample;
};

/* The server's reports at one point of time. */
struct look {
    struct qn_json *status, *stats, *system;
};

static void look_free(struct look *l)
{
    qn_json_free(l->status);
    qn_json_free(l->stats);
    qn_json_free(l->system);
    *l = (struct look){0};
}

static qn_err look_at(const struct qn_cli *cli, const struct qn_client_wait *wait, struct look *l,
                      struct qn_error *e)
{
    *l = (struct look){0};
    qn_err err = qn_client_call(cli, "/status", NULL, CALL_TIMEOUT_S, wait, &l->status, e);
    if (!err)
        err = qn_client_call(cli, "/api/v1/stats", NULL, CALL_TIMEOUT_S, wait, &l->stats, e);
    if (!err)
        err =
            qn_client_call(cli, "/api/v1/system-stats", NULL, CALL_TIMEOUT_S, wait, &l->system, e);
    return err;
}

static void boil_down(const struct qn_cli *cli, const struct look *l, struct qn_top_sample *sample,
                      struct qn_top_view *t)
{
    struct qn_jref status = qn_json_root(l->status), stats = qn_json_root(l->stats),
                   system = qn_json_root(l->system);
    t->url = cli->at.url;
    qn_top_read(t, &status, &stats, &system, sample, qn_now_ms());
}

/* ---- once ---- */

static void print_json(const struct look *l)
{
    static const char *const names[] = {"status", "stats", "system"};
    const struct qn_json *docs[] = {l->status, l->stats, l->system};
    struct qn_buf b;
    qn_buf_init(&b, QN_CLIENT_REPLY_MAX);
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        struct qn_jref root = qn_json_root(docs[i]);
        qn_buf_fmt(&b, "%c\"%s\":", i ? ',' : '{', names[i]);
        qn_json_print(&root, &b);
    }
    qn_buf_char(&b, '}');
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

static int print_once(struct qn_cli *cli)
{
    struct qn_top_sample *sample = qn_xcalloc(1, sizeof *sample);
    struct qn_top_view *t = qn_xcalloc(1, sizeof *t);
    struct look l;
    struct qn_error e;
    qn_err err = look_at(cli, NULL, &l, &e);
    if (!err && cli->json) {
        print_json(&l);
    } else if (!err) {
        struct qn_buf out;
        size_t heading;
        boil_down(cli, &l, sample, t);
        qn_buf_init(&out, FRAME_MAX);
        qn_top_frame(t, QN_TABLE_WIDTH, SIZE_MAX, &out, &heading);
        fputs(qn_buf_cstr(&out), stdout);
        qn_buf_deinit(&out);
    }
    look_free(&l);
    free(sample);
    free(t);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

/* ---- the terminal ---- */

static void on_signal(int number)
{
    if (number == SIGTSTP)
        sleeping = 1;
    else if (number == SIGWINCH || number == SIGCONT)
        resized = 1;
    else
        leaving = number;
}

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

static void catch_signals(void)
{
    /* no SA_RESTART, so that a signal interrupts a wait */
    struct sigaction a = {.sa_handler = on_signal};
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &a, NULL);
}

/* False if the terminal has been closed. */
static bool write_all(const char *p, size_t n)
{
    while (n) {
        ssize_t written = write(STDOUT_FILENO, p, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        p += written;
        n -= (size_t)written;
    }
    return true;
}

static bool say(const char *sequence)
{
    return write_all(sequence, strlen(sequence));
}

/* Switches to the alternate screen, hides the cursor, turns off echo and line buffering. */
static void take_terminal(struct live *v)
{
    if (v->keys) {
        struct termios raw = v->before;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    say("\033[?1049h\033[?25l");
}

static void give_terminal_back(struct live *v)
{
    say("\033[?25h\033[?1049l");
    if (v->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &v->before);
}

/* Suspends the process as Ctrl-Z usually does; returns when it is continued. */
static void sleep_until_continued(struct live *v)
{
    sleeping = 0;
    give_terminal_back(v);
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    catch_signals();
    take_terminal(v);
}

/* Waits at most timeout_ms for a key or a signal. */
static void await(struct live *v, int timeout_ms)
{
    struct pollfd in = {.fd = v->keys ? STDIN_FILENO : -1, .events = POLLIN};
    char c;
    if (poll(&in, 1, timeout_ms) != 1)
        return;
    ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        v->keys = false;
    else if (n == 1 && (c == 'q' || c == 'Q' || c == CTRL_D))
        leaving = LEFT_BY_KEY;
}

/* Called while the program waits for the server. */
static void tick(void *ctx)
{
    await(ctx, 0);
}

/* ---- drawing ---- */

/* Draws the frame's lines, each cleared to its end, and clears what is left of the previous frame.
 * The title and the table's heading are highlighted. */
static bool draw(const struct qn_buf *lines, size_t heading)
{
    struct qn_buf out;
    size_t i = 0;
    qn_buf_init(&out, 2 * FRAME_MAX);
    qn_buf_str(&out, "\033[H");
    for (const char *line = lines->data; *line; i++) {
        const char *end = strchr(line, '\n');
        const char *ink = i == 0 || i == heading ? qn_screen_ink(stdout, QN_INK_BOLD) : "";
        if (i)
            /* not after the last line, where it would scroll the screen */
            qn_buf_str(&out, "\r\n");
        qn_buf_str(&out, ink);
        qn_buf_add(&out, line, (size_t)(end - line));
        qn_buf_str(&out, *ink ? qn_screen_ink(stdout, QN_INK_PLAIN) : "");
        qn_buf_str(&out, "\033[K");
        line = end + 1;
    }
    qn_buf_str(&out, "\033[J");
    bool there = write_all(out.data, out.len);
    qn_buf_deinit(&out);
    return there;
}

/* An unreachable server is shown in the frame and does not end the view. */
static void write_problem(struct qn_buf *lines, const struct qn_error *e, size_t width)
{
    qn_table_fit(lines, e->message, width);
    qn_buf_str(lines, "\n\n"
                      "Trying again; q ends this view\n");
}

static bool refresh(struct live *v, struct qn_top_view *t)
{
    const struct qn_client_wait wait = {.stop = &leaving, .tick = tick, .ctx = v};
    struct look l;
    struct qn_error e;
    struct qn_buf lines;
    size_t heading = 0, width = qn_screen_width(stdout), height = qn_screen_height(stdout);
    qn_err err = look_at(v->cli, &wait, &l, &e);
    bool there = true;
    qn_buf_init(&lines, FRAME_MAX);
    if (!err) {
        boil_down(v->cli, &l, &v->sample, t);
        qn_top_frame(t, width, height, &lines, &heading);
    } else if (err != QN_ECANCELLED) {
        write_problem(&lines, &e, width);
    }
    if (lines.len)
        there = draw(&lines, heading);
    qn_buf_deinit(&lines);
    look_free(&l);
    return there;
}

static int watch(struct qn_cli *cli, int64_t interval_ms)
{
    struct look first;
    struct qn_error e;
    qn_err err = look_at(cli, NULL, &first, &e);
    look_free(&first);
    if (err) /* but if the first request fails, the command fails like any other */
        return qn_cli_failed(cli, &e);
    struct live *v = qn_xcalloc(1, sizeof *v);
    struct qn_top_view *t = qn_xcalloc(1, sizeof *t);
    v->cli = cli;
    v->keys = tcgetattr(STDIN_FILENO, &v->before) == 0;
    catch_signals();
    take_terminal(v);
    while (!leaving) {
        int64_t next = qn_now_ms() + interval_ms;
        resized = 0;
        if (!refresh(v, t))
            break;
        for (int64_t left; !leaving && !resized && (left = next - qn_now_ms()) > 0;) {
            if (sleeping)
                sleep_until_continued(v);
            await(v, (int)left);
        }
    }
    give_terminal_back(v);
    free(t);
    free(v);
    if (leaving == SIGTERM || leaving == SIGHUP || leaving == SIGQUIT) {
        signal(leaving, SIG_DFL); /* so that the sender sees that the signal ended the process */
        raise(leaving);
    }
    return QN_EXIT_OK;
}

int qn_cmd_top(struct qn_cli *cli, const struct qn_cli_args *a)
{
    double seconds = INTERVAL_MS / 1000.0;
    const char *given = a->values[OPTION_INTERVAL];
    if (given && (!qn_parse_f64(given, &seconds) || seconds < 0.2 || seconds > 60))
        return qn_cli_misused(cli, "--interval needs a number of seconds from 0.2 to 60");
    if (cli->json || !qn_screen_live(stdout))
        return print_once(cli);
    return watch(cli, (int64_t)(seconds * 1000));
}
