/* Shared by the endpoints of Ollama's API about models. */
#ifndef QN_API_OLLAMA_H
#define QN_API_OLLAMA_H

#include "api/api.h"
#include "base/json.h"
#include "catalog/catalog.h"

enum { QN_OLLAMA_DIGEST_MAX = 65 };

/* Returns the name in the form of Ollama's clients: with ":latest" if it has no tag. In the
 * arena. */
const char *qn_ollama_name(struct qn_arena *arena, const char *name);

/* Writes 64 hexadecimal digits: the checksum of the files, combined with that of the preset if
 * there is one. Until the files have been read it is derived from their names and sizes, and false
 * is returned. */
bool qn_ollama_digest(const struct qn_model_row *row, char out[static QN_OLLAMA_DIGEST_MAX]);

/* Writes "details": family, size, quantization. */
void qn_ollama_details(struct qn_jw *w, const struct qn_model_row *row);

/* Time of the model's last change. */
int64_t qn_ollama_modified_ms(const struct qn_model_row *row);

/* Reads the request's "model", or "name" in older clients. */
qn_err qn_ollama_model_of(const struct qn_jref *root, const char **name, struct qn_error *e);

#endif
