/* See wish.h. */
#include "cli/wish.h"

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool qn_wish_is_path(const char *word)
{
    static const char *const beginnings[] = {"/", "./", "../", "~/", "file://"};
    struct stat st;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (qn_str_starts(word, beginnings[i]))
            return true;
    /* "model.gguf" is taken for a file; a folder "owner/repo" may exist by chance, so it is not */
    return qn_str_ends(word, ".gguf") && stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

/* Begin of the word's last component. Colons are searched only there, as host names may have
 * ports. */
static const char *last_part(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

/* Prefixes of web pages of repositories; owner/name follows. */
static const char *const pages[] = {"https://hf.co/", "https://huggingface.co/",
                                    "https://modelscope.cn/", "https://www.modelscope.cn/"};
static const char ollama[] = "ollama.com/";

/* Returns the reference in the address of a repository's page; NULL: it is not such a page, or the
 * page of a file or revision. */
static const char *page_of(const char *word)
{
    static const char *const deeper[] = {"/blob/", "/resolve/", "/tree/"};
    for (size_t i = 0; i < sizeof deeper / sizeof *deeper; i++)
        if (strstr(word, deeper[i]))
            return NULL;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (qn_str_starts(word, pages[i]))
            return word + strlen("https://");
    return NULL;
}

bool qn_wish_is_address(const char *word)
{
    if (!strstr(word, "://"))
        return false;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (qn_str_starts(word, pages[i]))
            return false;
    return true;
}

void qn_wish_reference(const char *word, struct qn_buf *out)
{
    const char *page = page_of(word);
    qn_buf_fmt(out, "%s%s", strchr(word, '/') ? "" : ollama, page ? page : word);
}

bool qn_wish_takes_variant(const char *reference)
{
    return strchr(reference, '/') && !strstr(reference, "://") &&
           !qn_str_starts(reference, ollama) && !qn_str_starts(reference, "library/") &&
           !qn_str_starts(reference, "registry.ollama.ai/");
}

const char *qn_wish_variant(const char *reference, size_t *n)
{
    /* The variant may be a path, so the first colon after "owner/" separates it. */
    const char *slash = strchr(reference, '/'), *colon = slash ? strchr(slash, ':') : NULL;
    if (!qn_wish_takes_variant(reference) || !colon)
        return NULL;
    *n = strcspn(colon + 1, "@");
    return *n ? colon + 1 : NULL;
}

void qn_wish_with_variant(const char *reference, const char *variant, struct qn_buf *out)
{
    const char *at = strchr(last_part(reference), '@');
    size_t head = at ? (size_t)(at - reference) : strlen(reference);
    qn_buf_add(out, reference, head);
    qn_buf_fmt(out, ":%s%s", variant, at ? at : "");
}

static const char *const endings[] = {".gguf",   ".safetensors", ".bin", ".onnx",
                                      ".tar.gz", ".tar.zst",     ".zip", ".7z"};

void qn_wish_name(const char *suggested, const char *variant, char out[static QN_WISH_NAME_MAX])
{
    char text[QN_WISH_NAME_MAX];
    bool file = false;
    const char *last = last_part(variant);
    size_t n = strlen(last);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!file && qn_str_ends(last, endings[i])) {
            file = true;
            n -= strlen(endings[i]);
        }
    if (file)
        snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), last);
    else
        snprintf(text, sizeof text, "%s%s%s", suggested, suggested[0] && variant[0] ? "-" : "",
                 variant);
    size_t used = (size_t)snprintf(out, QN_WISH_NAME_MAX, "user.");
    for (const char *s = text; *s && used + 1 < QN_WISH_NAME_MAX; s++) {
        unsigned char c = (unsigned char)*s;
        out[used++] = isalnum(c) || strchr("._-", c) ? (char)c : '-';
    }
    out[used] = '\0';
}

static void write_labels(const struct qn_wish *w, const struct qn_jref *suggested,
                         struct qn_jw *out)
{
    struct qn_jref it;
    bool some = suggested && qn_json_count(suggested);
    if (!w->n_labels && !some)
        return;
    qn_jw_key(out, "labels");
    qn_jw_arr(out);
    for (bool more = some && qn_json_first(suggested, &it); more; more = qn_json_next(&it))
        qn_jw_str(out, qn_json_raw_str(&it));
    for (int i = 0; i < w->n_labels; i++)
        qn_jw_str(out, w->labels[i]);
    qn_jw_arr_end(out);
}

static void write_checkpoints(const struct qn_wish *w, const char *main_checkpoint,
                              struct qn_jw *out)
{
    if (!w->n_checkpoints) {
        if (main_checkpoint)
            qn_jw_kstr(out, "checkpoint", main_checkpoint);
        return;
    }
    qn_jw_key(out, "checkpoints");
    qn_jw_obj(out);
    for (int i = 0; i < w->n_checkpoints; i++)
        qn_jw_kstr(out, w->checkpoints[i].type, w->checkpoints[i].checkpoint);
    qn_jw_obj_end(out);
}

void qn_wish_write(const struct qn_wish *w, const struct qn_wish_found *found, struct qn_buf *out)
{
    const char *recipe = w->recipe ? w->recipe : found->recipe;
    struct qn_jw j = qn_jw_to(out);
    qn_jw_obj(&j);
    qn_jw_kstr(&j, "model_name", found->name);
    write_checkpoints(w, found->checkpoint, &j);
    if (recipe)
        qn_jw_kstr(&j, "recipe", recipe);
    write_labels(w, found->labels, &j);
    if (w->source)
        qn_jw_kstr(&j, "source", w->source);
    qn_jw_kbool(&j, "stream", true);
    qn_jw_obj_end(&j);
}
