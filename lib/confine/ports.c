/* Forbids TCP connections to certain ports; see confine.h. Landlock rules can only allow ports, so
 * all other ports are allowed one by one. The definitions repeat linux/landlock.h, because the
 * installed header may be older than the kernel. */
#include "confine/confine_private.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SIGNALS_VERSION = 6, /* the first Landlock version that restricts signals */
    RULE_PORT = 2,       /* LANDLOCK_RULE_NET_PORT */
    ALL_PORTS = 65536
};
static const uint64_t connect_right = 1 << 1; /* LANDLOCK_ACCESS_NET_CONNECT_TCP */
static const uint64_t signal_scope = 1 << 1;  /* LANDLOCK_SCOPE_SIGNAL */

struct ruleset {
    uint64_t files, ports, scopes;
};

struct port_rule {
    uint64_t allowed, port;
};

static qn_err allow_all_but(int ruleset, const bool refused[static ALL_PORTS], struct qn_error *e)
{
    for (int port = 1; port < ALL_PORTS; port++) {
        const struct port_rule rule = {connect_right, (uint64_t)port};
        if (!refused[port] && syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &rule, 0))
            return qn_fail_errno(e, "allow port %d", port);
    }
    return QN_OK;
}

qn_err qn_confine_ports(const int *ports, size_t n, struct qn_error *e)
{
    bool refused[ALL_PORTS] = {false};
    long version = qn_confine_version();
    if (version < QN_CONFINE_PORTS_VERSION)
        return qn_fail(e, QN_EUNSUPPORTED, "this kernel's Landlock cannot restrict connections");
    for (size_t i = 0; i < n; i++)
        if (ports[i] > 0 && ports[i] < ALL_PORTS)
            refused[ports[i]] = true;
    const struct ruleset attr = {.ports = connect_right,
                                 .scopes = version >= SIGNALS_VERSION ? signal_scope : 0};
    /* The struct ruleset has fields that older kernels do not know. They accept the longer struct
     * if the bytes beyond their own struct are zero. */
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return qn_fail_errno(e, "make a Landlock ruleset");
    qn_err err = allow_all_but(ruleset, refused, e);
    if (!err)
        err = qn_confine_apply(ruleset, e);
    close(ruleset);
    return err;
}
