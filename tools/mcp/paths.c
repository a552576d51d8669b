/* See paths.h. */
#include "mcp/paths.h"

#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs, libraries and settings of the operating system, which every server may use. */
static const struct qn_confine_path everywhere[] = {
    {"/usr", QN_CONFINE_RUN},
    {"/bin", QN_CONFINE_RUN},
    {"/sbin", QN_CONFINE_RUN},
    {"/lib", QN_CONFINE_RUN},
    {"/lib32", QN_CONFINE_RUN},
    {"/lib64", QN_CONFINE_RUN},
    {"/opt", QN_CONFINE_RUN},
    {"/nix/store", QN_CONFINE_RUN},
    {"/snap", QN_CONFINE_RUN},
    {"/etc", 0},
    {"/proc", 0},
    {"/sys", 0},
    {"/run/systemd/resolve", 0},
    {"/run/resolvconf", 0},
    {"/dev/null", QN_CONFINE_WRITE},
    {"/dev/zero", QN_CONFINE_WRITE},
    {"/dev/full", QN_CONFINE_WRITE},
    {"/dev/random", 0},
    {"/dev/urandom", 0},
};
enum { EVERYWHERE = sizeof everywhere / sizeof *everywhere, LINKS_MAX = 40 };
static const unsigned change = QN_CONFINE_WRITE | QN_CONFINE_OWN | QN_CONFINE_RUN;
_Static_assert(EVERYWHERE + 3 * QN_TARGET_WORDS_MAX + 5 <= QN_PATHS_MAX, "all paths have room");

/* ---- names ---- */

/* Returns true if `path` is `folder` or lies below it. Both must be real paths, without symbolic
 * links. */
static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n == 1)
        return true; /* folder is "/" */
    return !strncmp(path, folder, n) && (path[n] == '/' || !path[n]);
}

static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* Real paths of the folders that the server may change. */
struct folders {
    const char *v[QN_TARGET_WORDS_MAX + 1];
    size_t n;
};

static bool lies_in_any(const char *path, const struct folders *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (lies_in(path, f->v[i]))
            return true;
    return false;
}

/* Resolves the symbolic link `at`: prepends its target to `rest`, the components that have not been
 * looked up yet, and cuts `at` to the folder where the lookup goes on. Returns false if the link
 * cannot be read or the result is too long. */
static bool follow(char *at, char rest[static PATH_MAX])
{
    char target[PATH_MAX], all[PATH_MAX];
    ssize_t n = readlink(at, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    if (*target == '/')
        *at = '\0';
    else
        cut_last(at);
    if (snprintf(all, sizeof all, "%s/%s", target, rest) >= (int)sizeof all)
        return false;
    memcpy(rest, all, strlen(all) + 1);
    return true;
}

/* Returns true if looking up the path reads an entry of one of the folders: a component there may
 * be a symbolic link that the server made. Also returns true if this cannot be determined. */
static bool passes(const char *path, const struct folders *f)
{
    char done[PATH_MAX + NAME_MAX + 2] = "", rest[PATH_MAX], part[NAME_MAX + 1];
    int links = 0;
    if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest)
        return true;
    for (;;) {
        struct stat st;
        size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
        if (!n)
            return false;
        if (n > NAME_MAX || strlen(done) + n + 2 > PATH_MAX || lies_in_any(*done ? done : "/", f))
            return true;
        memcpy(part, rest + skip, n);
        part[n] = '\0';
        memmove(rest, rest + skip + n, strlen(rest + skip + n) + 1);
        if (qn_str_eq(part, ".."))
            cut_last(done);
        if (qn_str_eq(part, ".") || qn_str_eq(part, ".."))
            continue;
        strcat(strcat(done, "/"), part);
        if (lstat(done, &st) ||
            (S_ISLNK(st.st_mode) && (links++ == LINKS_MAX || !follow(done, rest))))
            return true;
    }
}

/* ---- paths ---- */

static const char *folder_of(const char *path, struct qn_arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash && slash != path ? qn_arena_strndup(arena, path, (size_t)(slash - path)) : path;
}

static const char *real_of(const char *path, struct qn_arena *arena)
{
    char *found = realpath(path, NULL);
    const char *real = found ? qn_arena_strdup(arena, found) : NULL;
    free(found);
    return real;
}

