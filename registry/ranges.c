/* See ranges.h. The file: a header of HEAD_BYTES, the slot of the synced length, one slot per
 * chunk. It is used on this machine only, so numbers are in native byte order. */
#include "registry/ranges.h"

#include "base/buf.h"
#include "base/crc32.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/rand.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOOT_BYTES = 40, SYNCED_SHIFT = 12, VERSION = 1 };

static const char magic[8] = {'q', 'n', 'r', 'a', 'n', 'g', 'e', 's'};

struct head {
    char magic[8];
    uint32_t version, check; /* crc32 of the header with check = 0 */
    int64_t size;
    uint64_t key; /* of this file's slots: slots of another file do not verify */
    uint32_t chunk, count;
    char boot[BOOT_BYTES];
    char etag[QN_WEB_ETAG_MAX];
};

enum { HEAD_BYTES = sizeof(struct head), SLOT_BYTES = sizeof(uint64_t) };
_Static_assert(HEAD_BYTES % SLOT_BYTES == 0, "slots are aligned");
_Static_assert(QN_RANGES_CHUNKS_MAX *(size_t)SLOT_BYTES <= 8 * 1024 * 1024, "a small file");

struct qn_ranges {
    int fd;
    struct head head;
    uint32_t *done;    /* [count] */
    size_t first_open; /* all chunks before it are full */
};

/* A value of 0 is stored as 0, so a new file is zeros; any other slot is a value and its check. */
static uint64_t slot_of(uint64_t key, size_t index, uint32_t value)
{
    uint64_t check = qn_hash_u64(key, (uint64_t)index << 32 | value) >> 32;
    return value ? check << 32 | value : 0;
}

static bool slot_read(uint64_t key, size_t index, uint64_t slot, uint32_t *value)
{
    *value = (uint32_t)slot;
    return slot == slot_of(key, index, *value);
}

static uint32_t head_check(const struct head *h)
{
    struct head copy = *h;
    copy.check = 0;
    return qn_crc32(0, &copy, sizeof copy);
}

static void boot_read(char out[static BOOT_BYTES])
{
    memset(out, 0, BOOT_BYTES);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* then every start is treated as after a power failure: slower, but correct */
    ssize_t n = read(fd, out, BOOT_BYTES - 1);
    close(fd);
    if (n < 0)
        memset(out, 0, BOOT_BYTES);
}

static bool same_boot(const struct head *h)
{
    char now[BOOT_BYTES];
    boot_read(now);
    return now[0] && memcmp(now, h->boot, BOOT_BYTES) == 0;
}

static int64_t chunks_of(int64_t size)
{
    return size / QN_RANGES_CHUNK + (size % QN_RANGES_CHUNK != 0);
}

int64_t qn_ranges_size(const struct qn_ranges *r)
{
    return r->head.size;
}

const char *qn_ranges_etag(const struct qn_ranges *r)
{
    return r->head.etag;
}

size_t qn_ranges_count(const struct qn_ranges *r)
{
    return r->head.count;
}

int64_t qn_ranges_begin(const struct qn_ranges *r, size_t i)
{
    (void)r;
    return (int64_t)i * QN_RANGES_CHUNK;
}

int64_t qn_ranges_length(const struct qn_ranges *r, size_t i)
{
    int64_t left = r->head.size - qn_ranges_begin(r, i);
    return left < QN_RANGES_CHUNK ? left : QN_RANGES_CHUNK;
}

int64_t qn_ranges_done(const struct qn_ranges *r, size_t i)
{
    return r->done[i];
}

size_t qn_ranges_at(const struct qn_ranges *r, int64_t byte)
{
    (void)r;
    return (size_t)(byte / QN_RANGES_CHUNK);
}

int64_t qn_ranges_front(struct qn_ranges *r)
{
    while (r->first_open < r->head.count &&
           r->done[r->first_open] == qn_ranges_length(r, r->first_open))
        r->first_open++;
    if (r->first_open == r->head.count)
        return r->head.size;
    return qn_ranges_begin(r, r->first_open) + r->done[r->first_open];
}

int64_t qn_ranges_total(const struct qn_ranges *r)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->head.count; i++)
        sum += r->done[i];
    return sum;
}

void qn_ranges_close(struct qn_ranges *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    free(r->done);
    free(r);
}

static qn_err write_slot(struct qn_ranges *r, size_t place, uint64_t slot, struct qn_error *e)
{
    ssize_t n = pwrite(r->fd, &slot, sizeof slot, (off_t)(HEAD_BYTES + place * SLOT_BYTES));
    if (n == (ssize_t)sizeof slot)
        return QN_OK;
    errno = n < 0 ? errno : EIO;
    return qn_fail_errno(e, "write the progress of a download");
}

/* Writes the whole file anew, synced and with its disk space allocated, and opens it. */
static qn_err write_all(struct qn_ranges *r, const char *path, int64_t synced, struct qn_error *e)
{
    size_t n = HEAD_BYTES + ((size_t)r->head.count + 1) * SLOT_BYTES;
    unsigned char *bytes = qn_xcalloc(1, n);
    uint64_t slot = slot_of(r->head.key, 0, (uint32_t)(synced >> SYNCED_SHIFT));
    r->head.check = head_check(&r->head);
    memcpy(bytes, &r->head, HEAD_BYTES);
    memcpy(bytes + HEAD_BYTES, &slot, sizeof slot);
    for (size_t i = 0; i < r->head.count; i++) {
        slot = slot_of(r->head.key, i + 1, r->done[i]);
        memcpy(bytes + HEAD_BYTES + (i + 1) * SLOT_BYTES, &slot, sizeof slot);
    }
    struct qn_buf temp;
    qn_buf_init(&temp, PATH_MAX);
    qn_buf_fmt(&temp, "%s" QN_RANGES_TEMP, path);
    qn_err err = qn_file_write_alone(path, qn_buf_cstr(&temp), bytes, n, 0600, e);
    qn_buf_deinit(&temp);
    free(bytes);
    if (err)
        return err;
    if (r->fd >= 0)
        close(r->fd);
    r->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return r->fd < 0 ? qn_fail_errno(e, "open %s", path) : QN_OK;
}

