/* The ways in which pre-tokenizers split text. Each is a small scanner that has the effect of a
 * published regular expression and takes time linear in the length of every text. The table in
 * pretokenize.c tells which model family uses which steps, in which order. Any thread. */
#ifndef QN_TEXT_CUT_H
#define QN_TEXT_CUT_H

#include "text/pretokenize.h"
#include "text/unicode.h"

/* A family's expression that matches words, numbers, symbols and spaces. Its alternatives are tried
 * in the order of the fields at each position; text that no alternative matches becomes one
 * piece. */
struct qn_word_rule {
    enum qn_word_contraction {
        QN_CONTRACTION_NONE,
        QN_CONTRACTION_LOWER,  /* 's|'t|'re|'ve|'m|'ll|'d */
        QN_CONTRACTION_ANY,    /* also in capitals */
        QN_CONTRACTION_SUFFIX, /* only at the end of a word; also in capitals */
    } contraction;
    enum qn_word_letters {
        QN_LETTERS_SPACED,   /* " ?X+" */
        QN_LETTERS_PREFIXED, /* "[^\r\n\p{L}\p{N}]?X+" */
        QN_LETTERS_CASED,    /* "[^\r\n\p{L}\p{N}]?" and a word whose capitals come first: "A*B+" or
                                "A+B*" with A = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and B =
                                [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
        QN_LETTERS_PHRASE,   /* "[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+" */
        QN_LETTERS_CODE,     /* "[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?X+" */
    } letters;
    uint32_t letter;  /* X: a set of classes */
    bool han_apart;   /* runs of Han characters are matched before all other alternatives and are
                         not letters of other words */
    uint8_t digits;   /* "\p{N}{1,digits}"; 0: none; QN_DIGITS_SPACED: " ?\p{N}+" */
    uint32_t symbol;  /* Y of " ?Y+": a set of classes */
    const char *tail; /* "[tail]*" after Y+: ASCII */
    uint8_t tail_max; /* maximum length of that tail; 0: no maximum */
    bool line_alone;  /* "[\r\n]" instead of "\s*[\r\n]+" */
    enum qn_word_space {
        QN_SPACE_LINES,   /* "\s*[\r\n]+|\s+(?!\S)|\s+" */
        QN_SPACE_PLAIN,   /* "\s+(?!\S)|\s+" */
        QN_SPACE_CASCADE, /* "\s*[\r\n]+", then "\s{512}(?!\S)|\s{256}(?!\S)|…|\s{1,2}(?!\S)|\s" */
    } space;
};
enum { QN_DIGITS_SPACED = 254, QN_DIGITS_ALL = 255 };

struct qn_cut {
    enum qn_cut_kind {
        QN_CUT_END,          /* no more steps */
        QN_CUT_WORDS,        /* rule */
        QN_CUT_RUNS,         /* "X{1,max}"; max 0: "X+" */
        QN_CUT_SPACED,       /* "\s?X+" */
        QN_CUT_BLANK,        /* " ?X+" */
        QN_CUT_THREES,       /* "[0-9][0-9][0-9]" */
        QN_CUT_RIGHT,        /* groups of three in runs of X, counted from the right */
        QN_CUT_RIGHT_WORD,   /* "\d{1,3}(?=(?:\d{3})*\b)" */
        QN_CUT_RIGHT_INSIDE, /* "(?=(\d{3})+(?!\d))" */
        QN_CUT_TRAILING,     /* "\s+$" */
        QN_CUT_LITERALS,     /* Chameleon's image tokens, see cut.c */
        QN_CUT_INDENT,       /* "[\t\n]|    |  " */
    } kind;
    const struct qn_word_rule *rule;
    const struct qn_charset *set; /* X */
    uint8_t max;
};

/* Like qn_cut, for one word rule. */
void qn_words_cut(const struct qn_word_rule *r, const char *text, size_t from, size_t to,
                  struct qn_text_pieces *out);

/* Appends the pieces into which one step splits text[from..to); the text must be valid UTF-8. */
void qn_cut(const struct qn_cut *step, const char *text, size_t from, size_t to,
            struct qn_text_pieces *out);

#endif
