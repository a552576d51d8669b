/* Reads GGUF files: maps the bytes, parses them once with a bounds-checked cursor, and builds two
 * tables (metadata, tensors) with a hash index each. After qn_gguf_parse everything has been
 * checked: accessors only convert types. Two tensors may share bytes, which is harmless since they
 * are only read. */
#include "formats/gguf.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/rand.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "GGUF values are read in place: this needs a little-endian machine"
#endif

enum {
    ALIGN_DEFAULT = 32,
    ALIGN_MIN = 8, /* by the specification a multiple of 8 */
    ALIGN_MAX = 1024 * 1024,
    KEY_SHOWN_MAX = 80, /* bytes of a name from the file shown in a message */
    KV_BYTES_MIN = 8 + 4 + 1,
    TENSOR_BYTES_MIN = 8 + 4 + 8 + 4 + 8,
    STRING_BYTES_MIN = 8
};

static const struct {
    const char *name;
    size_t size; /* 0: variable size */
} type_table[] = {
    [QN_GGUF_U8] = {"u8", 1},         [QN_GGUF_I8] = {"i8", 1},
    [QN_GGUF_U16] = {"u16", 2},       [QN_GGUF_I16] = {"i16", 2},
    [QN_GGUF_U32] = {"u32", 4},       [QN_GGUF_I32] = {"i32", 4},
    [QN_GGUF_F32] = {"f32", 4},       [QN_GGUF_BOOL] = {"bool", 1},
    [QN_GGUF_STRING] = {"string", 0}, [QN_GGUF_ARRAY] = {"an array", 0},
    [QN_GGUF_U64] = {"u64", 8},       [QN_GGUF_I64] = {"i64", 8},
    [QN_GGUF_F64] = {"f64", 8},
};
enum { TYPE_COUNT = sizeof type_table / sizeof type_table[0] };

struct kv {
    struct qn_gguf_str key;
    enum qn_gguf_type type;
    enum qn_gguf_type item;     /* of an array */
    const unsigned char *value; /* first byte of a scalar or array, first character of a string */
    size_t count;               /* items of an array, bytes of a string, else 1 */
    uint64_t *items; /* [count] for an array of strings: the offset of each string's length field
                        from `value` */
};

struct index { /* open addressing; a slot holds entry + 1, 0 is free */
    uint32_t *slots;
    size_t mask;
};

struct qn_gguf {
    const unsigned char *data;
    size_t size;
    bool mapped;
    uint32_t version;
    uint64_t seed;
    uint64_t identity;
    struct kv *kvs;
    size_t kv_count;
    struct index kv_index;
    struct qn_gguf_tensor *tensors;
    size_t tensor_count;
    struct index tensor_index;
};

struct cursor {
    const unsigned char *data;
    size_t size, pos; /* pos <= size */
    bool cut;         /* the file is longer than size, which was reduced to the header's limit */
    size_t strings;   /* how many more strings arrays may have */
};

static size_t left(const struct cursor *c)
{
    return c->size - c->pos;
}

static bool take(struct cursor *c, void *out, size_t n)
{
    if (left(c) < n) {
        return false;
    }
    memcpy(out, c->data + c->pos, n);
    c->pos += n;
    return true;
}

static int shown(struct qn_gguf_str s)
{
    return s.n < KEY_SHOWN_MAX ? (int)s.n : KEY_SHOWN_MAX;
}

static qn_err cut_off(const struct cursor *c, struct qn_error *e, const char *kind, size_t i)
{
    if (c->cut)
        return qn_fail(e, QN_ELIMIT, "%s %zu: metadata and tensor table of more than %d bytes",
                       kind, i, QN_GGUF_HEADER_MAX);
    return qn_fail(e, QN_EFORMAT,
                   "%s %zu: the file ends too early; it may be an unfinished download", kind, i);
}

