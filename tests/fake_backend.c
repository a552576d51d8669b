/* A backend without a model, for the router's tests: it behaves as its model file says.
 *
 * The file is a GGUF whose metadata key "fake.options" holds a JSON object:
 * - load_ms: time that loading takes, with progress
 * - load_until: loading ends when there is a file of this name
 * - load_fail: load ends with this message
 * - load_error: the name of its error (default "format")
 * - load_fail_above: load ends so only when it is asked for more context than this
 * - load_fail_option: load ends so only when it is asked for this option
 * - load_fail_unless: load ends so only when there is no file of this name
 * - load_crash: die while loading
 * - load_crash_above: die so only when it is asked for more context than this
 * - signal: with which it dies (default 6, SIGABRT)
 * - last_words: lines written to stderr before load_crash, load_fail or crash_after
 * - exit: with this status instead of dying of a signal
 * - never_ready: load for ever, without progress
 * - tokens: words in an answer (default 5)
 * - token_ms: time between two words
 * - prefill_ms: time before the first word, with progress
 * - prefill_until: the first word comes when there is a file of this name
 * - second_until: the second word, or event of a script, comes when there is a file of this name
 * - slots: jobs at once (default 4)
 * - word: what is repeated (default "word ")
 * - context: tokens (default 1000)
 * - memory_mib: what it says that it needs (default 1)
 * - crash_after: abort after so many words
 * - crash_when: abort after that many only when there is a file of this name
 * - hang_after: stop stepping after so many
 * - flood_log: lines written to stderr while loading
 * - fail: each job ends with this error
 * - script: array of events as they cross the wire, said one by one instead of words, for every
 *   choice; after a "done" the usage follows by itself. If its reasoning is to end, the rest of it
 *   is left out. The bytes of an audio or image event are
 *   its member "raw", a text, as often as its member "times" says, whatever its "bytes" are. An
 *   event with "results": true says the texts of the job's TOOL messages
 * - turns: true: the script is an array of scripts, one per turn. A job with n ASSISTANT messages
 *   follows script n (from 0), or the last script if there are fewer
 * - echo_job: the answer is the job, as JSON
 * - echo_attachment: the answer is this file of the job, from 0
 * - base64: the sound or picture is these bytes, instead of words
 * - dimensions: numbers of a vector (default 4)
 * - results: inputs of an EMBED or RERANK in one event (default 64, the most that is allowed)
 * - fault: what is wrong with the results after fault_after inputs (default 0): "nan", "inf",
 *   "bytes" (no whole number of floats), "dimension", "twice", "skip", "beyond" (the last input),
 *   "kind" (scores for vectors and the reverse), "missing" (done before all inputs are), "die"
 * (while there is a file of the name crash_when)
 * - break_out: what a model that took the process over would try, at each job: "exec", "connect",
 *   "fork", or a file to read; the answer is an error that says how that went
 *
 * The definition of a remote model may stand in the place of the GGUF: then the object is the text
 * of its "model".
 *
 * An answer is words: of a TRANSCRIBE each is a segment of one second, of a SPEAK a piece of the
 * sound, of an IMAGE all are one picture. Of an EMBED it is vectors that depend on the inputs'
 * bytes alone (value_of), of a RERANK their first numbers; token_ms passes between two events. */
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "child/serve.h"
#include "contract/codec.h"
#include "contract/inputs.h"
#include "digest/base64.h"
#include "formats/gguf.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { JOBS_MAX = 64, SCRIPT_MAX = 16 * 1024 * 1024 };

struct options {
    int64_t load_ms, tokens, token_ms, prefill_ms, slots, context, flood_log;
    int64_t crash_after, hang_after; /* -1: never */
    int64_t memory_mib;
    int64_t load_fail_above, load_crash_above; /* -1: always */
    int64_t exit, signal;                      /* exit -1: of the signal */
    int64_t echo_attachment;                   /* -1: none */
    int64_t dimensions, results, fault_after;
    bool load_crash, never_ready, echo_job, turns;
    struct qn_json *script; /* NULL: none; an array of at least one event */
    struct qn_buf bytes;    /* "base64"; empty: none */
    char load_fail_option[64], load_fail_unless[1024]; /* "": none */
    char fault[32];                                    /* "": none */
    char load_fail[256], load_error[32], fail[256], break_out[256], last_words[8192], word[65536];
    char load_until[1024], prefill_until[1024], second_until[1024], crash_when[1024]; /* "": none */
};

