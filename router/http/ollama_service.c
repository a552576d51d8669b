/* See ollama_service.h. Source of the folders: systemd.unit(5). */
#include "http/ollama_service.h"

#include "base/str.h"

#include <stdio.h>
#include <unistd.h>

bool qn_ollama_service_find(const char *const *env, char out[static QN_OLLAMA_UNIT_PATH_MAX])
{
    static const char name[] = "ollama.service";
    const char *home = qn_env_get(env, "HOME"), *config = qn_env_get(env, "XDG_CONFIG_HOME");
    const struct {
        const char *base, *folder;
    } places[] = {
        {"", "/etc/systemd/system"},
        {"", "/usr/local/lib/systemd/system"},
        {"", "/usr/lib/systemd/system"},
        {config, "/systemd/user"},
        {config ? NULL : home, "/.config/systemd/user"},
        {"", "/etc/systemd/user"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i].base)
            continue;
        int n = snprintf(out, QN_OLLAMA_UNIT_PATH_MAX, "%s%s/%s", places[i].base, places[i].folder,
                         name);
        if (n > 0 && n < QN_OLLAMA_UNIT_PATH_MAX && access(out, F_OK) == 0)
            return true;
    }
    return false;
}
