/* A set of files identified by device and inode, so that a file with several names is visited once.
 */
#ifndef QN_REGISTRY_INODES_H
#define QN_REGISTRY_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_inode {
    uint64_t device, inode;
    bool used;
};
struct qn_inodes {
    struct qn_inode *slots; /* open addressing, at most half full */
    size_t n, cap;
};

/* A zeroed struct is an empty set. */
void qn_inodes_deinit(struct qn_inodes *s);
bool qn_inodes_has(const struct qn_inodes *s, uint64_t device, uint64_t inode);
bool qn_inodes_add(struct qn_inodes *s, uint64_t device, uint64_t inode); /* false: was in it */

#endif
