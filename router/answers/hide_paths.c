/* See hide_paths.h. */
#include "answers/hide_paths.h"

#include "answers/family.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { ROUTE_MAX = 64 }; /* bytes that are compared to recognise an API's path */

/* True for a word that looks like a file's absolute path: it begins with one slash (two slashes are
 * part of a URL), has another slash later, and is no path of an API. */
static bool is_file(const char *word, size_t n)
{
    char path[ROUTE_MAX];
    snprintf(path, sizeof path, "%.*s", n < sizeof path ? (int)n : (int)sizeof path - 1, word);
    return word[1] != '/' && memchr(word + 1, '/', n - 1) && !qn_path_unversioned(path) &&
           !qn_str_starts(path, "/api/") && !qn_str_starts(path, "/internal/");
}

void qn_hide_paths(const char *text, char *out, size_t size)
{
    static const char ends[] = " \t'\"(),;:=";
    size_t used = 0, i = 0;
    while (text[i] && used + 1 < size) {
        bool begins = text[i] == '/' && (i == 0 || strchr(ends, text[i - 1]));
        size_t n = begins ? strcspn(text + i, ends) : 0;
        if (n && is_file(text + i, n)) {
            while (text[i + n - 1] != '/')
                n--;
            i += n;
        } else {
            out[used++] = text[i++];
        }
    }
    out[used] = '\0';
}
