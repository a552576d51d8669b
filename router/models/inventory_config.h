/* The inventory's configuration, taken from the settings. */
#ifndef QN_MODELS_INVENTORY_CONFIG_H
#define QN_MODELS_INVENTORY_CONFIG_H

#include "base/buf.h"
#include "models/inventory.h"
#include "settings/settings.h"

/* options: an empty buffer that holds a text of the result and must outlive it. Settings are
 * checked when they are read, so this cannot fail. Members without a setting (registry, packs,
 * metrics) are NULL. */
struct qn_inventory_config qn_inventory_config_of(const struct qn_settings *s,
                                                  struct qn_buf *options);

#endif
