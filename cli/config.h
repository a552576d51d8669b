/* Where the server's own config.json says that it listens: the last place to look for the address.
 */
#ifndef QN_CLI_CONFIG_H
#define QN_CLI_CONFIG_H

struct qn_config {
    char *host, *port; /* as an option would say them; NULL: not there */
};

/* A file that is missing, unreadable or wrong says nothing here: complaining is the server's. */
void qn_config_read(struct qn_config *c, const char *data_dir);
void qn_config_deinit(struct qn_config *c);

#endif
