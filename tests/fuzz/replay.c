/* Runs one of the fuzz targets without libFuzzer: first on each file of its corpus, then on inputs
 * that are made from these files by random changes, the same ones in every run. It is part of the
 * builds with sanitizers, so that scripts/check needs no instrumented build; new inputs are found
 * by libFuzzer (scripts/dev fuzz, scripts/check --all).
 *
 *  replay NAME CORPUS_FOLDER DICTIONARY COUNT
 *
 * After a fault, it prints which input caused the fault: the file, or the number of the changed
 * input and the seed. The report of the sanitizer follows. */
#include "fuzz/replay.h"

#include "base/rand.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS_MAX = 4096,
    INPUT_BYTES_MAX = 1 << 20, /* maximum bytes of a file and of a changed input */
    CHANGES_MAX = 6,           /* maximum changes to one input */
    WORDS_MAX = 4096,
    SEED = 1
};

struct bytes {
    uint8_t *data;
    size_t n;
};

static const struct replay_target *target;
static struct bytes inputs[INPUTS_MAX], words[WORDS_MAX];
static size_t n_inputs, n_words;
static struct qn_rng rng;
static char now[512]; /* description of the present input */

/* Provided by the sanitizers' run-time library. */
void __sanitizer_set_death_callback(void (*callback)(void));

static void tell_input(void)
{
    fprintf(stderr, "the input was %s\n", now);
}

/* Runs the target on a copy of the bytes in memory of exactly this size, so that the sanitizer
 * detects reads beyond the end. */
static void run(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    if (n)
        memcpy(copy, data, n);
    target->input(copy, n);
    free(copy);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void try_corpus(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        snprintf(now, sizeof now, "%s/%s", folder, entries[i]->d_name);
        FILE *f = entries[i]->d_name[0] != '.' && n_inputs < INPUTS_MAX ? fopen(now, "rb") : NULL;
        free(entries[i]);
        uint8_t *data = f ? malloc(INPUT_BYTES_MAX) : NULL;
        if (data) {
            size_t size = fread(data, 1, INPUT_BYTES_MAX, f);
            inputs[n_inputs++] = (struct bytes){data, size};
            run(data, size);
        }
        if (f)
            fclose(f);
    }
    if (n >= 0)
        free(entries);
}

/* Reads a dictionary of libFuzzer: each line has a word "...", with the escapes \\, \" and \xNN. */
static void read_dictionary(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    while (f && n_words < WORDS_MAX && fgets(line, sizeof line, f)) {
        char *from = strchr(line, '"'), *end = strrchr(line, '"');
        uint8_t *word = from && line[0] != '#' && end > from ? malloc(sizeof line) : NULL;
        size_t n = 0;
        if (!word)
            continue;
        for (from++; from < end; from++) {
            unsigned byte;
            if (from[0] == '\\' && from[1] == 'x' && sscanf(from + 2, "%2x", &byte) == 1) {
                word[n++] = (uint8_t)byte;
                from += 3;
            } else {
                from += from[0] == '\\' && from + 1 < end;
                word[n++] = (uint8_t)*from;
            }
        }
        words[n_words++] = (struct bytes){word, n};
    }
    if (f)
        fclose(f);
}

static size_t below(size_t n)
{
    return n ? (size_t)(qn_rng_u64(&rng) % n) : 0;
}

/* Replaces the `gone` bytes at offset `at` of b by the n bytes `with`, unless the input would
 * become too long. */
static void put(struct bytes *b, size_t at, size_t gone, const uint8_t *with, size_t n)
{
    if (b->n - gone + n > INPUT_BYTES_MAX)
        return;
    memmove(b->data + at + n, b->data + at + gone, b->n - at - gone);
    if (n)
        memmove(b->data + at, with, n);
    b->n = b->n - gone + n;
}

static void change(struct bytes *b)
{
    static uint8_t part[INPUT_BYTES_MAX];
    static const uint8_t odd[] = {0,    1,    0x20, 0x22, 0x7f, 0x80, 0xc0,
                                  0xff, '\n', '\r', '{',  '[',  '-',  '9'};
    size_t at = below(b->n + 1), rest = b->n - at, some = below(rest < 64 ? rest + 1 : 64);
    const struct bytes *other = &inputs[below(n_inputs)], *word = &words[below(n_words)];
    size_t from = below(other->n + 1);
    switch (below(8)) {
    case 0: /* flip one bit */
        if (rest)
            b->data[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1: /* insert or replace one byte */
        put(b, at, rest > 0 && below(2), &odd[below(sizeof odd)], 1);
        break;
    case 2: /* remove a part */
        put(b, at, some, NULL, 0);
        break;
    case 3: /* duplicate a part */
        memcpy(part, b->data + at, some);
        put(b, at, 0, part, some);
        break;
    case 4: /* cut off the end */
        b->n = at;
        break;
    case 5: /* replace the end by the end of another input */
        put(b, at, rest, other->data + from, other->n - from);
        break;
    default: /* insert a word of the dictionary, or replace a part by it */
        if (n_words)
            put(b, at, below(2) ? some : 0, word->data, word->n);
    }
}

static const struct replay_target *find_target(const char *name)
{
    const struct replay_target *t = replay_targets;
    while (t->name && strcmp(t->name, name) != 0)
        t++;
    return t->name ? t : NULL;
}

int main(int argc, char **argv)
{
    target = argc == 5 ? find_target(argv[1]) : NULL;
    if (!target) {
        fprintf(stderr, "usage: %s NAME CORPUS_FOLDER DICTIONARY COUNT\n", argv[0]);
        return 2;
    }
    static uint8_t room[INPUT_BYTES_MAX];
    __sanitizer_set_death_callback(tell_input);
    qn_rng_init(&rng, SEED);
    if (target->initialize)
        target->initialize(&argc, &argv);
    try_corpus(argv[2]);
    if (!n_inputs) {
        fprintf(stderr, "%s: no corpus in %s\n", argv[1], argv[2]);
        return 1;
    }
    read_dictionary(argv[3]);
    for (long i = 0, count = strtol(argv[4], NULL, 10); i < count; i++) {
        const struct bytes *from = &inputs[below(n_inputs)];
        struct bytes b = {room, from->n};
        snprintf(now, sizeof now, "number %ld of seed %d", i, SEED);
        memcpy(room, from->data, from->n);
        for (size_t k = 1 + below(CHANGES_MAX); k > 0; k--)
            change(&b);
        run(b.data, b.n);
    }
    printf("%zu files, %s changed inputs\n", n_inputs, argv[4]);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    for (size_t i = 0; i < n_words; i++)
        free(words[i].data);
    return 0;
}
