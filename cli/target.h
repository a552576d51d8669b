/* The server's address, parsed from the host and port that the user gives. */
#ifndef QN_CLI_TARGET_H
#define QN_CLI_TARGET_H

#include "base/error.h"

#include <stdbool.h>

enum { QN_CLI_PORT = 13305 };

struct qn_target {
    char *url;       /* "http://localhost:13305", without a trailing slash */
    char *host;      /* as given, without brackets, scheme and port */
    int port;        /* 0: only for starting a server, which then picks a free port */
    bool named_host; /* the host was given, not assumed */
    bool named_port; /* the port was given, as an option or within the host */
    bool local;      /* on this machine, so the server may be started if none runs */
};

/* host: a name or an address, either with ":PORT", or an http or https URL; NULL or "": localhost.
 * The port is the first that is given of: `port` (an option), the host's own, `preset` (from the
 * environment; not used for https), 443 for https, QN_CLI_PORT; NULL or "": not given. An address
 * that means "all interfaces" is reached through localhost. QN_EINVAL with a message; *t is then
 * empty. */
qn_err qn_target_parse(struct qn_target *t, const char *host, const char *port, const char *preset,
                       struct qn_error *e);
void qn_target_deinit(struct qn_target *t);

#endif
