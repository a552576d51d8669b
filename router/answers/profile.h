/* Whose habits a listener follows where two APIs own the same path with incompatible shapes. */
#ifndef QN_ANSWERS_PROFILE_H
#define QN_ANSWERS_PROFILE_H

enum qn_profile {
    QN_PROFILE_LEMONADE, /* the main port's */
    QN_PROFILE_OLLAMA,
    QN_PROFILE_AUTO,
    QN_PROFILE_LAYERSCALE,
    QN_PROFILE_DPPAN,
    QN_PROFILE_KOLOSAL,
    QN_PROFILE_LOCALLLM,
    QN_PROFILE_COUNT
};

const char *qn_profile_name(enum qn_profile p);     /* "lemonade", ... */
enum qn_profile qn_profile_parse(const char *name); /* QN_PROFILE_COUNT when unknown */

#endif
