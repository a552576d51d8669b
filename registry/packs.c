/* See packs.h: the table, and where the programs are. */
#include "registry/packs.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/pack_note.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { ARENA_MAX = 4 * 1024 * 1024, SHA256_DIGITS = 64, ADDRESS_MAX = 2048 };

struct qn_packs {
    struct qn_arena *arena;
    struct qn_pack *rows;
    size_t n;
    const char *engines, *path;
    bool prefer_system;
};

/* ---- the table ---- */

/* True for words that can be names of folders and parts of addresses. */
static bool is_word(const char *s, size_t n)
{
    if (n < 1 || n > QN_PACK_WORD_MAX || *s == '.' || *s == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
            return false;
    return true;
}

static qn_err read_word(const struct qn_jref *row, const char *key, struct qn_arena *a,
                        const char **out, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(row, key);
    const char *text;
    qn_err err = qn_json_str(&v, &text, e);
    if (!err && !is_word(text, strlen(text)))
        err = qn_json_fail(&v, e, "letters, digits and . _ - are allowed, %d at most",
                           QN_PACK_WORD_MAX);
    if (!err)
        *out = qn_arena_strdup(a, text);
    return err;
}

/* Copies an address, with {version} replaced by the version. */
static qn_err read_address(const struct qn_jref *v, const char *version, struct qn_arena *a,
                           const char **out, struct qn_error *e)
{
    static const char mark[] = "{version}";
    struct qn_buf text;
    const char *from;
    qn_err err = qn_json_str(v, &from, e);
    if (err)
        return err;
    qn_buf_init(&text, ADDRESS_MAX);
    for (const char *at; (at = strstr(from, mark)); from = at + strlen(mark)) {
        qn_buf_add(&text, from, (size_t)(at - from));
        qn_buf_str(&text, version);
    }
    qn_buf_str(&text, from);
    if (!(*out = qn_arena_take(a, &text)))
        err = qn_json_fail(v, e, "longer than %d bytes", ADDRESS_MAX);
    else if (!qn_str_starts(*out, "https://") && !qn_str_starts(*out, "http://"))
        err = qn_json_fail(v, e, "not an https address");
    qn_buf_deinit(&text);
    return err;
}

static qn_err read_sum(const struct qn_jref *v, struct qn_arena *a, const char **out,
                       struct qn_error *e)
{
    const char *text = "";
    qn_err err = qn_json_str_opt(v, &text, e);
    if (!err && *text &&
        (strlen(text) != SHA256_DIGITS || strspn(text, "0123456789abcdef") != SHA256_DIGITS))
        err = qn_json_fail(v, e, "not a SHA-256: %d lower-case hexadecimal digits", SHA256_DIGITS);
    if (!err)
        *out = qn_arena_strdup(a, text);
    return err;
}

/* Reads the archive for this machine's kind of processor; a row may have none for it. */
static qn_err read_machine(const struct qn_jref *row, struct qn_arena *a, struct qn_pack *out,
                           struct qn_error *e)
{
    struct utsname machine;
    struct qn_jref machines = qn_json_get(row, "machines");
    struct qn_jref here =
        qn_json_get(&machines, uname(&machine) == 0 ? machine.machine : "unknown");
    if (qn_json_type(&machines) != QN_JSON_OBJECT)
        return qn_json_fail(&machines, e, "expected an object");
    if (qn_json_type(&here) == QN_JSON_ABSENT)
        return QN_OK;
    struct qn_jref v = qn_json_get(&here, "url");
    qn_err err = read_address(&v, out->version, a, &out->url, e);
    v = qn_json_get(&here, "sha256");
    if (!err)
        err = read_sum(&v, a, &out->sha256, e);
    v = qn_json_get(&here, "glibc");
    const char *glibc = "";
    if (!err)
        err = qn_json_str_opt(&v, &glibc, e);
    if (!err)
        out->glibc = qn_arena_strdup(a, glibc);
    v = qn_json_get(&here, "size_bytes");
    if (!err)
        err = qn_json_i64_opt(&v, 1, INT64_C(1) << 40, &out->size_bytes, e);
    return err;
}

static qn_err read_row(const struct qn_jref *row, struct qn_arena *a, struct qn_pack *out,
                       struct qn_error *e)
{
    const char *colon = strchr(row->key, ':');
    *out = (struct qn_pack){.needs = "", .sha256 = "", .glibc = ""};
    if (!colon || !is_word(row->key, (size_t)(colon - row->key)) ||
        !is_word(colon + 1, strlen(colon + 1)))
        return qn_json_fail(row, e, "a row's name is RECIPE:BACKEND");
    out->recipe = qn_arena_strndup(a, row->key, (size_t)(colon - row->key));
    out->backend = qn_arena_strdup(a, colon + 1);
    qn_err err = read_word(row, "version", a, &out->version, e);
    if (!err)
        err = read_word(row, "program", a, &out->program, e);
    struct qn_jref v = qn_json_get(row, "needs");
    const char *needs = "";
    if (!err)
        err = qn_json_str_opt(&v, &needs, e);
    if (!err && *needs && !qn_str_eq(needs, "vulkan"))
        err = qn_json_fail(&v, e, "\"vulkan\" is all that can be needed");
    if (!err)
        out->needs = qn_arena_strdup(a, needs);
    v = qn_json_get(row, "digests");
    if (!err && qn_json_type(&v) != QN_JSON_ABSENT)
        err = read_address(&v, out->version, a, &out->digest_url, e);
    return err ? err : read_machine(row, a, out, e);
}

static qn_err read_table(struct qn_packs *p, const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref rows = qn_json_get(root, "packs"), it;
    qn_err err = QN_OK;
    if (qn_json_type(&rows) != QN_JSON_OBJECT)
        return qn_json_fail(&rows, e, "expected an object");
    if (qn_json_count(&rows) > QN_PACKS_MAX)
        return qn_json_fail(&rows, e, "more than %d rows", QN_PACKS_MAX);
    p->rows = qn_arena_alloc(p->arena, (qn_json_count(&rows) + 1) * sizeof *p->rows);
    for (bool more = qn_json_first(&rows, &it); more && !err; more = qn_json_next(&it))
        if (!(err = read_row(&it, p->arena, &p->rows[p->n], e)))
            p->n++;
    return err;
}

qn_err qn_packs_open(const struct qn_packs_config *config, struct qn_packs **out,
                     struct qn_error *e)
{
    struct qn_error why = {0};
    struct qn_json *doc = NULL;
    struct qn_buf text;
    struct qn_packs *p = qn_xcalloc(1, sizeof *p);
    p->arena = qn_arena_new(ARENA_MAX);
    p->engines = qn_arena_strdup(p->arena, config->engines);
    p->path = qn_arena_strdup(p->arena, config->path ? config->path : "");
    p->prefer_system = config->prefer_system;
    qn_buf_init(&text, QN_PACKS_FILE_MAX);
    qn_err err = qn_file_read(config->table, &text, e);
    if (!err && (err = qn_json_parse(qn_buf_cstr(&text), text.len, &doc, &why)))
        qn_fail(e, err, "%s: %s", config->table, why.message);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        if ((err = read_table(p, &root, &why)))
            qn_fail(e, err, "%s: %s", config->table, why.message);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    if (err) {
        qn_packs_close(p);
        p = NULL;
    }
    *out = p;
    return err;
}

void qn_packs_close(struct qn_packs *p)
{
    if (!p)
        return;
    qn_arena_free(p->arena);
    free(p);
}

size_t qn_packs_count(const struct qn_packs *p)
{
    return p ? p->n : 0;
}

const struct qn_pack *qn_packs_at(const struct qn_packs *p, size_t i)
{
    return &p->rows[i];
}

const struct qn_pack *qn_packs_find(const struct qn_packs *p, const char *recipe,
                                    const char *backend)
{
    for (size_t i = 0; i < qn_packs_count(p); i++)
        if (qn_str_eq(p->rows[i].recipe, recipe) && qn_str_eq(p->rows[i].backend, backend))
            return &p->rows[i];
    return NULL;
}

const char *qn_packs_engines(const struct qn_packs *p)
{
    return p->engines;
}

/* ---- where the programs are ---- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The first program of that name in the folders of the PATH. Relative folders are skipped, since
 * they depend on where the server was started. malloc'ed, NULL: none. */
static char *on_path(const char *folders, const char *name)
{
    for (const char *p = folders; *p;) {
        size_t n = strcspn(p, ":");
        if (n && *p == '/') {
            char *folder = qn_xstrndup(p, n), *path = qn_path_join(folder, name);
            free(folder);
            if (is_program(path))
                return path;
            free(path);
        }
        p += n + (p[n] == ':');
    }
    return NULL;
}

/* Finds the version that the table names or, if that is not installed, the one installed last. */
static qn_err find_installed(const struct qn_packs *p, const struct qn_pack *pack,
                             struct qn_pack_program *out)
{
    struct qn_buf folder;
    struct qn_pack_note note;
    time_t best = 0;
    bool found = false;
    qn_buf_init(&folder, PATH_MAX);
    qn_buf_fmt(&folder, "%s/%s/%s", p->engines, pack->recipe, pack->backend);
    DIR *d = opendir(qn_buf_cstr(&folder));
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat st;
        bool wanted = qn_str_eq(entry->d_name, pack->version);
        if (!is_word(entry->d_name, strlen(entry->d_name)) ||
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode) ||
            (!wanted && found && (!out->outdated || st.st_mtime <= best)))
            continue;
        char *place = qn_path_join(qn_buf_cstr(&folder), entry->d_name);
        char *program = NULL;
        if (!qn_pack_note_read(place, &note, NULL))
            program = qn_path_join(place, note.program);
        if (program && is_program(program)) {
            qn_pack_program_deinit(out);
            *out = (struct qn_pack_program){.path = program, .folder = place, .outdated = !wanted};
            memcpy(out->version, entry->d_name, strlen(entry->d_name) + 1);
            best = st.st_mtime;
            found = true;
            program = place = NULL;
        }
        free(program);
        free(place);
        if (found && wanted)
            break;
    }
    if (d)
        closedir(d);
    qn_buf_deinit(&folder);
    return found ? QN_OK : QN_ENOTFOUND;
}