/* Reads a string with its 64-bit length before it; kind, i and part identify it in messages. */
static qn_err take_string(struct cursor *c, size_t max, const char *kind, size_t i,
                          const char *part, struct qn_gguf_str *out, struct qn_error *e)
{
    uint64_t n;
    if (!take(c, &n, sizeof n)) {
        return cut_off(c, e, kind, i);
    }
    if (n > max) {
        return qn_fail(e, QN_ELIMIT, "%s %zu: %s of %llu bytes, at most %zu", kind, i, part,
                       (unsigned long long)n, max);
    }
    if (n > left(c)) {
        return cut_off(c, e, kind, i);
    }
    out->s = (const char *)c->data + c->pos;
    out->n = (size_t)n;
    c->pos += (size_t)n;
    return QN_OK;
}

/* Allocates slots for n entries, at most half of them used. */
static bool index_init(struct index *x, size_t n)
{
    size_t slots = 4;
    while (slots < 2 * n) {
        slots *= 2;
    }
    x->mask = slots - 1;
    x->slots = qn_alloc_sized(slots, sizeof *x->slots, SIZE_MAX);
    return x->slots != NULL;
}

static struct qn_gguf_str kv_name(const struct qn_gguf *g, size_t i)
{
    return g->kvs[i].key;
}

static struct qn_gguf_str tensor_name(const struct qn_gguf *g, size_t i)
{
    return g->tensors[i].name;
}

/* The slot that contains name, or the free slot where it has to be inserted. */
static uint32_t *index_slot(const struct qn_gguf *g, const struct index *x,
                            struct qn_gguf_str (*name_of)(const struct qn_gguf *, size_t),
                            struct qn_gguf_str name)
{
    size_t at = (size_t)qn_hash_bytes(g->seed, name.s, name.n) & x->mask;
    for (;; at = (at + 1) & x->mask) {
        if (x->slots[at] == 0) {
            return &x->slots[at];
        }
        struct qn_gguf_str there = name_of(g, x->slots[at] - 1);
        if (there.n == name.n && memcmp(there.s, name.s, name.n) == 0) {
            return &x->slots[at];
        }
    }
}

static qn_err parse_array(struct cursor *c, size_t i, struct kv *kv, struct qn_error *e)
{
    uint32_t item;
    uint64_t count;
    if (!take(c, &item, sizeof item) || !take(c, &count, sizeof count)) {
        return cut_off(c, e, "metadata", i);
    }
    if (item == QN_GGUF_ARRAY) {
        return qn_fail(e, QN_EUNSUPPORTED, "metadata %.*s: arrays of arrays are not supported",
                       shown(kv->key), kv->key.s);
    }
    if (item >= TYPE_COUNT) {
        return qn_fail(e, QN_EFORMAT, "metadata %.*s: unknown array item type %u", shown(kv->key),
                       kv->key.s, item);
    }
    if (count > QN_GGUF_ARRAY_MAX) {
        return qn_fail(e, QN_ELIMIT, "metadata %.*s: array of %llu items, at most %d",
                       shown(kv->key), kv->key.s, (unsigned long long)count, QN_GGUF_ARRAY_MAX);
    }
    kv->item = (enum qn_gguf_type)item;
    kv->count = (size_t)count;
    kv->value = c->data + c->pos;
    size_t size = item == QN_GGUF_STRING ? STRING_BYTES_MIN : type_table[item].size;
    if (kv->count > left(c) / size) {
        return cut_off(c, e, "metadata", i);
    }
    if (item != QN_GGUF_STRING) {
        c->pos += kv->count * size;
        return QN_OK;
    }
    if (kv->count == 0) {
        return QN_OK;
    }
    if (kv->count > c->strings) {
        return qn_fail(e, QN_ELIMIT, "metadata %.*s: arrays of more than %d strings in all",
                       shown(kv->key), kv->key.s, QN_GGUF_STRINGS_MAX);
    }
    c->strings -= kv->count;
    kv->items = qn_alloc_sized(kv->count, sizeof *kv->items, SIZE_MAX);
    if (kv->items == NULL) {
        return qn_fail(e, QN_ENOMEM, "metadata %.*s: no memory for %zu strings", shown(kv->key),
                       kv->key.s, kv->count);
    }
    for (size_t k = 0; k < kv->count; k++) {
        struct qn_gguf_str s;
        kv->items[k] = (uint64_t)(c->data + c->pos - kv->value);
        qn_err err = take_string(c, QN_GGUF_STRING_MAX, "metadata", i, "array string", &s, e);
        if (err != QN_OK) {
            return err;
        }
    }
    return QN_OK;
}

