/* What the house says about itself: handlers of the table in routes.c, one topic a file. */
#ifndef QN_API_API_H
#define QN_API_API_H

#include "api/services.h"
#include "base/error.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "io/http_server.h"

struct qn_load_options;

enum { QN_API_REPLY_MAX = 16 * 1024 * 1024 };

void qn_api_live(struct qn_services *sv, struct qn_http *h, const char *id);       /* health.c */
void qn_api_health(struct qn_services *sv, struct qn_http *h, const char *id);     /* health.c */
void qn_api_status(struct qn_services *sv, struct qn_http *h, const char *id);     /* health.c */
void qn_api_engines(struct qn_services *sv, struct qn_http *h, const char *id);    /* engines.c */
void qn_api_engine(struct qn_services *sv, struct qn_http *h, const char *id);     /* engines.c */
void qn_api_engine_add(struct qn_services *sv, struct qn_http *h, const char *id); /* engines.c */
void qn_api_engine_remove(struct qn_services *sv, struct qn_http *h,
                          const char *id);                                          /* engines.c */
void qn_api_warm(struct qn_services *sv, struct qn_http *h, const char *id);        /* warm.c */
void qn_api_models(struct qn_services *sv, struct qn_http *h, const char *id);      /* models.c */
void qn_api_model(struct qn_services *sv, struct qn_http *h, const char *id);       /* models.c */
void qn_api_register(struct qn_services *sv, struct qn_http *h, const char *id);    /* register.c */
void qn_api_model_files(struct qn_services *sv, struct qn_http *h, const char *id); /* files.c */
void qn_api_delete(struct qn_services *sv, struct qn_http *h, const char *id);      /* delete.c */
void qn_api_cleanup(struct qn_services *sv, struct qn_http *h, const char *id);     /* delete.c */
void qn_api_aliases(struct qn_services *sv, struct qn_http *h, const char *id);     /* aliases.c */
void qn_api_alias_add(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_alias_remove(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_user_models(struct qn_services *sv, struct qn_http *h, const char *id); /* views.c */
void qn_api_recipe_options(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_recipe_options_set(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_rescan(struct qn_services *sv, struct qn_http *h, const char *id); /* rescan.c */
void qn_api_load(struct qn_services *sv, struct qn_http *h, const char *id);   /* load.c */
void qn_api_unload(struct qn_services *sv, struct qn_http *h, const char *id); /* load.c */
void qn_api_pin(struct qn_services *sv, struct qn_http *h, const char *id);    /* residency.c */
void qn_api_simulate_pressure(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_stats(struct qn_services *sv, struct qn_http *h, const char *id);   /* stats.c */
void qn_api_metrics(struct qn_services *sv, struct qn_http *h, const char *id); /* metrics.c */
void qn_api_running(struct qn_services *sv, struct qn_http *h, const char *id); /* running.c */
/* The places of a running model (running.c). */
struct qn_child_status;
void qn_api_slots_write(struct qn_jw *w, const struct qn_child_status *s);
void qn_api_slot(struct qn_services *sv, struct qn_http *h, const char *id);     /* upstream.c */
void qn_api_slots(struct qn_services *sv, struct qn_http *h, const char *id);    /* running.c */
void qn_api_upstream(struct qn_services *sv, struct qn_http *h, const char *id); /* upstream.c */
void qn_api_log_stream(struct qn_services *sv, struct qn_http *h,
                       const char *id);        /* log_stream.c */
extern const struct qn_ws_route qn_log_socket; /* the same over WebSockets */
void qn_api_logs(struct qn_services *sv, struct qn_http *h, const char *id);        /* logs.c */
void qn_api_system_info(struct qn_services *sv, struct qn_http *h, const char *id); /* system.c */
void qn_api_system_stats(struct qn_services *sv, struct qn_http *h, const char *id);

void qn_api_install(struct qn_services *sv, struct qn_http *h, const char *id); /* install.c */
void qn_api_install_dry_run(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_uninstall(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_pull(struct qn_services *sv, struct qn_http *h, const char *id);      /* pull.c */
void qn_api_downloads(struct qn_services *sv, struct qn_http *h, const char *id); /* downloads.c */
void qn_api_downloads_control(struct qn_services *sv, struct qn_http *h, const char *id);

void qn_api_ollama_root(struct qn_services *sv, struct qn_http *h, const char *id); /* ollama.c */
void qn_api_ollama_version(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_status(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_me(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_tags(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_show(struct qn_services *sv, struct qn_http *h,
                        const char *id); /* ollama_show.c */
void qn_api_ollama_ps(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_create(struct qn_services *sv, struct qn_http *h, const char *id); /* _make.c */
void qn_api_ollama_copy(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_delete(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_pull(struct qn_services *sv, struct qn_http *h, const char *id); /* _pull.c */
void qn_api_ollama_push(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_blob(struct qn_services *sv, struct qn_http *h, const char *id); /* _blobs.c */
void qn_api_ollama_blob_put(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_ollama_embed(struct qn_services *sv, struct qn_http *h, const char *id); /* _embed.c */
void qn_api_ollama_embeddings(struct qn_services *sv, struct qn_http *h, const char *id);

void qn_api_response(struct qn_services *sv, struct qn_http *h, const char *id); /* responses.c */
void qn_api_response_delete(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_response_cancel(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_response_input(struct qn_services *sv, struct qn_http *h, const char *id);

void qn_api_variants(struct qn_services *sv, struct qn_http *h, const char *id); /* variants.c */
void qn_api_search(struct qn_services *sv, struct qn_http *h, const char *id);   /* search.c */
void qn_api_check_updates(struct qn_services *sv, struct qn_http *h,
                          const char *id); /* updates.c */

void qn_api_options(struct qn_services *sv, struct qn_http *h, const char *id);     /* options.c */
void qn_api_options_set(struct qn_services *sv, struct qn_http *h, const char *id); /* options.c */
void qn_api_options_reset(struct qn_services *sv, struct qn_http *h, const char *id);

void qn_api_config(struct qn_services *sv, struct qn_http *h, const char *id); /* config.c */
void qn_api_config_defaults(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_config_set(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_params_set(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_log_level(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_keys(struct qn_services *sv, struct qn_http *h, const char *id); /* keys.c */
void qn_api_key_add(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_key_remove(struct qn_services *sv, struct qn_http *h, const char *id);
void qn_api_shutdown(struct qn_services *sv, struct qn_http *h, const char *id);

/* Answers that a question to a hub failed; failed: the status when it was the hub's fault
 * (hub_answer.c). */
void qn_api_hub_problem(struct qn_services *sv, struct qn_http *h, const struct qn_error *e,
                        int failed);

/* Bytes of a body that a handler reads at once, in a turn of the loop. */
enum { QN_API_BODY_MAX = 256 * 1024 };

/* The body as a JSON object; an empty body is an error unless `empty` is allowed, and then gives
 * *doc NULL. The caller frees *doc. QN_ELIMIT: it has more than QN_API_BODY_MAX bytes. */
qn_err qn_api_body(struct qn_http *h, bool empty, struct qn_json **doc, struct qn_error *e);

/* The same of n bytes, however many; any thread. */
qn_err qn_api_object(const char *text, size_t n, bool empty, struct qn_json **doc,
                     struct qn_error *e);

/* The same for endpoints whose bodies may be large: fn is called once, at once or when a worker has
 * read it, unless the client leaves before. root is lent for the call; NULL: e says why. */
typedef void (*qn_api_body_fn)(struct qn_services *sv, struct qn_http *h,
                               const struct qn_jref *root, const struct qn_error *e);
void qn_api_large_body(struct qn_services *sv, struct qn_http *h, qn_api_body_fn fn);

/* Keeps what a load named among the model's saved options, the others as they are (load.c). False:
 * there was nothing to do it with, and done (MAY be NULL) is not called. */
bool qn_api_save_options(struct qn_services *sv, const char *name,
                         const struct qn_load_options *asked, qn_catalog_done done, void *ctx);

/* Models as an array of {"engine_id","status"[,"model_path"]}, and how many there are. */
void qn_api_engines_write(struct qn_services *sv, struct qn_jw *w, bool files, bool paths);
void qn_api_engines_count(struct qn_services *sv, int64_t *ready, int64_t *total);

struct qn_model_row;
/* anthropic_models.c: what models.c answers to clients of Anthropic's API. */
void qn_api_anthropic_models(struct qn_services *sv, struct qn_http *h);
void qn_api_anthropic_model(struct qn_http *h, const struct qn_model_row *row);

/* True when the client has admin rights; else it has been answered with 403. For what only some
 * requests of a route need them for (body.c). */
bool qn_api_need_admin(struct qn_services *sv, struct qn_http *h);
/* Whether the client may be told absolute paths of this machine: an admin (body.c). */
bool qn_api_sees_paths(struct qn_services *sv, struct qn_http *h);
/* What stands for a file or checkpoint: itself, or for an absolute path its last part where paths
 * are not shown. NULL: NULL. */
const char *qn_api_shown_path(const char *path, bool paths);
/* Writes the members of a JSON object of options; where paths are not shown, without those whose
 * value holds a slash. */
void qn_api_options_write(struct qn_jw *w, const char *options, bool paths);

/* A loaded model as LocalLLM's clients know it: "MODEL_CONTEXT_BACKEND" (health.c). */
struct qn_loaded;
struct qn_engine_name {
    char backend[16], key[256];
};
void qn_api_engine_name(const struct qn_loaded *m, struct qn_engine_name *out);

/* How a client is shown models: with absolute paths (qn_api_sees_paths) or without, and whose they
 * are by its profile. */
struct qn_model_view {
    bool paths;
    const char *owned_by;
};
struct qn_model_view qn_api_model_view(struct qn_services *sv, struct qn_http *h);
/* One model as /models lists it. */
void qn_api_model_write(struct qn_jw *w, struct qn_services *sv, const struct qn_model_row *row,
                        const struct qn_model_view *view);
/* Answers that this model is known now. */
void qn_api_registered(struct qn_services *sv, struct qn_http *h, const char *name);

#endif