struct fake_job {
    const struct qn_job *job; /* NULL: free */
    struct qn_sink *out;
    size_t taken; /* inputs of the present batch that have been answered */
    int64_t started_ms, due_ms, last_progress_ms, written, limit, choices;
};

struct fake {
    struct options o;
    struct fake_job jobs[JOBS_MAX];
};

static void read_text(const struct qn_jref *root, const char *key, char *out, size_t n)
{
    struct qn_jref v = qn_json_get(root, key);
    if (qn_json_type(&v) == QN_JSON_STRING)
        snprintf(out, n, "%s", qn_json_raw_str(&v));
}

static void read_number(const struct qn_jref *root, const char *key, int64_t *out)
{
    struct qn_jref v = qn_json_get(root, key);
    (void)qn_json_i64_opt(&v, 0, 1000000000, out, NULL);
}

static qn_err read_bytes(const struct qn_jref *root, struct qn_buf *out, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "base64");
    const char *text = qn_json_raw_str(&v);
    size_t len;
    char *data = qn_xcalloc(strlen(text) / 4 + 1, 3);
    qn_buf_init(out, SCRIPT_MAX);
    qn_err err = qn_base64_decode(text, strlen(text), data, &len)
                     ? qn_buf_add(out, data, len)
                     : qn_fail(e, QN_EFORMAT, "fake.options: base64");
    free(data);
    return err;
}

static qn_err copy_json(const struct qn_jref *v, struct qn_json **out, struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, SCRIPT_MAX);
    qn_json_print(v, &text);
    qn_err err = qn_json_parse(qn_buf_cstr(&text), text.len, out, e);
    qn_buf_deinit(&text);
    return err;
}

/* The options of a GGUF, or of the definition of a remote model. */
static qn_err read_object(const char *path, struct qn_json **doc, struct qn_error *e)
{
    struct qn_gguf *g;
    struct qn_gguf_str text;
    struct qn_json *definition;
    struct qn_buf file;
    qn_err no_gguf = qn_gguf_open(path, &g, e);
    if (!no_gguf) {
        qn_err err = qn_gguf_str(g, "fake.options", &text, e);
        if (!err)
            err = qn_json_parse(text.s, text.n, doc, e);
        qn_gguf_close(g);
        return err;
    }
    qn_buf_init(&file, SCRIPT_MAX);
    qn_err err = qn_file_read(path, &file, NULL);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&file), file.len, &definition, NULL);
    qn_buf_deinit(&file);
    if (err)
        return no_gguf; /* e says what is wrong with the GGUF */
    struct qn_jref root = qn_json_root(definition), model = qn_json_get(&root, "model");
    err = qn_json_parse(qn_json_raw_str(&model), strlen(qn_json_raw_str(&model)), doc, e);
    qn_json_free(definition);
    return err;
}

