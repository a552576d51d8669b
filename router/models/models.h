/* The services for models: catalog, inventory, built-in list, registration and metadata scan. One
 * value, made at start and lent to all code that works with models. Loop thread only. */
#ifndef QN_MODELS_MODELS_H
#define QN_MODELS_MODELS_H

struct qn_models {
    struct qn_catalog *catalog;
    struct qn_inventory *inventory;
    const struct qn_registry *registry; /* the built-in list; NULL: it could not be read */
    struct qn_registration_world *registration;
    struct qn_metadata_scan *metadata_scan;
};

#endif
