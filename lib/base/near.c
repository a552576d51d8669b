/* See near.h. */
#include "base/near.h"

#include <ctype.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int letter(const char *s, size_t i)
{
    return tolower((unsigned char)s[i]);
}

/* Three rows of the edit-distance table are enough: an exchange of adjacent bytes refers two rows
 * back. */
size_t qn_near_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), lines[3][QN_NEAR_WORD_MAX + 1];
    if (n > QN_NEAR_WORD_MAX || m > QN_NEAR_WORD_MAX)
        return QN_NEAR_FAR;
    for (size_t j = 0; j <= m; j++)
        lines[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *line = lines[i % 3], *before = lines[(i + 2) % 3], *two = lines[(i + 1) % 3];
        line[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (letter(a, i - 1) != letter(b, j - 1));
            best = least(best, least(before[j], line[j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
                letter(a, i - 2) == letter(b, j - 1))
                best = least(best, two[j - 2] + 1);
            line[j] = best;
        }
    }
    return lines[n % 3][m];
}

struct qn_near qn_near_begin(const char *word)
{
    return (struct qn_near){.word = word, .best = strlen(word) / 3 + 2};
}

void qn_near_offer(struct qn_near *n, const char *candidate, const char *name)
{
    size_t d = qn_near_distance(n->word, candidate);
    if (d < n->best) {
        n->best = d;
        n->found = name;
    }
}
