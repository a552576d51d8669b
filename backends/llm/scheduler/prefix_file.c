/* See prefix_file.h. */
#include "llm/scheduler/prefix_file.h"

#include "base/buf.h"
#include "base/crc32.h"
#include "base/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 2 };
/* bytes at the beginning, number of samples, bytes of a sample */
enum { KEY_BEGINNING = 65536, KEY_SAMPLES = 256, KEY_SAMPLE = 64 };
static const char magic[8] = {'Q', 'N', 'P', 'R', 'E', 'F', 'I', 'X'};

struct header {
    char magic[8];
    uint32_t version, page;
    uint64_t key;
};

/* A file being written or read, with the checksum of the bytes since crc was set to 0. */
struct stream {
    FILE *f;
    uint32_t crc;
    int64_t bytes;
};

static bool put(void *ctx, const void *data, size_t n)
{
    struct stream *s = ctx;
    s->crc = qn_crc32(s->crc, data, n);
    s->bytes += (int64_t)n;
    return fwrite(data, 1, n, s->f) == n;
}

static bool get(void *ctx, void *data, size_t n)
{
    struct stream *s = ctx;
    if (fread(data, 1, n, s->f) != n)
        return false;
    s->crc = qn_crc32(s->crc, data, n);
    return true;
}

static bool put_crc(struct stream *s)
{
    uint32_t crc = s->crc;
    return put(s, &crc, sizeof crc);
}

static bool crc_holds(struct stream *s)
{
    uint32_t want = s->crc, found;
    return get(s, &found, sizeof found) && found == want;
}

static uint64_t fnv(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t qn_prefix_key(const void *file, size_t n, const char *salt)
{
    const char *bytes = file;
    uint64_t size = n, h = fnv(UINT64_C(0xcbf29ce484222325), salt, strlen(salt));
    h = fnv(h, &size, sizeof size);
    h = fnv(h, bytes, n < KEY_BEGINNING ? n : KEY_BEGINNING);
    for (size_t i = 0; i < KEY_SAMPLES && n > KEY_SAMPLE; i++)
        h = fnv(h, bytes + (n - KEY_SAMPLE) / KEY_SAMPLES * i, KEY_SAMPLE);
    return h;
}

/* ---- saving ---- */

struct leaf {
    uint64_t owner;
    int32_t *tokens;
    int32_t n;
    struct qn_seq *seq;
};

struct leaves {
    struct leaf v[QN_PREFIX_FILE_LEAVES];
    size_t n;
};

/* Sequences computed with adapters are not stored: other adapters may be loaded next time. */
static bool collect(void *ctx, const struct qn_prefix_space *in, const int32_t *tokens, int32_t n,
                    struct qn_seq *seq)
{
    struct leaves *l = ctx;
    if (in->mix)
        return true;
    struct leaf *x = &l->v[l->n++];
    *x = (struct leaf){in->owner, qn_xmalloc((size_t)n * sizeof *tokens), n, seq};
    memcpy(x->tokens, tokens, (size_t)n * sizeof *tokens);
    return l->n < QN_PREFIX_FILE_LEAVES;
}

/* How many of x's tokens, in whole pages, a reader of the file can fork from an earlier sequence of
 * the file. */
static int32_t known_before(const struct leaves *l, size_t x, const struct qn_batch_model *m)
{
    int32_t best = 0;
    for (size_t i = 0; i < x && m->rewinds; i++) {
        const struct leaf *a = &l->v[i], *b = &l->v[x];
        int32_t same = 0, most = a->n < b->n - 1 ? a->n : b->n - 1;
        if (a->owner != b->owner)
            continue;
        while (same < most && a->tokens[same] == b->tokens[same])
            same++;
        same -= same % m->page;
        if (same > best && m->seq_forkable(a->seq, same) == same)
            best = same;
    }
    return best;
}

static bool put_leaf(struct stream *s, const struct leaves *l, size_t i,
                     const struct qn_batch_model *m)
{
    const struct leaf *x = &l->v[i];
    int32_t head[2] = {x->n, known_before(l, i, m)};
    s->crc = 0;
    return put(s, head, sizeof head) && put(s, &x->owner, sizeof x->owner) &&
           put(s, x->tokens, (size_t)x->n * sizeof *x->tokens) &&
           m->seq_save(x->seq, head[1], put, s, NULL) == QN_OK && put_crc(s);
}

static bool put_all(struct stream *s, const struct leaves *l, const struct qn_batch_model *m,
                    uint64_t key)
{
    struct header h = {.version = VERSION, .page = (uint32_t)m->page, .key = key};
    memcpy(h.magic, magic, sizeof magic);
    bool good = put(s, &h, sizeof h) && put_crc(s);
    for (size_t i = 0; i < l->n && good && s->bytes < (int64_t)QN_PREFIX_FILE_MIB << 20; i++)
        good = put_leaf(s, l, i, m);
    int32_t end[2] = {0};
    s->crc = 0;
    return good && put(s, end, sizeof end) && put_crc(s);
}

static qn_err make_folder(const char *path, struct qn_error *e)
{
    char *folder = qn_xstrdup(path), *slash = strrchr(folder, '/');
    qn_err err = QN_OK;
    if (slash && slash != folder) {
        *slash = '\0';
        err = qn_mkdirs(folder, 0700, e);
    }
    free(folder);
    return err;
}

static qn_err write_file(const struct leaves *l, const struct qn_batch_model *m, uint64_t key,
                         const char *path, const char *beside, struct qn_error *e)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", beside);
    struct stream s = {.f = fdopen(fd, "wb")};
    if (!s.f) {
        close(fd);
        return qn_fail_errno(e, "open %s", beside);
    }
    bool good = put_all(&s, l, m, key) && fflush(s.f) == 0 && fsync(fd) == 0;
    qn_err err = good ? QN_OK : qn_fail_errno(e, "write %s", beside);
    if (fclose(s.f) && !err)
        err = qn_fail_errno(e, "write %s", beside);
    if (!err && rename(beside, path))
        err = qn_fail_errno(e, "rename %s", beside);
    if (err)
        unlink(beside);
    return err;
}