static qn_err read_options(const char *path, struct options *o, struct qn_error *e)
{
    *o = (struct options){.tokens = 5,
                          .slots = 4,
                          .context = 1000,
                          .memory_mib = 1,
                          .crash_after = -1,
                          .hang_after = -1,
                          .load_fail_above = -1,
                          .load_crash_above = -1,
                          .exit = -1,
                          .signal = SIGABRT,
                          .echo_attachment = -1,
                          .dimensions = 4,
                          .results = QN_EVENT_RESULTS_MAX};
    strcpy(o->word, "word ");
    struct qn_json *doc = NULL;
    qn_err err = read_object(path, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        read_number(&root, "load_ms", &o->load_ms);
        read_number(&root, "tokens", &o->tokens);
        read_number(&root, "token_ms", &o->token_ms);
        read_number(&root, "prefill_ms", &o->prefill_ms);
        read_number(&root, "slots", &o->slots);
        read_number(&root, "context", &o->context);
        read_number(&root, "flood_log", &o->flood_log);
        read_number(&root, "memory_mib", &o->memory_mib);
        read_number(&root, "crash_after", &o->crash_after);
        read_number(&root, "hang_after", &o->hang_after);
        read_number(&root, "load_fail_above", &o->load_fail_above);
        read_number(&root, "load_crash_above", &o->load_crash_above);
        read_number(&root, "exit", &o->exit);
        read_number(&root, "signal", &o->signal);
        read_number(&root, "echo_attachment", &o->echo_attachment);
        read_number(&root, "dimensions", &o->dimensions);
        read_number(&root, "results", &o->results);
        read_number(&root, "fault_after", &o->fault_after);
        read_text(&root, "fault", o->fault, sizeof o->fault);
        struct qn_jref v = qn_json_get(&root, "load_crash");
        o->load_crash = qn_json_raw_bool(&v);
        v = qn_json_get(&root, "never_ready");
        o->never_ready = qn_json_raw_bool(&v);
        v = qn_json_get(&root, "echo_job");
        o->echo_job = qn_json_raw_bool(&v);
        v = qn_json_get(&root, "turns");
        o->turns = qn_json_raw_bool(&v);
        v = qn_json_get(&root, "script");
        if (qn_json_count(&v) > 0)
            err = copy_json(&v, &o->script, e);
        if (!err)
            err = read_bytes(&root, &o->bytes, e);
        read_text(&root, "load_fail", o->load_fail, sizeof o->load_fail);
        read_text(&root, "load_error", o->load_error, sizeof o->load_error);
        read_text(&root, "load_fail_option", o->load_fail_option, sizeof o->load_fail_option);
        read_text(&root, "load_fail_unless", o->load_fail_unless, sizeof o->load_fail_unless);
        read_text(&root, "fail", o->fail, sizeof o->fail);
        read_text(&root, "last_words", o->last_words, sizeof o->last_words);
        read_text(&root, "break_out", o->break_out, sizeof o->break_out);
        read_text(&root, "word", o->word, sizeof o->word);
        read_text(&root, "load_until", o->load_until, sizeof o->load_until);
        read_text(&root, "prefill_until", o->prefill_until, sizeof o->prefill_until);
        read_text(&root, "second_until", o->second_until, sizeof o->second_until);
        read_text(&root, "crash_when", o->crash_when, sizeof o->crash_when);
    }
    qn_json_free(doc);
    return err;
}

/* A test has put the file there by which it says that things may go on. */
static bool may_go_on(const char *path)
{
    return !path[0] || access(path, F_OK) == 0;
}

static bool loads(const struct options *o, int64_t ms)
{
    return o->never_ready || ms < o->load_ms || !may_go_on(o->load_until);
}

static bool fails(const struct options *o, const struct qn_load *opts)
{
    struct qn_jref v = qn_json_get(&opts->options, o->load_fail_option);
    return o->load_fail[0] && opts->context > o->load_fail_above &&
           (!o->load_fail_option[0] || qn_json_type(&v) > QN_JSON_NULL) &&
           (!o->load_fail_unless[0] || !may_go_on(o->load_fail_unless));
}

static _Noreturn void die(const struct options *o)
{
    fputs(o->last_words, stderr);
    if (o->exit >= 0)
        _exit((int)o->exit);
    if (o->signal != SIGABRT)
        raise((int)o->signal);
    abort();
}

static qn_err load(const struct qn_load *opts, struct qn_progress *p, void **self,
                   struct qn_ready *ready, struct qn_error *e)
{
    struct fake *f = qn_xcalloc(1, sizeof *f);
    qn_err err = read_options(opts->files[0], &f->o, e);
    for (int64_t i = 0; !err && i < f->o.flood_log; i++)
        fprintf(stderr, "flood line %lld of the fake backend\n", (long long)i);
    int64_t begun = qn_now_ms();
    while (!err && loads(&f->o, qn_now_ms() - begun)) {
        if (qn_progress_cancelled(p))
            err = qn_fail(e, QN_ECANCELLED, "loading was given up");
        double done = (double)(qn_now_ms() - begun) / (double)(f->o.load_ms + 1);
        if (!f->o.never_ready)
            qn_progress_set(p, f->o.load_until[0] ? 0.5 : done);
        usleep(5000);
    }
    if (!err && f->o.load_crash && opts->context > f->o.load_crash_above)
        die(&f->o);
    if (!err && fails(&f->o, opts)) {
        fputs(f->o.last_words, stderr);
        qn_err code = f->o.load_error[0] ? qn_err_parse(f->o.load_error) : QN_EFORMAT;
        err = f->o.load_fail_option[0]
                  ? qn_fail_param(e, code, f->o.load_fail_option, "%s", f->o.load_fail)
                  : qn_fail(e, code, "%s", f->o.load_fail);
    }
    if (err) {
        qn_json_free(f->o.script);
        qn_buf_deinit(&f->o.bytes);
        free(f);
        return err;
    }
    *self = f;
    *ready = (struct qn_ready){.context = opts->context ? opts->context : f->o.context,
                               .memory_bytes = f->o.memory_mib * 1024 * 1024,
                               .slots = f->o.slots};
    return QN_OK;
}

