/* Error codes, and the error record with a message for users.
 *
 * A fallible function returns qn_err. If users see the reason of a failure, the function also takes
 * a struct qn_error and ends with `return qn_fail(e, QN_EFORMAT, "tensor %s: ...", name);`. A NULL
 * error record is allowed everywhere: then only the code is returned. */
#ifndef QN_BASE_ERROR_H
#define QN_BASE_ERROR_H

#include <stddef.h>

typedef enum {
    QN_OK = 0,
    QN_EINVAL,       /* the caller's input is wrong: a bad parameter, a bad request */
    QN_EFORMAT,      /* data from outside violate their format */
    QN_EUNSUPPORTED, /* well formed, but not supported by this version */
    QN_ENOTFOUND,    /* no such model, file, route */
    QN_ECONFLICT,    /* conflicts with something that exists */
    QN_ELIMIT,       /* over a named limit */
    QN_ECONTEXT,     /* the prompt does not fit the model's context */
    QN_ENOMEM,       /* a sized allocation failed, or the model does not fit in memory */
    QN_EIO,          /* a system call failed: errno is in the message */
    QN_EBUSY,        /* temporarily not possible; try again later */
    QN_ETIMEOUT,     /* the other side did not reply in time */
    QN_ECHILD,       /* the child process died or broke the contract */
    QN_ECANCELLED,   /* the caller does not want the result any more */
    QN_EINTERNAL,    /* a bug in this program */
    QN_ERR_COUNT
} qn_err;

enum { QN_ERROR_PARAM_MAX = 128, QN_ERROR_MESSAGE_MAX = 1024 };

struct qn_error {
    qn_err code;
    char param[QN_ERROR_PARAM_MAX]; /* the input that caused the error, e.g. "messages[3].role"; may
                                       be empty */
    char message[QN_ERROR_MESSAGE_MAX]; /* one sentence, valid UTF-8, no trailing full stop or
                                           newline */
};

/* Fills e (which may be NULL) and returns code. URLs in the message are stripped of possible
 * secrets (base/address.h), because messages reach clients and the log. The message is truncated at
 * QN_ERROR_MESSAGE_MAX on a character boundary; bytes that are not UTF-8 become U+FFFD. Any thread.
 */
qn_err qn_fail(struct qn_error *e, qn_err code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, naming the input that caused the error. */
qn_err qn_fail_param(struct qn_error *e, qn_err code, const char *param, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* QN_EIO with strerror(errno) appended: "open /x: No such file or directory"; ENOENT gives
 * QN_ENOTFOUND, ENOMEM gives QN_ENOMEM. */
qn_err qn_fail_errno(struct qn_error *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A stable lower-case name ("not_found") for logs and frames. qn_err_parse is the inverse and
 * returns QN_EINTERNAL for an unknown name. */
const char *qn_err_name(qn_err code);
qn_err qn_err_parse(const char *name);

#endif
