/* All endpoints besides inference: handlers of the table in routes.c. Each handler gets the struct
 * of its topic (topics.h). */
#ifndef QN_API_API_H
#define QN_API_API_H

#include "api/topics.h"
#include "base/error.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "io/http_server.h"

struct qn_load_options;

enum { QN_API_REPLY_MAX = 16 * 1024 * 1024 };

void qn_api_live(const struct qn_watch_api *api, struct qn_http *h, const char *id); /* health.c */
void qn_api_health(const struct qn_watch_api *api, struct qn_http *h,
                   const char *id); /* health.c */
void qn_api_status(const struct qn_watch_api *api, struct qn_http *h,
                   const char *id); /* health.c */
void qn_api_engines(const struct qn_models_api *api, struct qn_http *h,
                    const char *id); /* engines.c */
void qn_api_engine(const struct qn_models_api *api, struct qn_http *h,
                   const char *id); /* engines.c */
void qn_api_engine_add(const struct qn_models_api *api, struct qn_http *h,
                       const char *id); /* engines.c */
void qn_api_engine_remove(const struct qn_models_api *api, struct qn_http *h,
                          const char *id); /* engines.c */
void qn_api_warm(const struct qn_models_api *api, struct qn_http *h, const char *id); /* warm.c */
void qn_api_models(const struct qn_models_api *api, struct qn_http *h,
                   const char *id); /* models.c */
void qn_api_model(const struct qn_models_api *api, struct qn_http *h,
                  const char *id); /* models.c */
void qn_api_register(const struct qn_models_api *api, struct qn_http *h,
                     const char *id); /* register.c */
void qn_api_model_files(const struct qn_models_api *api, struct qn_http *h,
                        const char *id);                                              /* files.c */
void qn_api_delete(const struct qn_disk_api *api, struct qn_http *h, const char *id); /* delete.c */
void qn_api_cleanup(const struct qn_disk_api *api, struct qn_http *h,
                    const char *id); /* delete.c */
void qn_api_aliases(const struct qn_models_api *api, struct qn_http *h,
                    const char *id); /* aliases.c */
