/* What the endpoints of Ollama's API about models have in common. */
#ifndef QN_API_OLLAMA_H
#define QN_API_OLLAMA_H

#include "api/api.h"
#include "base/json.h"
#include "catalog/catalog.h"

enum { QN_OLLAMA_DIGEST_MAX = 65 };

/* The name as Ollama's clients see it: with ":latest" where it has no tag. The arena's. */
const char *qn_ollama_name(struct qn_arena *arena, const char *name);

/* 64 hexadecimal digits: the sum of the files, and with it that of the preset, if there is one.
 * Until the files have been read it is made of their names and sizes; false then. */
bool qn_ollama_digest(const struct qn_model_row *row, char out[static QN_OLLAMA_DIGEST_MAX]);

/* "details": family, size, quantization. */
void qn_ollama_details(struct qn_jw *w, const struct qn_model_row *row);

/* When the model came to be as it is. */
int64_t qn_ollama_modified_ms(const struct qn_model_row *row);

/* Reads the request's "model", or "name" as older clients say. */
qn_err qn_ollama_model_of(const struct qn_jref *root, const char **name, struct qn_error *e);

#endif
