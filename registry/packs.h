/* Engines of other projects that quince can run instead of its own backends: llama-server,
 * whisper-server, sd-server. A table lists their releases (packs.json). Installed engines are in
 * <engines>/RECIPE/BACKEND/VERSION (put there by pack_install.h); a program of the same name on the
 * PATH is used as well.
 *
 * packs.json is an object; under "packs" each member is "RECIPE:BACKEND" with
 *
 *   version     of the release, as it stands for {version} in the addresses
 *   program     the file in the archive that is started
 *   needs       "vulkan": a graphics processor with a Vulkan driver; left out: any machine
 *   digests     address where the publisher gives the SHA-256 of the release's files, in the form
 *               of GitHub's API ("assets": [{"name", "digest": "sha256:..."}])
 *   machines    for each kind of processor (as of uname -m) {"url", "sha256", "size_bytes",
 *               "glibc"}; the last is the oldest C library ("2.35") that the program runs with;
 *               sha256 and size_bytes are left out if the table's author could not verify them
 *
 * An archive whose SHA-256 neither the table nor the publisher gives is never unpacked.
 *
 * The table does not change after opening, and questions about the disk are answered from the disk
 * each time, with a few system calls: any thread. NULL is accepted as an empty table. */
#ifndef QN_REGISTRY_PACKS_H
#define QN_REGISTRY_PACKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_PACKS_FILE_MAX = 1024 * 1024,
    QN_PACKS_MAX = 64,
    QN_PACK_WORD_MAX = 64 /* bytes of a recipe, a backend, a version, a program's name */
};

struct qn_packs;

/* A row of the table, for this machine. Strings are lent for the life of the table. */
struct qn_pack {
    const char *recipe, *backend;
    const char *version;
    const char *program;    /* a file's name without folders */
    const char *needs;      /* "" or "vulkan" */
    const char *url;        /* of the archive; NULL: no archive for this processor */
    const char *sha256;     /* 64 digits, or "": the table does not give it */
    const char *digest_url; /* address where the publisher gives the checksum, or NULL */
    const char *glibc;      /* oldest version of the C library it runs with; "": any */
    int64_t size_bytes;     /* of the archive; 0: not known */
};

struct qn_packs_config {
    const char *table;   /* path of packs.json */
    const char *engines; /* folder of installed engines; may be missing */
    const char *path;    /* folders separated by ':', like PATH; NULL or "": none */
    bool prefer_system;  /* a program on the PATH is preferred to an installed one */
};

/* QN_ENOTFOUND; QN_EINVAL with the position in the document. Everything is copied. Blocking. */
qn_err qn_packs_open(const struct qn_packs_config *config, struct qn_packs **out,
                     struct qn_error *e);
void qn_packs_close(struct qn_packs *p); /* NULL allowed */

size_t qn_packs_count(const struct qn_packs *p);
const struct qn_pack *qn_packs_at(const struct qn_packs *p, size_t i);
/* NULL: no such row. */
const struct qn_pack *qn_packs_find(const struct qn_packs *p, const char *recipe,
                                    const char *backend);
/* The folder of installed engines; lent. */
const char *qn_packs_engines(const struct qn_packs *p);

/* A program that can be started. */
struct qn_pack_program {
    char *path;   /* absolute */
    char *folder; /* contains everything that belongs to the program, such as its libraries */
    char version[QN_PACK_WORD_MAX + 1]; /* "": a program on the PATH, whose version is not known */
    bool system;                        /* found on the PATH, not installed by quince */
    bool outdated;                      /* installed, but the table names another version */
};

/* Finds the program that runs recipe:backend. QN_ENOTFOUND with what to do: not in the table, or
 * neither installed nor on the PATH. */
qn_err qn_packs_program(const struct qn_packs *p, const char *recipe, const char *backend,
                        struct qn_pack_program *out, struct qn_error *e);
void qn_pack_program_deinit(struct qn_pack_program *program);

#endif
