/* See keyboard.h. A terminal with "bracketed paste" (xterm's control sequences, mode 2004) sends
 * ESC [200~ and ESC [201~ around pasted text. */
#include "cli/keyboard.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESC = 27, SEQUENCE_MS = 20, PASTE_MAX = 4 * 1024 * 1024 };

/* paste_begins is without its ESC */
static const char paste_begins[] = "[200~", paste_ends[] = "\033[201~";
enum { BEGIN_LEN = sizeof paste_begins - 1, END_LEN = sizeof paste_ends - 1 };

/* Key code that stands for a complete paste; the editor has no other use for this key. */
enum { PASTE_KEY = '_' - '@' };

volatile sig_atomic_t qn_keyboard_interrupted;

/* set after Ctrl-Z, as the shell has used the terminal meanwhile */
static volatile sig_atomic_t resumed;
static struct sigaction old_int, old_cont;
static bool marks_paste;      /* the terminal supports bracketed paste */
static struct qn_buf paste;   /* pasted text that the editor has not taken yet */
static char ahead[BEGIN_LEN]; /* bytes read after ESC that are not paste_begins */
static size_t ahead_n, ahead_at;

static void on_signal(int signo)
{
    *(signo == SIGINT ? &qn_keyboard_interrupted : &resumed) = 1;
}

/* Waits for a byte. Signals are delivered only during the wait, so that none is lost before it.
 * Returns 1, 0 at the end of input or of the limit, -1 after Ctrl-C. */
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

/* After ESC: consumes the rest of the mark that begins a paste. Other bytes are stored in
 * `ahead`. */
static bool paste_comes(EditLine *el)
{
    static const struct timespec soon = {.tv_nsec = SEQUENCE_MS * 1000000L};
    bool same = true;
    for (ahead_n = ahead_at = 0; same && ahead_n < BEGIN_LEN; ahead_n++) {
        if (wait_byte(el, &soon, &ahead[ahead_n]) != 1)
            return false;
        same = ahead[ahead_n] == paste_begins[ahead_n];
    }
    if (same)
        ahead_n = 0;
    return same;
}

/* Reads until the mark that ends the paste; line breaks of any kind become '\n'. Returns as
 * wait_byte. */
static int take_paste(EditLine *el)
{
    char c;
    int got;
    qn_buf_clear(&paste);
    while ((got = wait_byte(el, NULL, &c)) == 1) {
        bool second = c == '\n' && paste.len && paste.data[paste.len - 1] == '\r';
        if (second)
            paste.data[paste.len - 1] = '\n';
        else
            qn_buf_char(&paste, c);
        if (paste.len >= END_LEN &&
            memcmp(paste.data + paste.len - END_LEN, paste_ends, END_LEN) == 0)
            break;
        if (paste.overflow)
            qn_buf_clear(&paste); /* too long: discarded, only the rest is inserted */
    }
    if (got != 1)
        return got;
    paste.len -= END_LEN;
    paste.data[paste.len] = '\0';
    for (char *r = paste.data; (r = memchr(r, '\r', (size_t)(paste.data + paste.len - r)));)
        *r = '\n';
    return 1;
}

/* Editor function bound to PASTE_KEY. */
static unsigned char insert_paste(EditLine *el, int key)
{
    (void)key;
    bool good = paste.len && qn_utf8_valid(paste.data, paste.len);
    good = good && el_insertstr(el, paste.data) == 0;
    qn_buf_clear(&paste);
    return good ? CC_REFRESH : CC_ERROR;
}

static int next_byte(EditLine *el, char *out)
{
    if (ahead_at < ahead_n) {
        *out = ahead[ahead_at++];
        return 1;
    }
    int got = wait_byte(el, NULL, out);
    if (got == 1 && *out == ESC && marks_paste && paste_comes(el)) {
        got = take_paste(el);
        *out = PASTE_KEY;
    }
    return got;
}

/* Provides libedit with characters. */
static int read_character(EditLine *el, wchar_t *out)
{
    char bytes[4];
    size_t n = 0;
    uint32_t cp;
    do {
        int got = next_byte(el, bytes + n);
        if (got <= 0)
            return got;
        n++;
    } while (n < sizeof bytes && qn_utf8_whole(bytes, n) == 0);
    qn_utf8_decode(bytes, n, &cp);
    *out = (wchar_t)cp;
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
    qn_buf_init(&paste, PASTE_MAX);
    el_set(el, EL_GETCFN, read_character);
    /* The wide variant keeps pointers to the strings; the narrow one would copy them and leak the
     * copies. */
    el_wset(el, EL_ADDFN, L"insert-paste", L"Insert what was pasted", insert_paste);
    el_set(el, EL_BIND, "^_", "insert-paste", NULL);
}

void qn_keyboard_close(void)
{
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGCONT, &old_cont, NULL);
    qn_buf_deinit(&paste);
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
    ahead_n = ahead_at = 0;
    el_set(el, EL_PREP_TERM, 1); /* before the prompt is shown, so that no input is echoed twice */
    ask_for_marks(true);
    const char *line = el_gets(el, n);
    ask_for_marks(false);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return *n > 0 ? line : NULL;
}
