/* Messages that say why a model cannot be run on this machine, from its recipe and its
 * capabilities. Any thread, after qn_backend_types_look has run. */
#ifndef QN_MODELS_NO_ENGINE_H
#define QN_MODELS_NO_ENGINE_H

#include "catalog/catalog.h"
#include "registry/registry.h"

/* The end of a sentence that begins "cannot be run here: it is", with advice; NULL: the model can
 * be run. has: an enum qn_capability set, one of whose purposes an engine has to offer; 0: any. */
const char *qn_no_engine(const char *recipe, unsigned has);

/* The same for a model file of this architecture, as a hub names it. */
const char *qn_no_engine_for_architecture(const char *recipe, const char *architecture);

/* The same for an entry of the built-in list, which may also be one that only another project's
 * engine can run, and for a row of the catalog. */
const char *qn_no_engine_for_listed(const struct qn_registry_entry *entry);
const char *qn_no_engine_for_row(const struct qn_model_row *row);

#endif
