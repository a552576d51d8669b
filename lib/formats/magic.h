/* Recognises the format of an audio or image file by its first bytes only: enough to tell a client
 * that it sent the wrong file. The decoder checks the rest. Sources: RIFF/WAVE (Microsoft, 1991),
 * ID3v2.4 and ISO/IEC 11172-3 (MP3), RFC 9639 (FLAC), RFC 3533 (Ogg), RFC 8794 (EBML: WebM),
 * ISO/IEC 14496-12 (MP4), ISO/IEC 13818-7 (ADTS), RFC 2083 (PNG), ITU-T T.81 (JPEG), the WebP
 * container specification. */
#ifndef QN_FORMATS_MAGIC_H
#define QN_FORMATS_MAGIC_H

#include <stddef.h>

const char *qn_magic_sound(const void *p, size_t n); /* "wav", "mp3", "flac", ...; NULL: unknown */
const char *qn_magic_image(const void *p, size_t n); /* "png", "jpeg", "webp"; NULL: unknown */

#endif
