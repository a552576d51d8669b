/* See extract.h. libarchive reads the archive; the files are created here, one path component after
 * another and never through a link, so that nothing depends on how libarchive handles names. */
#include "unpack/extract.h"

#include "base/str.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1024 * 1024, SHOWN = 120 };

/* A link whose target has not been unpacked yet. */
struct link {
    char *name, *target;
};

struct extracting {
    struct archive *archive;
    int folder;
    const struct qn_unpack_limits *limits;
    int64_t most_bytes; /* limit of the unpacked size: the smaller of size and ratio */
    struct link *links;
    size_t n_links;
    struct qn_unpack_result *out;
    struct qn_error *e;
};

static struct archive *open_archive(int fd, struct qn_error *e)
{
    struct archive *a = archive_read_new();
    if (!a) {
        qn_fail(e, QN_ENOMEM, "no memory for the archive");
        return NULL;
    }
    archive_read_support_format_zip(a);
    archive_read_support_format_7zip(a);
    archive_read_support_format_tar(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_bzip2(a);
    if (archive_read_open_fd(a, fd, BLOCK) == ARCHIVE_OK)
        return a;
    qn_fail(e, QN_EFORMAT,
            "the file is not an archive that can be unpacked (zip, 7z, tar.gz, tar.zst): %s",
            archive_error_string(a) ? archive_error_string(a) : "not recognised");
    archive_read_free(a);
    return NULL;
}

/* Writes the printable form of a name, truncated. */
static void shown(const char *name, char out[static SHOWN + 4])
{
    size_t n = strnlen(name, SHOWN);
    memcpy(out, name, n);
    memcpy(out + n, name[n] ? "..." : "", name[n] ? 4 : 1);
}

/* The name without a leading "./" and trailing slashes; "" for the folder itself. NULL, with an
 * error, for a name that does not stay below the folder. */
static const char *check_name(struct extracting *x, const char *raw,
                              char out[static QN_UNPACK_PATH_MAX + 1])
{
    char name[SHOWN + 4];
    const char *wrong = NULL;
    if (!raw) {
        qn_fail(x->e, QN_EFORMAT, "an entry's name is not valid text");
        return NULL;
    }
    shown(raw, name);
    while (raw[0] == '.' && raw[1] == '/')
        raw += 2;
    size_t n = strlen(raw);
    if (*raw == '/')
        wrong = "is absolute";
    while (n > 0 && raw[n - 1] == '/')
        n--;
    if (n == 1 && raw[0] == '.')
        n = 0;
    if (!wrong && n > QN_UNPACK_PATH_MAX)
        wrong = "is too long";
    else if (!wrong && !qn_utf8_valid(raw, n))
        wrong = "is not valid UTF-8";
    size_t depth = 0;
    for (size_t i = 0; !wrong && i < n;) {
        size_t part = 0;
        while (i + part < n && raw[i + part] != '/') {
            unsigned char c = (unsigned char)raw[i + part];
            if (c < 0x20 || c == 0x7F || c == '\\')
                wrong = "has characters that a file's name must not have";
            part++;
        }
        if (part == 0)
            wrong = "has an empty part";
        else if (raw[i] == '.' && (part == 1 || (part == 2 && raw[i + 1] == '.')))
            wrong = "leads out of its folder";
        else if (depth == 0 && part == 2 && raw[i + 1] == ':')
            wrong = "names a drive";
        else if (part > QN_UNPACK_PART_MAX)
            wrong = "is too long";
        else if (++depth > QN_UNPACK_DEPTH_MAX)
            wrong = "is nested too deeply";
        i += part + 1;
    }
    if (wrong) {
        qn_fail(x->e, QN_EFORMAT, "the name '%s' %s", name, wrong);
        return NULL;
    }
    memcpy(out, raw, n);
    out[n] = '\0';
    return out;
}

static bool is_link(struct archive_entry *entry)
{
    return archive_entry_symlink(entry) || archive_entry_filetype(entry) == AE_IFLNK;
}

/* Checks an entry's type: regular files and folders only, and links if they are allowed. */
static qn_err check_kind(struct extracting *x, struct archive_entry *entry, const char *name)
{
    char text[SHOWN + 4];
    shown(name, text);
    if (!archive_entry_hardlink(entry) && is_link(entry) && x->limits->links)
        return QN_OK;
    if (archive_entry_hardlink(entry) || is_link(entry))
        return qn_fail(x->e, QN_EUNSUPPORTED, "'%s' is a link: archives of models have none", text);
    if (archive_entry_is_encrypted(entry))
        return qn_fail(x->e, QN_EUNSUPPORTED, "'%s' is encrypted", text);
    if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != AE_IFDIR)
        return qn_fail(x->e, QN_EUNSUPPORTED, "'%s' is a device, a pipe or the like", text);
    return QN_OK;
}