static qn_err break_out(const char *how, struct qn_error *e)
{
    char byte;
    bool done = true;
    if (qn_str_eq(how, "exec")) {
        execl("/bin/true", "true", (char *)NULL);
    } else if (qn_str_eq(how, "connect")) {
        close(socket(AF_INET, SOCK_STREAM, 0));
    } else if (qn_str_eq(how, "fork")) {
        if (fork() == 0)
            _exit(0);
    } else {
        FILE *f = fopen(how, "re");
        done = f && fread(&byte, 1, 1, f) == 1;
        if (f)
            fclose(f);
        else
            return qn_fail_errno(e, "open %s", how);
    }
    return qn_fail(e, QN_EINTERNAL, "broke out: %d", done);
}

static qn_err start(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                    struct qn_error *e)
{
    (void)prepared;
    struct fake *f = self;
    if (f->o.break_out[0])
        return break_out(f->o.break_out, e);
    if (f->o.fail[0])
        return qn_fail_param(e, QN_EINVAL, "messages", "%s", f->o.fail);
    int64_t running = 0;
    struct fake_job *free_job = NULL;
    for (int i = 0; i < JOBS_MAX; i++) {
        running += f->jobs[i].job != NULL;
        if (!f->jobs[i].job && !free_job)
            free_job = &f->jobs[i];
    }
    if (!free_job || running >= f->o.slots)
        return QN_EBUSY;
    int64_t limit = f->o.tokens;
    if (job->sampling.max_tokens != QN_UNSET && job->sampling.max_tokens < limit)
        limit = job->sampling.max_tokens;
    int64_t now = qn_now_ms();
    *free_job = (struct fake_job){.job = job,
                                  .out = out,
                                  .started_ms = now,
                                  .due_ms = now + f->o.prefill_ms,
                                  .last_progress_ms = now,
                                  .limit = limit,
                                  .choices = job->sampling.n == QN_UNSET ? 1 : job->sampling.n};
    return QN_OK;
}

static void finish(struct fake *f, struct fake_job *j, bool done)
{
    struct qn_event ev;
    for (int64_t i = 0; i < j->choices && !done; i++) {
        qn_event_init(&ev, QN_EV_DONE);
        ev.index = i;
        ev.finish = j->limit < f->o.tokens ? QN_FINISH_LENGTH : QN_FINISH_STOP;
        qn_sink_send(j->out, &ev);
    }
    qn_event_init(&ev, QN_EV_USAGE);
    if (j->job->task == QN_TASK_TRANSCRIBE || j->job->task == QN_TASK_SPEAK)
        ev.usage.audio_ms = (double)j->written * 1000;
    ev.usage.prompt = 7;
    ev.usage.cached = 3;
    ev.usage.output = j->written * j->choices;
    ev.usage.prompt_ms = (double)f->o.prefill_ms;
    ev.usage.output_ms = (double)(qn_now_ms() - j->started_ms);
    qn_sink_send(j->out, &ev);
    qn_event_init(&ev, QN_EV_END);
    qn_sink_send(j->out, &ev);
    j->job = NULL;
}

/* The answer's next words in the form that the job's task has: bytes of a sound or a picture, a
 * segment, or text. */
static void say(struct fake_job *j, const char *p, size_t n)
{
    const struct qn_job *job = j->job;
    struct qn_event ev;
    for (int64_t i = 0; i < j->choices; i++) {
        qn_event_init(&ev, job->task == QN_TASK_TRANSCRIBE ? QN_EV_SEGMENT
                           : job->task == QN_TASK_SPEAK    ? QN_EV_AUDIO
                           : job->task == QN_TASK_IMAGE    ? QN_EV_IMAGE
                                                           : QN_EV_TEXT);
        ev.index = i;
        ev.text = p;
        ev.segment.start_s = (double)j->written;
        ev.segment.end_s = (double)j->written + 1;
        ev.format = job->task == QN_TASK_SPEAK ? job->speak.format : job->image.format;
        ev.rate_hz = 24000;
        ev.data = p;
        ev.bytes = (int64_t)n;
        if (job->sampling.logprobs != QN_UNSET)
            ev.logprobs =
                "[{\"id\":5,\"token\":\"word \",\"bytes\":[119],\"logprob\":-0.5,\"top\":[]}]";
        qn_sink_send(j->out, &ev);
    }
}

