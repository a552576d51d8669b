/* The models that the server knows, and those in memory: what finds them and what takes them in.
 * One value, made at the start and lent to all that work with models. Loop thread only. */
#ifndef QN_MODELS_MODELS_H
#define QN_MODELS_MODELS_H

struct qn_models {
    struct qn_catalog *catalog;
    struct qn_inventory *inventory;
    const struct qn_registry *registry; /* the built-in list; NULL: it cannot be read */
    struct qn_registration_world *registration;
    struct qn_metadata_scan *metadata_scan;
};

#endif
