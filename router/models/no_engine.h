/* Why models of a recipe cannot be run on this machine, for people. */
#ifndef QN_MODELS_NO_ENGINE_H
#define QN_MODELS_NO_ENGINE_H

/* What follows "cannot be run here: it is", with what to do instead; NULL: they can be run. Any
 * thread, once the backend types have been looked for (qn_backend_types_look). */
const char *qn_no_engine(const char *recipe);

#endif