static qn_err find_on_path(const struct qn_packs *p, const struct qn_pack *pack,
                           struct qn_pack_program *out)
{
    /* It is unknown how a program on the PATH was built, so it is used only for packs without
     * special needs. */
    char *path = *pack->needs ? NULL : on_path(p->path, pack->program);
    if (!path)
        return QN_ENOTFOUND;
    *out = (struct qn_pack_program){
        .path = path,
        .folder = qn_xstrndup(path, (size_t)(qn_path_base(path) - path - 1)),
        .system = true,
    };
    return QN_OK;
}

qn_err qn_packs_program(const struct qn_packs *p, const char *recipe, const char *backend,
                        struct qn_pack_program *out, struct qn_error *e)
{
    const struct qn_pack *pack = qn_packs_find(p, recipe, backend);
    *out = (struct qn_pack_program){0};
    if (!pack)
        return qn_fail_param(e, QN_ENOTFOUND, "backend",
                             "there is no engine %.60s:%.60s: `quince backends --all` lists them",
                             recipe, backend);
    qn_err err = p->prefer_system ? find_on_path(p, pack, out) : find_installed(p, pack, out);
    if (err)
        err = p->prefer_system ? find_installed(p, pack, out) : find_on_path(p, pack, out);
    if (err)
        qn_fail_param(e, QN_ENOTFOUND, "backend",
                      "%s:%s is not installed: `quince backends install %s:%s` fetches it", recipe,
                      backend, recipe, backend);
    return err;
}

void qn_pack_program_deinit(struct qn_pack_program *program)
{
    free(program->path);
    free(program->folder);
    *program = (struct qn_pack_program){0};
}