static qn_err parse_kv(struct cursor *c, size_t i, struct kv *kv, struct qn_error *e)
{
    qn_err err = take_string(c, QN_GGUF_KEY_MAX, "metadata", i, "key", &kv->key, e);
    if (err != QN_OK) {
        return err;
    }
    if (kv->key.n == 0) {
        return qn_fail(e, QN_EFORMAT, "metadata %zu: the key is empty", i);
    }
    uint32_t type;
    if (!take(c, &type, sizeof type)) {
        return cut_off(c, e, "metadata", i);
    }
    if (type >= TYPE_COUNT) {
        return qn_fail(e, QN_EFORMAT, "metadata %.*s: unknown value type %u", shown(kv->key),
                       kv->key.s, type);
    }
    kv->type = (enum qn_gguf_type)type;
    if (type == QN_GGUF_ARRAY) {
        return parse_array(c, i, kv, e);
    }
    if (type == QN_GGUF_STRING) {
        struct qn_gguf_str s;
        err = take_string(c, QN_GGUF_STRING_MAX, "metadata", i, "string", &s, e);
        if (err == QN_OK) {
            kv->value = (const unsigned char *)s.s;
            kv->count = s.n;
        }
        return err;
    }
    kv->value = c->data + c->pos;
    kv->count = 1;
    if (left(c) < type_table[type].size) {
        return cut_off(c, e, "metadata", i);
    }
    c->pos += type_table[type].size;
    if (type == QN_GGUF_BOOL && *kv->value > 1) {
        return qn_fail(e, QN_EFORMAT, "metadata %.*s: a bool of %u", shown(kv->key), kv->key.s,
                       *kv->value);
    }
    return QN_OK;
}

static qn_err parse_kvs(struct qn_gguf *g, struct cursor *c, uint64_t count, struct qn_error *e)
{
    if (count > QN_GGUF_KV_MAX) {
        return qn_fail(e, QN_ELIMIT, "%llu metadata entries, at most %d", (unsigned long long)count,
                       QN_GGUF_KV_MAX);
    }
    if (count > left(c) / KV_BYTES_MIN) {
        return qn_fail(e, QN_EFORMAT, "%llu metadata entries do not fit into the file's %zu bytes",
                       (unsigned long long)count, g->size);
    }
    if (count > 0) {
        g->kvs = qn_alloc_sized((size_t)count, sizeof *g->kvs, SIZE_MAX);
    }
    if ((count > 0 && g->kvs == NULL) || !index_init(&g->kv_index, (size_t)count)) {
        return qn_fail(e, QN_ENOMEM, "no memory for %llu metadata entries",
                       (unsigned long long)count);
    }
    for (size_t i = 0; i < count; i++) {
        g->kv_count = i + 1; /* so that qn_gguf_close frees what a failed entry has allocated */
        qn_err err = parse_kv(c, i, &g->kvs[i], e);
        if (err != QN_OK) {
            return err;
        }
        uint32_t *slot = index_slot(g, &g->kv_index, kv_name, g->kvs[i].key);
        if (*slot != 0) {
            return qn_fail(e, QN_EFORMAT, "metadata %zu: the key %.*s occurs twice", i,
                           shown(g->kvs[i].key), g->kvs[i].key.s);
        }
        *slot = (uint32_t)i + 1;
    }
    return QN_OK;
}

