/* The table of capabilities, see capabilities.h. */
#include "contract/capabilities.h"

#include "base/str.h"

#include <stddef.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *name;
    const char *ollama; /* NULL: none */
    const char *label;  /* shown in model lists; NULL: none */
} table[] = {
    {QN_CAN_CHAT, "chat", NULL, NULL},
    {QN_CAN_COMPLETE, "complete", "completion", NULL},
    {QN_CAN_EMBED, "embed", "embedding", "embeddings"},
    {QN_CAN_RERANK, "rerank", NULL, "reranking"},
    {QN_CAN_TRANSCRIBE, "transcribe", NULL, "transcription"},
    {QN_CAN_SPEAK, "speak", NULL, "tts"},
    {QN_CAN_IMAGE, "image", "image", "image"},
    {QN_CAN_UPSCALE, "upscale", NULL, "upscaling"},
    {QN_CAN_TOOLS, "tools", "tools", "tool-calling"},
    {QN_CAN_INSERT, "insert", "insert", NULL},
    {QN_CAN_SEE, "vision", "vision", "vision"},
    {QN_CAN_HEAR, "audio", "audio", "chat-transcription"},
    {QN_CAN_REASON, "reasoning", "thinking", "reasoning"},
    {QN_CAN_EDIT, "edit", NULL, "edit"},
};
enum { NAMES = sizeof table / sizeof *table };

/* What the labels of Lemonade's API and of other programs mean. Models of transcription were once
 * labelled "audio". */
static const struct {
    const char *label;
    unsigned set;
} labels_table[] = {
    {"chat", QN_CAN_TALK},
    {"embeddings", QN_CAN_EMBED},
    {"embedding", QN_CAN_EMBED},
    {"reranking", QN_CAN_RERANK},
    {"transcription", QN_CAN_TRANSCRIBE},
    {"realtime-transcription", QN_CAN_TRANSCRIBE},
    {"audio", QN_CAN_TRANSCRIBE},
    {"tts", QN_CAN_SPEAK},
    {"image", QN_CAN_IMAGE},
    {"upscaling", QN_CAN_UPSCALE},
    {"edit", QN_CAN_EDIT},
    {"vision", QN_CAN_SEE},
    {"chat-transcription", QN_CAN_TALK | QN_CAN_HEAR},
    {"tool-calling", QN_CAN_TOOLS},
    {"reasoning", QN_CAN_REASON},
};

unsigned qn_capability_of_task(enum qn_task task)
{
    static const unsigned of[QN_TASK_COUNT] = {
        [QN_TASK_CHAT] = QN_CAN_CHAT,
        [QN_TASK_COMPLETE] = QN_CAN_COMPLETE,
        [QN_TASK_EMBED] = QN_CAN_EMBED,
        [QN_TASK_RERANK] = QN_CAN_RERANK,
        [QN_TASK_TRANSCRIBE] = QN_CAN_TRANSCRIBE,
        [QN_TASK_SPEAK] = QN_CAN_SPEAK,
        [QN_TASK_IMAGE] = QN_CAN_IMAGE,
    };
    return of[task];
}

unsigned qn_capabilities_read(const struct qn_jref *names)
{
    struct qn_jref it;
    unsigned set = 0;
    for (bool more = qn_json_first(names, &it); more; more = qn_json_next(&it)) {
        const char *name = qn_json_raw_str(&it);
        for (size_t i = 0; i < NAMES; i++)
            if (qn_str_eq(table[i].name, name) || qn_str_eq(table[i].ollama, name))
                set |= table[i].bit;
    }
    /* Ollama's "completion" stands for chat and completion. */
    return set & QN_CAN_COMPLETE ? set | QN_CAN_CHAT : set;
}

unsigned qn_capabilities_of_labels(const struct qn_jref *labels)
{
    struct qn_jref it;
    unsigned set = 0;
    for (bool more = qn_json_first(labels, &it); more; more = qn_json_next(&it))
        for (size_t i = 0; i < sizeof labels_table / sizeof *labels_table; i++)
            if (qn_str_eq(labels_table[i].label, qn_json_raw_str(&it)))
                set |= labels_table[i].set;
    return set;
}

void qn_capabilities_write(struct qn_jw *w, unsigned set)
{
    qn_jw_arr(w);
    for (size_t i = 0; i < NAMES; i++)
        if (set & table[i].bit)
            qn_jw_str(w, table[i].name);
    qn_jw_arr_end(w);
}

void qn_capabilities_write_ollama(struct qn_jw *w, unsigned set)
{
    qn_jw_arr(w);
    for (size_t i = 0; i < NAMES; i++)
        if (set & table[i].bit && table[i].ollama)
            qn_jw_str(w, table[i].ollama);
    qn_jw_arr_end(w);
}

void qn_capabilities_write_labels(struct qn_jw *w, const struct qn_jref *labels, unsigned set)
{
    struct qn_jref it;
    unsigned missing = set & ~qn_capabilities_of_labels(labels);
    qn_jw_arr(w);
    for (bool more = qn_json_first(labels, &it); more; more = qn_json_next(&it))
        qn_jw_str(w, qn_json_raw_str(&it));
    for (size_t i = 0; i < NAMES; i++)
        if (missing & table[i].bit && table[i].label)
            qn_jw_str(w, table[i].label);
    qn_jw_arr_end(w);
}

static unsigned read_text(const char *text, unsigned (*read)(const struct qn_jref *))
{
    struct qn_json *doc;
    if (!text || qn_json_parse(text, strlen(text), &doc, NULL))
        return 0;
    struct qn_jref root = qn_json_root(doc);
    unsigned set = read(&root);
    qn_json_free(doc);
    return set;
}

struct qn_capabilities qn_capabilities_of(const struct qn_capability_facts *f)
{
    unsigned said = read_text(f->labels, qn_capabilities_of_labels);
    unsigned found = read_text(f->found, qn_capabilities_read);
    unsigned purposes = said & QN_CAPABILITIES_PURPOSES;
    struct qn_capabilities c = {.has = said | found | (f->projector ? QN_CAN_SEE : 0)};
    if (purposes)
        c.has &= purposes | ~(unsigned)QN_CAPABILITIES_PURPOSES;
    if (!(c.has & QN_CAN_TALK)) /* a decoder's file with another purpose than text */
        c.has &= ~(unsigned)(QN_CAN_TOOLS | QN_CAN_INSERT | QN_CAN_REASON);
    unsigned open = found ? 0 : f->offers;
    if (c.has & QN_CAPABILITIES_PURPOSES)
        open &= ~(unsigned)QN_CAPABILITIES_PURPOSES;
    else
        c.has |= f->offers & QN_CAN_TALK ? f->offers & QN_CAN_TALK
                                         : f->offers & QN_CAPABILITIES_PURPOSES;
    c.may = c.has | open;
    return c;
}
