/* Settings in every form: config.json up to the first NUL, a request's object up to the next, then
 * words, of which those that begin with QUINCE_ or HF_ are the environment and the others flags.
 * What is accepted can be told as JSON, is accepted in that form, and is the same from then on. */
#include "settings/settings.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16, TEXT_MAX = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What differs from the presets and has a place in config.json, as an object. */
static void tell(const struct qn_settings *s, struct qn_buf *out)
{
    struct qn_settings plain;
    struct qn_setting about;
    qn_settings_presets(&plain);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (size_t i = 0; qn_setting_at(i, &about); i++)
        if (!qn_setting_same(s, &plain, i) && !qn_str_eq(about.name, "data-dir")) {
            qn_jw_key(&w, about.name);
            qn_setting_print(s, i, &w);
        }
    qn_jw_obj_end(&w);
    qn_settings_deinit(&plain);
}

/* The settings that text says, as text; text is what `tell` has written. */
static void tell_again(const struct qn_buf *text, struct qn_buf *out)
{
    struct qn_settings s;
    struct qn_json *doc;
    struct qn_error e = {0};
    qn_settings_presets(&s);
    if (qn_json_parse(text->data, text->len, &doc, &e))
        abort();
    struct qn_jref root = qn_json_root(doc);
    if (qn_settings_take(&s, &root, &e))
        abort();
    tell(&s, out);
    qn_json_free(doc);
    qn_settings_deinit(&s);
}

static void check(const struct qn_settings *s)
{
    struct qn_buf text[3];
    for (int i = 0; i < 3; i++)
        qn_buf_init(&text[i], TEXT_MAX);
    tell(s, &text[0]);
    tell_again(&text[0], &text[1]);
    tell_again(&text[1], &text[2]);
    if (!qn_str_eq(qn_buf_cstr(&text[1]), qn_buf_cstr(&text[2])))
        abort();
    for (int i = 0; i < 3; i++)
        qn_buf_deinit(&text[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *args[WORDS_MAX + 2] = {"--data-dir", "/nowhere"}, *env[WORDS_MAX + 1] = {NULL};
    char *whole = qn_xstrndup((const char *)data, n), *at = whole, *end = whole + n;
    struct qn_settings_layers layers = {.n_args = 2, .args = args, .env = env};
    struct qn_settings s;
    struct qn_error e = {0};
    size_t words = 0, n_env = 0;
    layers.file = at;
    at += strlen(at) + 1;
    if (at < end && *at)
        layers.request = at;
    at += at < end ? strlen(at) + 1 : 0;
    for (; at < end && words < WORDS_MAX; at += strlen(at) + 1, words++) {
        if (qn_str_starts(at, "QUINCE_") || qn_str_starts(at, "HF_"))
            env[n_env++] = at;
        else
            args[layers.n_args++] = at;
    }
    if (qn_settings_read_again(&s, &layers, &e) == QN_OK)
        check(&s);
    else if (!e.message[0])
        abort();
    qn_settings_deinit(&s);
    free(whole);
    return 0;
}
