/* Engines of other projects that quince can run in the place of its own: llama-server,
 * whisper-server, sd-server. A table says where their releases are (packs.json); what has been
 * installed lies in <engines>/RECIPE/BACKEND/VERSION (pack_install.h puts it there), and a program
 * of the same name on the path is as good.
 *
 * packs.json is an object; under "packs" each member is "RECIPE:BACKEND" with
 *
 *   version     of the release, as it stands for {version} in the addresses
 *   program     the file in the archive that is started
 *   needs       "vulkan": a graphics processor with a Vulkan driver; left out: any machine
 *   digests     where the release's publisher tells the SHA-256 of its files, in the form of
 *               GitHub's API ("assets": [{"name", "digest": "sha256:..."}])
 *   machines    for each kind of processor (as of uname -m) {"url", "sha256", "size_bytes",
 *               "glibc"}; the last is the oldest C library ("2.35") that the program runs with;
 *               sha256 and size_bytes are left out where the table's author could not verify them
 *
 * An archive whose SHA-256 is neither in the table nor told by the publisher is never unpacked.
 *
 * The table does not change after opening and what is asked about the disk is asked anew each time,
 * with a few system calls: any thread. NULL as a table is one that is empty. */
#ifndef QN_REGISTRY_PACKS_H
#define QN_REGISTRY_PACKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_PACKS_FILE_MAX = 1024 * 1024,
    QN_PACKS_MAX = 64,
    QN_PACK_WORD_MAX = 64 /* of a recipe, a backend, a version, a program's name */
};

struct qn_packs;

/* A row of the table, for this machine. Strings are lent for the life of the table. */
struct qn_pack {
    const char *recipe, *backend;
    const char *version;
    const char *program;    /* a file's name without folders */
    const char *needs;      /* "" or "vulkan" */
    const char *url;        /* of the archive; NULL: there is none for this processor */
    const char *sha256;     /* 64 digits, or "": not known here */
    const char *digest_url; /* who tells it, or NULL */
    const char *glibc;      /* the oldest that it runs with, "" : any */
    int64_t size_bytes;     /* of the archive; 0: not known */
};

struct qn_packs_config {
    const char *table;   /* the file; packs.json */
    const char *engines; /* folder of what is installed; it need not be there */
    const char *path;    /* folders with : between, as PATH; NULL or "": none */
    bool prefer_system;  /* a program on the path comes before one that was installed */
};

/* QN_ENOTFOUND, QN_EINVAL with the place in the document. Everything is copied. Blocking. */
qn_err qn_packs_open(const struct qn_packs_config *config, struct qn_packs **out,
                     struct qn_error *e);
void qn_packs_close(struct qn_packs *p); /* NULL allowed */

size_t qn_packs_count(const struct qn_packs *p);
const struct qn_pack *qn_packs_at(const struct qn_packs *p, size_t i);
/* NULL: no such row. */
const struct qn_pack *qn_packs_find(const struct qn_packs *p, const char *recipe,
                                    const char *backend);
/* The folder of what is installed; lent. */
const char *qn_packs_engines(const struct qn_packs *p);

/* A program that can be started. */
struct qn_pack_program {
    char *path;                         /* absolute */
    char *folder;                       /* what belongs to it lies below: its libraries */
    char version[QN_PACK_WORD_MAX + 1]; /* "": one of the path, which has not been asked */
    bool system;                        /* of the path, not installed by quince */
    bool outdated;                      /* installed, but the table has another version now */
};

/* The program that runs recipe:backend. QN_ENOTFOUND with what to do about it: not in the table,
 * or neither installed nor on the path. */
qn_err qn_packs_program(const struct qn_packs *p, const char *recipe, const char *backend,
                        struct qn_pack_program *out, struct qn_error *e);
void qn_pack_program_deinit(struct qn_pack_program *program);

#endif
