/* See confine.h. Sources: landlock(7), seccomp(2), libseccomp's seccomp_rule_add(3). */
#include "confine/confine_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Files ---- */

/* Access rights added by later kernels; the header may be older than the kernel. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

static const uint64_t first_rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; /* of ABI version 1 */
static const uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t write_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
                                     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REFER;
static const uint64_t own_rights = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO;
/* The rights that apply to a file that is not a folder. */
static const uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
                                    LANDLOCK_ACCESS_FS_IOCTL_DEV;

static uint64_t rights_of(long version)
{
    uint64_t all = first_rights;
    if (version >= 2)
        all |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3)
        all |= LANDLOCK_ACCESS_FS_TRUNCATE;
    if (version >= 5)
        all |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
    return all;
}

static uint64_t rights_for(unsigned may)
{
    uint64_t rights = read_rights;
    if (may & QN_CONFINE_WRITE)
        rights |= write_rights;
    if (may & QN_CONFINE_OWN)
        rights |= own_rights;
    if (may & QN_CONFINE_RUN)
        rights |= LANDLOCK_ACCESS_FS_EXECUTE;
    if (may & QN_CONFINE_DEVICE)
        rights |= LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_IOCTL_DEV;
    return rights;
}

static qn_err add_path(int ruleset, uint64_t handled, const struct qn_confine_path *p,
                       struct qn_error *e)
{
    struct stat st;
    int fd = open(p->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES ? QN_OK : qn_fail_errno(e, "open %s", p->path);
    struct landlock_path_beneath_attr rule = {.parent_fd = fd};
    rule.allowed_access = rights_for(p->may) & handled;
    if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode))
        rule.allowed_access &= file_rights;
    long done = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    qn_err err = done ? qn_fail_errno(e, "allow %s", p->path) : QN_OK;
    close(fd);
    return err;
}

long qn_confine_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

qn_err qn_confine_apply(int ruleset, struct qn_error *e)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return qn_fail_errno(e, "set no_new_privs");
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        return qn_fail_errno(e, "apply a Landlock ruleset");
    return QN_OK;
}

qn_err qn_confine_files(const struct qn_confine_path *paths, size_t n, struct qn_error *e)
{
    long version = qn_confine_version();
    if (version < 1)
        return qn_fail(e, QN_EUNSUPPORTED, "this kernel has no Landlock, or it is switched off");
    struct landlock_ruleset_attr attr = {.handled_access_fs = rights_of(version)};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return qn_fail_errno(e, "make a Landlock ruleset");
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = add_path(ruleset, attr.handled_access_fs, &paths[i], e);
    if (!err)
        err = qn_confine_apply(ruleset, e);
    close(ruleset);
    return err;
}

/* ---- Calls ---- */

struct call {
    int number;
    const char *name;
    unsigned needed; /* the needs that require the call: bit 1 << enum qn_confine_need */
};

enum {
    CLIENT = 1u << QN_CONFINE_CLIENT,
    SERVER = 1u << QN_CONFINE_SERVER,
    TOOL = 1u << QN_CONFINE_TOOL
};

#define NEEDED(name, by)                                                                           \
    {                                                                                              \
        SCMP_SYS(name), #name, by                                                                  \
    }
#define CALL(name) NEEDED(name, 0)

/* System calls that no computing child needs. A negative number: the call does not exist on this
 * machine. bind is needed by clients because resolving a name binds a netlink socket to ask the
 * kernel for the machine's addresses. */
static const struct call forbidden[] = {
    /* programs and processes */
    NEEDED(execve, SERVER | TOOL), NEEDED(execveat, TOOL), NEEDED(fork, TOOL), NEEDED(vfork, TOOL),
    /* the network; open sockets stay usable */
    NEEDED(socket, CLIENT | SERVER | TOOL), NEEDED(socketpair, CLIENT | SERVER | TOOL),
    NEEDED(connect, CLIENT | TOOL), NEEDED(bind, CLIENT | SERVER | TOOL),
    NEEDED(listen, SERVER | TOOL),
    /* other processes */
    CALL(process_vm_readv), CALL(process_vm_writev), CALL(pidfd_getfd),
    NEEDED(pidfd_send_signal, CLIENT | TOOL), NEEDED(rt_sigqueueinfo, TOOL),
    NEEDED(rt_tgsigqueueinfo, TOOL), CALL(kcmp), NEEDED(process_madvise, TOOL),
    /* configuration of the system */
    CALL(mount), CALL(umount2), CALL(pivot_root), CALL(chroot), CALL(move_mount), CALL(open_tree),
    CALL(fsopen), CALL(fsmount), CALL(setns), CALL(unshare), CALL(swapon), CALL(swapoff),
    CALL(reboot), CALL(kexec_load), CALL(kexec_file_load), CALL(init_module), CALL(finit_module),
    CALL(delete_module), CALL(acct), CALL(quotactl), CALL(iopl), CALL(ioperm), CALL(settimeofday),
    CALL(clock_settime), CALL(sethostname), CALL(setdomainname), CALL(syslog),
    /* calls that could bypass these rules, and frequent targets of exploits */
    CALL(open_by_handle_at), CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register),
    CALL(bpf), CALL(perf_event_open), NEEDED(userfaultfd, TOOL), CALL(keyctl), CALL(add_key),
    CALL(request_key), NEEDED(personality, TOOL), CALL(vhangup)};

