/* The files of the browser page (the folder ui), which the build embeds in the program
 * (scripts/embed_page.cmake), and which form of a file a request gets. Any thread. */
#ifndef QN_API_PAGE_FILES_H
#define QN_API_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_PAGE_BUILD_DIGITS = 16, /* hexadecimal */
    QN_PAGE_HASH_MAX = 44,     /* a SHA-256 in base64 */
    QN_PAGE_PATH_MAX = 79,
    QN_PAGE_TYPE_MAX = 39,
    QN_PAGE_TAG_MAX = QN_PAGE_BUILD_DIGITS + 8
};

/* An embedded file. The struct has no pointers, so that the table needs no relocation: its pages
 * stay those of the program's file, and only those in use are in memory. */
struct qn_page_file {
    char path[QN_PAGE_PATH_MAX + 1]; /* below ui/ */
    char type[QN_PAGE_TYPE_MAX + 1]; /* its Content-Type */
    bool at_root;                    /* served at /PATH; the others at /ui/BUILD/PATH */
    uint32_t at, size;               /* in qn_page_bytes */
    uint32_t gzip_at, gzip_size;     /* compressed; 0 bytes: not smaller, only the plain form */
};

/* Written by the build. */
extern const struct qn_page_file qn_page_files[];
extern const size_t qn_page_file_count;
extern const unsigned char qn_page_bytes[];
extern const size_t qn_page_bytes_count;
extern const char qn_page_build[QN_PAGE_BUILD_DIGITS + 1]; /* a checksum of all files */
extern const char qn_page_map_hash[QN_PAGE_HASH_MAX + 1];  /* of the import map in index.html */

/* Called once, at the start: keeps the files' bytes out of memory until one is sent. A page fault
 * in data beside them would otherwise map as many of them as the kernel has in one piece. */
void qn_page_set_apart(void);

/* The file of this path below ui/, NULL: none. */
const struct qn_page_file *qn_page_find(const char *path, bool at_root);

/* True when a field Accept-Encoding prefers gzip to the plain form (RFC 9110, 12.5.3). field MAY be
 * NULL: only the plain form. */
bool qn_page_prefers_gzip(const char *field);

/* Writes the entity tag of a form of the page's files, with its quotes. */
void qn_page_tag(bool gzip, char out[static QN_PAGE_TAG_MAX + 1]);

/* True when a field If-None-Match names the entity tag (weak comparison, RFC 9110, 8.8.3.2). field
 * MAY be NULL. */
bool qn_page_has_tag(const char *field, const char *tag);

#endif
