/* A chat as a tree: every message knows its parent; several children of one message are branches.
 * What is shown is the path from a first message to a last one. Pure. */

const ROOT = "";

/* {parents: id -> parent's id, children: id -> ids, oldest first}; "" stands above first messages. */
export function treeOf(messages) {
    const tree = { parents: new Map(), children: new Map([[ROOT, []]]) };
    const known = new Set(messages.map((m) => m.id));
    const byAge = [...messages].sort((a, b) => a.created - b.created);
    for (const m of byAge)
        add(tree, m.id, known.has(m.parent) ? m.parent : ROOT);
    return tree;
}

function add(tree, id, parent) {
    tree.parents.set(id, parent);
    if (!tree.children.has(id))
        tree.children.set(id, []);
    if (!tree.children.has(parent))
        tree.children.set(parent, []);
    tree.children.get(parent).push(id);
}

/* A tree with one message more, newer than its siblings. The given tree stays as it is. */
export function withMessage(tree, id, parent) {
    const next = { parents: new Map(tree.parents), children: new Map(tree.children) };
    const above = next.parents.has(parent) ? parent : ROOT;
    next.children.set(above, [...next.children.get(above)]);
    add(next, id, above);
    return next;
}

/* A message and everything below it, itself first. */
export function branch(tree, id) {
    const all = [id];
    for (let i = 0; i < all.length; i++)
        all.push(...tree.children.get(all[i]) ?? []);
    return all;
}

/* A tree without a message and what is below it. */
export function withoutBranch(tree, id) {
    const gone = branch(tree, id);
    const next = { parents: new Map(tree.parents), children: new Map(tree.children) };
    const above = tree.parents.get(id) ?? ROOT;
    next.children.set(above, next.children.get(above).filter((one) => one !== id));
    for (const one of gone) {
        next.parents.delete(one);
        next.children.delete(one);
    }
    return next;
}

/* The ids from a first message to `head`, and from there on along the newest branch. An unknown head
 * stands for the newest branch of all. */
export function pathThrough(tree, head) {
    const path = [];
    for (let id = tree.parents.has(head) ? head : ROOT; id !== ROOT; id = tree.parents.get(id))
        path.unshift(id);
    for (let id = path.at(-1) ?? ROOT; ;) {
        id = tree.children.get(id)?.at(-1);
        if (id === undefined)
            return path;
        path.push(id);
    }
}

/* The branches at a message: their ids, and which of them it is. */
export function siblings(tree, id) {
    const ids = tree.children.get(tree.parents.get(id) ?? ROOT) ?? [id];
    return { ids, at: ids.indexOf(id) };
}
