/* The steps of download jobs with the real hubs, network and store: resolving an order to files,
 * fetching them, registering the model in the catalog. */
#ifndef QN_DOWNLOADS_PULL_WORLD_H
#define QN_DOWNLOADS_PULL_WORLD_H

#include "downloads/pulls.h"
#include "io/loop.h"
#include "registry/hub.h"
#include "registry/store.h"
#include "registry/web.h"

struct qn_registration_world;
struct qn_metadata_scan;

/* Lent for the life of the jobs. */
struct qn_pull_world {
    struct qn_loop *loop;
    struct qn_catalog *catalog;
    const bool *closed; /* becomes true when the catalog has been closed */
    struct qn_registration_world *registration;
    const struct qn_web *web;
    const struct qn_hubs *hubs;
    const struct qn_store *store;
    struct qn_metadata_scan *metadata_scan; /* is notified of new models */
    const char *unpacker;                   /* the program quince-unpack */
};

struct qn_pull_steps qn_pull_world_steps(struct qn_pull_world *w);

#endif
