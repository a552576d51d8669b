/* Names that the server gives models of files that come without one. Pure. */
#ifndef QN_MODELS_MODEL_NAME_H
#define QN_MODELS_MODEL_NAME_H

enum { QN_MODEL_SLUG_MAX = 120 };

/* Writes an ASCII name into out, never an empty one: after the file's name without ".gguf"; where
 * that would lose letters, after title, the name that stands in the file ("": none); else "model"
 * and what the file's name has of ASCII. */
void qn_model_slug(const char *path, const char *title, char out[static QN_MODEL_SLUG_MAX + 1]);

#endif
