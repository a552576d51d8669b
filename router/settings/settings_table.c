/* The table of settings, see settings.h. A row defines a setting's flag, its environment variable
 * (QUINCE_ and the flag in capitals), its key in config.json (the flag's name) and its help text.
 */
#include "settings/settings_private.h"

#include "answers/profile.h"
#include "base/near.h"
#include "base/str.h"
#include "contract/backend_types.h"

#include <ctype.h>
#include <string.h>

enum { TEXT = QN_SETTING_TEXT, NUMBER = QN_SETTING_NUMBER, TRUTH = QN_SETTING_TRUTH };
enum {
    FILE_KEY = QN_SETTING_FILE_KEY,
    ELSEWHERE = QN_SETTING_ELSEWHERE,
    EVERYWHERE = FILE_KEY | ELSEWHERE,
    LIVE = QN_SETTING_LIVE,
    BY_HAND = QN_SETTING_BY_HAND,
    MAY_BE_EMPTY = QN_SETTING_MAY_BE_EMPTY
};

#define AT(member) offsetof(struct qn_settings, member)
static const struct qn_setting_row table[] = {
    {"host", TEXT, AT(host), "localhost", 0, 0, EVERYWHERE, "ADDRESS",
     "address to listen on; localhost means 127.0.0.1 and [::1]"},
    {"port", NUMBER, AT(port), "13305", 0, 65535, EVERYWHERE, "N",
     "port to listen on; 0 picks a free one and prints it"},
    {"insecure", TRUTH, AT(insecure), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "allow an address that other machines can reach although no key exists (anyone there may use "
     "the server)"},
    {"profile", TEXT, AT(profile), QN_PROFILE_MAIN_NAME, 0, 0, EVERYWHERE, "NAME",
     "which API's conventions the main port follows where APIs differ: " QN_PROFILE_NAMES},
    {"ollama-port", TEXT, AT(ollama_port), "auto", 0, 0, EVERYWHERE | LIVE, "PORT",
     "port for programs made for Ollama: auto (11434 if it is free and no service of Ollama is "
     "installed), off, or a number"},
    {"websocket-port", TEXT, AT(websocket_port), "auto", 0, 0, EVERYWHERE, "PORT",
     "port that /health reports for WebSockets, which all ports accept: auto (a free one), off "
     "(the main port), or a number"},
    {"listen", TEXT, AT(listen), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY, "LIST",
     "additional addresses to listen on, [ADDRESS:]PORT=PROFILE separated by commas; in "
     "config.json an array of {\"bind\", \"port\", \"profile\"}"},
    {"no-presets", TRUTH, AT(no_presets), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "refuse requests that make presets (Ollama's create and copy) with 501"},
    {"allow-hosts", TEXT, AT(allow_hosts), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE, "NAMES",
     "additional names of this server in requests (Host), separated by commas; * allows any"},
    {"allow-origins", TEXT, AT(allow_origins), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE,
     "ORIGINS",
     "origins of web pages that may use the server, https://chat.example.org, separated by commas; "
     "* allows any page"},
    {"metrics-auth", TRUTH, AT(metrics_auth), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "GET /metrics needs a key, too, if keys exist"},
    {"rate-limit", NUMBER, AT(rate_limit), "0", 0, 1000000, EVERYWHERE | LIVE, "N",
     "requests to models per minute for each client; 0: no limit"},
    {"rate-burst", NUMBER, AT(rate_burst), "10", 1, 1000000, EVERYWHERE | LIVE, "N",
     "how many of these requests may come at once"},
    {"data-dir", TEXT, AT(data_dir), "", 0, 0, ELSEWHERE, "DIR",
     "folder of all files that the server writes (default: ~/.local/share/quince)"},
    {"log-level", TEXT, AT(log_level), "info", 0, 0, EVERYWHERE | LIVE, "LEVEL",
     "critical, error, warn, info, debug or trace; trace also logs every prompt"},
    {"max-loaded-models", TEXT, AT(max_loaded_models), "1", 0, 0, EVERYWHERE | LIVE, "LIMITS",
     "models of one kind in memory at once, as N or by kind, llm=2,embedding=-1 (-1: no limit; in "
     "config.json also an object); kinds are llm, embedding, reranking, transcription, image, tts"},
    {"groups", TEXT, AT(groups), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | LIVE, "JSON",
     "which models may be in memory together, {\"NAME\": {\"members\": [...], \"swap\", "
     "\"exclusive\", \"persistent\"}} (see quince(1))"},
    {"preload", TEXT, AT(preload), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY, "MODELS",
     "models to load at start, separated by commas; in config.json also an array"},
    {"threads", NUMBER, AT(threads), "0", 0, 1024, EVERYWHERE | LIVE, "N",
     "processor threads for all models together; 0: as many as the machine has"},
    {"context", NUMBER, AT(context), "0", 0, 16 * 1024 * 1024, EVERYWHERE | LIVE, "TOKENS",
     "context in tokens for loading models; 0: the trained context, or less if memory is short"},
    {"slots", NUMBER, AT(slots), "0", 0, 256, EVERYWHERE | LIVE, "N",
     "sequences that a model's process can compute at once; 0: the process chooses"},
    {"cache-type", TEXT, AT(cache_type), "f16", 0, 0, EVERYWHERE | LIVE, "TYPE",
     "element type of the KV cache: f16, or q8_0 and q4_0 for less memory and less precision"},
    {"no-speculation", TRUTH, AT(no_speculation), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "turn off speculation by repeated text (outputs are the same either way)"},
    {"context-shift", TRUTH, AT(context_shift), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "when the context is full, drop its older half and continue instead of ending the output"},
    {"prefix-cache", TRUTH, AT(prefix_cache), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "store cached prompt prefixes on disk while a model is unloaded"},
    {"weight-cache", NUMBER, AT(weight_cache_gib), "16", 0, QN_WEIGHT_CACHE_GIB_MAX,
     EVERYWHERE | LIVE, "GIB",
     "disk space for repacked weights of models, which then load faster; 0: none"},
    {"memory-limit", NUMBER, AT(memory_limit_mb), "0", -1, INT64_C(1) << 30, EVERYWHERE | LIVE,
     "MIB",
     "memory for all models together; 0: what is free, at most nine tenths of the machine's; "
     "-1: no limit"},
    {"gpu-memory-limit", NUMBER, AT(gpu_memory_limit_mb), "0", 0, INT64_C(1) << 30,
     EVERYWHERE | LIVE, "MIB",
     "memory of graphics processors for all models together; 0: no limit"},
    {"idle", NUMBER, AT(idle_s), "0", 0, 31536000, EVERYWHERE | LIVE, "SECONDS",
     "unload a model after this time without use; 0: never"},
    {"auto-evict", TRUTH, AT(auto_evict), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "unload idle models automatically: after their evict_idle_timeout (300 s), and when memory "
     "runs short"},
    {"auto-evict-threshold-pct", TEXT, AT(auto_evict_threshold), "0.9", 0, 0, EVERYWHERE | LIVE,
     "SHARE", "share of the machine's memory in use (0 to 1) at which auto-evict unloads a model"},
    {"body-limit", NUMBER, AT(body_limit_mb), "32", 1, 1024, EVERYWHERE, "MIB",
     "largest request body that is accepted"},
    {"disk-reserve", NUMBER, AT(disk_reserve_mb), "1024", 0, INT64_C(1) << 40, EVERYWHERE | LIVE,
     "MIB", "free space that uploads leave on the disks of the data folder and TMPDIR"},
    {"upload-limit", NUMBER, AT(upload_limit_mb), "262144", 0, INT64_C(1) << 40, EVERYWHERE | LIVE,
     "MIB", "uploaded files of one client that no model uses; 0: no limit"},
    {"queue-limit", NUMBER, AT(queue_limit), "256", 1, 100000, EVERYWHERE | LIVE, "N",
     "requests that may wait for models in all; more are refused with 503"},
    {"max-concurrent", NUMBER, AT(max_concurrent), "0", 0, 65536, EVERYWHERE | LIVE, "N",
     "sequences that a model computes at once, further requests wait; 0: as many as its process "
     "can"},
    {"max-queue", NUMBER, AT(max_queue), "-1", -1, 100000, EVERYWHERE | LIVE, "N",
     "requests that may wait for one model, more are refused; -1: as many as queue-limit allows"},
    {"batch-wait", NUMBER, AT(batch_wait_s), "3", 0, 3600, EVERYWHERE | LIVE, "SECONDS",
     "how long a loaded model also serves requests that arrive while another model waits for its "
     "memory, so that models are not exchanged for every request"},
    {"request-timeout", NUMBER, AT(request_timeout_s), "0", 0, 31536000, EVERYWHERE | LIVE,
     "SECONDS", "longest time from a request's arrival to the end of its reply; 0: no limit"},
    {"drain", NUMBER, AT(drain_s), "30", 0, 3600, EVERYWHERE | LIVE, "SECONDS",
     "time that running requests get to finish when the server stops"},
    {"builtin-dir", TEXT, AT(builtin_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of the built-in list of models (default: the one installed with quince)"},
    {"models-dir", TEXT, AT(models_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of downloads from Hugging Face, shared with other programs (default: HF_HUB_CACHE, "
     "HF_HOME/hub or ~/.cache/huggingface/hub)"},
    {"extra-models-dir", TEXT, AT(extra_models_dir), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | BY_HAND,
     "DIRS",
     "additional folders whose models are listed, separated by colons; in config.json also an "
     "array"},
    {"no-discovery", TRUTH, AT(no_discovery), "false", 0, 0, EVERYWHERE, NULL,
     "do not look for models of llama.cpp, LM Studio, Ollama and Hugging Face's programs"},
    {"offline", TRUTH, AT(offline), "false", 0, 0, EVERYWHERE | LIVE, NULL,
     "contact no other machine: downloads wait, installed models work"},
    {"hf-endpoint", TEXT, AT(hf_endpoint), "", 0, 0, EVERYWHERE | BY_HAND, "URL",
     "address of Hugging Face (default: HF_ENDPOINT, or https://huggingface.co)"},
    {"modelscope-endpoint", TEXT, AT(modelscope_endpoint), "https://modelscope.cn", 0, 0,
     EVERYWHERE | BY_HAND, "URL", "address of ModelScope"},
    {"ollama-registry", TEXT, AT(ollama_registry), "https://registry.ollama.ai", 0, 0,
     EVERYWHERE | BY_HAND, "URL", "address of Ollama's registry"},
    {"default-model-source", TEXT, AT(default_model_source), "huggingface", 0, 0, EVERYWHERE, "HUB",
     "hub of names like owner/repository: huggingface or modelscope"},
    {"allow-private-hubs", TRUTH, AT(allow_private_hubs), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "allow downloads over http and from addresses in your network"},
    {"bandwidth-limit", NUMBER, AT(bandwidth_limit_kib), "0", 0, INT64_C(1) << 30,
     EVERYWHERE | LIVE, "KIB", "KiB per second for all downloads together; 0: no limit"},
    {"download-threads", NUMBER, AT(download_threads), "3", 1, 3, EVERYWHERE | LIVE, "N",
     "models that are downloaded at a time; others wait"},
    {"packs", TEXT, AT(packs), "", 0, 0, EVERYWHERE | BY_HAND, "FILE",
     "list of other projects' engines that can be installed (default: packs.json of builtin-dir)"},
    {"prefer-system", TRUTH, AT(prefer_system), "false", 0, 0, EVERYWHERE | BY_HAND, NULL,
     "prefer a llama-server, whisper-server or sd-server on the path to an installed one"},
    {"llamacpp-backend", TEXT, AT(llamacpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND, "ENGINE",
     "default engine of language models: auto (quince's own), llama-server, vulkan, ..."},
    {"llamacpp-args", TEXT, AT(llamacpp_args), "", 0, 0, EVERYWHERE | MAY_BE_EMPTY | BY_HAND,
     "ARGS", "additional arguments for llama-server"},
    {"whispercpp-backend", TEXT, AT(whispercpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND,
     "ENGINE", "default engine of transcription models: auto, whisper-server"},
    {"sd-cpp-backend", TEXT, AT(sdcpp_backend), "auto", 0, 0, EVERYWHERE | BY_HAND, "ENGINE",
     "default engine of image models: auto, sd-server"},
    {"no-fetch-executables", TRUTH, AT(no_fetch_executables), "false", 0, 0, EVERYWHERE | BY_HAND,
     NULL, "never download programs; installed engines and engines on the path work"},
    {"backend-dir", TEXT, AT(backend_dir), "", 0, 0, EVERYWHERE | BY_HAND, "DIR",
     "folder of the programs that run models (default: beside quinced)"},
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert((int)ROWS <= (int)QN_SETTINGS_MAX, "struct qn_settings.from has too few elements");

const struct qn_setting_row *qn_setting_row(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

void qn_setting_env_name(const struct qn_setting_row *r, char out[static QN_SETTING_ENV_MAX])
{
    size_t n = 0;
    for (const char *p = "QUINCE_"; *p; p++)
        out[n++] = *p;
    for (const char *p = r->name; *p && n < QN_SETTING_ENV_MAX - 1; p++)
        out[n++] = (char)(*p == '-' ? '_' : toupper((unsigned char)*p));
    out[n] = '\0';
}

const struct qn_setting_row *qn_setting_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (qn_str_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

const struct qn_setting_row *qn_setting_nearest(const char *name)
{
    struct qn_near near = qn_near_begin(name);
    for (size_t i = 0; i < ROWS; i++)
        qn_near_offer(&near, table[i].name, table[i].name);
    return near.found ? qn_setting_named(near.found) : NULL;
}

qn_err qn_setting_unknown(const char *name, const char *where, struct qn_error *e)
{
    const struct qn_setting_row *near = qn_setting_nearest(name);
    return qn_fail_param(e, QN_EINVAL, name, "%s: '%.60s' is not a setting%s%s", where, name,
                         near ? "; did you mean " : "", near ? near->name : "");
}
