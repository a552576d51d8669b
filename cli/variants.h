/* The variants of a repository (GET pull/variants) that the user chooses from: sizes, which of them
 * fit the machine's memory, and the default choice. Pure. */
#ifndef QN_CLI_VARIANTS_H
#define QN_CLI_VARIANTS_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_VARIANTS_MAX = 500, QN_VARIANTS_SHOWN = 12 };

enum qn_variant_fit { QN_FIT_UNKNOWN, QN_FIT_GOOD, QN_FIT_TIGHT, QN_FIT_NOT };

/* Whether a model of this size fits this memory. It needs its weights and a tenth of them for the
 * context and scratch; a fifth of the memory is reserved for other programs. 0: unknown. */
enum qn_variant_fit qn_fit_judge(double size_bytes, double memory_bytes);

/* Returns "fits", "tight", "too large" or "". */
const char *qn_fit_word(enum qn_variant_fit fit);

/* Bytes of memory that a model of this size needs. */
double qn_fit_needs(double size_bytes);

struct qn_offer {
    const char *name;
    double size_bytes; /* 0: unknown */
    size_t files;
    enum qn_variant_fit fit;
};

struct qn_variants_view {
    /* The first QN_VARIANTS_MAX variants in the server's order; strings are borrowed. */
    struct qn_offer *v;
    size_t n;
    /* the first that fits well; else the smallest that may fit; else the smallest */
    size_t preferred;
};

/* Reads the server's list of variants and judges whether each fits into memory_bytes. If the server
 * reports that a variant does not fit, the result is QN_FIT_NOT; if the server reports that it
 * fits, the result is QN_FIT_TIGHT where the own estimate is tight or too large, else
 * QN_FIT_GOOD. */
void qn_variants_read(struct qn_variants_view *out, const struct qn_jref *reply,
                      double memory_bytes);
void qn_variants_deinit(struct qn_variants_view *view);

/* The variant with this name, ignoring case; NULL: none. */
const struct qn_offer *qn_variants_find(const struct qn_variants_view *view, const char *name);

enum qn_chosen { QN_CHOSEN_ONE, QN_CHOSEN_NAME, QN_CHOSEN_NONE, QN_CHOSEN_ALL, QN_CHOSEN_NONSENSE };

/* Parses the user's answer. A number from 1, a variant's name or nothing (the preferred variant):
 * ONE, with *index. Another word: NAME, as the variant may still exist. "q": NONE. "a": ALL are to
 * be shown. A number that is not in the list: NONSENSE. */
enum qn_chosen qn_variants_answer(const struct qn_variants_view *view, const char *answer,
                                  size_t *index);

/* Prints the numbered table on stderr: completely, or QN_VARIANTS_SHOWN rows. */
void qn_variants_print(const struct qn_variants_view *view, bool all);

#endif