/* The bytes of a script's event. */
static void read_raw(const struct qn_jref *item, struct qn_event *ev, struct qn_buf *raw)
{
    struct qn_jref text = qn_json_get(item, "raw");
    int64_t times = 1;
    read_number(item, "times", &times);
    for (int64_t i = 0; i < times; i++)
        qn_buf_str(raw, qn_json_raw_str(&text));
    ev->data = qn_buf_cstr(raw);
    ev->bytes = (int64_t)raw->len;
}

/* Finds the script for the job's turn: the number of its ASSISTANT messages, at most the last
 * script. Returns false if there are no scripts. */
static bool turn_of(const struct qn_jref *scripts, const struct qn_job *job, struct qn_jref *out)
{
    size_t turn = 0, n = qn_json_count(scripts);
    for (size_t i = 0; i < job->chat.messages.n; i++)
        turn += job->chat.messages.v[i].role == QN_ROLE_ASSISTANT;
    bool there = qn_json_first(scripts, out);
    for (size_t i = 0; there && i < turn && i + 1 < n; i++)
        there = qn_json_next(out);
    return there;
}

/* Returns the texts of the job's TOOL messages, each followed by a line feed. */
static const char *results_of(const struct qn_job *job, struct qn_arena *arena)
{
    struct qn_buf out;
    qn_buf_init(&out, SCRIPT_MAX);
    for (size_t i = 0; i < job->chat.messages.n; i++) {
        const struct qn_message *m = &job->chat.messages.v[i];
        for (size_t k = 0; m->role == QN_ROLE_TOOL && k < m->parts.n; k++)
            qn_buf_fmt(&out, "%s\n", m->parts.v[k].text ? m->parts.v[k].text : "");
    }
    const char *text = qn_arena_strdup(arena, qn_buf_cstr(&out));
    qn_buf_deinit(&out);
    return text;
}

/* Says the script's next event for every choice. */
static void follow_script(struct fake *f, struct fake_job *j)
{
    struct qn_jref root = qn_json_root(f->o.script), item, turn;
    if (f->o.turns)
        root = turn_of(&root, j->job, &turn) ? turn : (struct qn_jref){0};
    bool there = qn_json_first(&root, &item);
    for (int64_t i = 0; there && i < j->written; i++)
        there = qn_json_next(&item);
    if (!there) {
        finish(f, j, false);
        return;
    }
    struct qn_arena *arena = qn_arena_new(SCRIPT_MAX);
    struct qn_event ev;
    struct qn_error e = {0};
    struct qn_buf raw;
    qn_buf_init(&raw, SCRIPT_MAX);
    if (qn_event_decode(&item, &ev, arena, &e)) {
        qn_event_init(&ev, QN_EV_ERROR);
        ev.error = e;
    }
    if (ev.kind == QN_EV_AUDIO || ev.kind == QN_EV_IMAGE || ev.kind == QN_EV_VECTORS)
        read_raw(&item, &ev, &raw);
    struct qn_jref results = qn_json_get(&item, "results");
    if (qn_json_raw_bool(&results))
        ev.text = results_of(j->job, arena);
    for (int64_t i = 0; i < (ev.kind == QN_EV_ERROR ? 1 : j->choices); i++) {
        ev.index = i;
        qn_sink_send(j->out, &ev);
    }
    j->written++;
    j->due_ms += f->o.token_ms;
    if (ev.kind == QN_EV_DONE)
        finish(f, j, true);
    else if (ev.kind == QN_EV_ERROR)
        j->job = NULL;
    qn_buf_deinit(&raw);
    qn_arena_free(arena);
}

static void echo_job(struct fake *f, struct fake_job *j)
{
    struct qn_buf text;
    qn_buf_init(&text, SCRIPT_MAX);
    qn_job_encode(j->job, &text);
    say(j, qn_buf_cstr(&text), text.len);
    j->written = 1;
    qn_buf_deinit(&text);
    finish(f, j, false);
}

