/* The form of an error's body: one table from paths to families of endpoints, with exceptions per
 * profile. Pure. */
#ifndef QN_ANSWERS_FAMILY_H
#define QN_ANSWERS_FAMILY_H

struct qn_profile;

enum qn_family {
    QN_FAMILY_ERROR,     /* {"error":{message,type,param,code}}; code is a string or null */
    QN_FAMILY_NUMBER,    /* the same; code is the HTTP status */
    QN_FAMILY_ENGINES,   /* the same; type is one of OpenAI's three types, code a string or null */
    QN_FAMILY_STATUS,    /* {"status":"error","message":...,"error":{...}}: for requests that change
                            models */
    QN_FAMILY_TEXT,      /* {"error":"text"} */
    QN_FAMILY_ANTHROPIC, /* {"type":"error","error":{type,message},"request_id":...} */
    QN_FAMILY_COUNT
};

/* The family of a path, also of paths without a route. */
enum qn_family qn_family_of(const struct qn_profile *profile, const char *path);

/* The part of the path after /api/v1, /api/v0, /v1 or /v0, with its slash; NULL: it has none of
 * these prefixes. */
const char *qn_path_unversioned(const char *path);

#endif