static qn_err check_private(const struct qn_mcp_target *c, const char *path, const char *real,
                            struct qn_arena *arena, struct qn_error *e)
{
    const char *own = real_of(c->folder, arena);
    for (size_t i = 0; i < c->private.n; i++) {
        const char *mine = real_of(c->private.v[i], arena);
        if (!mine || (own && lies_in(real, own)))
            continue;
        if (lies_in(mine, real))
            return qn_fail(e, QN_EINVAL,
                           "the server must not reach quince's own data, and %.150s contains "
                           "quince's folder %.150s",
                           path, mine);
        if (lies_in(real, mine))
            return qn_fail(e, QN_EINVAL,
                           "the server must not reach quince's own data, and %.150s lies in "
                           "quince's folder %.150s",
                           path, mine);
    }
    return QN_OK;
}

/* Opens the path and adds it to the list with the access rights `may`. If `changeable` is set, the
 * path must not lead out of these folders by a symbolic link inside them; NULL: symbolic links may
 * lead anywhere. */
static qn_err add(struct qn_paths *p, const struct qn_mcp_target *c, const char *path, unsigned may,
                  const struct folders *changeable, struct qn_arena *arena, struct qn_error *e)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return QN_OK;
    char real[PATH_MAX];
    const char *name = qn_arena_fmt(arena, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, real, sizeof real - 1);
    p->v[p->n] = (struct qn_confine_path){name, may};
    p->fd[p->n++] = fd;
    if (n < 0)
        return qn_fail_errno(e, "look up %.300s", path);
    real[n] = '\0';
    if (changeable && passes(path, changeable) && !lies_in_any(real, changeable))
        return qn_fail(e, QN_EINVAL,
                       "%.200s lies in a folder that the server may change, but a symbolic link "
                       "leads out of it to %.200s",
                       path, real);
    return check_private(c, path, real, arena, e);
}

/* Writes to *out the folders that the server may change, without those that are looked up through
 * another one of them. */
static void find_changeable(const struct qn_mcp_target *c, struct qn_arena *arena,
                            struct folders *out)
{
    const char *names[QN_TARGET_WORDS_MAX + 1], *real[QN_TARGET_WORDS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i <= c->write.n; i++) {
        names[n] = i < c->write.n ? c->write.v[i] : c->folder;
        real[n] = real_of(names[n], arena);
        n += real[n] != NULL;
    }
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct folders others = {.n = 0};
        for (size_t j = 0; j < n; j++)
            if (!qn_str_eq(real[i], real[j]))
                others.v[others.n++] = real[j];
        if (!passes(names[i], &others))
            out->v[out->n++] = real[i];
    }
}

/* Adds the program and its folder, both as named and after symbolic links are resolved, because
 * programs read files next to themselves. */
static qn_err add_program(struct qn_paths *p, const struct qn_mcp_target *c, const char *program,
                          const struct folders *f, struct qn_arena *arena, struct qn_error *e)
{
    const char *real = real_of(program, arena);
    qn_err err = add(p, c, program, QN_CONFINE_RUN, f, arena, e);
    if (!err)
        err = add(p, c, folder_of(program, arena), QN_CONFINE_RUN, f, arena, e);
    if (!err && real)
        err = add(p, c, folder_of(real, arena), QN_CONFINE_RUN, f, arena, e);
    return err;
}

static qn_err add_words(struct qn_paths *p, const struct qn_mcp_target *c,
                        const struct qn_words *words, unsigned may, const struct folders *f,
                        struct qn_arena *arena, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0; i < words->n && !err; i++)
        if (words != &c->args || (words->v[i][0] == '/' && words->v[i][1]))
            err = add(p, c, words->v[i], may, f, arena, e);
    return err;
}

qn_err qn_paths_open(const struct qn_mcp_target *c, const char *program, struct qn_arena *arena,
                     struct qn_paths *out, struct qn_error *e)
{
    struct folders f;
    qn_err err = QN_OK;
    find_changeable(c, arena, &f);
    for (size_t i = 0; i < EVERYWHERE && !err; i++)
        err = add(out, c, everywhere[i].path, everywhere[i].may, NULL, arena, e);
    if (!err)
        err = add_program(out, c, program, &f, arena, e);
    if (!err)
        err = add(out, c, c->folder, change, &f, arena, e);
    if (!err)
        err = add_words(out, c, &c->args, QN_CONFINE_RUN, &f, arena, e);
    if (!err)
        err = add_words(out, c, &c->read, QN_CONFINE_RUN, &f, arena, e);
    if (!err)
        err = add_words(out, c, &c->write, change, &f, arena, e);
    return err;
}

void qn_paths_close(struct qn_paths *p)
{
    while (p->n > 0)
        close(p->fd[--p->n]);
}
