/* See header.h. */
#include "inspect/header.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Values of general.file_type and of tensor types, with the names used for files. */
struct named {
    uint32_t id;
    const char *name;
};

static const struct named file_types[] = {
    {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},    {7, "Q8_0"},
    {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"},
    {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"}, {16, "Q5_K_S"}, {17, "Q5_K_M"},
    {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K_S"}, {22, "IQ3_XS"},
    {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"}, {26, "IQ3_S"},  {27, "IQ3_M"},
    {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"}, {31, "IQ1_M"},  {32, "BF16"},
    {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4"},  {39, "NVFP4"},
};

static const struct named tensor_types[] = {
    {0, "F32"},      {1, "F16"},     {2, "Q4_0"},     {3, "Q4_1"},   {6, "Q5_0"},    {7, "Q5_1"},
    {8, "Q8_0"},     {10, "Q2_K"},   {11, "Q3_K"},    {12, "Q4_K"},  {13, "Q5_K"},   {14, "Q6_K"},
    {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},
    {22, "IQ2_S"},   {23, "IQ4_XS"}, {29, "IQ1_M"},   {30, "BF16"},  {34, "TQ1_0"},  {35, "TQ2_0"},
    {39, "MXFP4"},   {40, "NVFP4"},
};

static const char *name_of(const struct named *table, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].id == id)
            return table[i].name;
    return NULL;
}

/* Copies a name for lists and log lines: control characters become spaces; in a text that is not
 * UTF-8, bytes that are not ASCII become question marks, so the length does not change. */
static void copy_text(char *out, size_t n, struct qn_gguf_str s)
{
    size_t len = s.n < n ? s.n : n - 1;
    memcpy(out, s.s, len);
    out[qn_utf8_whole(out, len)] = '\0';
    bool sound = qn_utf8_valid(out, strlen(out));
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = ' ';
        else if (!sound && (unsigned char)*p > 127)
            *p = '?';
}

enum { TYPES = 64 };

static void weigh_part(const struct qn_gguf *g, uint64_t by_type[TYPES], uint64_t *total)
{
    for (size_t i = 0; i < qn_gguf_tensor_count(g); i++) {
        const struct qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        uint64_t n = 1;
        for (int d = 0; d < t->ndim; d++)
            if (__builtin_mul_overflow(n, t->ne[d], &n) || n > INT64_MAX / 2)
                n = INT64_MAX / 2;
        *total = *total + n > INT64_MAX ? INT64_MAX : *total + n;
        if (t->type < TYPES)
            by_type[t->type] = by_type[t->type] + n > INT64_MAX ? INT64_MAX : by_type[t->type] + n;
    }
}

/* Counts the elements and finds the tensor type with the most elements. */
static void weigh_tensors(struct qn_gguf *const *parts, size_t n_parts, struct qn_inspection *out,
                          uint32_t *commonest)
{
    uint64_t by_type[TYPES] = {0}, total = 0;
    for (size_t i = 0; i < n_parts; i++)
        weigh_part(parts[i], by_type, &total);
    out->parameters = total < QN_INSPECTION_NUMBER_MAX ? (int64_t)total : QN_INSPECTION_NUMBER_MAX;
    *commonest = 0;
    for (uint32_t i = 1; i < TYPES; i++)
        if (by_type[i] > by_type[*commonest])
            *commonest = i;
}

/* Reads a number of the architecture; `otherwise` if it is missing or out of range. */
static int64_t number_of(const struct qn_gguf *g, const struct qn_inspection *in, const char *name,
                         int64_t otherwise)
{
    char key[128];
    int64_t v;
    snprintf(key, sizeof key, "%s.%s", in->architecture, name);
    return qn_gguf_i64(g, key, 1, 1 << 20, &v, NULL) == QN_OK ? v : otherwise;
}

/* KV-cache bytes per token: keys and values of every layer, two bytes each. */
static int64_t cache_of_token(const struct qn_gguf *g, const struct qn_inspection *in)
{
    int64_t heads = number_of(g, in, "attention.head_count", 0);
    if (heads == 0)
        return 0;
    int64_t key =
        number_of(g, in, "attention.key_length", number_of(g, in, "embedding_length", 0) / heads);
    int64_t value = number_of(g, in, "attention.value_length", key);
    int64_t bytes = number_of(g, in, "attention.head_count_kv", heads) * (key + value) * 2;
    int64_t layers = number_of(g, in, "block_count", 0);
    return layers * bytes < INT32_MAX ? layers * bytes : INT32_MAX;
}

qn_err qn_inspect_header(struct qn_gguf *const *parts, size_t n_parts, struct qn_inspection *out,
                         struct qn_error *e)
{
    *out = (struct qn_inspection){0};
    const struct qn_gguf *g = parts[0];
    struct qn_gguf_str text;
    qn_err err = qn_gguf_str(g, "general.architecture", &text, e);
    if (err)
        return err;
    if (text.n == 0 || text.n >= sizeof out->architecture)
        return qn_fail(e, QN_EFORMAT, "general.architecture has %zu bytes", text.n);
    copy_text(out->architecture, sizeof out->architecture, text);
    if (qn_gguf_str(g, "general.type", &text, NULL) == QN_OK && text.n == strlen("adapter") &&
        memcmp(text.s, "adapter", text.n) == 0)
        return qn_fail(e, QN_EUNSUPPORTED,
                       "the file is an adapter and no model: load the model it was made for with "
                       "the option lora, [{\"path\": \"FILE\"}]");
    if (qn_gguf_str(g, "general.name", &text, NULL) == QN_OK)
        copy_text(out->title, sizeof out->title, text);
    char key[128];
    snprintf(key, sizeof key, "%s.context_length", out->architecture);
    if (qn_gguf_i64(g, key, 0, INT32_MAX, &out->context_length, NULL))
        out->context_length = 0;
    out->kv_token_bytes = cache_of_token(g, out);
    for (size_t i = 0; i < n_parts; i++)
        out->size_bytes += (int64_t)qn_gguf_file_bytes(parts[i]);
    out->chat_template = qn_gguf_has(g, "tokenizer.chat_template");
    uint32_t commonest;
    weigh_tensors(parts, n_parts, out, &commonest);
    int64_t file_type;
    const char *name = NULL;
    if (qn_gguf_i64(g, "general.file_type", 0, UINT32_MAX, &file_type, NULL) == QN_OK)
        name = name_of(file_types, sizeof file_types / sizeof *file_types, (uint32_t)file_type);
    if (!name)
        name = name_of(tensor_types, sizeof tensor_types / sizeof *tensor_types, commonest);
    snprintf(out->quantization, sizeof out->quantization, "%s", name ? name : "unknown");
    return QN_OK;
}
