/* The first bytes of files, as the formats' own specifications give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "formats/magic.h"

#include <string.h>

static void files_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *sound, *image;
    } cases[] = {
        {"RIFF\x24\x08\0\0WAVEfmt ", 16, "wav", NULL},
        {"RF64\xFF\xFF\xFF\xFFWAVEds64", 16, "wav", NULL},
        {"RIFF\x24\x08\0\0WEBPVP8 ", 16, NULL, "webp"},
        {"RIFF\x24\x08\0\0AVI LIST", 16, NULL, NULL},
        {"RIFF\x24\x08\0\0WAV", 11, NULL, NULL},
        {"ID3\x04\0\0", 6, "mp3", NULL},
        {"\xFF\xFB\x90\x64", 4, "mp3", NULL}, /* MPEG-1 layer III */
        {"\xFF\xF3\x40\xC0", 4, "mp3", NULL}, /* MPEG-2 layer III */
        {"\xFF\xE3\x18\xC4", 4, "mp3", NULL}, /* MPEG-2.5 layer III */
        {"\xFF\xF1\x50\x80", 4, "aac", NULL}, /* ADTS, MPEG-4 */
        {"\xFF\xF9\x50\x80", 4, "aac", NULL}, /* ADTS, MPEG-2 */
        {"fLaC\0\0\0\x22", 8, "flac", NULL},
        {"OggS\0\x02", 6, "ogg", NULL},
        {"\x1A\x45\xDF\xA3\x9F", 5, "webm", NULL},
        {"\0\0\0\x1C"
         "ftypM4A ",
         12, "mp4", NULL},
        {"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16, NULL, "png"},
        {"\x89PNG\r\n\x1A", 7, NULL, NULL},
        {"\xFF\xD8\xFF\xE0\0\x10JFIF", 10, NULL, "jpeg"},
        {"GIF89a", 6, NULL, NULL},
        {"%PDF-1.7", 8, NULL, NULL},
        {"hello", 5, NULL, NULL},
        {"\xFF", 1, NULL, NULL},
        {"", 0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sound = qn_magic_sound(cases[i].bytes, cases[i].n);
        const char *image = qn_magic_image(cases[i].bytes, cases[i].n);
        assert_string_equal(sound ? sound : "none", cases[i].sound ? cases[i].sound : "none");
        assert_string_equal(image ? image : "none", cases[i].image ? cases[i].image : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
