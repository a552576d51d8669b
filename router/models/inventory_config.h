/* What of the settings the inventory works with. */
#ifndef QN_MODELS_INVENTORY_CONFIG_H
#define QN_MODELS_INVENTORY_CONFIG_H

#include "base/buf.h"
#include "models/inventory.h"
#include "settings/settings.h"

/* options: an empty buffer, which holds a text of the result. Settings are checked when they are
 * read, so this cannot fail. What the settings do not say (registry, packs, metrics) is NULL. */
struct qn_inventory_config qn_inventory_config_of(const struct qn_settings *s,
                                                  struct qn_buf *options);

#endif
