/* See ref.h. Every form is first reduced to a host ("" for none) and a path; a table of hosts
 * determines the hub. */
#include "registry/ref.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_names[QN_HUB_COUNT] = {"huggingface", "modelscope", "ollama", "url",
                                                     "local"};

const char *qn_hub_kind_name(enum qn_hub_kind kind)
{
    return kind_names[kind];
}

enum qn_hub_kind qn_hub_kind_parse(const char *name)
{
    if (qn_str_ieq(name, "hf"))
        return QN_HUB_HF;
    for (int k = 0; k < QN_HUB_COUNT; k++)
        if (qn_str_ieq(name, kind_names[k]))
            return (enum qn_hub_kind)k;
    return QN_HUB_COUNT;
}

/* Hosts of hubs as people write and copy them. */
static const struct host {
    const char *name;
    enum qn_hub_kind hub;
} hosts[] = {
    {"huggingface.co", QN_HUB_HF},
    {"www.huggingface.co", QN_HUB_HF},
    {"hf.co", QN_HUB_HF},
    {"modelscope.cn", QN_HUB_MODELSCOPE},
    {"www.modelscope.cn", QN_HUB_MODELSCOPE},
    {"modelscope.ai", QN_HUB_MODELSCOPE},
    {"www.modelscope.ai", QN_HUB_MODELSCOPE},
    {"ollama.com", QN_HUB_OLLAMA},
    {"www.ollama.com", QN_HUB_OLLAMA},
    {"registry.ollama.ai", QN_HUB_OLLAMA},
};

/* Endings that mark a name as a file and not a repository, if nothing else decides. */
static const char *const file_endings[] = {".gguf", ".safetensors", ".bin",    ".onnx",
                                           ".pth",  ".zip",         ".7z",     ".tar",
                                           ".tgz",  ".tzst",        ".tar.gz", ".tar.zst"};

static bool ends_like_file(const char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < sizeof file_endings / sizeof *file_endings; i++) {
        size_t k = strlen(file_endings[i]);
        if (n > k && qn_str_ieq(s + n - k, file_endings[i]))
            return true;
    }
    return false;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

/* One part of a repository's name. */
static bool part_ok(const char *s, size_t n)
{
    if (n == 0 || n > 96 || *s == '.' || *s == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_word_char(s[i]) || (s[i] == '.' && i + 1 < n && s[i + 1] == '.'))
            return false;
    return true;
}

bool qn_ref_repo_ok(const char *repo)
{
    const char *slash = strchr(repo, '/');
    return slash && part_ok(repo, (size_t)(slash - repo)) && part_ok(slash + 1, strlen(slash + 1));
}

