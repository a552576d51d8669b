/* Why models cannot be run on this machine, for people: by their recipe and what they can do. Any
 * thread, once the backend types have been looked for (qn_backend_types_look). */
#ifndef QN_MODELS_NO_ENGINE_H
#define QN_MODELS_NO_ENGINE_H

#include "catalog/catalog.h"
#include "registry/registry.h"

/* What follows "cannot be run here: it is", with what to do instead; NULL: they can be run. has: an
 * enum qn_capability set, one of whose purposes an engine has to offer; 0: any. */
const char *qn_no_engine(const char *recipe, unsigned has);

/* The same for an entry of the built-in list, which may also be one that only an engine of another
 * project computes, and for a row of the catalog. */
const char *qn_no_engine_for_listed(const struct qn_registry_entry *entry);
const char *qn_no_engine_for_row(const struct qn_model_row *row);

#endif