static void echo_attachment(struct fake *f, struct fake_job *j)
{
    const struct qn_attachments *files = &j->job->attachments;
    if ((size_t)f->o.echo_attachment < files->n)
        say(j, files->v[f->o.echo_attachment].data, (size_t)files->v[f->o.echo_attachment].bytes);
    j->written = 1;
    finish(f, j, false);
}

/* Number k of an input's vector, from -1 to 1: FNV-1a of the input's bytes (tokens are four each,
 * least significant first), mixed with k by the last steps of MurmurHash3. */
static float value_of(const struct qn_input *in, uint32_t k)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < in->len; i++)
        h = (h ^ (unsigned char)in->text[i]) * 16777619u;
    for (size_t i = 0; i < in->n_tokens; i++)
        for (int byte = 0; byte < 4; byte++)
            h = (h ^ ((uint32_t)in->tokens[i] >> 8 * byte & 0xFF)) * 16777619u;
    h += k * 0x9E3779B9u;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return (float)(int32_t)(h ^ h >> 16) / 0x1p31f;
}

/* Spoils the event. */
static void do_wrong(const char *fault, const struct qn_job *job, struct qn_event *ev, char *data)
{
    if (qn_str_eq(fault, "nan"))
        qn_event_put_float(data, (size_t)ev->bytes / 4 - 1, NAN);
    else if (qn_str_eq(fault, "inf"))
        qn_event_put_float(data, 0, -INFINITY);
    else if (qn_str_eq(fault, "bytes"))
        ev->bytes -= 2;
    else if (qn_str_eq(fault, "dimension"))
        ev->bytes += 4 * ev->count;
    else if (qn_str_eq(fault, "twice"))
        ev->index--;
    else if (qn_str_eq(fault, "skip"))
        ev->index++;
    else if (qn_str_eq(fault, "beyond"))
        ev->index = job->embed.count;
    else if (qn_str_eq(fault, "kind"))
        ev->kind = ev->kind == QN_EV_VECTORS ? QN_EV_SCORES : QN_EV_VECTORS;
}

/* The next event of an EMBED or RERANK. */
static void answer_inputs(struct fake *f, struct fake_job *j)
{
    const struct qn_input_batch *batch = qn_sink_inputs(j->out);
    const struct qn_job *job = j->job;
    bool wrong = f->o.fault[0] && j->written >= f->o.fault_after;
    if (j->written == job->embed.count || (wrong && qn_str_eq(f->o.fault, "missing"))) {
        finish(f, j, false);
        return;
    }
    if (wrong && qn_str_eq(f->o.fault, "die") && may_go_on(f->o.crash_when))
        die(&f->o);
    struct qn_event ev;
    size_t dims = job->task == QN_TASK_RERANK ? 1 : (size_t)f->o.dimensions;
    size_t most = QN_EVENT_RESULTS_BYTES_MAX / (4 * dims), n = batch->n - j->taken;
    most = most < (size_t)f->o.results ? most : (size_t)f->o.results;
    n = n < most ? n : most;
    char *data = qn_xcalloc(n * (dims + 1), 4);
    for (size_t i = 0; i < n * dims; i++)
        qn_event_put_float(data, i, value_of(&batch->v[j->taken + i / dims], (uint32_t)(i % dims)));
    qn_event_init(&ev, job->task == QN_TASK_RERANK ? QN_EV_SCORES : QN_EV_VECTORS);
    ev.index = (int64_t)(batch->first + j->taken);
    ev.count = (int64_t)n;
    ev.bytes = (int64_t)(n * dims * 4);
    ev.data = data;
    if (wrong)
        do_wrong(f->o.fault, job, &ev, data);
    qn_sink_send(j->out, &ev);
    free(data);
    j->taken += n;
    j->written += (int64_t)n;
    j->due_ms += f->o.token_ms;
    if (j->taken == batch->n) {
        qn_sink_drop_inputs(j->out);
        j->taken = 0;
    }
}

static void answer_bytes(struct fake *f, struct fake_job *j)
{
    say(j, qn_buf_cstr(&f->o.bytes), f->o.bytes.len);
    j->written = 1;
    finish(f, j, false);
}

