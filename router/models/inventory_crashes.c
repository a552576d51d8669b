/* Reports of processes that ended unrequested, see inventory.h. */
#include "models/inventory_private.h"

#include "base/str.h"

bool qn_model_slot_crashed(const struct qn_model_slot *p)
{
    if (!p->process.child)
        return false;
    struct qn_child_status s = qn_child_status(p->process.child);
    return s.crash_report && (s.crashes > 0 || s.state == QN_INST_FAILED);
}

size_t qn_inventory_crashed(const struct qn_inventory *inv, struct qn_crashed *out, size_t max)
{
    size_t n = 0;
    for (const struct qn_model_slot *p = inv->model_slots; p && n < max; p = p->next)
        if (qn_model_slot_crashed(p))
            out[n++] = (struct qn_crashed){.name = p->id.name,
                                           .type = p->id.type->type,
                                           .status = qn_child_status(p->process.child)};
    return n;
}

const struct qn_crash_report *qn_inventory_crash_report(struct qn_inventory *inv, const char *name,
                                                        const struct qn_error *why)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    const struct qn_crash_report *found = NULL;
    if (qn_inventory_find(inv, name, &snap, &row, NULL))
        return NULL;
    row = qn_inventory_computes(snap, row);
    for (const struct qn_model_slot *p = inv->model_slots; p && !found; p = p->next)
        if (p->process.child && qn_str_eq(p->id.name, row->name))
            found = qn_child_status(p->process.child).crash_report;
    qn_snapshot_unref(snap);
    return qn_crash_report_of(found, why) ? found : NULL;
}