static qn_err parse_tensor(struct cursor *c, size_t i, uint64_t align, struct qn_gguf_tensor *t,
                           struct qn_error *e)
{
    qn_err err = take_string(c, QN_GGUF_NAME_MAX, "tensor", i, "name", &t->name, e);
    if (err != QN_OK) {
        return err;
    }
    if (t->name.n == 0) {
        return qn_fail(e, QN_EFORMAT, "tensor %zu: the name is empty", i);
    }
    uint32_t ndim;
    if (!take(c, &ndim, sizeof ndim)) {
        return cut_off(c, e, "tensor", i);
    }
    if (ndim == 0 || ndim > QN_GGUF_DIMS_MAX) {
        return qn_fail(e, QN_EFORMAT, "tensor %.*s: %u dimensions, must be 1 to %d", shown(t->name),
                       t->name.s, ndim, QN_GGUF_DIMS_MAX);
    }
    t->ndim = (int)ndim;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < QN_GGUF_DIMS_MAX; d++) {
        t->ne[d] = 1;
        if (d >= ndim) {
            continue;
        }
        if (!take(c, &t->ne[d], sizeof t->ne[d])) {
            return cut_off(c, e, "tensor", i);
        }
        if (t->ne[d] == 0) {
            return qn_fail(e, QN_EFORMAT, "tensor %.*s: dimension %u is 0", shown(t->name),
                           t->name.s, d);
        }
        if (elements > INT64_MAX / t->ne[d]) {
            return qn_fail(e, QN_EFORMAT, "tensor %.*s: the product of its dimensions overflows",
                           shown(t->name), t->name.s);
        }
        elements *= t->ne[d];
    }
    if (!take(c, &t->type, sizeof t->type) || !take(c, &t->offset, sizeof t->offset)) {
        return cut_off(c, e, "tensor", i);
    }
    if (t->offset % align != 0) {
        return qn_fail(e, QN_EFORMAT, "tensor %.*s: offset %llu is not a multiple of %llu",
                       shown(t->name), t->name.s, (unsigned long long)t->offset,
                       (unsigned long long)align);
    }
    return QN_OK;
}

static qn_err parse_tensors(struct qn_gguf *g, struct cursor *c, uint64_t count, struct qn_error *e)
{
    if (count > QN_GGUF_TENSORS_MAX) {
        return qn_fail(e, QN_ELIMIT, "%llu tensors, at most %d", (unsigned long long)count,
                       QN_GGUF_TENSORS_MAX);
    }
    if (count > left(c) / TENSOR_BYTES_MIN) {
        return qn_fail(e, QN_EFORMAT, "%llu tensors do not fit into the file's %zu bytes",
                       (unsigned long long)count, g->size);
    }
    int64_t align = ALIGN_DEFAULT;
    if (qn_gguf_has(g, "general.alignment")) {
        qn_err err = qn_gguf_i64(g, "general.alignment", ALIGN_MIN, ALIGN_MAX, &align, e);
        if (err != QN_OK) {
            return err;
        }
        if ((align & (align - 1)) != 0) {
            return qn_fail(e, QN_EFORMAT, "general.alignment is %lld, must be a power of two",
                           (long long)align);
        }
    }
    if (count > 0) {
        g->tensors = qn_alloc_sized((size_t)count, sizeof *g->tensors, SIZE_MAX);
    }
    if ((count > 0 && g->tensors == NULL) || !index_init(&g->tensor_index, (size_t)count)) {
        return qn_fail(e, QN_ENOMEM, "no memory for %llu tensors", (unsigned long long)count);
    }
    g->tensor_count = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        struct qn_gguf_tensor *t = &g->tensors[i];
        qn_err err = parse_tensor(c, i, (uint64_t)align, t, e);
        if (err != QN_OK) {
            return err;
        }
        uint32_t *slot = index_slot(g, &g->tensor_index, tensor_name, t->name);
        if (*slot != 0) {
            return qn_fail(e, QN_EFORMAT, "tensor %zu: the name %.*s occurs twice", i,
                           shown(t->name), t->name.s);
        }
        *slot = (uint32_t)i + 1;
    }
    /* The data section begins at the next multiple of the alignment after the table. */
    size_t mask = (size_t)align - 1;
    size_t start = g->size - c->pos < mask ? g->size : (c->pos + mask) & ~mask;
    size_t bytes = g->size - start;
    for (size_t i = 0; i < count; i++) {
        struct qn_gguf_tensor *t = &g->tensors[i];
        if (t->offset >= bytes) {
            return qn_fail(e, QN_EFORMAT,
                           "tensor %.*s: begins at byte %llu of the data, which has %zu; the file "
                           "may be an unfinished download",
                           shown(t->name), t->name.s, (unsigned long long)t->offset, bytes);
        }
        t->data = g->data + start + t->offset;
        t->max_bytes = bytes - t->offset;
    }
    return QN_OK;
}

