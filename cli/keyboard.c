/* See keyboard.h. A terminal that knows "bracketed paste" (xterm's control sequences, mode 2004)
 * puts ESC [200~ and ESC [201~ round what is pasted. */
#include "cli/keyboard.h"

#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESC = 27, QUOTE = 'V' - '@', SEQUENCE_MS = 20, MARK_LEN = 5 };

volatile sig_atomic_t qn_keyboard_interrupted;

static volatile sig_atomic_t resumed; /* after Ctrl-Z: the shell has used the terminal meanwhile */
static struct sigaction old_int, old_cont;
static bool marks_paste; /* the terminal is one that can */

/* What was read ahead and what lies between the marks of a paste. */
static struct {
    char ahead[MARK_LEN];
    size_t n, at;
    bool pasting;
    bool quoted; /* the editor was told to take the next character as text */
} input;

static void on_signal(int signo)
{
    *(signo == SIGINT ? &qn_keyboard_interrupted : &resumed) = 1;
}

/* Waits for a byte. Signals come only while this waits, so that none is missed between looking and
 * waiting. Returns 1, 0 at the end of input or when the time is over, -1 when Ctrl-C came. */
static int wait_byte(EditLine *el, const struct timespec *limit, char *out)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
        int n = ppoll(&in, 1, limit, &none);
        if (qn_keyboard_interrupted)
            return -1;
        if (resumed) {
            resumed = 0;
            el_set(el, EL_PREP_TERM, 0);
            el_set(el, EL_PREP_TERM, 1);
            el_set(el, EL_REFRESH);
        }
        if (n > 0)
            return (int)read(STDIN_FILENO, out, 1);
        if (n == 0 || errno != EINTR)
            return n;
    }
}

/* After ESC: swallows the mark that begins or ends a paste. Other bytes are kept for later. */
static bool take_mark(EditLine *el)
{
    static const struct timespec soon = {.tv_nsec = SEQUENCE_MS * 1000000L};
    const char *mark = input.pasting ? "[201~" : "[200~";
    bool same = true;
    for (input.n = input.at = 0; same && input.n < MARK_LEN; input.n++) {
        char *c = &input.ahead[input.n];
        if (wait_byte(el, &soon, c) != 1)
            return false;
        same = *c == mark[input.n];
    }
    if (same)
        input.n = 0;
    return same;
}

static int next_byte(EditLine *el, char *out)
{
    for (;;) {
        if (input.at < input.n) {
            *out = input.ahead[input.at++];
            return 1;
        }
        int got = wait_byte(el, NULL, out);
        if (got <= 0 || *out != ESC || !marks_paste || !take_mark(el))
            return got;
        input.pasting = !input.pasting;
    }
}

/* libedit's source of characters. A pasted control character is quoted, so that a line break is
 * text and not the end of input. */
static int read_character(EditLine *el, wchar_t *out)
{
    static char held;
    char bytes[4];
    size_t n = 0;
    uint32_t cp;
    if (input.quoted) {
        input.quoted = false;
        *out = held == '\r' ? L'\n' : (wchar_t)held;
        return 1;
    }
    do {
        int got = next_byte(el, bytes + n);
        if (got <= 0)
            return got;
        n++;
    } while (n < sizeof bytes && qn_utf8_whole(bytes, n) == 0);
    qn_utf8_decode(bytes, n, &cp);
    *out = (wchar_t)cp;
    if (input.pasting && cp < ' ') {
        input.quoted = true;
        held = (char)cp;
        *out = QUOTE;
    }
    return 1;
}

void qn_keyboard_open(EditLine *el)
{
    const char *term = getenv("TERM");
    struct sigaction act = {.sa_handler = on_signal};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, &old_int);
    sigaction(SIGCONT, &act, &old_cont);
    marks_paste = term && !qn_str_eq(term, "dumb");
    el_set(el, EL_GETCFN, read_character);
}

void qn_keyboard_close(void)
{
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGCONT, &old_cont, NULL);
}

static void ask_for_marks(bool on)
{
    if (!marks_paste)
        return;
    printf("\033[?2004%c", on ? 'h' : 'l');
    fflush(stdout);
}

const char *qn_keyboard_line(EditLine *el, int *n)
{
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGCONT);
    sigprocmask(SIG_BLOCK, &held, &before);
    qn_keyboard_interrupted = 0;
    input.n = input.at = 0;
    input.pasting = input.quoted = false;
    el_set(el, EL_PREP_TERM, 1); /* before the prompt is shown: nothing typed is echoed twice */
    ask_for_marks(true);
    const char *line = el_gets(el, n);
    ask_for_marks(false);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return *n > 0 ? line : NULL;
}