qn_err qn_ranges_create(const char *path, int64_t size, const char *etag, struct qn_ranges **out,
                        struct qn_error *e)
{
    assert(size >= 0 && strlen(etag) < QN_WEB_ETAG_MAX);
    *out = NULL;
    if (chunks_of(size) > QN_RANGES_CHUNKS_MAX)
        return qn_fail(e, QN_ELIMIT, "a file of %lld bytes is more than can be downloaded",
                       (long long)size);
    struct qn_ranges *r = qn_xcalloc(1, sizeof *r);
    r->fd = -1;
    memcpy(r->head.magic, magic, sizeof magic);
    r->head.version = VERSION;
    r->head.size = size;
    qn_random_bytes(&r->head.key, sizeof r->head.key);
    r->head.chunk = QN_RANGES_CHUNK;
    r->head.count = (uint32_t)chunks_of(size);
    boot_read(r->head.boot);
    memcpy(r->head.etag, etag, strlen(etag));
    r->done = qn_xcalloc(r->head.count ? r->head.count : 1, sizeof *r->done);
    qn_err err = write_all(r, path, 0, e);
    if (err)
        qn_ranges_close(r);
    else
        *out = r;
    return err;
}

static bool read_at(int fd, void *out, size_t n, off_t at)
{
    for (char *p = out; n;) {
        ssize_t got = pread(fd, p, n, at);
        if (got <= 0)
            return false;
        p += got;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool head_in_order(const struct head *h, off_t file_bytes)
{
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->version == VERSION &&
           h->check == head_check(h) && h->size >= 0 && h->chunk == QN_RANGES_CHUNK &&
           h->count <= QN_RANGES_CHUNKS_MAX && h->count == chunks_of(h->size) &&
           memchr(h->etag, '\0', sizeof h->etag) &&
           file_bytes == (off_t)(HEAD_BYTES + ((size_t)h->count + 1) * SLOT_BYTES);
}

/* Reads and checks the slots. *synced: bytes that survive a power failure. */
static bool slots_in_order(struct qn_ranges *r, int64_t *synced)
{
    size_t n = ((size_t)r->head.count + 1) * SLOT_BYTES;
    uint64_t *slots = qn_alloc_sized(r->head.count + 1, SLOT_BYTES, n);
    uint32_t value;
    bool ok = slots && read_at(r->fd, slots, n, HEAD_BYTES) &&
              slot_read(r->head.key, 0, slots[0], &value);
    if (ok)
        *synced = (int64_t)value << SYNCED_SHIFT;
    for (size_t i = 0; ok && i < r->head.count; i++)
        ok = slot_read(r->head.key, i + 1, slots[i + 1], &r->done[i]) &&
             r->done[i] <= qn_ranges_length(r, i);
    free(slots);
    return ok && *synced <= r->head.size;
}

qn_err qn_ranges_open(const char *path, struct qn_ranges **out, struct qn_error *e)
{
    struct qn_ranges *r = qn_xcalloc(1, sizeof *r);
    struct stat st;
    int64_t synced = 0;
    qn_err err = QN_OK;
    *out = NULL;
    r->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r->fd < 0 && errno == ELOOP) {
        err = qn_fail(e, QN_EFORMAT, "%s: this is a link", path);
    } else if (r->fd < 0 || fstat(r->fd, &st)) {
        err = qn_fail_errno(e, "open %s", path);
    } else if (!S_ISREG(st.st_mode) || !read_at(r->fd, &r->head, HEAD_BYTES, 0) ||
               !head_in_order(&r->head, st.st_size)) {
        err = qn_fail(e, QN_EFORMAT, "%s: this is not the progress of a download", path);
    } else {
        r->done = qn_xcalloc((size_t)r->head.count + 1, sizeof *r->done);
        if (!slots_in_order(r, &synced))
            err = qn_fail(e, QN_EFORMAT, "%s: the progress of a download is damaged", path);
    }
    if (!err && !same_boot(&r->head)) {
        for (size_t i = 0; i < r->head.count; i++) {
            int64_t kept = synced - qn_ranges_begin(r, i);
            if (kept < r->done[i])
                r->done[i] = kept > 0 ? (uint32_t)kept : 0;
        }
        boot_read(r->head.boot);
        err = write_all(r, path, synced, e);
    }
    if (err)
        qn_ranges_close(r);
    else
        *out = r;
    return err;
}

qn_err qn_ranges_add(struct qn_ranges *r, int64_t begin, int64_t n, struct qn_error *e)
{
    qn_err err = QN_OK;
    while (n > 0 && !err) {
        size_t i = qn_ranges_at(r, begin);
        int64_t at = begin - qn_ranges_begin(r, i), room = qn_ranges_length(r, i) - at;
        int64_t take = n < room ? n : room;
        assert(at == r->done[i] && take > 0);
        r->done[i] = (uint32_t)(at + take);
        err = write_slot(r, i + 1, slot_of(r->head.key, i + 1, r->done[i]), e);
        begin += take;
        n -= take;
    }
    return err;
}

qn_err qn_ranges_synced(struct qn_ranges *r, int64_t front, struct qn_error *e)
{
    return write_slot(r, 0, slot_of(r->head.key, 0, (uint32_t)(front >> SYNCED_SHIFT)), e);
}
