/* What a process gives up for good before it touches foreign bytes: other files, other programs,
 * the network. What an attacker could make of a parser's fault ends there.
 *
 * Files need a kernel with Landlock (5.13 and later, where it is switched on), calls one with
 * seccomp filters. Neither needs privileges. */
#ifndef QN_CONFINE_CONFINE_H
#define QN_CONFINE_CONFINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_confine_path {
    const char *path; /* a file, or a folder with all in it; symbolic links are followed */
    unsigned may;     /* besides reading: QN_CONFINE_WRITE, ... */
};

enum {
    QN_CONFINE_WRITE = 1, /* files may be written, made, renamed and removed, and folders made */
    QN_CONFINE_RUN = 2,   /* this very file may be started as a program */
    QN_CONFINE_DEVICE =
        4 /* devices may be written to and told what to do: a graphics processor's */
};

/* From now on this thread, and those it starts, may open nothing but these paths, on top of what is
 * open. A path that does not exist is left out. Call it while the process has one thread.
 * QN_EUNSUPPORTED: this kernel has no Landlock, and nothing has changed. QN_EIO. */
qn_err qn_confine_files(const struct qn_confine_path *paths, size_t n, struct qn_error *e);

/* From now on no thread of this process may start a program or a process, make a socket, reach into
 * another process, or change what the system is made of. One that tries is killed by SIGSYS, with
 * one line on the standard error that names the call. Threads can be started, open sockets used.
 * QN_EUNSUPPORTED: this kernel has no filters, and nothing has changed. */
qn_err qn_confine_calls(struct qn_error *e);

/* What a process must be able to do that does not compute itself. */
enum qn_confine_need {
    QN_CONFINE_ALONE,  /* nothing of the sort: as qn_confine_calls */
    QN_CONFINE_CLIENT, /* connect to servers, and end a process that it has started */
    QN_CONFINE_SERVER  /* a foreign program that is about to be started in this process: it may
                          listen, and start what the rules for files let it start. What it may not
                          fails with EACCES, for its authors knew nothing of a sandbox; it can
                          not connect, and can only send to peers that have connected to it */
};

/* As qn_confine_calls, for a process with such a need. */
qn_err qn_confine_calls_but(enum qn_confine_need need, struct qn_error *e);

#endif