static qn_err check_size(struct extracting *x, int64_t size_bytes)
{
    if (size_bytes >= 0 && size_bytes <= x->most_bytes - x->out->size_bytes)
        return QN_OK;
    return qn_fail(x->e, QN_ELIMIT,
                   "the archive's files are too large: more than %lld MiB, or more than %lld times "
                   "the archive",
                   (long long)(x->limits->size_bytes >> 20), (long long)x->limits->ratio);
}

/* Opens the folder that contains a name and creates missing folders; -1 with an error. */
static int open_parent(struct extracting *x, const char *name)
{
    int at = fcntl(x->folder, F_DUPFD_CLOEXEC, 0);
    const char *slash;
    for (; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        char part[QN_UNPACK_PART_MAX + 1];
        size_t n = (size_t)(slash - name);
        memcpy(part, name, n);
        part[n] = '\0';
        int below = -1;
        if (!mkdirat(at, part, 0755) || errno == EEXIST)
            below = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int why = errno;
        close(at);
        errno = why;
        at = below;
    }
    if (at < 0 && errno == ENOTDIR)
        qn_fail(x->e, QN_EFORMAT, "'%.100s' is below a file", name);
    else if (at < 0)
        qn_fail_errno(x->e, "make the folder of '%.100s'", name);
    return at;
}