/* Calls that are forbidden depending on their arguments. */
static const struct call partly[] = {CALL(clone), CALL(kill), CALL(tkill), CALL(tgkill),
                                     CALL(ptrace)};

static const char *name_of(int number)
{
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (forbidden[i].number == number)
            return forbidden[i].name;
    for (size_t i = 0; i < sizeof partly / sizeof *partly; i++)
        if (partly[i].number == number)
            return partly[i].name;
    return "?";
}

/* Runs in the thread that made the call; may only use functions that are safe in a signal handler.
 */
static void on_forbidden(int signal_number, siginfo_t *info, void *context)
{
    static const char before[] =
        "sandbox: this process made a forbidden system call and is killed: ";
    const char *name = name_of(info->si_syscall);
    char line[sizeof before + 64];
    size_t n = sizeof before - 1, m = strlen(name);
    (void)context;
    memcpy(line, before, n);
    memcpy(line + n, name, m);
    line[n + m] = '\n';
    ssize_t written = write(STDERR_FILENO, line, n + m + 1);
    (void)written; /* a failure cannot be reported here: the parent sees the signal */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Forbids new processes (threads are allowed) and signals to other processes. In builds with the
 * leak sanitizer, clone and ptrace stay allowed, because the sanitizer examines the process from
 * another process. */
static int forbid_partly(scmp_filter_ctx filter, uint32_t action)
{
    const struct scmp_arg_cmp other = {
        .arg = 0, .op = SCMP_CMP_NE, .datum_a = (scmp_datum_t)getpid(), .datum_b = 0};
    int err = 0;
#ifndef __SANITIZE_ADDRESS__
    const struct scmp_arg_cmp no_thread = {
        .arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = CLONE_THREAD, .datum_b = 0};
    err = seccomp_rule_add_array(filter, action, SCMP_SYS(clone), 1, &no_thread);
    err = err ? err : seccomp_rule_add(filter, action, SCMP_SYS(ptrace), 0);
#endif
    /* The flags of clone3 are in memory, which a filter cannot read; after ENOSYS the C library
     * uses clone. */
    err = err ? err : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    err = err ? err : seccomp_rule_add_array(filter, action, SCMP_SYS(kill), 1, &other);
    err = err ? err : seccomp_rule_add(filter, action, SCMP_SYS(tkill), 0);
    return err ? err : seccomp_rule_add_array(filter, action, SCMP_SYS(tgkill), 1, &other);
}

/* A condition on an argument, with all fields set: libseccomp's own macros leave one out, for which
 * clang warns. */
static struct scmp_arg_cmp argument(unsigned number, enum scmp_compare op, scmp_datum_t a)
{
    return (struct scmp_arg_cmp){.arg = number, .op = op, .datum_a = a, .datum_b = 0};
}

/* The condition that the bits in mask have this value. */
static struct scmp_arg_cmp bits_of(unsigned number, scmp_datum_t mask, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){
        .arg = number, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

static int forbid_family(scmp_filter_ctx filter, uint32_t action, scmp_datum_t family)
{
    return seccomp_rule_add(filter, action, SCMP_SYS(socket), 1, argument(0, SCMP_CMP_EQ, family));
}

/* Forbids TCP Fast Open, with which a send call opens a connection together with its first
 * bytes. */
static int forbid_fast_open(scmp_filter_ctx filter, uint32_t action)
{
    const scmp_datum_t fast = MSG_FASTOPEN;
    int err = seccomp_rule_add(filter, action, SCMP_SYS(sendto), 1, bits_of(3, fast, fast));
    err =
        err ? err : seccomp_rule_add(filter, action, SCMP_SYS(sendmsg), 1, bits_of(2, fast, fast));
    return err ? err
               : seccomp_rule_add(filter, action, SCMP_SYS(sendmmsg), 1, bits_of(3, fast, fast));
}

/* A process that cannot connect could still send: a datagram needs no connection, and TCP Fast Open
 * makes one with the first bytes. So a server may only create TCP and UNIX stream sockets, and
 * Netlink sockets, by which libraries query the kernel's configuration. */
static int forbid_sending_elsewhere(scmp_filter_ctx filter, uint32_t action)
{
    enum { TYPES = 16, LAST_FAMILY = AF_NETLINK };
    static const scmp_datum_t streaming[] = {AF_UNIX, AF_INET, AF_INET6};
    int err = 0;
    for (size_t i = 0; i < sizeof streaming / sizeof *streaming; i++) {
        for (scmp_datum_t type = 0; type < TYPES && !err; type++)
            if (type != SOCK_STREAM)
                err = seccomp_rule_add(filter, action, SCMP_SYS(socket), 2,
                                       argument(0, SCMP_CMP_EQ, streaming[i]),
                                       bits_of(1, TYPES - 1, type));
        if (!err) /* stream protocols other than TCP, such as SCTP */
            err = seccomp_rule_add(filter, action, SCMP_SYS(socket), 2,
                                   argument(0, SCMP_CMP_EQ, streaming[i]),
                                   argument(2, SCMP_CMP_GT, IPPROTO_TCP));
    }
    for (scmp_datum_t family = 0; family < LAST_FAMILY && !err; family++)
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
            err = forbid_family(filter, action, family);
    err = err ? err
              : seccomp_rule_add(filter, action, SCMP_SYS(socket), 1,
                                 argument(0, SCMP_CMP_GT, LAST_FAMILY));
    return err ? err : forbid_fast_open(filter, action);
}

/* Forbids what a foreign program must not do although it may start programs and connect. UNIX
 * sockets are forbidden because they lead to services that start programs on behalf of this user; a
 * datagram socket from socketpair could still send to these services, so it is forbidden, too.
 * Protocol numbers above 255, such as MPTCP, are forbidden because they connect without being
 * checked by Landlock's port rules. */
static int forbid_to_tools(scmp_filter_ctx filter, uint32_t action)
{
    enum { TYPES = 16, LAST_FAMILY = AF_NETLINK, LAST_PROTOCOL = 255 };
    static const scmp_datum_t spaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                          CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
    int err = seccomp_rule_add(filter, action, SCMP_SYS(ptrace), 0);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces && !err; i++)
        err =
            seccomp_rule_add(filter, action, SCMP_SYS(clone), 1, bits_of(0, spaces[i], spaces[i]));
    /* clone3: see forbid_partly */
    err = err ? err : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (scmp_datum_t family = 0; family < LAST_FAMILY && !err; family++)
        if (family == AF_INET || family == AF_INET6)
            err = seccomp_rule_add(filter, action, SCMP_SYS(socket), 2,
                                   argument(0, SCMP_CMP_EQ, family),
                                   argument(2, SCMP_CMP_GT, LAST_PROTOCOL));
        else
            err = forbid_family(filter, action, family);
    err = err ? err
              : seccomp_rule_add(filter, action, SCMP_SYS(socket), 1,
                                 argument(0, SCMP_CMP_GT, LAST_FAMILY));
    for (scmp_datum_t type = 0; type < TYPES && !err; type++)
        if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
            err = seccomp_rule_add(filter, action, SCMP_SYS(socketpair), 1,
                                   bits_of(1, TYPES - 1, type));
    return err ? err : forbid_fast_open(filter, action);
}

qn_err qn_confine_calls(struct qn_error *e)
{
    return qn_confine_calls_but(QN_CONFINE_ALONE, e);
}

qn_err qn_confine_calls_but(enum qn_confine_need need, struct qn_error *e)
{
    const bool foreign = need == QN_CONFINE_SERVER || need == QN_CONFINE_TOOL;
    const uint32_t what = foreign ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_TRAP;
    struct sigaction action = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL)
        return qn_fail(e, QN_EUNSUPPORTED, "this kernel has no filters of system calls");
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return qn_fail(e, QN_ENOMEM, "no memory for a filter of system calls");
    int err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden && !err; i++)
        if (forbidden[i].number >= 0 && !(forbidden[i].needed & 1u << need))
            err = seccomp_rule_add(filter, what, forbidden[i].number, 0);
    if (!err)
        err = need == QN_CONFINE_TOOL ? forbid_to_tools(filter, what) : forbid_partly(filter, what);
    if (!err && need == QN_CONFINE_SERVER)
        err = forbid_sending_elsewhere(filter, what);
    sigemptyset(&action.sa_mask);
    if (!err && sigaction(SIGSYS, &action, NULL) != 0)
        err = -errno;
    err = err ? err : seccomp_load(filter);
    seccomp_release(filter);
    if (err == 0)
        return QN_OK;
    return qn_fail(e, QN_EUNSUPPORTED, "the filter of system calls cannot be used: %s",
                   strerror(err < 0 ? -err : err));
}
