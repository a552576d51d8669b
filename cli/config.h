/* The host and port in the server's config.json: used if neither an option nor the environment
 * gives an address. */
#ifndef QN_CLI_CONFIG_H
#define QN_CLI_CONFIG_H

struct qn_config {
    char *host, *port; /* as in the options; NULL: not in the file */
};

/* A file that is missing, unreadable or invalid yields nothing here; the server reports such
 * errors. */
void qn_config_read(struct qn_config *c, const char *data_dir);
void qn_config_deinit(struct qn_config *c);

#endif
