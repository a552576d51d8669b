/* See inodes.h. */
#include "registry/inodes.h"

#include "base/buf.h"

#include <stdlib.h>

enum { CAP_FIRST = 64 };

static struct qn_inode *slot_of(const struct qn_inodes *s, uint64_t device, uint64_t inode)
{
    uint64_t hash = (inode ^ (device << 32 | device >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (s->cap - 1);
    while (s->slots[i].used && (s->slots[i].device != device || s->slots[i].inode != inode))
        i = (i + 1) & (s->cap - 1);
    return &s->slots[i];
}

static void grow(struct qn_inodes *s)
{
    struct qn_inodes wider = {.n = s->n, .cap = s->cap ? 2 * s->cap : CAP_FIRST};
    wider.slots = qn_xcalloc(wider.cap, sizeof *wider.slots);
    for (size_t i = 0; i < s->cap; i++)
        if (s->slots[i].used)
            *slot_of(&wider, s->slots[i].device, s->slots[i].inode) = s->slots[i];
    free(s->slots);
    *s = wider;
}

void qn_inodes_deinit(struct qn_inodes *s)
{
    free(s->slots);
    *s = (struct qn_inodes){0};
}

bool qn_inodes_has(const struct qn_inodes *s, uint64_t device, uint64_t inode)
{
    return s->n && slot_of(s, device, inode)->used;
}

bool qn_inodes_add(struct qn_inodes *s, uint64_t device, uint64_t inode)
{
    if (2 * (s->n + 1) > s->cap)
        grow(s);
    struct qn_inode *slot = slot_of(s, device, inode);
    if (slot->used)
        return false;
    *slot = (struct qn_inode){device, inode, true};
    s->n++;
    return true;
}
