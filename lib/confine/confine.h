/* Sandboxing: restrictions that a process puts on itself, and cannot lift again, before it reads
 * untrusted bytes. Afterwards it can open only the listed files, start no program, and use no
 * network. An attacker who exploits a bug in a parser can do no more than that.
 *
 * Restricting files needs a kernel with Landlock (5.13 and later, if enabled), restricting system
 * calls one with seccomp filters. Neither needs privileges. */
#ifndef QN_CONFINE_CONFINE_H
#define QN_CONFINE_CONFINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_confine_path {
    const char *path; /* a file, or a folder with its contents; symbolic links are followed */
    unsigned may;     /* rights besides reading: QN_CONFINE_WRITE, ... */
};

enum {
    QN_CONFINE_WRITE = 1,  /* write, create, rename and remove files, and create folders */
    QN_CONFINE_RUN = 2,    /* run this file as a program */
    QN_CONFINE_DEVICE = 4, /* write to devices and call ioctl(2) on them: for graphics processors */
    QN_CONFINE_OWN = 8     /* with QN_CONFINE_WRITE: also remove folders, and create symbolic links,
                              sockets and named pipes */
};

/* Returns the version of the kernel's Landlock; below 1: the kernel has no Landlock, or it is
 * disabled. */
long qn_confine_version(void);

/* Restricts this thread, and the threads and processes it starts, to opening these paths; open
 * descriptors stay usable. A path that does not exist is skipped. Must be called while the process
 * has one thread. QN_EUNSUPPORTED: this kernel has no Landlock, and nothing has changed. QN_EIO. */
qn_err qn_confine_files(const struct qn_confine_path *paths, size_t n, struct qn_error *e);

/* Forbids this thread, and the threads and processes that it starts, to connect by TCP to these
 * ports at any address; from Landlock version 6 on also to send signals to processes outside this
 * restriction. Takes about 0.15 s. MPTCP and TCP Fast Open can still connect: QN_CONFINE_TOOL
 * forbids them. The call conditions of qn_confine_files apply. Returns QN_EUNSUPPORTED, without any
 * change, if Landlock is older than QN_CONFINE_PORTS_VERSION. */
enum { QN_CONFINE_PORTS_VERSION = 4 };
qn_err qn_confine_ports(const int *ports, size_t n, struct qn_error *e);

/* Forbids all threads of this process to start programs or processes, create sockets, access other
 * processes, or reconfigure the system. A thread that tries is killed by SIGSYS, with one line on
 * standard error that names the system call. Threads can still be started, and open sockets used.
 * QN_EUNSUPPORTED: this kernel has no seccomp filters, and nothing has changed. */
qn_err qn_confine_calls(struct qn_error *e);

/* What a process may do that qn_confine_calls forbids, because other processes do its work. */
enum qn_confine_need {
    QN_CONFINE_ALONE,  /* no exceptions: as qn_confine_calls */
    QN_CONFINE_CLIENT, /* may connect to servers, and kill a process that it has started */
    QN_CONFINE_TOOL,   /* for a foreign program that is about to be executed in this process: it may
                          start programs, connect, listen and send, but only by TCP and UDP, without
                          TCP Fast Open. It cannot use UNIX sockets except SOCK_STREAM and
                          SOCK_SEQPACKET pairs from socketpair, examine other processes, or create
                          namespaces. Forbidden calls fail with EACCES */
    QN_CONFINE_SERVER  /* for another project's program that is about to be started in this process:
                          it may listen, and run the files that the rules for files allow. Forbidden
                          calls fail with EACCES, because the program was not written for a sandbox.
                          It cannot connect, and can only send to peers that have connected to it */
};

/* qn_confine_calls with the exceptions of this need. */
qn_err qn_confine_calls_but(enum qn_confine_need need, struct qn_error *e);

#endif