static qn_err parse(struct qn_gguf *g, struct qn_error *e)
{
    struct cursor c = {.data = g->data,
                       .size = g->size < QN_GGUF_HEADER_MAX ? g->size : QN_GGUF_HEADER_MAX,
                       .cut = g->size > QN_GGUF_HEADER_MAX,
                       .strings = QN_GGUF_STRINGS_MAX};
    char magic[4];
    if (!take(&c, magic, sizeof magic) || memcmp(magic, "GGUF", 4) != 0) {
        return qn_fail(e, QN_EFORMAT, "not a GGUF file: it does not begin with the letters GGUF");
    }
    uint64_t tensors, kvs;
    if (!take(&c, &g->version, sizeof g->version)) {
        return qn_fail(e, QN_EFORMAT, "the file ends within its header");
    }
    if (g->version != 2 && g->version != 3) {
        if (g->version != 0 && (g->version & 0xffffu) == 0) {
            return qn_fail(e, QN_EUNSUPPORTED,
                           "the file is big-endian; only little-endian GGUF is read");
        }
        return qn_fail(e, QN_EUNSUPPORTED, "GGUF version %u; versions 2 and 3 are read",
                       g->version);
    }
    if (!take(&c, &tensors, sizeof tensors) || !take(&c, &kvs, sizeof kvs)) {
        return qn_fail(e, QN_EFORMAT, "the file ends within its header");
    }
    qn_err err = parse_kvs(g, &c, kvs, e);
    return err != QN_OK ? err : parse_tensors(g, &c, tensors, e);
}

/* Takes ownership of the mapping, also on failure. */
static qn_err parse_owned(const void *data, size_t n, bool mapped, struct qn_gguf **out,
                          struct qn_error *e)
{
    struct qn_gguf *g = qn_xcalloc(1, sizeof *g);
    g->data = data;
    g->size = n;
    g->mapped = mapped;
    qn_random_bytes(&g->seed, sizeof g->seed);
    qn_err err = parse(g, e);
    if (err != QN_OK) {
        qn_gguf_close(g);
        return err;
    }
    *out = g;
    return QN_OK;
}

qn_err qn_gguf_parse(const void *data, size_t n, struct qn_gguf **out, struct qn_error *e)
{
    return parse_owned(data, n, false, out, e);
}

/* Hashes the fields that identify a file's state. They include the time of the last inode change,
 * which no program can set, so an in-place change is noticed even if the modification time was
 * reset. The device number is left out, since some systems assign new ones at each boot. */