/* True for C0, DEL and, as UTF-8, C1 control characters, which terminals interpret. */
static bool is_control(const char *s)
{
    unsigned char c = (unsigned char)s[0], next = c ? (unsigned char)s[1] : 0;
    return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

bool qn_ref_path_ok(const char *path)
{
    size_t n = strlen(path);
    if (n == 0 || n > 1024 || !qn_utf8_valid(path, n))
        return false;
    for (const char *part = path;;) {
        size_t len = strcspn(part, "/");
        if (len == 0 || len > 255 || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        for (size_t i = 0; i < len; i++)
            if (is_control(part + i) || part[i] == '\\')
                return false;
        if (!part[len])
            return true;
        part += len + 1;
    }
}

/* True for a git revision that is safe in an address: no "..", nothing that needs escaping. */
static bool revision_ok(const char *s)
{
    if (!*s || *s == '/' || *s == '-' || *s == '.' || qn_str_ends(s, "/") || strstr(s, "..") ||
        strstr(s, "//"))
        return false;
    for (; *s; s++)
        if (!is_word_char(*s) && *s != '/' && *s != '+')
            return false;
    return true;
}

/* Copies n bytes of s; false when they do not fit. */
static bool take(char *out, size_t size, const char *s, size_t n)
{
    if (n >= size)
        return false;
    memcpy(out, s, n);
    out[n] = '\0';
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes %20 and the like in place. Malformed sequences and %00 stay as they are. */
static void percent_decode(char *s)
{
    char *to = s;
    for (; *s; s++) {
        int high = s[0] == '%' ? hex_digit(s[1]) : -1, low = high >= 0 ? hex_digit(s[2]) : -1;
        if (low >= 0 && (high || low)) {
            *to++ = (char)(high * 16 + low);
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

static qn_err bad(struct qn_error *e, const char *text, const char *why)
{
    return qn_fail_param(e, QN_EINVAL, "model", "'%.200s' %s", text, why);
}

/* ":VARIANT", "@REVISION", both in either order, or nothing. */
static qn_err read_suffix(const char *text, const char *s, struct qn_ref *out, struct qn_error *e)
{
    const char *variant = NULL, *revision = NULL;
    size_t variant_len = 0, revision_len = 0;
    if (*s == '@') {
        revision = s + 1;
        revision_len = strcspn(revision, ":");
        s = revision + revision_len;
        if (*s == ':') {
            variant = s + 1;
            variant_len = strlen(variant);
        }
    } else if (*s == ':') {
        variant = s + 1;
        const char *at = strrchr(variant, '@');
        if (at && !ends_like_file(at)) {
            variant_len = (size_t)(at - variant);
            revision = at + 1;
            revision_len = strlen(revision);
        } else {
            variant_len = strlen(variant);
        }
    }
    if ((variant && !variant_len) || (revision && !revision_len))
        return bad(
            e, text,
            "ends in nothing: leave out the ':' or '@', or name a variant or revision after it");
    if (revision && (!take(out->revision, sizeof out->revision, revision, revision_len) ||
                     !revision_ok(out->revision)))
        return bad(e, text,
                   "names a revision that cannot be: a branch, a tag or a commit is letters, "
                   "digits and . _ - /");
    if (variant && (!take(out->variant, sizeof out->variant, variant, variant_len) ||
                    (!qn_ref_path_ok(out->variant) && !qn_str_eq(out->variant, "*"))))
        return bad(e, text,
                   "names a variant that cannot be: a quantisation such as Q4_K_M, a file or a "
                   "folder of the repository");
    const char *second_at = strrchr(out->variant, '@');
    if (second_at && !ends_like_file(second_at))
        return bad(e, text, "has two '@': a revision is named once");
    return QN_OK;
}

/* The next part of a path: up to '/' or the end. */
static size_t part_len(const char *s)
{
    return strcspn(s, "/");
}

/* Parses owner/repo, then a suffix, a file's path, or a page of the repository
 * (https://.../tree/main). */
static qn_err read_repo(const char *text, const char *path, struct qn_ref *out, struct qn_error *e)
{
    size_t owner = part_len(path), name = path[owner] ? strcspn(path + owner + 1, "/:@") : 0;
    const char *rest = path + owner + (path[owner] ? 1 : 0) + name;
    if (!take(out->repo, sizeof out->repo, path, (size_t)(rest - path)) ||
        !qn_ref_repo_ok(out->repo))
        return bad(e, text,
                   "is not a model: expected a built-in name (quince list --all), owner/repo, "
                   "owner/repo:VARIANT, an address or a path");
    if (*rest != '/')
        return read_suffix(text, rest, out, e);
    rest++;
    if (!*rest)
        return QN_OK;
    /* /tree/REV[/FOLDER], /blob/REV/FILE, /resolve/REV/FILE; ModelScope: /file/view/REV/FILE, and
     * tabs of its pages. */
    size_t n = part_len(rest);
    bool page = false;
    static const char *const words[] = {"tree/", "blob/", "resolve/", "raw/", "file/view/"};
    for (size_t i = 0; i < sizeof words / sizeof *words && !page; i++)
        if (qn_str_starts(rest, words[i])) {
            rest += strlen(words[i]);
            page = true;
        }
    if (!page) {
        static const char *const tabs[] = {"files",   "summary",  "discussions",
                                           "commits", "feedback", "settings"};
        for (size_t i = 0; i < sizeof tabs / sizeof *tabs; i++)
            if (strlen(tabs[i]) == n && !strncmp(rest, tabs[i], n))
                return QN_OK;
    } else {
        n = part_len(rest);
        /* "refs/pr/7" is one revision. */
        if (qn_str_starts(rest, "refs/"))
            for (int more = 0; more < 2 && rest[n] == '/'; more++)
                n += 1 + part_len(rest + n + 1);
        if (!take(out->revision, sizeof out->revision, rest, n) || !revision_ok(out->revision))
            return bad(e, text,
                       "names a revision that cannot be: a branch, a tag or a commit is letters, "
                       "digits and . _ - /");
        rest += n + (rest[n] == '/');
        if (!*rest)
            return QN_OK;
    }
    n = strlen(rest);
    if (rest[n - 1] == '/')
        n--;
    if (!take(out->variant, sizeof out->variant, rest, n) || !qn_ref_path_ok(out->variant))
        return bad(e, text, "names a file that cannot be in a repository");
    const char *at = strrchr(out->variant, '@');
    if (at && !ends_like_file(at))
        return bad(e, text, "has a revision behind a file's path: write owner/repo:FILE@REVISION");
    return QN_OK;
}

/* Skips the "models/" that pages and the API put before owner/repo, unless it is itself the owner.
 */
static const char *behind_models(const char *path)
{
    const char *rest = path + strlen("models/");
    return qn_str_starts(path, "models/") && rest[strcspn(rest, "/:@")] == '/' ? rest : path;
}

static qn_err read_hf(const char *text, const char *path, struct qn_ref *out, struct qn_error *e)
{
    static const char *const others[] = {"datasets/", "spaces/", "collections/", "papers/",
                                         "docs/"};
    path = behind_models(path);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (qn_str_starts(path, others[i]))
            return qn_fail_param(e, QN_EUNSUPPORTED, "model",
                                 "'%.200s' is not a model's page: %.*s hold no models", text,
                                 (int)strlen(others[i]) - 1, others[i]);
    return read_repo(text, path, out, e);
}

static qn_err read_modelscope(const char *text, const char *path, struct qn_ref *out,
                              struct qn_error *e)
{
    return read_repo(text, behind_models(path), out, e);
}

/* Parses [library/]name[:tag], user/name[:tag], their pages of tags, and the registry's own
 * v2/owner/name/manifests/tag. */
static qn_err read_ollama(const char *text, const char *path, struct qn_ref *out,
                          struct qn_error *e)
{
    bool api = qn_str_starts(path, "v2/") && strstr(path, "/manifests/");
    if (api)
        path += strlen("v2/");
    bool library = qn_str_starts(path, "library/");
    if (library)
        path += strlen("library/");
    const char *manifests = api ? strstr(path, "/manifests/") : NULL;
    size_t n = manifests ? (size_t)(manifests - path) : strcspn(path, ":");
    const char *tag = manifests ? manifests + strlen("/manifests/") : path[n] ? path + n + 1 : "";
    if (!path[n] && n > 0 && path[n - 1] == '/')
        n--;
    const char *slash = memchr(path, '/', n);
    if (slash && !path[n] && (library || memchr(slash + 1, '/', n - (size_t)(slash + 1 - path))) &&
        qn_str_ends(path, "/tags"))
        n -= strlen("/tags");
    bool bare = !memchr(path, '/', n);
    const char *owner = bare ? "library/" : "";
    size_t owner_len = strlen(owner);
    memcpy(out->repo, owner, owner_len);
    bool fits = take(out->repo + owner_len, sizeof out->repo - owner_len, path, n);
    if (!fits || !qn_ref_repo_ok(out->repo))
        return bad(
            e, text,
            "is not a model: `quince list --all` shows the built-in names; others are owner/repo "
            "(Hugging Face), name:tag (Ollama), an address or a path");
    if (path[n] == ':' && !*tag)
        return bad(e, text, "ends in nothing: leave out the ':' or name a tag after it");
    if (!*tag)
        tag = "latest";
    if (!part_ok(tag, strlen(tag)) || !take(out->variant, sizeof out->variant, tag, strlen(tag)))
        return bad(e, text, "names a tag that cannot be: letters, digits and . _ -");
    return QN_OK;
}

static qn_err read_hub(const char *text, enum qn_hub_kind hub, const char *path, struct qn_ref *out,
                       struct qn_error *e)
{
    out->hub = hub;
    return hub == QN_HUB_OLLAMA       ? read_ollama(text, path, out, e)
           : hub == QN_HUB_MODELSCOPE ? read_modelscope(text, path, out, e)
                                      : read_hf(text, path, out, e);
}

/* The hub of the host name of n bytes at s, or QN_HUB_COUNT. */
static enum qn_hub_kind host_hub(const char *s, size_t n)
{
    char host[64];
    if (!take(host, sizeof host, s, n))
        return QN_HUB_COUNT;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (qn_str_ieq(host, hosts[i].name))
            return hosts[i].hub;
    return QN_HUB_COUNT;
}

/* Parses an address: a page or file of a hub, else any file. after: the text after "scheme://". */
static qn_err read_address(const char *text, const char *after, struct qn_ref *out,
                           struct qn_error *e)
{
    size_t host = strcspn(after, "/?#");
    if (memchr(after, '@', host))
        return bad(e, "the address",
                   "holds a user name or password, which would be kept: leave it out");
    if (host == 0 || *after == ':')
        return bad(e, text, "is not a whole address: no host in it");
    enum qn_hub_kind hub = host_hub(after, host);
    if (hub == QN_HUB_COUNT || after[host] != '/') {
        if (hub != QN_HUB_COUNT)
            return bad(e, text, "is a hub, not a model: add /owner/repo");
        out->hub = QN_HUB_URL;
        /* The fragment after '#' is never sent. */
        if (!take(out->url, sizeof out->url, text, strcspn(text, "#")))
            return bad(e, "the address", "is too long");
        return QN_OK;
    }
    char path[QN_REF_URL_MAX + 1];
    if (!take(path, sizeof path, after + host + 1, strcspn(after + host + 1, "?#")))
        return bad(e, "the address", "is too long");
    percent_decode(path);
    return read_hub(text, hub, path, out, e);
}

static qn_err read_path(const char *text, const char *path, struct qn_ref *out, struct qn_error *e)
{
    out->hub = QN_HUB_LOCAL;
    if (!*path || !take(out->url, sizeof out->url, path, strlen(path)))
        return bad(e, "the path", "is empty or too long");
    (void)text;
    return QN_OK;
}

static size_t count(const char *s, char c)
{
    size_t n = 0;
    for (; *s; s++)
        n += *s == c;
    return n;
}

qn_err qn_ref_parse(const char *text, enum qn_hub_kind plain, struct qn_ref *out,
                    struct qn_error *e)
{
    memset(out, 0, sizeof *out);
    size_t n = strlen(text);
    if (n == 0)
        return qn_fail_param(e, QN_EINVAL, "model", "the model's name is empty");
    if (n > QN_REF_URL_MAX)
        return qn_fail_param(e, QN_EINVAL, "model", "the model's name is longer than %d bytes",
                             QN_REF_URL_MAX);
    if (!qn_utf8_valid(text, n))
        return qn_fail_param(e, QN_EINVAL, "model", "the model's name is not UTF-8");
    for (size_t i = 0; i < n; i++)
        if (is_control(text + i))
            return qn_fail_param(e, QN_EINVAL, "model",
                                 "the model's name holds a control character");

    if (qn_str_starts(text, "file://"))
        return read_path(text, text + strlen("file://"), out, e);
    const char *colon = strstr(text, "://");
    if (colon) {
        size_t scheme = (size_t)(colon - text);
        if ((scheme == 5 && !strncmp(text, "https", 5)) ||
            (scheme == 4 && !strncmp(text, "http", 4))) {
            if (strchr(text, ' '))
                return bad(e, text, "is not an address: it has a space in it");
            return read_address(text, colon + 3, out, e);
        }
        return qn_fail_param(e, QN_EUNSUPPORTED, "model",
                             "'%.200s': only http://, https:// and file:// are understood", text);
    }
    if (*text == '/' || *text == '~' || qn_str_starts(text, "./") || qn_str_starts(text, "../"))
        return read_path(text, text, out, e);
    size_t slashes = count(text, '/'), host = part_len(text);
    enum qn_hub_kind hub = host_hub(text, host);
    if (hub != QN_HUB_COUNT && !slashes)
        return bad(e, text, "is a hub, not a model: add /owner/repo");
    if (hub != QN_HUB_COUNT)
        return read_hub(text, hub, text + host + 1, out, e);
    /* "b.gguf" and "folder/b.gguf" are files of this machine; "owner/repo/b.gguf" is a file of the
     * hub. */
    if (slashes < 2 && !strchr(text, ':') && ends_like_file(text))
        return read_path(text, text, out, e);
    if (!slashes || qn_str_starts(text, "library/"))
        return read_hub(text, QN_HUB_OLLAMA, text, out, e);
    return read_hub(text, plain, text, out, e);
}

/* Prints the reference without a prefix for its hub. */
static void print_plain(const struct qn_ref *ref, struct qn_buf *out)
{
    qn_buf_str(out, ref->hub == QN_HUB_URL || ref->hub == QN_HUB_LOCAL ? ref->url : ref->repo);
    if (*ref->revision)
        qn_buf_fmt(out, "@%s", ref->revision);
    if (*ref->variant)
        qn_buf_fmt(out, ":%s", ref->variant);
}

void qn_ref_print(const struct qn_ref *ref, struct qn_buf *out)
{
    static const char *const prefixes[QN_HUB_COUNT] = {
        [QN_HUB_HF] = "hf.co/",
        [QN_HUB_MODELSCOPE] = "modelscope.cn/",
        [QN_HUB_OLLAMA] = "ollama.com/",
        [QN_HUB_LOCAL] = "file://",
        [QN_HUB_URL] = "",
    };
    struct qn_ref again;
    struct qn_buf plain;
    qn_buf_init(&plain, 2 * QN_REF_URL_MAX);
    print_plain(ref, &plain);
    /* Add a prefix only if the text would be parsed differently without it. */
    if (qn_ref_parse(qn_buf_cstr(&plain), QN_HUB_HF, &again, NULL) ||
        memcmp(ref, &again, sizeof again))
        qn_buf_str(out, prefixes[ref->hub]);
    qn_buf_str(out, qn_buf_cstr(&plain));
    qn_buf_deinit(&plain);
}
