/* Names of the files of a split model: NAME-00001-of-0000N.gguf and so on, all in one folder. Works
 * on paths only: no file is opened. Any thread. */
#ifndef QN_FORMATS_GGUF_NAME_H
#define QN_FORMATS_GGUF_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_GGUF_PARTS_MAX = 512 };

/* Writes the path of part i (from 0) of a model with n parts, given the path of another part. False
 * when path does not end in -00001-of-0000N.gguf with this N, or out [size] is too small. */
bool qn_gguf_part_path(const char *path, size_t i, size_t n, char *out, size_t size);

/* The number of a model's files according to the path of the first one: at least 1. */
size_t qn_gguf_parts_of(const char *path);

#endif
