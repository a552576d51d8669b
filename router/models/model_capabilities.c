/* See model_capabilities.h. */
#include "models/model_capabilities.h"

#include "base/str.h"
#include "contract/backend_types.h"
#include "settings/kinds.h"

struct qn_capabilities qn_model_capabilities(const struct qn_model_row *row)
{
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    unsigned offers = type ? type->offers : 0;
    /* quince-inspect understands files of language models; its result for image models would be a
     * guess. */
    struct qn_capability_facts f = {.offers = offers,
                                    .labels = row->labels,
                                    .found = offers & QN_CAN_TALK ? row->capabilities : "[]"};
    for (size_t i = 0; i < row->n_files; i++)
        f.projector = f.projector || qn_str_eq(row->roles[i], "mmproj");
    return qn_capabilities_of(&f);
}

const char *qn_model_kind_name(const struct qn_model_row *row)
{
    return qn_kind_name(qn_kind_of(qn_model_capabilities(row).has));
}

struct qn_capabilities qn_labelled_capabilities(const char *recipe, const char *labels)
{
    const struct qn_backend_type *type = qn_backend_type_of(recipe, 0);
    return qn_capabilities_of(&(struct qn_capability_facts){
        .offers = type ? type->offers : QN_CAN_TALK, .labels = labels, .found = "[]"});
}

struct qn_capabilities qn_listed_capabilities(const struct qn_registry_entry *entry)
{
    return qn_labelled_capabilities(entry->recipe, entry->labels);
}
