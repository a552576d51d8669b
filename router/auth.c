/* See auth.h. */
#include "router/auth.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 255 };

/* Cuts "name", "name:port", "[v6]" or "[v6]:port" down to the name without brackets. False when it
 * is none of them. */
static bool bare_name(const char *authority, char out[static NAME_MAX_BYTES + 1])
{
    const char *end, *port;
    if (*authority == '[') {
        end = strchr(++authority, ']');
        if (!end)
            return false;
        port = end + 1;
    } else {
        end = strchr(authority, ':');
        if (!end)
            end = authority + strlen(authority);
        port = end;
    }
    if (*port == ':')
        port += 1 + strspn(port + 1, "0123456789");
    size_t n = (size_t)(end - authority);
    if (*port || n == 0 || n > NAME_MAX_BYTES)
        return false;
    memcpy(out, authority, n);
    out[n] = '\0';
    return true;
}

static bool is_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;
    size_t n = strlen(name);
    if (qn_str_ieq(name, "localhost"))
        return true;
    if (n > 10 && qn_str_ieq(name + n - 10, ".localhost"))
        return true;
    if (inet_pton(AF_INET, name, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool qn_auth_host_ok(const char *host, const char *own, bool numeric)
{
    char name[NAME_MAX_BYTES + 1];
    unsigned char address[sizeof(struct in6_addr)];
    if (!bare_name(host, name))
        return false;
    if (is_loopback(name) || qn_str_ieq(name, own))
        return true;
    return numeric &&
           (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1);
}

/* Origins of programs on this machine that show pages: no web site can have one. */
static const char *const program_origins[] = {
    "app://",
    "tauri://",
    "vscode-webview://",
    "vscode-file://",
};

bool qn_auth_origin_ok(const char *origin)
{
    char name[NAME_MAX_BYTES + 1];
    for (size_t i = 0; i < sizeof program_origins / sizeof *program_origins; i++)
        if (!strncasecmp(origin, program_origins[i], strlen(program_origins[i])))
            return true;
    if (!strncasecmp(origin, "http://", 7))
        origin += 7;
    else if (!strncasecmp(origin, "https://", 8))
        origin += 8;
    else
        return false;
    return bare_name(origin, name) && is_loopback(name);
}

bool qn_auth_is_json(const char *type)
{
    if (!type)
        return false;
    size_t n = strcspn(type, "; \t");
    return (n == 16 && !strncasecmp(type, "application/json", n)) ||
           (n > 5 && !strncasecmp(type + n - 5, "+json", 5));
}
