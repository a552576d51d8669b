/* See ask.h. Questions go to stderr, as they are not part of the output. */
#include "cli/ask.h"

#include "base/str.h"
#include "cli/print.h"
#include "cli/screen.h"

#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 256 };

bool qn_ask_possible(const struct qn_cli *cli)
{
    return !cli->json && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Shows the question and waits for a line. Ctrl-C is delivered only during the wait, so that one
 * pressed right after the question appears is not lost. */
static bool wait_answer(const char *question)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, &before);
    qn_print_safe(stderr, question);
    fputc(' ', stderr);
    fflush(stderr);
    int n = ppoll(&in, 1, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return n > 0;
}

bool qn_ask_line(const char *question, char *out, size_t n)
{
    char line[ANSWER_MAX];
    fflush(stdout);
    if (!wait_answer(question) || !fgets(line, sizeof line, stdin)) {
        fputc('\n', stderr);
        return false;
    }
    /* discards the rest of the line, so that it does not answer the next question */
    if (!strchr(line, '\n'))
        for (int c = getchar(); c != '\n' && c != EOF;)
            c = getchar();
    char *from = line, *to = line + strlen(line);
    while (isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    *to = '\0';
    snprintf(out, n, "%s", from);
    return true;
}

bool qn_ask_yes(const char *question)
{
    char text[ANSWER_MAX * 4], answer[8];
    snprintf(text, sizeof text, "%s [y/N]", question);
    return qn_ask_line(text, answer, sizeof answer) &&
           (qn_str_ieq(answer, "y") || qn_str_ieq(answer, "yes"));
}
