/* Whether a constraint allows a text, byte by byte. */
#ifndef QN_TESTS_CONSTRAIN_SAYS_H
#define QN_TESTS_CONSTRAIN_SAYS_H

#include "base/buf.h"
#include "byte_vocab.h"

#include <stdio.h>

static inline bool says(struct qn_constraint *k, const char *text)
{
    struct qn_constraint_state s = {0};
    qn_constraint_begin(&s, k);
    bool yes = qn_constraint_accept_bytes(&s, text, strlen(text)) && qn_constraint_complete(&s);
    qn_constraint_end(&s);
    return yes;
}

/* cases: texts, those that must be allowed first, NULL, then those that must not, NULL. Returns how
 * many went wrong, each printed. */
static inline int says_wrong(struct qn_constrainer *c, const struct qn_constrain *job,
                             const char *const *cases)
{
    struct qn_constraint *k;
    struct qn_error e = {0};
    const char *source = job->schema ? job->schema : job->grammar;
    int wrong = 0;
    if (qn_constraint_of_job(c, job, &k, &e)) {
        fprintf(stderr, "%s: %s\n", source, e.message);
        return 1;
    }
    bool want = true;
    for (int ends = 0; ends < 2; cases++) {
        if (!*cases) {
            ends++;
            want = false;
            continue;
        }
        if (says(k, *cases) != want) {
            fprintf(stderr, "%s: %s %s\n", source, want ? "should allow" : "should not allow",
                    *cases);
            wrong++;
        }
    }
    qn_constraint_unref(k);
    return wrong;
}

#endif