qn_err qn_prefix_save(const struct qn_prefix *p, const struct qn_batch_model *m, uint64_t key,
                      const char *path, struct qn_error *e)
{
    if (!m->seq_save || !m->seq_restore)
        return qn_fail(e, QN_EUNSUPPORTED, "this model's sequences cannot be stored");
    struct leaves *l = qn_xcalloc(1, sizeof *l);
    qn_prefix_each(p, collect, l);
    qn_err err = QN_OK;
    if (l->n == 0) {
        unlink(path);
    } else {
        struct qn_buf beside;
        qn_buf_init(&beside, SIZE_MAX / 2);
        qn_buf_fmt(&beside, "%s.new", path);
        err = make_folder(path, e);
        if (!err)
            err = write_file(l, m, key, path, qn_buf_cstr(&beside), e);
        qn_buf_deinit(&beside);
    }
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i].tokens);
    free(l);
    return err;
}

/* ---- restoring ---- */

static bool ids_valid(const int32_t *tokens, int32_t n, int32_t vocab)
{
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] < 0 || tokens[i] >= vocab)
            return false;
    return true;
}

/* Reads the rest of a sequence after its header into a new sequence and adds it to the tree.
 * QN_EBUSY: no pages. */
static qn_err get_leaf(struct stream *s, struct qn_prefix *p, const struct qn_batch_model *m,
                       int32_t context, const int32_t head[2], int32_t *tokens, struct qn_error *e)
{
    int32_t n = head[0], from = head[1];
    struct qn_prefix_space in = {0};
    struct qn_seq *seq, *src;
    if (n < 0 || n > context || from < 0 || from >= n || from % m->page)
        return qn_fail(e, QN_EFORMAT,
                       "a sequence of %d tokens cannot share %d tokens with an earlier one", (int)n,
                       (int)from);
    if (!get(s, &in.owner, sizeof in.owner) || !get(s, tokens, (size_t)n * sizeof *tokens) ||
        !ids_valid(tokens, n, m->vocab))
        return qn_fail(e, QN_EFORMAT, "the tokens of a sequence are damaged");
    if (from > 0 && qn_prefix_find(p, &in, tokens, from, &src) < from)
        return qn_fail(e, QN_EFORMAT, "the prefix that a sequence continues is missing");
    qn_err err = m->seq_new(m->ctx, context, &seq, e);
    if (err)
        return err;
    if (from > 0)
        err = m->seq_fork(seq, src, from, e);
    if (!err)
        err = m->seq_restore(seq, n, get, s, e);
    if (!err && !crc_holds(s))
        err = qn_fail(e, QN_EFORMAT, "a sequence's checksum is wrong");
    if (err)
        m->seq_free(seq);
    else
        qn_prefix_add(p, &in, tokens, n, seq);
    return err;
}

static qn_err get_all(struct stream *s, struct qn_prefix *p, const struct qn_batch_model *m,
                      int32_t context, uint64_t key, int64_t *count, struct qn_error *e)
{
    struct header h;
    if (!get(s, &h, sizeof h) || !crc_holds(s) || memcmp(h.magic, magic, sizeof magic) != 0)
        return qn_fail(e, QN_EFORMAT, "it is not a prefix cache file, or its header is damaged");
    if (h.version != VERSION || h.page != (uint32_t)m->page || h.key != key)
        return qn_fail(e, QN_EFORMAT, "it was written for another model, cache type or version");
    int32_t *tokens = qn_xmalloc((size_t)context * sizeof *tokens);
    qn_err err = QN_OK;
    for (int i = 0; i < QN_PREFIX_FILE_LEAVES && !err; i++) {
        int32_t head[2];
        s->crc = 0;
        if (!get(s, head, sizeof head))
            err = qn_fail(e, QN_EFORMAT, "it is truncated");
        else if (head[0] == 0)
            break;
        else
            err = get_leaf(s, p, m, context, head, tokens, e);
        if (!err)
            *count += head[0] - head[1];
    }
    free(tokens);
    /* the cache is smaller than when the file was written, and is full */
    return err == QN_EBUSY ? QN_OK : err;
}

qn_err qn_prefix_restore(struct qn_prefix *p, const struct qn_batch_model *m, int32_t context,
                         uint64_t key, const char *path, int64_t *tokens, struct qn_error *e)
{
    *tokens = 0;
    if (!m->seq_save || !m->seq_restore)
        return qn_fail(e, QN_EUNSUPPORTED, "this model's sequences cannot be stored");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
    struct stat st;
    struct stream s = {.f = fdopen(fd, "rb")};
    if (!s.f) {
        close(fd);
        return qn_fail_errno(e, "open %s", path);
    }
    qn_err err = fstat(fd, &st) || !S_ISREG(st.st_mode)
                     ? qn_fail(e, QN_EFORMAT, "it is not a regular file")
                     : get_all(&s, p, m, context, key, tokens, e);
    fclose(s.f);
    return err;
}