static qn_err write_at(int fd, const char *data, size_t n, int64_t at, const char *name,
                       struct qn_error *e)
{
    while (n) {
        ssize_t done = pwrite(fd, data, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return qn_fail_errno(e, "write '%.100s'", name);
        data += done;
        n -= (size_t)done;
        at += done;
    }
    return QN_OK;
}

static qn_err write_file(struct extracting *x, int fd, const char *name)
{
    const void *data;
    size_t n;
    la_int64_t at;
    int64_t end = 0;
    int status;
    qn_err err = QN_OK;
    while (!err && (status = archive_read_data_block(x->archive, &data, &n, &at)) == ARCHIVE_OK) {
        if (at < 0 || at > INT64_MAX - (int64_t)n)
            return qn_fail(x->e, QN_EFORMAT, "'%.100s' is damaged", name);
        int64_t until = at + (int64_t)n;
        if (until > end) {
            err = check_size(x, until);
            end = until;
        }
        if (!err)
            err = write_at(fd, data, n, at, name, x->e);
    }
    if (!err && status != ARCHIVE_EOF)
        err = qn_fail(x->e, QN_EFORMAT, "'%.100s' is damaged: %s", name,
                      archive_error_string(x->archive) ? archive_error_string(x->archive)
                                                       : "cut off");
    if (!err && ftruncate(fd, end))
        err = qn_fail_errno(x->e, "keep '%.100s'", name);
    x->out->size_bytes += end;
    return err;
}

static qn_err make_file(struct extracting *x, const char *name)
{
    int at = open_parent(x, name);
    if (at < 0)
        return x->e->code;
    const char *base = strrchr(name, '/');
    qn_err err = QN_OK;
    int fd = openat(at, base ? base + 1 : name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        err = qn_fail(x->e, QN_EFORMAT, "'%.100s' is in the archive twice", name);
    else if (fd < 0)
        err = qn_fail_errno(x->e, "make '%.100s'", name);
    else
        err = write_file(x, fd, name);
    if (fd >= 0)
        close(fd);
    close(at);
    return err;
}

/* Creates a folder. It may exist already: an archive can list a folder after its contents. */
static qn_err make_folder(struct extracting *x, const char *name)
{
    char below[QN_UNPACK_PATH_MAX + 2];
    if (!*name)
        return QN_OK;
    snprintf(below, sizeof below, "%s/", name);
    int at = open_parent(x, below);
    if (at < 0)
        return x->e->code;
    close(at);
    return QN_OK;
}

/* Records a link, whose target must be in the same folder. */
static qn_err note_link(struct extracting *x, const char *name, const char *raw)
{
    char target[QN_UNPACK_PATH_MAX + 1], text[SHOWN + 4];
    shown(name, text);
    if (!raw || !check_name(x, raw, target) || !*target || strchr(raw, '/'))
        return qn_fail(x->e, QN_EUNSUPPORTED, "the link '%s' does not lead to a file beside it",
                       text);
    if (x->n_links == QN_UNPACK_LINKS_MAX)
        return qn_fail(x->e, QN_ELIMIT, "the archive has more than %d links", QN_UNPACK_LINKS_MAX);
    if (!x->links && !(x->links = calloc(QN_UNPACK_LINKS_MAX, sizeof *x->links)))
        return qn_fail(x->e, QN_ENOMEM, "no memory for the archive's links");
    struct link *l = &x->links[x->n_links++];
    l->name = strdup(name);
    l->target = strdup(target);
    return l->name && l->target ? QN_OK
                                : qn_fail(x->e, QN_ENOMEM, "no memory for the archive's links");
}

/* Makes the link a hard link to its target. QN_ENOTFOUND: the target does not exist (yet). */
static qn_err make_link(struct extracting *x, const struct link *l)
{
    int at = open_parent(x, l->name);
    if (at < 0)
        return x->e->code;
    const char *base = strrchr(l->name, '/');
    qn_err err = QN_OK;
    if (linkat(at, l->target, at, base ? base + 1 : l->name, 0)) {
        if (errno == EEXIST)
            err = qn_fail(x->e, QN_EFORMAT, "'%.100s' is in the archive twice", l->name);
        else if (errno == EPERM)
            err = qn_fail(x->e, QN_EUNSUPPORTED,
                          "the link '%.100s' leads to a folder, or this disk cannot have it",
                          l->name);
        else
            err = qn_fail_errno(x->e, "make the link '%.100s'", l->name);
    }
    close(at);
    return err;
}

/* A link may lead to a later link, so the list is repeated until no link can be made. */
static qn_err make_links(struct extracting *x)
{
    for (size_t left = x->n_links, before = left + 1; left;) {
        qn_err err = QN_OK;
        if (left == before)
            return qn_fail(x->e, QN_EFORMAT, "a link in the archive leads to nothing: %.200s",
                           x->links[0].name);
        before = left;
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            struct link l = x->links[i];
            err = make_link(x, &l);
            if (err && err != QN_ENOTFOUND)
                return err;
            if (err) { /* the remaining links move to the front of the list */
                x->links[i] = x->links[kept];
                x->links[kept++] = l;
            }
        }
        left = kept;
    }
    return QN_OK;
}

static void free_links(struct extracting *x)
{
    for (size_t i = 0; i < x->n_links; i++) {
        free(x->links[i].name);
        free(x->links[i].target);
    }
    free(x->links);
}

/* True for files that macOS adds to archives, which are of no use elsewhere. */
static bool is_litter(const char *name)
{
    return qn_str_starts(name, "__MACOSX/") || qn_str_eq(name, "__MACOSX");
}

static qn_err take_entry(struct extracting *x, struct archive_entry *entry)
{
    char name[QN_UNPACK_PATH_MAX + 1];
    if (!check_name(x, archive_entry_pathname(entry), name))
        return x->e->code;
    qn_err err = check_kind(x, entry, name);
    if (!err && ++x->out->files > x->limits->files)
        err = qn_fail(x->e, QN_ELIMIT, "the archive has more than %lld entries",
                      (long long)x->limits->files);
    if (err || is_litter(name))
        return err;
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return make_folder(x, name);
    if (!*name)
        return qn_fail(x->e, QN_EFORMAT, "a file in the archive has no name");
    if (is_link(entry))
        return note_link(x, name, archive_entry_symlink(entry));
    if (archive_entry_size_is_set(entry))
        err = check_size(x, archive_entry_size(entry));
    return err ? err : make_file(x, name);
}

qn_err qn_unpack_extract(int archive, int folder, const struct qn_unpack_limits *limits,
                         struct qn_unpack_result *out, struct qn_error *e)
{
    struct stat st;
    struct qn_error why = {0};
    struct archive_entry *entry;
    int status;
    *out = (struct qn_unpack_result){0};
    if (fstat(archive, &st) || !S_ISREG(st.st_mode))
        return qn_fail(e, QN_EINVAL, "the archive is not a regular file");
    struct extracting x = {.folder = folder, .limits = limits, .out = out, .e = &why};
    x.most_bytes = st.st_size > (INT64_MAX - QN_UNPACK_SLACK) / limits->ratio
                       ? limits->size_bytes
                       : st.st_size * limits->ratio + QN_UNPACK_SLACK;
    if (x.most_bytes > limits->size_bytes)
        x.most_bytes = limits->size_bytes;
    if (!(x.archive = open_archive(archive, e)))
        return QN_EFORMAT;
    qn_err err = QN_OK;
    while (!err && (status = archive_read_next_header(x.archive, &entry)) == ARCHIVE_OK)
        err = take_entry(&x, entry);
    if (!err && status != ARCHIVE_EOF)
        err = qn_fail(&why, QN_EFORMAT, "the archive is damaged: %s",
                      archive_error_string(x.archive) ? archive_error_string(x.archive)
                                                      : "it cannot be read");
    if (!err && out->files == 0)
        err = qn_fail(&why, QN_EFORMAT, "the archive is empty");
    if (!err)
        err = make_links(&x);
    if (!err && syncfs(folder))
        err = qn_fail_errno(&why, "sync the unpacked files");
    archive_read_free(x.archive);
    free_links(&x);
    return err ? qn_fail(e, err, "%s", why.message) : QN_OK;
}
