/* What models can do (contract/capabilities.h): of a row of the catalog, by its type, labels, files
 * and what its file says; of an entry of the built-in list, by its recipe and labels. Pure, once
 * the backend types have been looked for (qn_backend_types_look). Any thread. */
#ifndef QN_MODELS_MODEL_CAPABILITIES_H
#define QN_MODELS_MODEL_CAPABILITIES_H

#include "catalog/catalog.h"
#include "contract/capabilities.h"
#include "registry/registry.h"

struct qn_capabilities qn_model_capabilities(const struct qn_model_row *row);
struct qn_capabilities qn_listed_capabilities(const struct qn_registry_entry *entry);

/* What a model is for, in a word: "llm", "embedding" ... (settings/kinds.h). */
const char *qn_model_kind_name(const struct qn_model_row *row);

/* By labels alone (a JSON array, or "" and NULL for none); for what is not here yet. */
struct qn_capabilities qn_labelled_capabilities(const char *recipe, const char *labels);

#endif
