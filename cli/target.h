/* Where the server is, from what a person writes as its host and port. */
#ifndef QN_CLI_TARGET_H
#define QN_CLI_TARGET_H

#include "base/error.h"

#include <stdbool.h>

enum { QN_CLI_PORT = 13305 };

struct qn_target {
    char *url;       /* "http://localhost:13305", no slash at the end */
    char *host;      /* as it was written, without brackets, scheme and port */
    int port;        /* 0: only for a server to come, which picks a free one */
    bool named_host; /* the host was given, not assumed */
    bool named_port; /* so was the port, as an option or within the host */
    bool local;      /* of this machine: the server may be started when none runs */
};

/* host: a name, an address, either with ":PORT", or an http or https URL; NULL or "": localhost.
 * The port is the first of `port` (an option), the host's own, `preset` (the environment's; not
 * for https), 443 for https, and QN_CLI_PORT; NULL or "": not given. An address that means "every
 * interface" is called by localhost. QN_EINVAL says what is wrong; *t is then empty. */
qn_err qn_target_parse(struct qn_target *t, const char *host, const char *port, const char *preset,
                       struct qn_error *e);
void qn_target_deinit(struct qn_target *t);

#endif
