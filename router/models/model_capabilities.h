/* Capabilities of models (contract/capabilities.h): of a row of the catalog, from its type, labels,
 * files and file metadata; of an entry of the built-in list, from its recipe and labels. Pure after
 * qn_backend_types_look has run. Any thread. */
#ifndef QN_MODELS_MODEL_CAPABILITIES_H
#define QN_MODELS_MODEL_CAPABILITIES_H

#include "catalog/catalog.h"
#include "contract/capabilities.h"
#include "registry/registry.h"

struct qn_capabilities qn_model_capabilities(const struct qn_model_row *row);
struct qn_capabilities qn_listed_capabilities(const struct qn_registry_entry *entry);

/* The purpose of a model as a word: "llm", "embedding" ... (settings/kinds.h). */
const char *qn_model_kind_name(const struct qn_model_row *row);

/* From labels alone (a JSON array; "" or NULL: none), for a model that is not downloaded yet. */
struct qn_capabilities qn_labelled_capabilities(const char *recipe, const char *labels);

#endif
