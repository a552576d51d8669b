/* Removes the folders of deleted servers; see servers_private.h. A server's program may have put
 * anything into its folder. So no symbolic link is followed, and the number of open descriptors
 * does not grow with the depth of the tree. */
#include "mcp_servers/servers_private.h"

#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that is to be removed, or that existed when the router started. */
struct qn_mcp_folder {
    struct qn_mcp_folder *next;
    char *in, *id;
};

static void folder_free(struct qn_mcp_folder *f)
{
    free(f->in);
    free(f->id);
    free(f);
}

static struct qn_mcp_folder *folder_new(const struct qn_mcp *m, const char *id,
                                        struct qn_mcp_folder *next)
{
    struct qn_mcp_folder *f = qn_xcalloc(1, sizeof *f);
    f->next = next;
    f->in = qn_xstrdup(m->folder);
    f->id = qn_xstrdup(id);
    return f;
}

/* ---- removal, on a worker ---- */

static DIR *open_folder(int in, const char *name)
{
    /* The program may have removed our access rights. */
    fchmodat(in, name, 0700, AT_SYMLINK_NOFOLLOW);
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static bool is_dots(const char *name)
{
    return qn_str_eq(name, ".") || qn_str_eq(name, "..");
}

/* Removes the entries of the folder `d`. Subfolders that are not empty are moved up into `top`, for
 * the next round. */
static void empty(int top, DIR *d, uint64_t *number)
{
    for (struct dirent *one; (one = readdir(d));) {
        char name[32];
        if (is_dots(one->d_name) || !unlinkat(dirfd(d), one->d_name, 0) ||
            !unlinkat(dirfd(d), one->d_name, AT_REMOVEDIR))
            continue;
        /* A folder must be writable to be moved, because its entry ".." changes. */
        fchmodat(dirfd(d), one->d_name, 0700, AT_SYMLINK_NOFOLLOW);
        snprintf(name, sizeof name, "gone-%llx", (unsigned long long)(*number)++);
        renameat(dirfd(d), one->d_name, top, name);
    }
}

/* Removes what can be removed from `top` in one round over its entries. Returns false if no entry
 * was removed: `top` is empty, or cannot be emptied. */
static bool flatten(int top, uint64_t *number)
{
    int copy = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool progress = false;
    if (!d && copy >= 0)
        close(copy);
    for (struct dirent *one; d && (one = readdir(d));) {
        if (is_dots(one->d_name))
            continue;
        DIR *below = unlinkat(top, one->d_name, 0) ? open_folder(top, one->d_name) : NULL;
        if (below) {
            empty(top, below, number);
            closedir(below);
        }
        progress = !unlinkat(top, one->d_name, AT_REMOVEDIR) || progress;
    }
    if (d)
        closedir(d);
    return progress;
}

static void remove_folder(void *ctx)
{
    struct qn_mcp_folder *f = ctx;
    /* Random, so that the program cannot have taken the new names of moved folders. */
    uint64_t number;
    qn_random_bytes(&number, sizeof number);
    int in = open(f->in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *top = in < 0 ? NULL : open_folder(in, f->id);
    if (top) {
        while (flatten(dirfd(top), &number))
            ;
        closedir(top);
    }
    if (in >= 0 && unlinkat(in, f->id, AT_REMOVEDIR) && errno != ENOENT)
        qn_warn("mcp", "server=%s folder=not_removed message=\"%s\"", f->id, strerror(errno));
    if (in >= 0)
        close(in);
    folder_free(f);
}

/* ---- scheduling of removals ---- */

void qn_mcp_folders_work(struct qn_mcp *m)
{
    for (struct qn_mcp_folder **at = &m->going; m->processes && *at;) {
        struct qn_mcp_folder *f = *at;
        if (qn_mcp_processes_has(m->processes, f->id)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        qn_loop_work(m->config.loop, remove_folder, NULL, f);
    }
}

void qn_mcp_folder_remove(struct qn_mcp *m, const char *id)
{
    m->going = folder_new(m, id, m->going);
    qn_mcp_folders_work(m);
}

void qn_mcp_folders_find(struct qn_mcp *m)
{
    DIR *d = opendir(m->folder);
    for (struct dirent *one; d && (one = readdir(d));)
        if (!is_dots(one->d_name))
            m->found = folder_new(m, one->d_name, m->found);
    if (d)
        closedir(d);
}

bool qn_mcp_has_folders(const struct qn_mcp *m)
{
    return m->found != NULL;
}

void qn_mcp_sweep(struct qn_mcp *m, const struct qn_chat_mcp *all, size_t n)
{
    for (struct qn_mcp_folder *f; (f = m->found);) {
        size_t i = 0;
        while (i < n && !qn_str_eq(all[i].id, f->id))
            i++;
        m->found = f->next;
        if (i == n && !m->stopped)
            qn_mcp_folder_remove(m, f->id);
        folder_free(f);
    }
}

void qn_mcp_folders_free(struct qn_mcp *m)
{
    struct qn_mcp_folder **lists[] = {&m->found, &m->going};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct qn_mcp_folder *f; (f = *lists[i]);) {
            *lists[i] = f->next;
            folder_free(f);
        }
}
