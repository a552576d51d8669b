/* See screen.h. */
#include "cli/screen.h"

#include "base/str.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HEIGHT = 24 };

bool qn_screen_live(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term && term[0] && !qn_str_eq(term, "dumb");
}

static struct winsize size_of(FILE *f)
{
    struct winsize w = {0};
    if (ioctl(fileno(f), TIOCGWINSZ, &w) != 0)
        return (struct winsize){0};
    return w;
}

size_t qn_screen_width(FILE *f)
{
    size_t columns = size_of(f).ws_col;
    return columns ? columns : QN_SCREEN_WIDTH;
}

size_t qn_screen_height(FILE *f)
{
    size_t rows = size_of(f).ws_row;
    return rows ? rows : HEIGHT;
}

bool qn_screen_coloured(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return qn_screen_live(f) && !(no && no[0]);
}

const char *qn_screen_ink(FILE *f, enum qn_ink ink)
{
    static const char *const inks[] = {
        [QN_INK_PLAIN] = "\033[0m",  [QN_INK_BOLD] = "\033[1m",    [QN_INK_DIM] = "\033[2m",
        [QN_INK_GREEN] = "\033[32m", [QN_INK_YELLOW] = "\033[33m", [QN_INK_RED] = "\033[31m",
    };
    return qn_screen_coloured(f) ? inks[ink] : "";
}
