/* The table of character classes, expanded from ranges at first use: 208 KiB, shared by all
 * tokenizers of the process. Source: Unicode 15.1, UnicodeData.txt, PropList.txt, Scripts.txt. */
#include "text/unicode.h"

#include <pthread.h>
#include <string.h>

enum {
    OTHER = QN_CH_OTHER,
    NEWLINE = QN_CH_NEWLINE,
    SPACE = QN_CH_SPACE,
    UPPER = QN_CH_UPPER,
    LOWER = QN_CH_LOWER,
    TITLE = QN_CH_TITLE,
    MODIFIER = QN_CH_MODIFIER,
    LETTER = QN_CH_LETTER,
    MARK = QN_CH_MARK,
    DIGIT = QN_CH_DIGIT,
    NUMBER = QN_CH_NUMBER,
    PUNCT = QN_CH_PUNCT,
    SYMBOL = QN_CH_SYMBOL
};

static const struct {
    uint32_t from;
    uint8_t class;
} ranges[] = {
#include "text/unicode_ranges.inc"
};

uint8_t qn_unicode_map[QN_UNICODE_MAPPED];

static void fill(void)
{
    enum { N = sizeof ranges / sizeof ranges[0] };
    for (size_t i = 0; i < N && ranges[i].from < QN_UNICODE_MAPPED; i++) {
        uint32_t to = i + 1 < N && ranges[i + 1].from < QN_UNICODE_MAPPED ? ranges[i + 1].from
                                                                          : QN_UNICODE_MAPPED;
        memset(qn_unicode_map + ranges[i].from, ranges[i].class, to - ranges[i].from);
    }
}

void qn_unicode_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, fill);
}

bool qn_charset_has(const struct qn_charset *set, uint32_t cp)
{
    if ((set->classes >> qn_unicode_class(cp) & 1u) != 0) {
        return true;
    }
    size_t low = 0, high = set->ranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->range[middle][1] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set->ranges && set->range[low][0] <= cp;
}

static const uint32_t han[][2] = {{0x2e80, 0x2e99},   {0x2e9b, 0x2ef3},   {0x2f00, 0x2fd5},
                                  {0x3005, 0x3005},   {0x3007, 0x3007},   {0x3021, 0x3029},
                                  {0x3038, 0x303b},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
                                  {0xf900, 0xfa6d},   {0xfa70, 0xfad9},   {0x16fe2, 0x16fe3},
                                  {0x16ff0, 0x16ff1}, {0x20000, 0x2a6df}, {0x2a700, 0x2b739},
                                  {0x2b740, 0x2b81d}, {0x2b820, 0x2cea1}, {0x2ceb0, 0x2ebe0},
                                  {0x2f800, 0x2fa1d}, {0x30000, 0x3134a}, {0x31350, 0x323af}};
const struct qn_charset qn_charset_han = {0, han, sizeof han / sizeof han[0]};
