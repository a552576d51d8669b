/* What a repository offers (GET pull/variants), for a person to choose from: sizes, what fits this
 * machine's memory, which one is taken without a choice. Pure. */
#ifndef QN_CLI_VARIANTS_H
#define QN_CLI_VARIANTS_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_VARIANTS_MAX = 500, QN_VARIANTS_SHOWN = 12 };

enum qn_variant_fit { QN_FIT_UNKNOWN, QN_FIT_GOOD, QN_FIT_TIGHT, QN_FIT_NOT };

/* Will a model of so many bytes fit into so much memory? Its weights, a tenth for the context and
 * what is computed, and a fifth of the memory for everything else on the machine. 0: not known. */
enum qn_variant_fit qn_fit_judge(double size_bytes, double memory_bytes);

/* "fits", "tight", "too large", "". */
const char *qn_fit_word(enum qn_variant_fit fit);

/* Bytes of memory that a model of this size needs. */
double qn_fit_needs(double size_bytes);

struct qn_offer {
    const char *name;
    double size_bytes; /* 0: not known */
    size_t files;
    enum qn_variant_fit fit;
};

struct qn_variants_view {
    struct qn_offer *v; /* the first QN_VARIANTS_MAX, in the server's order; strings are lent */
    size_t n;
    size_t preferred; /* the first that fits well; else the smallest that may; else the smallest */
};

/* A variant that the server says does not fit, does not, and what it says fits is at most tight. */
void qn_variants_read(struct qn_variants_view *out, const struct qn_jref *reply,
                      double memory_bytes);
void qn_variants_deinit(struct qn_variants_view *view);

/* The variant of that name, letters' case aside; NULL: none. */
const struct qn_offer *qn_variants_find(const struct qn_variants_view *view, const char *name);

enum qn_chosen { QN_CHOSEN_ONE, QN_CHOSEN_NAME, QN_CHOSEN_NONE, QN_CHOSEN_ALL, QN_CHOSEN_NONSENSE };

/* What a person answers: a number from 1 or a variant's name or nothing (the preferred one): ONE,
 * with *index; another word: NAME, it may still exist; "q": NONE; "a": ALL are to be shown; a
 * number that is not in the list: NONSENSE. */
enum qn_chosen qn_variants_answer(const struct qn_variants_view *view, const char *answer,
                                  size_t *index);

/* The numbered table, on stderr: all of it, or QN_VARIANTS_SHOWN rows. */
void qn_variants_print(const struct qn_variants_view *view, bool all);

#endif
