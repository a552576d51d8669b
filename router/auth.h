/* Who may ask. Without keys the guard is: the address (loopback), the Host header (against DNS
 * rebinding: a foreign web page whose name is made to point here) and the Origin header (against
 * foreign web pages that simply post here). Pure but for the headers it sets. */
#ifndef QN_ROUTER_AUTH_H
#define QN_ROUTER_AUTH_H

#include <stdbool.h>

/* True when a Host header's value ("localhost:13305", "[::1]", "127.0.0.1") names this machine.
 * own: the host setting, accepted as well; any numeric address is accepted when `numeric`. */
bool qn_auth_host_ok(const char *host, const char *own, bool numeric);

/* True when an Origin header's value is a page served from this machine ("http://localhost:3000"),
 * or of a program on it ("vscode-webview://..."). */
bool qn_auth_origin_ok(const char *origin);

/* True when a Content-Type's value says JSON. */
bool qn_auth_is_json(const char *content_type);

#endif