void qn_api_alias_add(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_alias_remove(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_user_models(const struct qn_models_api *api, struct qn_http *h,
                        const char *id); /* views.c */
void qn_api_recipe_options(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_recipe_options_set(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_rescan(const struct qn_disk_api *api, struct qn_http *h, const char *id); /* rescan.c */
void qn_api_load(const struct qn_models_api *api, struct qn_http *h, const char *id); /* load.c */
void qn_api_unload(const struct qn_models_api *api, struct qn_http *h, const char *id); /* load.c */
void qn_api_pin(const struct qn_models_api *api, struct qn_http *h,
                const char *id); /* residency.c */
void qn_api_simulate_pressure(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_stats(const struct qn_watch_api *api, struct qn_http *h, const char *id); /* stats.c */
void qn_api_metrics(const struct qn_watch_api *api, struct qn_http *h,
                    const char *id); /* metrics.c */
void qn_api_running(const struct qn_models_api *api, struct qn_http *h,
                    const char *id); /* running.c */
/* The slots of a running model (running.c). */
struct qn_child_status;
void qn_api_slots_write(struct qn_jw *w, const struct qn_child_status *s);
void qn_api_slot(const struct qn_models_api *api, struct qn_http *h,
                 const char *id); /* upstream.c */
void qn_api_slots(const struct qn_models_api *api, struct qn_http *h,
                  const char *id); /* running.c */
void qn_api_upstream(const struct qn_models_api *api, struct qn_http *h,
                     const char *id); /* upstream.c */
void qn_api_log_stream(const struct qn_watch_api *api, struct qn_http *h,
                       const char *id);        /* log_stream.c */
extern const struct qn_ws_route qn_log_socket; /* the same over WebSocket */
void qn_api_logs(const struct qn_watch_api *api, struct qn_http *h, const char *id); /* logs.c */
void qn_api_requests(const struct qn_watch_api *api, struct qn_http *h,
                     const char *id); /* requests.c */
void qn_api_request(const struct qn_watch_api *api, struct qn_http *h, const char *id);
void qn_api_requests_capture(const struct qn_watch_api *api, struct qn_http *h, const char *id);
void qn_api_system_info(const struct qn_engines_api *api, struct qn_http *h,
                        const char *id); /* system.c */
void qn_api_system_stats(const struct qn_engines_api *api, struct qn_http *h, const char *id);

void qn_api_install(const struct qn_engines_api *api, struct qn_http *h,
                    const char *id); /* install.c */
void qn_api_install_dry_run(const struct qn_engines_api *api, struct qn_http *h, const char *id);
void qn_api_uninstall(const struct qn_engines_api *api, struct qn_http *h, const char *id);
void qn_api_pull(const struct qn_pulls_api *api, struct qn_http *h, const char *id); /* pull.c */
void qn_api_downloads(const struct qn_pulls_api *api, struct qn_http *h,
                      const char *id); /* downloads.c */
void qn_api_downloads_control(const struct qn_pulls_api *api, struct qn_http *h, const char *id);

void qn_api_ollama_root(const struct qn_ollama_api *api, struct qn_http *h,
                        const char *id); /* ollama.c */
void qn_api_ollama_version(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_status(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_me(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_tags(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_show(const struct qn_ollama_api *api, struct qn_http *h,
                        const char *id); /* ollama_show.c */
void qn_api_ollama_ps(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_create(const struct qn_ollama_api *api, struct qn_http *h,
                          const char *id); /* _make.c */
void qn_api_ollama_copy(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_delete(const struct qn_ollama_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_pull(const struct qn_pulls_api *api, struct qn_http *h,
                        const char *id); /* _pull.c */
void qn_api_ollama_push(const struct qn_pulls_api *api, struct qn_http *h, const char *id);
void qn_api_ollama_blob(const struct qn_ollama_api *api, struct qn_http *h,
                        const char *id); /* _blobs.c */
void qn_api_ollama_blob_put(const struct qn_ollama_api *api, struct qn_http *h, const char *id);

/* The browser page (page.c). The first replies with index.html, at every address of the page; the
 * others with a file of the server's root, and of /ui/. */
void qn_api_page(struct qn_http *h, const char *id);
void qn_api_page_root_file(struct qn_http *h, const char *id);
void qn_api_page_file(struct qn_http *h, const char *id);

void qn_api_response(const struct qn_models_api *api, struct qn_http *h,
                     const char *id); /* responses.c */
void qn_api_response_delete(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_response_cancel(const struct qn_models_api *api, struct qn_http *h, const char *id);
void qn_api_response_input(const struct qn_models_api *api, struct qn_http *h, const char *id);

void qn_api_answer(const struct qn_answering_api *api, struct qn_http *h,
                   const char *id); /* answering.c */
void qn_api_answer_stop(const struct qn_answering_api *api, struct qn_http *h, const char *id);
void qn_api_answer_calls(const struct qn_answering_api *api, struct qn_http *h,
                         const char *id); /* answer_calls.c */
void qn_api_answer_stream(const struct qn_answering_api *api, struct qn_http *h,
                          const char *id); /* answer_stream.c */

void qn_api_mcp_servers(const struct qn_mcp_api *api, struct qn_http *h,
                        const char *id); /* mcp.c */
void qn_api_mcp_server(const struct qn_mcp_api *api, struct qn_http *h, const char *id);
void qn_api_mcp_add(const struct qn_mcp_api *api, struct qn_http *h, const char *id);
void qn_api_mcp_change(const struct qn_mcp_api *api, struct qn_http *h, const char *id);
void qn_api_mcp_remove(const struct qn_mcp_api *api, struct qn_http *h, const char *id);
void qn_api_mcp_refresh(const struct qn_mcp_api *api, struct qn_http *h, const char *id);

void qn_api_variants(const struct qn_hubs_api *api, struct qn_http *h,
                     const char *id); /* variants.c */
void qn_api_search(const struct qn_hubs_api *api, struct qn_http *h, const char *id); /* search.c */
void qn_api_check_updates(const struct qn_hubs_api *api, struct qn_http *h,
                          const char *id); /* updates.c */

void qn_api_options(const struct qn_models_api *api, struct qn_http *h,
                    const char *id); /* options.c */
void qn_api_options_set(const struct qn_models_api *api, struct qn_http *h,
                        const char *id); /* options.c */
void qn_api_options_reset(const struct qn_models_api *api, struct qn_http *h, const char *id);

void qn_api_config(const struct qn_settings_api *api, struct qn_http *h,
                   const char *id); /* config.c */
void qn_api_config_defaults(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_config_set(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_params_set(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_log_level(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_keys(const struct qn_settings_api *api, struct qn_http *h, const char *id); /* keys.c */
void qn_api_key_add(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_key_remove(const struct qn_settings_api *api, struct qn_http *h, const char *id);
void qn_api_shutdown(const struct qn_settings_api *api, struct qn_http *h, const char *id);

void qn_api_chats(const struct qn_chats_api *api, struct qn_http *h, const char *id); /* chats.c */
void qn_api_chat(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_search(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_add(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_change(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chats_bulk(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chats_events(const struct qn_chats_api *api, struct qn_http *h,
                         const char *id); /* chats_events.c */
void qn_api_chats_export(const struct qn_chats_api *api, struct qn_http *h,
                         const char *id); /* chats_export.c */
void qn_api_chats_import(const struct qn_chats_api *api, struct qn_http *h,
                         const char *id); /* chats_import.c */
void qn_api_chat_message(const struct qn_chats_api *api, struct qn_http *h,
                         const char *id); /* chats_messages.c */
void qn_api_chat_message_add(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_message_change(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_message_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_presets(const struct qn_chats_api *api, struct qn_http *h,
                         const char *id); /* chats_presets.c */
void qn_api_chat_preset_put(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_preset_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id);
void qn_api_chat_blob(const struct qn_chats_api *api, struct qn_http *h,
                      const char *id); /* chats_blobs.c */
void qn_api_chat_blob_add(const struct qn_chats_api *api, struct qn_http *h, const char *id);

/* Answers a failed query to a hub; failed: the status if the hub caused the failure
 * (hub_answer.c). */
void qn_api_hub_problem(const struct qn_web *web, struct qn_http *h, const struct qn_error *e,
                        int failed);

/* Longest body that a handler parses at once, within a turn of the loop. */
enum { QN_API_BODY_MAX = 256 * 1024 };

/* Parses the body as a JSON object. An empty body is an error unless `empty` is set; then *doc is
 * NULL. The caller frees *doc. QN_ELIMIT: the body has more than QN_API_BODY_MAX bytes. */
qn_err qn_api_body(struct qn_http *h, bool empty, struct qn_json **doc, struct qn_error *e);

/* The same for n bytes without that limit; any thread. */
qn_err qn_api_object(const char *text, size_t n, bool empty, struct qn_json **doc,
                     struct qn_error *e);

/* Adds the options named in a load to the model's saved options (load.c). False: the model has no
 * row, and done (MAY be NULL) is not called. */
bool qn_api_save_options(const struct qn_models_api *api, const char *name,
                         const struct qn_load_options *asked, qn_catalog_done done, void *ctx);

/* Writes models as an array of {"engine_id","status"[,"model_path"]}, and their numbers. */
void qn_api_engines_write(const struct qn_models *models, struct qn_jw *w, bool files, bool paths);
void qn_api_engines_count(const struct qn_models *models, int64_t *ready, int64_t *total);

struct qn_model_row;
/* In anthropic_models.c: the reply of models.c for clients of Anthropic's API. */
void qn_api_anthropic_models(const struct qn_models_api *api, struct qn_http *h);
void qn_api_anthropic_model(struct qn_http *h, const struct qn_model_row *row);

/* True if the client has admin rights; otherwise it has been answered with 403. For routes of which
 * only some requests need admin rights (body.c). */
bool qn_api_need_admin(const struct qn_serving *serving, struct qn_http *h);
/* Whether absolute paths of this machine may be shown to the client: only to admins (body.c). */
bool qn_api_sees_paths(const struct qn_serving *serving, struct qn_http *h);
/* Returns the text shown for a file or checkpoint: unchanged, or the last component of an absolute
 * path if paths are not shown. NULL for NULL. */
const char *qn_api_shown_path(const char *path, bool paths);
/* Writes the members of a JSON object of options; if paths are not shown, without those whose value
 * contains a slash. */
void qn_api_options_write(struct qn_jw *w, const char *options, bool paths);

/* Writes a loaded model's name for LocalLLM's clients: "MODEL_CONTEXT_BACKEND" (health.c). */
struct qn_loaded;
struct qn_engine_name {
    char backend[16], key[256];
};
void qn_api_engine_name(const struct qn_loaded *m, struct qn_engine_name *out);

/* How models are shown to a client: with absolute paths (qn_api_sees_paths) or without, and with
 * the owner name of its profile. */
struct qn_model_view {
    bool paths;
    const char *owned_by;
};
struct qn_model_view qn_api_model_view(const struct qn_serving *serving, struct qn_http *h);
/* Writes one model in the form of /models. */
void qn_api_model_write(struct qn_jw *w, const struct qn_models_api *api,
                        const struct qn_model_row *row, const struct qn_model_view *view);
/* Answers that this model is registered. */
void qn_api_registered(const struct qn_models_api *api, struct qn_http *h, const char *name);

#endif
