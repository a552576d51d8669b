/* See magic.h. */
#include "formats/magic.h"

#include <stdbool.h>
#include <string.h>

struct magic {
    const char *kind;
    size_t at, len;
    const char *bytes, *mask; /* mask NULL: all bits are compared */
    size_t also_at, also_len;
    const char *also;
};

static const struct magic sounds[] = {
    {"wav", 0, 4, "RIFF", NULL, 8, 4, "WAVE"},
    {"wav", 0, 4, "RF64", NULL, 8, 4, "WAVE"},
    {"mp3", 0, 3, "ID3", NULL, 0, 0, NULL},
    {"flac", 0, 4, "fLaC", NULL, 0, 0, NULL},
    {"ogg", 0, 4, "OggS", NULL, 0, 0, NULL},
    {"webm", 0, 4, "\x1A\x45\xDF\xA3", NULL, 0, 0, NULL},
    {"mp4", 4, 4, "ftyp", NULL, 0, 0, NULL},
    /* Frame syncs: the layer bits are zero for AAC and not zero for MP3. */
    {"aac", 0, 2, "\xFF\xF0", "\xFF\xF6", 0, 0, NULL},
    {"mp3", 0, 2, "\xFF\xE2", "\xFF\xE6", 0, 0, NULL},
    {"mp3", 0, 2, "\xFF\xE4", "\xFF\xE6", 0, 0, NULL},
    {"mp3", 0, 2, "\xFF\xE6", "\xFF\xE6", 0, 0, NULL},
};

static const struct magic images[] = {
    {"png", 0, 8, "\x89PNG\r\n\x1A\n", NULL, 0, 0, NULL},
    {"jpeg", 0, 3, "\xFF\xD8\xFF", NULL, 0, 0, NULL},
    {"webp", 0, 4, "RIFF", NULL, 8, 4, "WEBP"},
};

static bool has(const unsigned char *p, size_t n, const struct magic *m)
{
    if (n < m->at + m->len || n < m->also_at + m->also_len)
        return false;
    for (size_t i = 0; i < m->len; i++) {
        unsigned mask = m->mask ? (unsigned char)m->mask[i] : 0xFFu;
        if ((p[m->at + i] & mask) != (unsigned char)m->bytes[i])
            return false;
    }
    return !m->also || memcmp(p + m->also_at, m->also, m->also_len) == 0;
}

static const char *find(const void *p, size_t n, const struct magic *table, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (has(p, n, &table[i]))
            return table[i].kind;
    return NULL;
}

const char *qn_magic_sound(const void *p, size_t n)
{
    return find(p, n, sounds, sizeof sounds / sizeof *sounds);
}

const char *qn_magic_image(const void *p, size_t n)
{
    return find(p, n, images, sizeof images / sizeof *images);
}
