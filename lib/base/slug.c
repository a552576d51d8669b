/* See slug.h. Source of the letters: the canonical decompositions of Unicode's blocks Latin-1
 * Supplement and Latin Extended-A; ligatures and letters with strokes by their usual spelling. */
#include "base/slug.h"

#include "base/str.h"

#include <stdint.h>
#include <string.h>

enum { LATIN_FIRST = 0xC0, LATIN_LAST = 0x17F };

/* The ASCII letter of each code point from U+00C0 on. ' ' is a symbol; '?' is a letter that is
 * written with two, see letters_of. */
static const char latin[] = "AAAAAA?CEEEEIIIIDNOOOOO OUUUUY??"
                            "aaaaaa?ceeeeiiiidnooooo ouuuuy?y"
                            "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi??JjKkk"
                            "LlLlLlLlLlNnNnNnnNnOoOoOo??RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUu"
                            "WwYyYZzZzZzs";
_Static_assert(sizeof latin - 1 == LATIN_LAST - LATIN_FIRST + 1, "one letter for each");

/* The ASCII letters for a code point; "" for a separator, NULL: not representable. */
static const char *letters_of(uint32_t cp, char one[static 2])
{
    static const struct {
        uint32_t cp;
        const char *text;
    } two[] = {{0xC6, "AE"},  {0xDE, "TH"},  {0xDF, "ss"},  {0xE6, "ae"}, {0xFE, "th"},
               {0x132, "IJ"}, {0x133, "ij"}, {0x152, "OE"}, {0x153, "oe"}};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (two[i].cp == cp)
            return two[i].text;
    bool plain = (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9') ||
                 cp == '.' || cp == '_';
    bool is_latin = cp >= LATIN_FIRST && cp <= LATIN_LAST && latin[cp - LATIN_FIRST] != ' ';
    one[0] = plain ? (char)cp : is_latin ? latin[cp - LATIN_FIRST] : '\0';
    one[1] = '\0';
    bool sign = cp < LATIN_FIRST || cp == 0xD7 || cp == 0xF7 || (cp >= 0x2000 && cp <= 0x206F);
    return one[0] || sign ? one : NULL;
}

bool qn_slug(const char *text, char *out, size_t size)
{
    size_t used = 0, n = strlen(text), step;
    bool whole = true, gap = false;
    for (size_t at = 0; at < n; at += step) {
        uint32_t cp;
        char one[2];
        step = qn_utf8_decode(text + at, n - at, &cp);
        if (cp >= 0x300 && cp <= 0x36F) /* a combining mark of the letter before */
            continue;
        const char *letters = letters_of(cp, one);
        size_t length = letters ? strlen(letters) : 0;
        whole = whole && letters;
        gap = gap || !length;
        if (!length)
            continue;
        bool dash = gap && used > 0;
        if (used + dash + length + 1 > size)
            break;
        if (dash)
            out[used++] = '-';
        memcpy(out + used, letters, length);
        used += length;
        gap = false;
    }
    out[used] = '\0';
    return whole && strspn(out, "._-") < used;
}
