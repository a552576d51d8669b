/* Names from texts of any bytes: the title of a hostile file, up to the first NUL, then the file's
 * name. What comes out can be typed, is never empty, and stays as it is when it is made again. */
#include "base/slug.h"
#include "models/model_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_be_typable(const char *s)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    must(s[strspn(s, letters)] == '\0' && s[0] != '-');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[QN_MODEL_SLUG_MAX + 1], again[QN_MODEL_SLUG_MAX + 1];
    char *text = malloc(size + 2);
    must(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    bool whole = qn_slug(text, name, sizeof name);
    must_be_typable(name);
    must(qn_slug(name, again, sizeof again) || !whole);
    must(!whole || strcmp(name, again) == 0);
    qn_model_slug(text + strlen(text) + 1, text, name);
    must_be_typable(name);
    must(name[strspn(name, "._-")] != '\0');
    free(text);
    return 0;
}
