/* See pack_install.h. */
#include "registry/pack_install.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "registry/download.h"
#include "registry/pack_note.h"
#include "registry/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SHA256_DIGITS = 64,
    DIGESTS_MAX = 8 * 1024 * 1024,
    SHOWN_DIGITS = 16, /* of a sum in a file's name */
    SALT = 16,
    DEPTH_MAX = 16,
    PLACE_MAX = PATH_MAX
};

#define WORK ".work"
#define DOWNLOADS ".downloads"

/* malloc'ed "<engines>/..." */
static char *place(const struct qn_packs *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static char *place(const struct qn_packs *p, const char *fmt, ...)
{
    struct qn_buf path;
    va_list ap;
    qn_buf_init(&path, PLACE_MAX);
    qn_buf_fmt(&path, "%s/", qn_packs_engines(p));
    va_start(ap, fmt);
    qn_buf_vfmt(&path, fmt, ap);
    va_end(ap);
    return qn_buf_take(&path);
}

static char *fresh_work(const struct qn_packs *p)
{
    char salt[SALT + 1];
    qn_random_hex(salt, SALT);
    return place(p, WORK "/%s", salt);
}

/* ---- the checksum ---- */

qn_err qn_pack_digest(const char *text, size_t n, const char *name, char sha256[static 65],
                      int64_t *size_bytes, struct qn_error *e)
{
    static const char prefix[] = "sha256:";
    struct qn_json *doc;
    struct qn_error why = {0};
    qn_err err = qn_json_parse(text, n, &doc, &why);
    *size_bytes = -1;
    if (err)
        return qn_fail(e, QN_EFORMAT, "the release's list of files is not JSON: %s", why.message);
    struct qn_jref root = qn_json_root(doc), assets = qn_json_get(&root, "assets"), it;
    bool found = false;
    for (bool more = qn_json_first(&assets, &it); more && !found; more = qn_json_next(&it)) {
        struct qn_jref v = qn_json_get(&it, "name");
        if (!qn_str_eq(qn_json_raw_str(&v), name))
            continue;
        found = true;
        v = qn_json_get(&it, "digest");
        const char *digest = qn_json_raw_str(&v), *digits = digest + strlen(prefix);
        if (!qn_str_starts(digest, prefix) || strlen(digits) != SHA256_DIGITS ||
            strspn(digits, "0123456789abcdef") != SHA256_DIGITS) {
            err = qn_fail(e, QN_EUNSUPPORTED,
                          "the publisher gives no SHA-256 for %.100s, and quince runs nothing that "
                          "it cannot verify",
                          name);
            break;
        }
        memcpy(sha256, digits, SHA256_DIGITS + 1);
        v = qn_json_get(&it, "size");
        if (qn_json_raw_f64(&v) >= 1 && qn_json_raw_f64(&v) < (double)QN_FETCH_SIZE_MAX)
            *size_bytes = (int64_t)qn_json_raw_f64(&v);
    }
    if (!found)
        err = qn_fail(e, QN_ENOTFOUND, "the release has no file %.100s any more", name);
    qn_json_free(doc);
    return err;
}

/* The file name in an address. */
static char *name_of(const char *url)
{
    const char *end = url + strcspn(url, "?#"), *begin = end;
    while (begin > url && begin[-1] != '/')
        begin--;
    return qn_xstrndup(begin, (size_t)(end - begin));
}

static qn_err ask_publisher(const struct qn_pack_order *o, char sha256[static 65],
                            int64_t *size_bytes, struct qn_error *e)
{
    struct qn_web_ask ask = {
        .url = o->pack->digest_url, .accept = "application/json", .limit = DIGESTS_MAX};
    struct qn_web_reply reply;
    char *name = name_of(o->pack->url);
    qn_err err = qn_web_ask(o->web, &ask, &reply, e);
    if (!err && reply.status == 404)
        err =
            qn_fail(e, QN_ENOTFOUND, "%s: there is no such release any more", o->pack->digest_url);
    else if (!err && (reply.status == 403 || reply.status == 429))
        err = qn_fail(e, QN_EBUSY,
                      "%s limits the rate of requests from this network: try again later",
                      o->pack->digest_url);
    else if (!err && (reply.status < 200 || reply.status > 299))
        err = qn_fail(e, QN_EIO, "%s answered with status %d", o->pack->digest_url, reply.status);
    if (!err)
        err = qn_pack_digest(reply.body.len ? reply.body.data : "", reply.body.len, name, sha256,
                             size_bytes, e);
    qn_web_reply_deinit(&reply);
    free(name);
    return err;
}

static qn_err find_sum(const struct qn_pack_order *o, char sha256[static 65], int64_t *size_bytes,
                       struct qn_error *e)
{
    *size_bytes = o->pack->size_bytes > 0 ? o->pack->size_bytes : -1;
    if (*o->pack->sha256) {
        memcpy(sha256, o->pack->sha256, SHA256_DIGITS + 1);
        return QN_OK;
    }
    if (!o->pack->digest_url)
        return qn_fail(
            e, QN_EUNSUPPORTED,
            "no SHA-256 is known for %s:%s, and quince runs nothing that it cannot verify",
            o->pack->recipe, o->pack->backend);
    return ask_publisher(o, sha256, size_bytes, e);
}

/* ---- the archive ---- */

static void on_progress(void *ctx, const struct qn_fetch_file *files, size_t n)
{
    struct qn_pack_meter *m = ctx;
    (void)n;
    atomic_store(&m->here_bytes, files[0].done_bytes);
    atomic_store(&m->size_bytes, files[0].size_bytes);
}

/* Removes downloads of this engine's archives for checksums that are not wanted any more. keep:
 * name of the one to keep, or NULL. */
static void drop_downloads(const struct qn_packs *p, const struct qn_pack *pack, const char *keep)
{
    char begin[2 * QN_PACK_WORD_MAX + 3];
    snprintf(begin, sizeof begin, "%s.%s.", pack->recipe, pack->backend);
    char *folder = place(p, DOWNLOADS);
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *name = entry->d_name;
        if (!qn_str_starts(name, begin) || (keep && qn_str_starts(name, keep)))
            continue;
        char *path = qn_path_join(folder, name);
        if (qn_str_ends(path, ".ranges"))
            path[strlen(path) - strlen(".ranges")] = '\0';
        qn_fetch_discard(path);
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
}

static qn_err fetch(const struct qn_pack_order *o, const char *sha256, int64_t *size_bytes,
                    char **archive, struct qn_error *e)
{
    const struct qn_pack *pack = o->pack;
    char name[2 * QN_PACK_WORD_MAX + SHOWN_DIGITS + 3];
    snprintf(name, sizeof name, "%s.%s.%.*s", pack->recipe, pack->backend, SHOWN_DIGITS, sha256);
    drop_downloads(o->packs, pack, name);
    char *folder = place(o->packs, DOWNLOADS);
    qn_err err = qn_mkdirs(folder, 0755, e);
    free(folder);
    *archive = place(o->packs, DOWNLOADS "/%s", name);
    struct qn_fetch_file file = {
        .url = pack->url, .partial = *archive, .size_bytes = *size_bytes, .sha256 = sha256};
    struct qn_fetch_watch watch = {.ctx = o->meter, .progress = on_progress};
    int64_t before = qn_fetch_have(*archive, *size_bytes);
    atomic_store(&o->meter->before_bytes, before);
    atomic_store(&o->meter->here_bytes, before);
    atomic_store(&o->meter->size_bytes, *size_bytes);
    atomic_store(&o->meter->phase, QN_PACK_FETCHING);
    if (!err)
        err = qn_fetch_run(o->web, &file, 1, &watch, e);
    if (!err) {
        *size_bytes = file.size_bytes;
        atomic_store(&o->meter->here_bytes, file.size_bytes);
        atomic_store(&o->meter->size_bytes, file.size_bytes);
    }
    return err;
}

/* ---- the folder ---- */

/* Finds the path of the program below root, the one with the fewest folders above; NULL: none. rel:
 * the path walked so far, "" or with a slash at its end. malloc'ed. */
static char *find_program(const char *root, const char *rel, const char *name, int depth)
{
    struct qn_buf path;
    char *found = NULL;
    qn_buf_init(&path, PLACE_MAX);
    qn_buf_fmt(&path, "%s/%s", root, rel);
    DIR *d = path.overflow ? NULL : opendir(qn_buf_cstr(&path));
    struct stat st;
    if (d && !fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
        qn_buf_clear(&path);
        qn_buf_fmt(&path, "%s%s", rel, name);
        found = qn_buf_take(&path);
    }
    for (struct dirent *entry; !found && d && depth < DEPTH_MAX && (entry = readdir(d));) {
        if (qn_str_eq(entry->d_name, ".") || qn_str_eq(entry->d_name, "..") ||
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
            continue;
        qn_buf_clear(&path);
        qn_buf_fmt(&path, "%s%s/", rel, entry->d_name);
        found = find_program(root, qn_buf_cstr(&path), name, depth + 1);
    }
    if (d)
        closedir(d);
    qn_buf_deinit(&path);
    return found;
}

/* Turns an unpacked folder into an engine: makes the program executable and writes the note. */
static qn_err complete(const struct qn_pack_order *o, const char *folder, const char *sha256,
                       int64_t size_bytes, struct qn_error *e)
{
    char *program = find_program(folder, "", o->pack->program, 0);
    if (!program)
        return qn_fail(e, QN_EFORMAT, "the archive of %s:%s has no program %s", o->pack->recipe,
                       o->pack->backend, o->pack->program);
    char *path = qn_path_join(folder, program);
    qn_err err = chmod(path, 0755) ? qn_fail_errno(e, "make %s a program", path) : QN_OK;
    if (!err)
        err = qn_pack_note_write(folder, o->pack, program, sha256, size_bytes, e);
    free(path);
    free(program);
    return err;
}

/* Syncs a folder, so that renames in it are on the disk. */
static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd))
        qn_warn("packs", "folder=\"%s\" not_synced=1 message=\"%s\"", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* Renames the folder to its final name. A folder that had this name is moved to the work folder for
 * the sweep. */
static qn_err publish(const struct qn_pack_order *o, const char *folder, struct qn_error *e)
{
    const struct qn_pack *pack = o->pack;
    char *parent = place(o->packs, "%s/%s", pack->recipe, pack->backend);
    char *dest = qn_path_join(parent, pack->version);
    qn_err err = qn_mkdirs(parent, 0755, e);
    if (!err && renameat2(AT_FDCWD, folder, AT_FDCWD, dest, RENAME_NOREPLACE)) {
        if (errno == EEXIST && !renameat2(AT_FDCWD, folder, AT_FDCWD, dest, RENAME_EXCHANGE))
            qn_unpack_discard(folder);
        else
            err = qn_fail_errno(e, "rename the unpacked engine to %s", dest);
    }
    if (!err)
        sync_folder(parent);
    free(dest);
    free(parent);
    return err;
}

qn_err qn_pack_install(const struct qn_pack_order *o, struct qn_error *e)
{
    char sha256[SHA256_DIGITS + 1], *archive = NULL, *folder = NULL;
    int64_t size_bytes;
    struct qn_unpacked unpacked;
    const struct qn_pack *pack = o->pack;
    atomic_store(&o->meter->phase, QN_PACK_RESOLVING);
    if (!pack->url)
        return qn_fail(e, QN_EUNSUPPORTED, "there is no %s:%s for this kind of processor",
                       pack->recipe, pack->backend);
    qn_err err = find_sum(o, sha256, &size_bytes, e);
    if (!err)
        err = fetch(o, sha256, &size_bytes, &archive, e);
    if (!err) {
        atomic_store(&o->meter->phase, QN_PACK_UNPACKING);
        folder = fresh_work(o->packs);
        err =
            qn_unpack(o->unpacker, QN_UNPACK_PROGRAM, archive, folder, o->web->stop, &unpacked, e);
        if (!err) {
            err = complete(o, folder, sha256, size_bytes, e);
            if (!err)
                err = publish(o, folder, e);
            if (err)
                qn_unpack_discard(folder);
        }
        /* On other errors the archive itself is bad, and resuming would not help. */
        if (err != QN_ECANCELLED && err != QN_EIO)
            qn_fetch_discard(archive);
    }
    free(archive);
    free(folder);
    return err;
}

/* ---- removal ---- */

/* Renames a folder into the work folder, because removing it may take long. *away: its new path,
 * malloc'ed, NULL on error. */
static qn_err set_aside(const struct qn_packs *p, const char *folder, char **away,
                        struct qn_error *e)
{
    char *work = place(p, WORK);
    *away = fresh_work(p);
    qn_err err = qn_mkdirs(work, 0755, e);
    if (!err && rename(folder, *away))
        err = qn_fail_errno(e, "move %s away", folder);
    if (err) {
        free(*away);
        *away = NULL;
    }
    free(work);
    return err;
}

void qn_pack_tidy(const struct qn_packs *p, const struct qn_pack *pack)
{
    char *folder = place(p, "%s/%s", pack->recipe, pack->backend);
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct qn_error e = {0};
        if (qn_str_eq(entry->d_name, ".") || qn_str_eq(entry->d_name, "..") ||
            qn_str_eq(entry->d_name, pack->version))
            continue;
        char *path = qn_path_join(folder, entry->d_name), *away;
        if (set_aside(p, path, &away, &e))
            qn_warn("packs", "folder=\"%s\" not_removed=1 message=\"%s\"", path, e.message);
        else
            qn_unpack_discard(away);
        free(away);
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
    drop_downloads(p, pack, NULL);
}

qn_err qn_pack_take_away(const struct qn_packs *p, const struct qn_pack *pack, char **away,
                         struct qn_error *e)
{
    char *folder = place(p, "%s/%s", pack->recipe, pack->backend);
    qn_err err = set_aside(p, folder, away, e);
    if (err == QN_ENOTFOUND)
        qn_fail(e, QN_ENOTFOUND, "%s:%s is not installed", pack->recipe, pack->backend);
    free(folder);
    drop_downloads(p, pack, NULL);
    return err;
}

void qn_packs_sweep(const struct qn_packs *p, int64_t before_s)
{
    if (!p)
        return;
    char *work = place(p, WORK);
    DIR *d = opendir(work);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat st;
        if (qn_str_eq(entry->d_name, ".") || qn_str_eq(entry->d_name, "..") ||
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            st.st_ctim.tv_sec >= before_s) /* a rename counts as a change */
            continue;
        char *path = qn_path_join(work, entry->d_name);
        qn_unpack_discard(path);
        free(path);
    }
    if (d)
        closedir(d);
    free(work);
}
