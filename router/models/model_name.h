/* Makes names for models whose files come without one. Pure. */
#ifndef QN_MODELS_MODEL_NAME_H
#define QN_MODELS_MODEL_NAME_H

enum { QN_MODEL_SLUG_MAX = 120 };

/* Writes a non-empty ASCII name into out: the file's name without ".gguf"; where that would lose
 * letters, title, the name in the file's metadata ("": none); else "model" and the ASCII characters
 * of the file's name. */
void qn_model_slug(const char *path, const char *title, char out[static QN_MODEL_SLUG_MAX + 1]);

#endif