/* All words at once: a picture comes whole. */
static void paint(struct fake *f, struct fake_job *j)
{
    struct qn_buf words;
    qn_buf_init(&words, SCRIPT_MAX);
    for (int64_t i = 0; i < j->limit; i++)
        qn_buf_str(&words, f->o.word);
    say(j, qn_buf_cstr(&words), words.len);
    qn_buf_deinit(&words);
    finish(f, j, false);
}

static void speak(struct fake *f, struct fake_job *j)
{
    if (f->o.crash_after == j->written) {
        if (may_go_on(f->o.crash_when))
            die(&f->o);
        usleep(1000);
        return;
    }
    while (f->o.hang_after == j->written)
        sleep(1);
    if (f->o.script) {
        follow_script(f, j);
        return;
    }
    if (f->o.echo_job) {
        echo_job(f, j);
        return;
    }
    if (f->o.echo_attachment >= 0) {
        echo_attachment(f, j);
        return;
    }
    if (j->job->embed.count > 0) {
        answer_inputs(f, j);
        return;
    }
    if (f->o.bytes.len) {
        answer_bytes(f, j);
        return;
    }
    if (j->job->task == QN_TASK_IMAGE) {
        paint(f, j);
        return;
    }
    if (j->written == j->limit) {
        finish(f, j, false);
        return;
    }
    say(j, f->o.word, strlen(f->o.word));
    j->written++;
    j->due_ms += f->o.token_ms;
}

static bool waits_for_inputs(const struct fake_job *j)
{
    return j->written < j->job->embed.count && !qn_sink_inputs(j->out);
}

static bool step(void *self)
{
    struct fake *f = self;
    int64_t now = qn_now_ms();
    bool active = false, worked = false;
    for (int i = 0; i < JOBS_MAX; i++) {
        struct fake_job *j = &f->jobs[i];
        if (!j->job || qn_sink_full(j->out) || waits_for_inputs(j))
            continue;
        active = true;
        const char *until = j->written == 0   ? f->o.prefill_until
                            : j->written == 1 ? f->o.second_until
                                              : "";
        if (now >= j->due_ms && may_go_on(until)) {
            speak(f, j);
            worked = true;
        } else if (j->written == 0 && now - j->last_progress_ms > 200) {
            struct qn_event ev;
            qn_event_init(&ev, QN_EV_PROGRESS);
            ev.done = now - j->started_ms;
            ev.total = f->o.prefill_until[0] ? 2 * ev.done : f->o.prefill_ms;
            qn_sink_send(j->out, &ev);
            j->last_progress_ms = now;
        }
    }
    if (active && !worked)
        usleep(1000);
    return active;
}

/* A script goes on with its first event that is not reasoning. */
static void end_reasoning(void *self, const struct qn_job *job)
{
    struct fake *f = self;
    for (int i = 0; i < JOBS_MAX && f->o.script; i++) {
        struct fake_job *j = &f->jobs[i];
        struct qn_jref root = qn_json_root(f->o.script), item;
        bool there = j->job == job && qn_json_first(&root, &item);
        for (int64_t at = 0; there; at++, there = qn_json_next(&item)) {
            struct qn_jref kind = qn_json_get(&item, "ev");
            if (at < j->written)
                continue;
            if (!qn_str_eq(qn_json_raw_str(&kind), "reasoning"))
                break;
            j->written++;
        }
    }
}

static void cancel(void *self, const struct qn_job *job)
{
    struct fake *f = self;
    int64_t said = 0;
    for (int i = 0; i < JOBS_MAX; i++)
        if (f->jobs[i].job == job) {
            said = f->jobs[i].written;
            f->jobs[i].job = NULL;
        }
    qn_info("fake", "cancelled id=%s said=%lld", job->id, (long long)said);
}

static void unload(void *self)
{
    struct fake *f = self;
    qn_json_free(f->o.script);
    qn_buf_deinit(&f->o.bytes);
    free(f);
}

#ifdef __SANITIZE_ADDRESS__
/* No leak check at exit: tests start this program thousands of times, and the check would take most
 * of its time. The tests of quince-llm check the memory of a child for leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
    static const struct qn_backend fake = {.type = "llm",
                                           .load = load,
                                           .start = start,
                                           .step = step,
                                           .cancel = cancel,
                                           .end_reasoning = end_reasoning,
                                           .unload = unload};
    return qn_child_main(argc, argv, &fake);
}