static uint64_t identity_of(const struct stat *st)
{
    const int64_t what[] = {(int64_t)st->st_ino,         (int64_t)st->st_size,
                            (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec,
                            (int64_t)st->st_ctim.tv_sec, (int64_t)st->st_ctim.tv_nsec};
    return qn_hash_bytes(1, what, sizeof what);
}

qn_err qn_gguf_open_fd(int fd, struct qn_gguf **out, struct qn_error *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return qn_fail_errno(e, "stat");
    if (!S_ISREG(st.st_mode))
        return qn_fail(e, QN_EFORMAT, "not a regular file");
    if (st.st_size <= 0)
        return qn_fail(e, QN_EFORMAT, "the file is empty");
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return qn_fail_errno(e, "map");
    qn_err err = parse_owned(data, (size_t)st.st_size, true, out, e);
    if (err == QN_OK)
        (*out)->identity = identity_of(&st);
    return err;
}

qn_err qn_gguf_open(const char *path, struct qn_gguf **out, struct qn_error *e)
{
    /* O_NONBLOCK: open() must not block if the path is a named pipe, which fstat then detects. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
    struct qn_error inner = {0};
    qn_err err = qn_gguf_open_fd(fd, out, &inner);
    close(fd);
    return err == QN_OK ? QN_OK : qn_fail(e, err, "%s: %s", path, inner.message);
}

void qn_gguf_close(struct qn_gguf *g)
{
    if (g == NULL) {
        return;
    }
    for (size_t i = 0; i < g->kv_count; i++) {
        free(g->kvs[i].items);
    }
    free(g->kvs);
    free(g->kv_index.slots);
    free(g->tensors);
    free(g->tensor_index.slots);
    if (g->mapped) {
        munmap((void *)g->data, g->size);
    }
    free(g);
}

uint64_t qn_gguf_identity(const struct qn_gguf *g)
{
    return g->identity;
}

uint32_t qn_gguf_version(const struct qn_gguf *g)
{
    return g->version;
}

size_t qn_gguf_file_bytes(const struct qn_gguf *g)
{
    return g->size;
}

const void *qn_gguf_data(const struct qn_gguf *g)
{
    return g->data;
}

size_t qn_gguf_kv_count(const struct qn_gguf *g)
{
    return g->kv_count;
}

struct qn_gguf_str qn_gguf_kv_key(const struct qn_gguf *g, size_t i)
{
    assert(i < g->kv_count);
    return g->kvs[i].key;
}

static const struct kv *find(const struct qn_gguf *g, const char *key)
{
    struct qn_gguf_str name = {key, strlen(key)};
    uint32_t slot = *index_slot(g, &g->kv_index, kv_name, name);
    return slot == 0 ? NULL : &g->kvs[slot - 1];
}

bool qn_gguf_has(const struct qn_gguf *g, const char *key)
{
    return find(g, key) != NULL;
}

enum qn_gguf_type qn_gguf_kv_type(const struct qn_gguf *g, const char *key)
{
    const struct kv *kv = find(g, key);
    assert(kv != NULL);
    return kv->type;
}

static qn_err missing(const char *key, struct qn_error *e)
{
    return qn_fail(e, QN_ENOTFOUND, "metadata key %s is missing", key);
}

static qn_err wrong_type(const struct kv *kv, const char *expected, struct qn_error *e)
{
    return qn_fail(e, QN_EFORMAT, "metadata %.*s: expected %s, it is %s", shown(kv->key), kv->key.s,
                   expected, type_table[kv->type].name);
}

/* Reads an integer of any width; *too_big: it exceeds int64_t. False when kv is not an integer. */
static bool read_integer(const struct kv *kv, int64_t *out, bool *too_big)
{
    *too_big = false;
    switch (kv->type) {
    case QN_GGUF_U8:
        *out = *kv->value;
        return true;
    case QN_GGUF_I8:
        *out = (int8_t)*kv->value;
        return true;
    case QN_GGUF_U16: {
        uint16_t v;
        memcpy(&v, kv->value, sizeof v);
        *out = v;
        return true;
    }
    case QN_GGUF_I16: {
        int16_t v;
        memcpy(&v, kv->value, sizeof v);
        *out = v;
        return true;
    }
    case QN_GGUF_U32: {
        uint32_t v;
        memcpy(&v, kv->value, sizeof v);
        *out = v;
        return true;
    }
    case QN_GGUF_I32: {
        int32_t v;
        memcpy(&v, kv->value, sizeof v);
        *out = v;
        return true;
    }
    case QN_GGUF_U64: {
        uint64_t v;
        memcpy(&v, kv->value, sizeof v);
        *too_big = v > INT64_MAX;
        *out = *too_big ? INT64_MAX : (int64_t)v;
        return true;
    }
    case QN_GGUF_I64:
        memcpy(out, kv->value, sizeof *out);
        return true;
    default:
        return false;
    }
}

qn_err qn_gguf_i64(const struct qn_gguf *g, const char *key, int64_t min, int64_t max, int64_t *out,
                   struct qn_error *e)
{
    const struct kv *kv = find(g, key);
    if (kv == NULL) {
        return missing(key, e);
    }
    int64_t v;
    bool too_big;
    if (!read_integer(kv, &v, &too_big)) {
        return wrong_type(kv, "an integer", e);
    }
    if (too_big || v < min || v > max) {
        return qn_fail(e, QN_EFORMAT, "metadata %s: %s%lld is not within %lld to %lld", key,
                       too_big ? "more than " : "", (long long)v, (long long)min, (long long)max);
    }
    *out = v;
    return QN_OK;
}

qn_err qn_gguf_f64(const struct qn_gguf *g, const char *key, double *out, struct qn_error *e)
{
    const struct kv *kv = find(g, key);
    if (kv == NULL) {
        return missing(key, e);
    }
    if (kv->type == QN_GGUF_F32) {
        float v;
        memcpy(&v, kv->value, sizeof v);
        *out = (double)v;
    } else if (kv->type == QN_GGUF_F64) {
        memcpy(out, kv->value, sizeof *out);
    } else {
        return wrong_type(kv, "a number with a fraction", e);
    }
    return QN_OK;
}

qn_err qn_gguf_bool(const struct qn_gguf *g, const char *key, bool *out, struct qn_error *e)
{
    const struct kv *kv = find(g, key);
    if (kv == NULL) {
        return missing(key, e);
    }
    if (kv->type != QN_GGUF_BOOL) {
        return wrong_type(kv, "a bool", e);
    }
    *out = *kv->value != 0;
    return QN_OK;
}

qn_err qn_gguf_str(const struct qn_gguf *g, const char *key, struct qn_gguf_str *out,
                   struct qn_error *e)
{
    const struct kv *kv = find(g, key);
    if (kv == NULL) {
        return missing(key, e);
    }
    if (kv->type != QN_GGUF_STRING) {
        return wrong_type(kv, "a string", e);
    }
    out->s = (const char *)kv->value;
    out->n = kv->count;
    return QN_OK;
}

qn_err qn_gguf_array(const struct qn_gguf *g, const char *key, enum qn_gguf_type *item,
                     size_t *count, struct qn_error *e)
{
    const struct kv *kv = find(g, key);
    if (kv == NULL) {
        return missing(key, e);
    }
    if (kv->type != QN_GGUF_ARRAY) {
        return wrong_type(kv, "an array", e);
    }
    *item = kv->item;
    *count = kv->count;
    return QN_OK;
}

struct qn_gguf_str qn_gguf_array_str(const struct qn_gguf *g, const char *key, size_t i)
{
    const struct kv *kv = find(g, key);
    assert(kv != NULL && kv->type == QN_GGUF_ARRAY && kv->item == QN_GGUF_STRING && i < kv->count);
    const unsigned char *p = kv->value + kv->items[i];
    uint64_t n;
    memcpy(&n, p, sizeof n);
    return (struct qn_gguf_str){(const char *)p + sizeof n, (size_t)n};
}

const void *qn_gguf_array_raw(const struct qn_gguf *g, const char *key)
{
    const struct kv *kv = find(g, key);
    assert(kv != NULL && kv->type == QN_GGUF_ARRAY && kv->item != QN_GGUF_STRING);
    return kv->value;
}

size_t qn_gguf_tensor_count(const struct qn_gguf *g)
{
    return g->tensor_count;
}

const struct qn_gguf_tensor *qn_gguf_tensor_at(const struct qn_gguf *g, size_t i)
{
    assert(i < g->tensor_count);
    return &g->tensors[i];
}

const struct qn_gguf_tensor *qn_gguf_tensor_find(const struct qn_gguf *g, const char *name)
{
    struct qn_gguf_str s = {name, strlen(name)};
    uint32_t slot = *index_slot(g, &g->tensor_index, tensor_name, s);
    return slot == 0 ? NULL : &g->tensors[slot - 1];
}
